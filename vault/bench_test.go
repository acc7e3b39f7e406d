package vault_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable/durabletest"
	"stet/vault/vaulttest"
)

// BenchmarkUpdate publishes one changed file in process and, in the same run,
// makes the same change with the real git as "git add FILE && git commit -q
// -m x". It reports the ratio of the medians: against git as it comes, which
// fsyncs nothing here (x-git), and against git that syncs what we sync
// (x-git-fsync). The aim is 0.35 x-git; TMPDIR on a RAM disk shows the part that
// is not the disk's. The fsyncs of one commit are counted as well. STET_FULL=1
// takes 100,000 files as well.
func BenchmarkUpdate(b *testing.B) {
	sizes := []int{1000, 10_000}
	if full() {
		sizes = append(sizes, 100_000)
	}
	for _, files := range sizes {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			vaulttest.NeedGit(b)
			f := vaulttest.New(b, corpus(files)...)
			f.LeaveDirty()
			var syncs durabletest.Counter
			o := f.Options()
			o.Now = time.Now
			v := f.OpenWith(o)
			other := filepath.Join(b.TempDir(), "git")
			if out, err := exec.Command("cp", "-a", f.Dir, other).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
			settle(b, other)
			var ours, theirs, durable []float64
			for i := 0; b.Loop(); i++ {
				p := vault.Path(fmt.Sprintf("notes/d%03d/n%d.md", i%200, i%200))
				text := fmt.Sprintf("changed %d\n", i)
				start := time.Now()
				update(b, v, p, text)
				ours = append(ours, float64(time.Since(start)))
				b.StopTimer()
				theirs = append(theirs, gitCommit(b, other, p, text))
				durable = append(durable, gitCommit(b, other, p, text+"again\n", "-c", "core.fsync=all"))
				b.StartTimer()
			}
			o.Hook = syncs.Hook
			counted := f.OpenWith(o)
			var each []float64 // some few commits merge packs as well
			for i := range 9 {
				was := syncs.Syncs()
				update(b, counted, "notes/d000/n0.md", fmt.Sprintf("counted %d\n", i))
				each = append(each, float64(syncs.Syncs()-was))
			}
			b.ReportMetric(median(ours)/median(theirs), "x-git")
			b.ReportMetric(median(ours)/median(durable), "x-git-fsync")
			b.ReportMetric(median(ours)/1e6, "ms/update")
			b.ReportMetric(median(theirs)/1e6, "ms/git")
			b.ReportMetric(median(each), "fsyncs")
		})
	}
}

// settle waits until the git index of a copied repository is no longer racy,
// and lets git refresh it once, so that git is measured at its best.
func settle(b *testing.B, dir string) {
	b.Helper()
	time.Sleep(1100 * time.Millisecond) // one tick of git's whole-second clock
	if out, err := vaulttest.Git(dir, "status", "--porcelain"); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
}

func update(b testing.TB, v *vault.Vault, p vault.Path, text string) {
	b.Helper()
	why := vault.Why{Op: vault.OpUpdate, Subject: string(p)}
	_, err := v.Transact(b.Context(), why, false, func(tx *vault.Tx) error {
		_, was, err := tx.Read(p)
		if err != nil {
			return err
		}
		return tx.Put(p, was, []byte(text))
	})
	if err != nil {
		b.Fatal(err)
	}
}

// gitCommit returns the nanoseconds that writing, adding and committing take.
func gitCommit(b *testing.B, dir string, p vault.Path, text string, config ...string) float64 {
	b.Helper()
	start := time.Now()
	if err := os.WriteFile(filepath.Join(dir, string(p)), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	for _, args := range [][]string{{"add", string(p)}, {"commit", "-q", "-m", "x"}} {
		if out, err := vaulttest.Git(dir, append(slices.Clone(config), args...)...); err != nil {
			b.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return float64(time.Since(start))
}

// corpus makes n notes of about 1 KB in 200 folders.
func corpus(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	files := make([]string, 0, 2*n)
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "# Note %d\n\n", i)
		for range 150 {
			fmt.Fprintf(&text, "w%x ", rng.IntN(5000))
		}
		files = append(files, fmt.Sprintf("notes/d%03d/n%d.md", i%200, i), text.String()+"\n")
	}
	return files
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)/2]
}
