package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"stet/index"
	"stet/vault"
)

// BenchmarkSearchProcess runs one "stet search" process, the walk that keeps it
// fresh included, and right after it one "rg -i" over the same files. It reports
// the ratio of the medians; the bounds are 0.8 at 7,425 files, which are
// the real vault that STET_DATA names, and 0.6 at 100,000 (STET_FULL).
func BenchmarkSearchProcess(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("skip: the ratio needs ripgrep")
	}
	bin := shipped(b)
	made := func(n int) func(*testing.B, string) []string {
		return func(b *testing.B, home string) []string {
			corpus(b, filepath.Join(home, "vault"), n)
			return []string{"w1f", "w2a7", "note 77"}
		}
	}
	for name, fill := range map[string]func(*testing.B, string) []string{
		"10000": made(10_000),
		"100000": func(b *testing.B, home string) []string {
			if os.Getenv("STET_FULL") == "" {
				b.Skip("skip: STET_FULL is not set")
			}
			return made(100_000)(b, home)
		},
		"real": func(b *testing.B, home string) []string {
			data := os.Getenv("STET_DATA")
			if data == "" {
				b.Skip("skip: STET_DATA is not set")
			}
			if err := untar(filepath.Join(data, "vault-tldr.tar.gz"), home); err != nil {
				b.Fatal(err)
			}
			if err := os.Rename(filepath.Join(home, "tldr"), filepath.Join(home, "vault")); err != nil {
				b.Fatal(err)
			}
			return []string{"archive", "password", "network"}
		},
	} {
		b.Run(name, func(b *testing.B) {
			home := b.TempDir()
			dir, questions := filepath.Join(home, "vault"), fill(b, home)
			timed(b, home, home, bin, "init", dir)
			timed(b, home, dir, bin, "reindex")
			time.Sleep(3 * time.Second) // nothing is racy any more
			timed(b, home, dir, bin, "search", "warm")
			var ours, theirs []float64
			for i := 0; b.Loop(); i++ {
				q := questions[i%len(questions)]
				ours = append(ours, timed(b, home, dir, bin, "search", q))
				theirs = append(theirs, timed(b, home, dir, rg, "-i", "--", q, "."))
			}
			b.ReportMetric(median(ours)/median(theirs), "x-rg")
			b.ReportMetric(median(ours), "ms/search")
			b.ReportMetric(median(theirs), "ms/rg")
		})
	}
}

// BenchmarkFresh is the look at the disk that every search begins with where
// nothing changed, in a process that has the index open, and beside it "find",
// which looks at every file as well. The bounds are 20 ms at 10,000 files
// and 130 at 100,000, which STET_FULL=1 takes as well.
func BenchmarkFresh(b *testing.B) {
	bin := shipped(b)
	sizes := []int{10_000}
	if os.Getenv("STET_FULL") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, files := range sizes {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			home := b.TempDir()
			dir := filepath.Join(home, "vault")
			corpus(b, dir, files)
			timed(b, home, home, bin, "init", dir)
			timed(b, home, dir, bin, "reindex")
			time.Sleep(3 * time.Second) // nothing is racy any more
			timed(b, home, dir, bin, "search", "warm")
			b.Setenv("HOME", home)
			v, err := vault.Open(b.Context(), dir, vault.Options{Now: time.Now, Env: os.Getenv})
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			x, err := index.Open(v, index.Options{Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			var ours, theirs []float64
			for b.Loop() {
				began := time.Now()
				stats, err := x.CatchUp(b.Context())
				if err != nil || stats.Added+stats.Changed+stats.Removed > 0 || stats.Total != files {
					b.Fatalf("%+v %v", stats, err)
				}
				ours = append(ours, float64(time.Since(began).Microseconds())/1000)
				theirs = append(theirs, timed(b, home, dir, "find", ".", "-size", "+9G"))
			}
			b.ReportMetric(median(ours), "ms/fresh")
			b.ReportMetric(slices.Min(ours), "ms/best")
			b.ReportMetric(median(theirs), "ms/find")
		})
	}
}

// BenchmarkObserveProcess runs one "stet observe" process beside a session that
// grows. It reports the median and the 95th percentile; the bound is 30 ms.
func BenchmarkObserveProcess(b *testing.B) {
	bin, home := shipped(b), b.TempDir()
	dir := filepath.Join(home, "vault")
	corpus(b, dir, 1000)
	timed(b, home, home, bin, "init", dir)
	var took []float64
	for i := 0; b.Loop(); i++ {
		took = append(took, timed(b, home, dir, bin, "observe", "--session", "s", "--role", "user",
			fmt.Sprintf("turn %d of a conversation", i)))
	}
	slices.Sort(took)
	b.ReportMetric(median(took), "ms/p50")
	b.ReportMetric(took[len(took)*95/100], "ms/p95")
}
