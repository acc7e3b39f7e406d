package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// shipped builds the command as the README does: the test binary carries the test
// framework and would start slower.
func shipped(tb testing.TB) string {
	tb.Helper()
	bin := filepath.Join(tb.TempDir(), "stet")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// timed runs a command line and returns its milliseconds.
func timed(tb testing.TB, home, dir, name string, args ...string) float64 {
	tb.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_AUTHOR_NAME=T",
		"GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@example.com", "GIT_CONFIG_NOSYSTEM=1"}
	start := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		tb.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return float64(took.Microseconds()) / 1000
}

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	return sorted[len(sorted)/2]
}

// Starting is felt in every call an agent makes. The bound of 20 ms is taken of
// the fastest of many runs, so that a busy machine does not decide the test, and of
// the test binary, which starts slower than what is shipped.
func TestHelpStartsFast(t *testing.T) {
	if raced() {
		t.Skip("skip: the race detector starts slowly")
	}
	home := t.TempDir()
	best := 1e9
	for range 30 {
		best = min(best, timed(t, home, home, "stet", "--help"))
	}
	t.Logf("stet --help: %.1f ms", best)
	if best > 20 {
		t.Errorf("stet --help takes %.1f ms, the bound is 20", best)
	}
}

// raced reports whether this test runs under the race detector.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// BenchmarkRememberProcess runs one "stet remember" process, search index
// included, and in the same run makes the same change with the real git as "git
// add FILE && git commit -q -m x". It reports the ratio of the medians. Issue
// bound: 2.2 at 1,000 files, 1.2 at 10,000, 0.5 at 100,000, which STET_FULL=1 takes
// as well.
func BenchmarkRememberProcess(b *testing.B) {
	if !hasGit() {
		b.Skip("skip: the ratio needs the real git")
	}
	bin := shipped(b)
	sizes := []int{1000, 10_000}
	if os.Getenv("STET_FULL") != "" {
		sizes = append(sizes, 100_000)
	}
	for _, files := range sizes {
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			home := b.TempDir()
			ours, theirs := filepath.Join(home, "ours"), filepath.Join(home, "theirs")
			corpus(b, ours, files)
			timed(b, home, home, bin, "init", ours)
			timed(b, home, ours, bin, "reindex")
			timed(b, home, home, "cp", "-a", ours, theirs)
			time.Sleep(1100 * time.Millisecond) // git's index is no longer racy
			timed(b, home, theirs, "git", "status", "--porcelain")
			var a, g []float64
			for i := 0; b.Loop(); i++ {
				text := fmt.Sprintf("remembered number %d", i)
				a = append(a, timed(b, home, ours, bin, "remember", text))
				file := fmt.Sprintf("memories/remembered-number-%d.md", i)
				write := fmt.Sprintf("mkdir -p memories && printf 'id: %d\\n%s\\n' > %s", i, text, file)
				timed(b, home, theirs, "sh", "-c", write)
				g = append(g,
					timed(b, home, theirs, "git", "add", file)+timed(b, home, theirs, "git", "commit", "-q", "-m", "x"))
			}
			b.ReportMetric(median(a)/median(g), "x-git")
			b.ReportMetric(median(a), "ms/remember")
			b.ReportMetric(median(g), "ms/git")
		})
	}
}

// corpus writes n notes of about 1 KB into 200 folders.
func corpus(tb testing.TB, dir string, n int) {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var text strings.Builder
		fmt.Fprintf(&text, "# Note %d\n\n", i)
		for range 150 {
			fmt.Fprintf(&text, "w%x ", rng.IntN(5000))
		}
		sub := filepath.Join(dir, "notes", fmt.Sprintf("d%03d", i%200))
		if err := os.MkdirAll(sub, 0o777); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("n%d.md", i)), []byte(text.String()+"\n"),
			0o666); err != nil {
			tb.Fatal(err)
		}
	}
}
