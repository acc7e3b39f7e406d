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
	"stet/vault/vaulttest"
)

// A counter counts how often a model is asked.
type counter struct {
	model
	asked int
	fails error
}

func (c *counter) Run(ctx context.Context, job fork.Job) (fork.Result, error) {
	if c.asked++; c.fails != nil {
		return fork.Result{}, c.fails
	}
	return c.model.Run(ctx, job)
}

// look is what "stet watch" does after so many days.
func (d *desk) look(days int, m fork.Runner) (r *Report) {
	d.Helper()
	d.days(days)
	d.open(func(a *agent.App) (err error) {
		r, err = IfDue(d.Context(), a, agent.Write{}, m)
		if m, ok := m.(*counter); ok && errors.Is(err, m.fails) {
			err = nil
		}
		return err
	})
	return r
}

// The curator asks a model by itself once in seven days, first after seven, in whatever clone of a vault that is pulled
// and also where that fails; and leaves no run where it has nothing to ask.
func TestTheSecondTierIsMadeOnceAWeek(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d, m := shelf(t), &counter{model: honest}
	for day := range 8 { // the first look is deferred for a day, the first merge for a week
		if r := d.look(1, m); r != nil || m.asked != 0 {
			t.Fatalf("day %d: asked %d times, %+v", day, m.asked, r)
		}
	}
	other := deskAt(t, filepath.Join(t.TempDir(), "other"))
	if err := os.CopyFS(other.dir, os.DirFS(d.dir)); err != nil {
		t.Fatal(err)
	}
	other.at = d.at
	failing := &counter{fails: errors.New("it ended by itself")}
	if r := d.look(1, failing); failing.asked != 1 || r == nil || r.LLMError == "" || len(r.Commits) != 0 {
		t.Fatalf("a model that fails: asked %d times, %+v", failing.asked, r)
	}
	if all, err := os.ReadDir(filepath.Join(d.dir, Folder)); err != nil || len(all) != 1 {
		t.Errorf("%d reports, %v", len(all), err)
	}
	other.git("pull", "-q", "--ff-only", d.dir, "HEAD")
	for range 6 {
		if d.look(1, m); m.asked != 0 {
			t.Fatal("asked again within a week of a failure")
		}
		if other.look(1, m); m.asked != 0 {
			t.Fatal("asked in a clone that has the report")
		}
	}
	const both = "git-bisect>git-history git-rebase>git-history"
	if r := d.look(1, m); m.asked != 1 || names(r.Consolidated, true) != both {
		t.Fatalf("after a week: asked %d times, %+v", m.asked, r)
	}
	if r := d.look(8, m); r != nil || m.asked != 1 {
		t.Errorf("with nothing to ask: asked %d times, %+v", m.asked, r)
	}
	if r := d.look(30, nil); r != nil && (r.Model != "" || len(r.Suggested) > 0) {
		t.Errorf("without a model: %+v", r)
	}
}

// That a model was asked about memories alone puts off no merge of skills.
func TestMemoriesPutOffNoMergeOfSkills(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d, m := shelf(t), &counter{model: honest}
	for range 2 { // the first look is deferred
		d.look(1, m)
	}
	d.note(1, "house/tea", tea)
	d.note(2, "house/second", teaToo)
	d.days(6)
	if r := d.mergeMemories(joins(tea, tea, teaToo)); became(r) == "" {
		t.Fatalf("%+v", r.Memories)
	}
	if r := d.look(1, m); m.asked != 1 || names(r.Consolidated, true) == "" {
		t.Errorf("asked %d times, %+v", m.asked, r)
	}
}

// Clusters that do not fit into one run take turns, whatever became of those before, and --memories asks about no
// skill.
func TestClustersTakeTurns(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	long := func(about string) string { // two of them are most of what one run asks about
		var out strings.Builder
		for i := range 900 {
			fmt.Fprintf(&out, "Step %d of %s is said here.\n", i, about)
		}
		return out.String()
	}
	for _, memories := range []bool{false, true} {
		d := newDesk(t)
		for n, about := range []string{"baking", "baking", "sailing", "sailing", "weaving", "weaving"} {
			name := fmt.Sprintf("%s-%d", about, n)
			if memories {
				d.note(n, "house/"+name, long(about)+name)
			} else {
				d.teach(name, "home", long(about), nil)
			}
		}
		if memories {
			d.teach("git-bisect", "dev", bisect, nil)
			d.teach("git-rebase", "dev", rebase, nil)
		}
		var asked []string
		bad := model(func(job fork.Job) fork.Result {
			var about []string
			for _, c := range job.Clusters {
				for _, s := range job.Skills {
					if text := string(s.Files["SKILL.md"].Data); s.Name == c.Names[0] {
						_, text, _ = strings.Cut(text, "Step 0 of ")
						about = append(about, append(strings.Fields(text), s.Name)[0])
					}
				}
			}
			asked = append(asked, strings.Join(about, " "))
			return fork.Result{Final: "I cannot."}
		})
		for range 4 {
			d.days(8)
			d.runWith(Options{Consolidate: !memories, Memories: memories, Runner: bad})
		}
		if want := []string{"baking", "sailing", "weaving", "baking"}; !slices.Equal(asked, want) {
			t.Errorf("memories %v: asked about %q, want %q", memories, asked, want)
		}
	}
}

// A look at which nothing is done leaves no commit, but the report of a model that was asked, once a week: other clones
// read in it when that was. By hand each run leaves its report, and nothing else.
func TestHistoryGrowsByReportsAlone(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	m := &counter{model: func(fork.Job) fork.Result { return fork.Result{Final: "I cannot."} }}
	commits := func() []string { return strings.Split(d.git("log", "--format=%s"), "\n") }
	before := len(commits())
	for range 22 { // the first look is deferred for a day, the first merge for a week
		d.look(1, m)
	}
	if now := commits(); m.asked != 2 || len(now) != before+2 {
		t.Errorf("asked %d times, commits:\n%s", m.asked, strings.Join(now, "\n"))
	}
	before = len(commits())
	for range 3 {
		d.runWith(Options{Consolidate: true, Runner: m})
	}
	if now := commits(); len(now) != before+3 || now[0] != "report: nothing done: the model merged nothing" {
		t.Errorf("by hand:\n%s", strings.Join(now, "\n"))
	}
}

// A person's run whose note in local state cannot be read or written does what it finds, and says so.
func TestARunGoesOnWithoutItsMark(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := shelf(t)
	d.skill("old", "")
	d.look(1, nil)
	d.days(100)
	marks, err := filepath.Glob(filepath.Join(d.dir, ".git/stet/*/seen/curator"))
	if err != nil || len(marks) != 1 {
		t.Fatal(marks, err)
	}
	if err := errors.Join(os.Remove(marks[0]), os.MkdirAll(filepath.Join(marks[0], "x"), 0o777)); err != nil {
		t.Fatal(err)
	}
	if r := d.run(); !strings.Contains(did(r), "old archived") || len(r.Left) != 1 ||
		r.Left[0].Name != "the note of this run in local state" {
		t.Errorf("%s, left %+v", did(r), r.Left)
	}
}
