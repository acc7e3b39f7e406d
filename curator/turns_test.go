package curator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/agent"
	"stet/curator/fork"
	"stet/curator/merge"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A spoiler makes the mark of the curator unreadable while the model works.
type spoiler struct {
	model
	mark string
}

func (s spoiler) Run(ctx context.Context, job fork.Job) (fork.Result, error) {
	if err := errors.Join(os.Remove(s.mark), os.Mkdir(s.mark, 0o700)); err != nil {
		return fork.Result{}, err
	}
	return s.model.Run(ctx, job)
}

// What a model did is done also where it cannot be noted whose turn it was, and the report tells so.
func TestWorkIsDoneWithoutNotingTurns(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, memories := range []bool{false, true} {
		d, does := shelf(t), model(honest)
		if memories {
			d, does = teas(t), joins(tea, tea, teaToo)
		}
		var r *Report
		var mark string
		d.open(func(a *agent.App) error {
			v, _, err := a.Permit(agent.Write{}, "curate", "")
			if err != nil {
				return err
			}
			mark = filepath.Join(v.StateDir(), "seen", markName)
			if r, err = Run(d.Context(), a, Options{Consolidate: !memories, Memories: memories,
				Runner: spoiler{does, mark}}); err == nil {
				t.Error("the mark is still there")
			}
			return nil
		})
		if r == nil || len(r.Commits) != 1 || r.LLMError+r.Memories.LLMError != "" || len(r.Left) != 1 ||
			r.Left[0].Name != "turns of the model" {
			t.Errorf("memories %v: %+v", memories, r)
		}
		if err := os.Remove(mark); err != nil {
			t.Error(err)
		}
	}
}

// The names that a model was told become files in a veto where they stand as words, and nowhere else.
func TestNamesInAVetoBecomeFiles(t *testing.T) {
	t.Parallel()
	g := &gathering{notes: map[string]gathered{"n-1": {Memory: vault.Memory{Path: "memories/n-10.md"}},
		"n-10": {Memory: vault.Memory{Path: "memories/tea.md"}}}}
	m := &Merging{}
	m.take(&Report{Consolidated: []Absorbed{{Verdict: merge.Verdict{Class: merge.Class{Name: "n-1"},
		Veto: `plan-1 of "n-1" is not n-10: n-1. See a/n-1.md, n-1-x, Plän-1`}}}}, g)
	const want = `plan-1 of "memories/n-10.md" is not memories/tea.md: memories/n-10.md. See a/n-1.md, n-1-x, Plän-1`
	if got := m.Consolidated[0].Veto; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A link of another skill leads to the file that holds what it led to, also where the model wrote that anew. A name in
// its front matter is told of.
func TestALinkFollowsAFileThatIsWrittenAnew(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	const bread = "skills/home/bread/SKILL.md"
	d.write(bread, strings.Replace(d.read(bread), "name: bread\n", "name: bread\nrelated_skills: [git-bisect]\n", 1))
	d.commit(agents)
	r := d.second(model(func(job fork.Job) fork.Result {
		const was, now = "git-bisect/references/notes.md", "references/bisect-notes.md"
		out := spoilt(job, func(s string) string { return strings.ReplaceAll(s, was, now) }, "git-bisect", "git-rebase")
		i := slices.IndexFunc(out, func(c fork.Call) bool { return strings.Contains(string(c.Arguments), was) })
		out[i] = calls(args{"action": "write_file", "name": "git-history", "file": now,
			"text": "# Bisect: notes\n\nSkip commits that do not build: exit 125.\n"})[0]
		return fork.Result{Calls: out, Final: account("git-history", "git-bisect", "git-rebase")}
	}))
	if len(r.StillNamed) != 1 || r.StillNamed[0] != (Mention{bread, 3, "git-bisect", "git-history"}) {
		t.Errorf("%+v", r.StillNamed)
	}
	if got := d.read(bread); !strings.Contains(got,
		"(../../tools/git-history/references/bisect-notes.md)") {
		t.Errorf("%s\n%+v", got, r.Consolidated)
	}
}

// The page says once why skills did not go into an umbrella, who made what, and quotes links as they are read.
func TestARefusalIsReadable(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	r := d.second(model(func(job fork.Job) fork.Result {
		return fork.Result{Calls: spoilt(job, func(s string) string {
			return strings.Replace(s, "[the notes]", "[no notes]", 1)
		}, "git-bisect", "git-rebase"), Final: account("git-history", "git-bisect", "git-rebase")}
	}))
	page := strings.ReplaceAll(d.read(string(r.Path())), "\\", "")
	const why = "git-history is not as it has to be: line"
	if strings.Count(page, why) != 1 ||
		!strings.Contains(page, "* git-bisect into git-history (absorbed_into), "+
			"git-rebase into git-history (absorbed_into): git-history is") ||
		strings.Contains(page, " % |") || !strings.Contains(page, "What the model did and the curator did not") ||
		!strings.Contains(page, ": see no notes for what to do") ||
		!strings.Contains(page,
			"* git-history: the model made it; the curator did not, because nothing went into it\n") {
		t.Error(page)
	}
}

// The page counts umbrellas and requests by their names, and shows evidence as it is written: cut at a word in the
// table, and whole below.
func TestTheReportOfAnUmbrellaIsReadable(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	r := d.second(model(func(job fork.Job) fork.Result {
		out := honest(job)
		out.Rounds = 3
		return out
	}))
	page := strings.ReplaceAll(d.read(string(r.Path())), "\\", "")
	first, _, _ := strings.Cut(page, "\n## ")
	counts := fmt.Sprintf("3 requests, %d tool calls, ", len(r.ToolCalls))
	for _, says := range []string{"**1 umbrella from 2 skills.**", counts} {
		if !strings.Contains(first, says) {
			t.Errorf("it does not say %q:\n%s", says, first)
		}
	}
	if got := d.git("log", "-1", "--format=%s"); got != "report: 1 umbrella from 2 skills" {
		t.Error(got)
	}
	for _, a := range r.Consolidated {
		if a.Evidence == "" || !strings.Contains(page, a.Evidence) ||
			!strings.Contains(page, "Everything that 2 skills said") {
			t.Errorf("%q is not in\n%s", a.Evidence, page)
		}
	}
}

// A model that is asked about the same skills again is told why its last umbrella was refused, until one is built.
func TestAModelIsToldWhyItsUmbrellaWasRefused(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	var told [][]string
	asked := func(does model) model {
		return func(job fork.Job) fork.Result {
			i := slices.IndexFunc(job.Clusters, func(c fork.Cluster) bool { return c.Names[0] == "git-bisect" })
			if i >= 0 {
				told = append(told, job.Clusters[i].Refused)
			}
			return does(job)
		}
	}
	wrong := model(func(job fork.Job) fork.Result {
		return fork.Result{Calls: spoilt(job, func(s string) string {
			return strings.ReplaceAll(strings.Replace(s, "[the notes]", "[no notes]", 1), "90 seconds", "9 seconds")
		}, "git-bisect", "git-rebase"), Final: account("git-history", "git-bisect", "git-rebase")}
	})
	idle := model(func(fork.Job) fork.Result { return fork.Result{Final: account("")} })
	for _, does := range []model{wrong, idle, honest} {
		d.second(asked(does))
		d.days(8)
	}
	if len(told) != 3 || len(told[0]) != 0 || !slices.Equal(told[1], told[2]) {
		t.Fatalf("%q", told)
	}
	all := strings.Join(told[1], "\n")
	for _, want := range []string{"see no notes", "9 seconds", "missing is value 90"} { // all that is wrong with it
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	d.open(func(a *agent.App) error {
		v, _, err := a.Permit(agent.Write{}, "curate", "")
		if m := readMark(v); err == nil && len(m.Refused) > 0 {
			t.Errorf("%+v", m.Refused)
		}
		return err
	})
}
