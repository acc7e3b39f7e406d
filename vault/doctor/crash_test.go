package doctor_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stet/vault"
	"stet/vault/doctor"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// hurt makes a vault whose git index lost an entry, whose objects lost a
// content, and in which an id stands twice.
func hurt(t *testing.T) *vaulttest.Fixture {
	t.Helper()
	text := "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nBody.\n"
	f := vaulttest.New(t, "memories/a.md", text, "memories/b.md", "b\n", "memories/c.md", "c\n")
	f.Write("memories/copy.md", text)
	if _, err := f.Open().Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	f.Git("rm", "--cached", "-q", "memories/b.md")
	packs := filepath.Join(f.Dir, ".git", "objects", "pack")
	found, err := filepath.Glob(filepath.Join(packs, "*.pack"))
	if err != nil || len(found) == 0 {
		t.Fatalf("packs: %v, %v", found, err)
	}
	aside := t.TempDir()
	for _, p := range found {
		name := filepath.Base(p)
		for _, err := range []error{os.Rename(p, filepath.Join(aside, name)), os.Remove(strings.TrimSuffix(p, ".pack") + ".idx")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		unpack(t, f.Dir, filepath.Join(aside, name))
	}
	id := strings.TrimSpace(f.Git("rev-parse", "HEAD:memories/c.md"))
	if err := os.Remove(filepath.Join(f.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	return f
}

func unpack(t *testing.T, dir, pack string) {
	t.Helper()
	file, err := os.Open(pack)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() // opened for reading only
	cmd := vaulttest.Command(dir, "unpack-objects", "-q")
	cmd.Stdin = file
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// Mending that fails at any step, of a full disk for instance, leaves a vault
// that the next attempt mends.
func TestMendingThatFailedIsDoneByTheNext(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	stride := 3
	if testing.Short() {
		stride = 11
	}
	for n := 1; ; n += stride {
		f, step := hurt(t), 0
		o := f.Options()
		o.Hook = func(s durable.Step) error {
			if step++; step >= n {
				return syscall.ENOSPC
			}
			return nil
		}
		v, err := vault.Open(t.Context(), f.Dir, o)
		var first doctor.Report
		if err == nil {
			first, err = doctor.Examine(t.Context(), v, doctor.Options{Fix: true})
			err = errors.Join(err, v.Close())
		}
		report, again := doctor.Examine(t.Context(), f.Open(), doctor.Options{Fix: true})
		if again != nil || len(report.Problems) > 0 {
			t.Fatalf("step %d (%v): %+v, %v", n, err, report, again)
		}
		if step < n {
			t.Logf("%d steps", step)
			return
		}
		if err == nil && len(first.Warnings)+len(first.Problems) == 0 {
			t.Errorf("step %d failed and nothing was reported", n)
		}
	}
}
