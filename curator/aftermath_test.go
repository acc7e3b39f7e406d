package curator

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/curator/fork"
	"stet/curator/merge"
	"stet/vault/vaulttest"
)

// The report says where a merged skill stands now, who still names it, and why others are still apart.
func TestTheReportSaysWhatAMergeLeaves(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	d.open(func(a *agent.App) error {
		_, err := a.Skills().New(d.Context(), agent.NewSkillOptions{Name: "hooks", Description: "Use for hooks.",
			Text: "# Hooks\n\nAs follows:\n\n```sh\nagent subscribe --skills \"git-rebase\"\n```\n"})
		return err
	})
	for _, at := range []string{"one", "two"} {
		d.write("skills/"+at+"/plans/SKILL.md", "---\nname: plans\ndescription: Plan in way "+at+".\n---\nPlan.\n")
	}
	d.commit(agents)

	r := d.second(model(func(job fork.Job) fork.Result {
		out := honest(job)
		out.Calls = spoilt(job, func(s string) string {
			return strings.Replace(s, "One section for each task.", "Push by force.", 1)
		}, "git-bisect", "git-rebase")
		return out
	}))
	if r.Summary() != "nothing done: 1 umbrella refused" {
		t.Error(r.Summary())
	}
	if len(r.Suggested) != 1 || !strings.Contains(r.Suggested[0].Note, "was not done") {
		t.Errorf("%+v", r.Suggested)
	}
	if len(r.Twins) != 1 || r.Twins[0].Name != "plans" || len(r.Twins[0].Folders) != 2 {
		t.Errorf("%+v", r.Twins)
	}

	r = d.second(model(honest))
	still := Mention{"skills/hooks/SKILL.md", 13, "git-rebase", "git-history"}
	if len(r.StillNamed) != 1 || r.StillNamed[0] != still {
		t.Errorf("%+v", r.StillNamed)
	}
	if len(r.Suggested) > 0 || len(r.Left) > 0 || r.Summary() != "1 umbrella from 2 skills" {
		t.Errorf("%s: %+v, %+v", r.Summary(), r.Suggested, r.Left)
	}
	for _, a := range r.Consolidated {
		at, line, _ := strings.Cut(a.Section, ":")
		n, err := strconv.Atoi(line)
		if lines := strings.Split(d.read(at), "\n"); err != nil || n < 1 || lines[n-1] != "## "+a.Name {
			t.Errorf("%s is not at %s of\n%s", a.Name, a.Section, d.read(at))
		}
		if a.Evidence != "create: ## "+a.Name {
			t.Error(a.Evidence)
		}
	}
	page, err := r.Markdown()
	for _, want := range []string{
		"* `skills/hooks/SKILL.md:13` names git-rebase, which is a section of git-history now",
		"* plans: `skills/one/plans`, `skills/two/plans`"} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%v: no %q in\n%s", err, want, page)
		}
	}
}

// A name of one word is a word like others but where it has to do with skills.
func TestNamedSkills(t *testing.T) {
	t.Parallel()
	s := &step{Merge: merge.Merge{Umbrella: fork.Skill{Name: "chains", Folder: "skills/chains"},
		Absorbed: []fork.Skill{{Name: "base"}, {Name: "web-hooks"}}}}
	for text, want := range map[string]int{"the base of it": 0, "the skill base": 1, "skill_view(\"base\")": 1,
		"skills: databases": 0, "see web-hooks": 1, "see my-web-hooks": 0,
		"[web-hooks](../chains/SKILL.md#web-hooks)": 0,
		"../web-hooks/SKILL.md":                     1, "---\nname: x\ndescription: the base skill\n---\n": 0,
		"---\nname: x\nrelated: [base]\n---\n": 1} {
		if got := marksOf(s).named("skills/x/SKILL.md", []byte(text)); len(got) != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// A cluster that is longer than what a model is shown becomes several.
func TestLongClustersAreParted(t *testing.T) {
	t.Parallel()
	const half = maxAsked / 2
	out, alone := parted([]fork.Cluster{{Names: []string{"a", "b", "c", "d", "e"}}, {Names: []string{"f", "g"}}},
		map[string]int{"a": half, "b": half, "c": half + 1, "d": half - 1, "e": 1, "f": 1, "g": maxAsked + 1})
	if len(out) != 2 || strings.Join(out[0].Names, "") != "ab" || strings.Join(out[1].Names, "") != "cd" ||
		len(alone) != 3 || alone[0].Names[0] != "e" || alone[0].Note == "" {
		t.Errorf("%+v, %+v", out, alone)
	}
}

// A run is taken back but for an umbrella that somebody edited since, which is named with what to do.
func TestARevertOfARunKeepsWhatWasEdited(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	d.teach("tea-green", "home", "# Green\n\nSteep at 70 degrees.\n", nil)
	d.teach("tea-black", "home", "# Black\n\nSteep at 95 degrees.\n", nil)
	r := d.second(model(func(job fork.Job) fork.Result {
		out := slices.Concat(umbrella(job, "git-history", "git-bisect", "git-rebase"),
			umbrella(job, "tea-making", "tea-black", "tea-green"))
		return fork.Result{Calls: out, Final: "```yaml\nconsolidations: []\nprunings: []\n```\n"}
	}))
	if r.Counts.Consolidated != 4 {
		t.Fatalf("%+v", r.Consolidated)
	}
	const tea = "skills/tools/tea-making/SKILL.md"
	d.write(tea, d.read(tea)+"\nMine.\n")
	d.commit("mine")
	var told strings.Builder
	a, err := agent.Open(d.Context(), agent.Options{Dir: d.dir, At: d.dir, Door: "cli", Getenv: d.getenv,
		Now: func() time.Time { return d.at }, Notify: func(n agent.Notice) { told.WriteString(n.Text + "\n") }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.History().Revert(d.Context(), agent.RevertOptions{OfRun: r.Run})
	if err = errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{tea: true, "skills/home/tea-green": false, "skills/dev/git-bisect": true,
		"skills/dev/git-rebase": true, "skills/tools/git-history": false, "archive/skills/home/tea-black": true} {
		if got := d.git("ls-tree", "HEAD", p) != ""; got != want {
			t.Errorf("%s: %v", p, got)
		}
	}
	i := slices.IndexFunc(r.Commits, func(c Commit) bool { return strings.Contains(c.Subject, "tea-making") })
	rev := r.Commits[i].Rev.Short()
	for _, want := range []string{
		rev + ` "consolidate: tea-black, tea-green into tea-making" stays as it is: "` + tea + `": it was edited`,
		`"stet revert EDIT ` + rev + `" takes both back`, "stet skill restore NAME"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("no %q in %s", want, &told)
		}
	}
	edit := d.git("log", "-1", "--format=%H", "--", tea)
	d.open(func(a *agent.App) error { // as it says
		_, err := a.History().Revert(d.Context(), agent.RevertOptions{Revs: []string{edit, rev}})
		return err
	})
	if d.git("ls-tree", "HEAD", "skills/home/tea-green") == "" || d.git("ls-tree", "HEAD", tea) != "" {
		t.Error("the umbrella cannot be taken back")
	}
}
