package curator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stet/agent"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// Two thousand skills that are all due are archived within two seconds, each in a commit of its own, and a look that
// is not due takes no time. The second tier without a model takes ten at most.
func TestTwoThousandSkills(t *testing.T) {
	if os.Getenv("STET_FULL") == "" {
		t.Skip("skip: set STET_FULL=1")
	}
	vaulttest.NeedGit(t)
	const n = 2000
	d := newDesk(t)
	for i := range n {
		name := fmt.Sprintf("skill-%04d", i)
		dir := filepath.Join(d.dir, "skills", name)
		text := skillText(name, "metadata:\n  stet-created-by: agent\n") + fmt.Sprintf("Text of %d.\n", i)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d.git("add", "-A")
	d.git("commit", "-qm", "skills\n\nStet-Op: skill\nStet-Actor: agent\n")
	took := func(what string, most time.Duration, do func(context.Context, *agent.App) error) {
		t.Helper()
		d.open(func(a *agent.App) error {
			begun := time.Now()
			err := do(t.Context(), a)
			took := time.Since(begun)
			if t.Logf("%s: %v", what, took); took > most {
				t.Errorf("%s took %v, at most %v", what, took, most)
			}
			return err
		})
	}
	look := func(ctx context.Context, a *agent.App) error {
		r, err := IfDue(ctx, a, agent.Write{}, nil)
		if r != nil {
			t.Errorf("%s", did(r))
		}
		return err
	}
	took("the first look", 150*time.Millisecond, look)
	took("not due", 150*time.Millisecond, look)
	d.days(10)
	took("due, and nothing to do", time.Second, look)
	took("the second tier without a model", 10*time.Second, func(ctx context.Context, a *agent.App) error {
		r, err := Run(ctx, a, Options{Tier: 2})
		if err == nil && len(r.Suggested) == 0 {
			t.Error("no skills could be merged")
		}
		return err
	})
	for _, age := range []struct {
		days int
		to   State
	}{{30, Stale}, {60, Archived}} {
		d.days(age.days)
		took("all "+string(age.to), 2*time.Second, func(ctx context.Context, a *agent.App) error {
			r, err := Run(ctx, a, Options{})
			if err == nil && len(r.Transitions) != n {
				t.Errorf("%d transitions, %v", len(r.Transitions), r.Left)
			}
			return err
		})
	}
	d.days(1)
	took("after it", 2*time.Second, look)
	t.Logf("of \"all archived\", the bare fsyncs: %v", bareFsyncs(t, n))
}

// bareFsyncs is what a run that archives so many skills cannot save: each file is new, in a folder that is new.
func bareFsyncs(t *testing.T, n int) time.Duration {
	root, err := durable.OpenRoot(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	begun, batch := time.Now(), durable.Batch{}
	for i := range n {
		if err := batch.Create(root, "file", fmt.Sprint("waiting-", i), []byte("text\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Sync(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		dir := fmt.Sprint("skill-", i)
		err := root.MkdirAllLazy("file", dir, 0o777)
		if err == nil {
			err = root.Rename("file", fmt.Sprint("waiting-", i), dir+"/SKILL.md")
		}
		if err == nil {
			err = root.SyncDir("file", dir)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(begun)
}
