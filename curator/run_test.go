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
	"time"

	"stet/agent"
	"stet/vault"
	"stet/vault/vaulttest"
)

func TestMain(m *testing.M) {
	vaulttest.InMemory()
	m.Run()
}

func TestARunIsAChainOfCommitsAndRevertsOneByOne(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("old", "web", "references/a.md", "scripts/run.sh")
	d.skill("older", "web")
	d.skill("pinned", "")
	d.skill("twin", "ops/deep", "assets/e")
	d.open(func(a *agent.App) error {
		_, err := a.Skills().Pin(d.Context(), "pinned", true, agent.Write{})
		return err
	})
	d.days(50)
	d.skill("fading", "web")
	if r := d.runWith(Options{Write: agent.Write{DryRun: true}}); did(r) != "old stale, older stale, twin stale" {
		t.Fatalf("dry: %s", did(r))
	}
	before := d.git("rev-parse", "HEAD")
	if r := d.run(); did(r) != "old stale, older stale, twin stale" || len(r.Commits) != 2 {
		t.Fatalf("%s in %d commits", did(r), len(r.Commits))
	}
	if got := d.git("log", "--format=%s", before+"..HEAD"); got !=
		"report: 3 skills stale\ncurate: how often skills were used\ncurate: 3 skills stale" {
		t.Errorf("commits:\n%s", got)
	}
	d.open(func(a *agent.App) error {
		_, err := a.Skills().Use(d.Context(), "twin", agent.Write{})
		return err
	})
	if r := d.run(); did(r) != "twin active" {
		t.Errorf("used: %s", did(r))
	}
	d.days(45)
	whole := d.tree()
	r := d.run()
	const want = "fading stale, twin stale, old archived, older archived"
	if did(r) != want || r.Counts.Before != 5 || r.Counts.After != 3 {
		t.Fatalf("%s; %+v", did(r), r.Counts)
	}
	if again := d.run(); did(again) != "" || again.Run == r.Run {
		t.Errorf("the second run: %s", did(again))
	}
	tip := d.git("rev-parse", "HEAD")
	for _, c := range r.Commits { // each line that reverts alone does, and gives back what was before it
		d.git("reset", "-q", "--hard", tip)
		if c.After != "" {
			t.Errorf("%s does not revert alone", c.Subject)
		}
		d.git("revert", "--no-edit", string(c.Rev))
		for _, p := range strings.Fields(d.git("show", "--format=", "--name-only", "--no-renames", string(c.Rev))) {
			if d.git("ls-tree", "HEAD", p) != d.git("ls-tree", string(c.Rev)+"^", p) {
				t.Errorf("%s reverted: %s is not what it was", c.Subject, p)
			}
		}
	}
	d.git("reset", "-q", "--hard", tip)
	for _, c := range slices.Backward(r.Commits) {
		d.git("revert", "--no-edit", string(c.Rev))
	}
	if d.tree() != whole {
		t.Error("all reverted, newest first: the tree is another one")
	}
	d.git("reset", "-q", "--hard", tip)
	d.open(func(a *agent.App) error {
		_, err := a.History().Revert(d.Context(), agent.RevertOptions{OfRun: r.Run})
		return err
	})
	if d.tree() != whole {
		t.Error("revert --run: the tree is another one")
	}
	d.check(r.Run)
}

// What a person took back is not done again: not by the next run, nor in a clone, nor after a hundred days, until the
// skill changes.
func TestATakenBackArchiveIsNotRepeated(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	back := map[string]func(d *desk, r *Report){
		"git revert": func(d *desk, r *Report) { d.git("revert", "--no-edit", string(r.Commits[0].Rev)) },
		"undo": func(d *desk, _ *Report) {
			d.open(func(a *agent.App) error {
				_, err := a.History().Undo(d.Context(), 1, false, agent.Write{})
				return err
			})
		},
		"revert of the run": func(d *desk, r *Report) {
			d.open(func(a *agent.App) error {
				_, err := a.History().Revert(d.Context(), agent.RevertOptions{OfRun: r.Run})
				return err
			})
		},
	}
	for how, takeBack := range back {
		for _, state := range []State{Archived, Stale} {
			t.Run(how+" of "+string(state), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.skill("x", "web", "references/a.md")
				d.skill("other", "")
				d.days(map[State]int{Archived: 95, Stale: 40}[state])
				d.open(func(a *agent.App) error {
					_, err := a.Skills().Use(d.Context(), "other", agent.Write{})
					return err
				})
				whole := d.tree()
				r := d.run()
				if did(r) != "x "+string(state) {
					t.Fatalf("%q, left %+v, kept %q", did(r), r.Left, d.status().Kept)
				}
				takeBack(d, r)
				if d.tree() != whole {
					t.Error("it does not bring back what was")
				}
				stays := func(d *desk) {
					for _, wait := range []int{0, 100, 400} {
						d.days(wait)
						if r := d.run(); strings.Contains(did(r), "x ") {
							t.Errorf("after %d days again: %s", wait, did(r))
						}
					}
				}
				clone := filepath.Join(t.TempDir(), "clone")
				if out, err := vaulttest.Git(".", "clone", "-q", d.dir, clone); err != nil {
					t.Fatal(out)
				}
				stays(deskAt(t, clone))
				stays(d)
				d.open(func(a *agent.App) error {
					_, err := a.Skills().Put(d.Context(), agent.PutSkillOptions{Write: agent.Write{Agent: "robo"},
						Ref: "x", File: "new.md", Text: "New."})
					return err
				})
				d.days(95)
				want := "x archived" // it changed, and nobody used it since
				if how == "git revert" && state == Stale {
					want = "" // that edited the skill, so that the agent's change waits for the person
				}
				if r := d.run(); did(r) != want || (want == "") != slices.Contains(d.status().Kept, "x") {
					t.Errorf("after a change: %q, left %+v, kept %q", did(r), r.Left, d.status().Kept)
				}
			})
		}
	}
}

func TestARestoredSkillStays(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.days(95)
	d.run()
	d.open(func(a *agent.App) error {
		_, err := a.Skills().Restore(d.Context(), "x", agent.Write{})
		return err
	})
	for _, wait := range []int{0, 100} {
		d.days(wait)
		if r := d.run(); did(r) != "" {
			t.Errorf("after %d days: %s", wait, did(r))
		}
	}
}

func TestWhatIsAPersonsIsLeft(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("robots", "")
	d.skill("edited", "")
	d.skill("draft", "")
	d.skill("link", "")
	d.open(func(a *agent.App) error {
		_, err := a.Skills().New(d.Context(), agent.NewSkillOptions{Name: "mine", Description: "d", Text: "t"})
		if err == nil {
			_, err = a.Skills().New(d.Context(), agent.NewSkillOptions{Name: "given", Description: "d", Text: "t"})
		}
		if err == nil {
			_, err = Own(d.Context(), a, []string{"given"}, true, agent.Write{})
		}
		if err == nil { // no machine writes such a file, and the curator moves it
			_, err = a.Skills().Put(d.Context(), agent.PutSkillOptions{Ref: "given", File: "AGENTS.md", Text: "x"})
		}
		return err
	})
	write := func(p, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(d.dir, p), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("skills/edited/notes.md", "A person's note.\n")
	d.git("add", "-A")
	edited := "---\nname: edited\ndescription: Mine now.\nmetadata:\n  stet-created-by: agent\n---\nBetter.\n"
	write("skills/edited/SKILL.md", edited)
	d.git("commit", "-qam", "by hand")
	d.days(95)
	write("skills/draft/SKILL.md", strings.Replace(edited, "edited", "draft", 1)) // nobody committed it
	if err := os.Symlink("/etc/hostname", filepath.Join(d.dir, "skills/link/host")); err != nil {
		t.Fatal(err)
	}
	var r *Report
	d.open(func(a *agent.App) (err error) {
		r, err = Run(d.Context(), a, Options{})
		return err
	})
	if did(r) != "given archived, robots archived" {
		t.Errorf("%s", did(r))
	}
	var left []string
	for _, l := range r.Left {
		left = append(left, l.Name)
	}
	if !slices.Equal(left, []string{"link", "edited"}) && !slices.Equal(left, []string{"edited", "link"}) {
		t.Errorf("left: %+v", r.Left)
	}
	d.open(func(a *agent.App) error {
		_, err := Own(d.Context(), a, []string{"draft"}, false, agent.Write{})
		return err
	})
	if err := os.Remove(filepath.Join(d.dir, "skills/link/host")); err != nil {
		t.Fatal(err)
	}
	d.days(100)
	if r := d.runWith(Options{IncludeEdited: true}); did(r) != "edited archived, link archived" {
		t.Errorf("with edited ones: %s, %+v", did(r), r.Left)
	}
	d.open(func(a *agent.App) error {
		_, err := Run(d.Context(), a, Options{Write: agent.Write{Agent: "robo"}})
		if !errors.Is(err, vault.ErrRefused) {
			t.Errorf("an agent: %v", err)
		}
		return nil
	})
}

func TestProposalsWaitWhereThePersonWantsToSee(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.skill("y", "")
	d.env["STET_SKILLS_WRITE_APPROVAL"] = "stage"
	d.days(95)
	before := d.tree()
	r := d.run()
	if did(r) != "" || len(r.Proposed) != 2 || d.tree() != before {
		t.Errorf("%s, %+v", did(r), r.Proposed)
	}
}

func TestALookIsDueNowAndThen(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	look := func() (r *Report) {
		t.Helper()
		d.open(func(a *agent.App) (err error) {
			r, err = IfDue(d.Context(), a, agent.Write{}, nil)
			return err
		})
		return r
	}
	d.skill("x", "")
	d.days(95)
	head := d.git("rev-parse", "HEAD")
	if r := look(); r != nil {
		t.Errorf("the first look is deferred: %+v", r)
	}
	d.days(1)
	d.open(func(a *agent.App) error { return Pause(d.Context(), a, agent.Write{}, true) })
	if r := look(); r != nil {
		t.Errorf("paused: %+v", r)
	}
	d.open(func(a *agent.App) error { return Pause(d.Context(), a, agent.Write{}, false) })
	d.env["STET_CURATOR_ENABLED"] = "false"
	if r := look(); r != nil {
		t.Errorf("switched off: %+v", r)
	}
	delete(d.env, "STET_CURATOR_ENABLED")
	if d.git("rev-parse", "HEAD") != head {
		t.Error("something was committed")
	}
	r := look()
	if r == nil || did(r) != "x archived" {
		t.Fatalf("due: %+v", r)
	}
	d.check(r.Run)
	d.skill("y", "")
	head = d.git("rev-parse", "HEAD")
	for range 3 { // nothing to do leaves nothing but the mark
		d.days(2)
		if r := look(); r != nil || d.git("rev-parse", "HEAD") != head {
			t.Errorf("nothing to do: %+v", r)
		}
	}
	clone := deskAt(t, filepath.Join(t.TempDir(), "clone")) // which has seen the run of the other
	if out, err := vaulttest.Git(".", "clone", "-q", d.dir, clone.dir); err != nil {
		t.Fatal(out)
	}
	clone.open(func(a *agent.App) error {
		at, err := last(t.Context(), mustPermit(t, a), d.at)
		if at.Format("20060102-150405") != r.Run {
			t.Errorf("a clone takes %v for the last run", at)
		}
		return err
	})
}

func mustPermit(t *testing.T, a *agent.App) *vault.Vault {
	v, _, err := a.Permit(agent.Write{DryRun: true}, "curate-due", "")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A process that ends between its commits and its report leaves one that says so, once, and does not try at once again.
func TestAnInterruptedRunIsReported(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.days(40)
	d.run()
	d.days(60)
	d.write("memories/old.md", "---\nexpires: 2026-01-02\n---\nOver.\n")
	d.commit("by hand")
	r := d.run()
	d.git("reset", "-q", "--hard", "HEAD~1") // as if the report had never been written
	d.open(func(a *agent.App) error {
		return setMark(t.Context(), mustPermit(t, a), func(m *mark) { m.Running = &running{r.Run, r.StartedAt} })
	})
	d.skill("y", "")
	d.open(func(a *agent.App) error {
		again, err := IfDue(d.Context(), a, agent.Write{}, nil)
		if again != nil {
			t.Errorf("a run at once: %+v", again)
		}
		return err
	})
	d.check(r.Run)
	var got *Report
	d.open(func(a *agent.App) (err error) {
		got, err = Load(d.Context(), a, r.Run)
		return err
	})
	if !got.Interrupted || did(got) != "x archived" || got.Transitions[0].From != Stale ||
		ended(got) != "memories/old.md" || got.Memories.Archived[0].Why != "expired on 2026-01-02" {
		t.Errorf("%+v", got)
	}
	if next := d.run(); next.Interrupted || did(next) != "" {
		t.Errorf("%+v", next)
	}
}

// What other clones say of use counts, unless it is broken, to come, or no counts.
func TestUseInOtherClonesCounts(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.skill("x", "")
	d.skill("y", "")
	d.days(95)
	counts := `{"v":1,"skills":{"x":{"uses":1,"used":%q},"y":{"uses":1,"used":"2999-01-01T00:00:00Z"},"z":[]}}`
	usage := filepath.Join(d.dir, ".stet", "usage")
	if err := os.MkdirAll(usage, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.json": fmt.Sprintf(counts, d.at.Add(-day).Format(time.RFC3339)),
		"b.json": "{{", "c.json": strings.Repeat("[", 1<<16), "d.json": `{"skills":{"y":{"used":"yes"}}}`} {
		if err := os.WriteFile(filepath.Join(usage, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d.git("add", "-A")
	d.git("commit", "-qm", "from elsewhere")
	if r := d.run(); did(r) != "y archived" {
		t.Error(did(r))
	}
}

// A person who edits a skill between the decision and the commit wins.
func TestAnEditMeanwhileWins(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.dirty()
	d.skill("x", "")
	d.skill("y", "")
	d.days(95)
	d.open(func(a *agent.App) error {
		r := &runner{a: a, v: mustPermit(t, a), begun: d.at, now: "20260101T000000Z",
			w: vault.Write{Writer: vault.Writer{Actor: Actor, AgentName: Actor}}}
		return edit(t.Context(), d, r)
	})
	if data, err := os.ReadFile(filepath.Join(d.dir, "skills/x/SKILL.md")); err != nil || string(data) != "mine\n" {
		t.Errorf("%q, %v", data, err)
	}
}

func edit(ctx context.Context, d *desk, r *runner) (err error) {
	if r.lib, err = read(ctx, r.v, d.at); err != nil {
		return err
	}
	actions, counts := Transitions(r.lib.rows, d.at, cutoffsOf(d.at, 30, 90))
	r.out = newReport(r, counts)
	if r.view, err = r.v.History().View(ctx, string(r.lib.base)); err != nil {
		return err
	}
	jobs, err := r.skillJobs(ctx, actions)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, "skills/x/SKILL.md"), []byte("mine\n"), 0o666); err != nil {
		return err
	}
	err = r.do(ctx, jobs, r.note)
	if did(r.out) != "y archived" || len(r.out.Left) != 1 || r.out.Left[0].Name != "x" {
		d.Errorf("%s, %+v", did(r.out), r.out.Left)
	}
	return err
}

// A run whose report cannot be written is reported by the next one.
func TestARunWithoutItsReportIsReportedLater(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.skill("x", "")
	d.days(95)
	if err := os.MkdirAll(filepath.Join(d.dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(d.dir, "logs", "curator")
	if err := os.Symlink(t.TempDir(), planted); err != nil {
		t.Skip("skip: no links")
	}
	head := d.git("rev-parse", "HEAD")
	d.open(func(a *agent.App) error {
		if _, err := Run(d.Context(), a, Options{}); err == nil {
			t.Error("a report behind a link")
		}
		return nil
	})
	if d.git("rev-parse", "HEAD") == head {
		t.Fatal("nothing was archived")
	}
	if err := os.Remove(planted); err != nil {
		t.Fatal(err)
	}
	d.runWith(Options{})
	if out := d.git("grep", "-l", "| x | active to archived", "--", "logs"); out == "" {
		t.Error("no report names it")
	}
}

// A merge that keeps a skill takes back that it was archived.
func TestAMergeThatKeepsASkillTakesItBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.skill("x", "")
	d.days(95)
	d.git("branch", "before")
	if r := d.run(); did(r) != "x archived" {
		t.Fatal(did(r))
	}
	main := d.git("branch", "--show-current")
	d.git("checkout", "-q", "before")
	d.git("commit", "-q", "--allow-empty", "-m", "side")
	d.git("merge", "-q", "-s", "ours", "-m", "keep mine", main)
	d.git("branch", "-f", main)
	d.git("checkout", "-q", main)
	if r := d.runWith(Options{Write: agent.Write{DryRun: true}}); did(r) != "" {
		t.Error(did(r))
	}
}
