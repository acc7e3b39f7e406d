package lineage_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"stet/vault/vaulttest"
)

// BenchmarkHistory lists the versions of one of 10,000 files over 10,000
// commits kept as loose objects, eleven of which changed it, and right before
// each run lets git do the same: "git log --follow --format=%H -- PATH". It
// reports the ratio of the sums. The aim is at most 1.5 x-git.
func BenchmarkHistory(b *testing.B) {
	vaulttest.NeedGit(b)
	f := vaulttest.New(b)
	f.LeaveDirty()
	const files, commits = 10_000, 10_000
	name := func(i int) string { return fmt.Sprintf("notes/d%03d/n%d.md", i%200, i) }
	var s strings.Builder
	put := func(i int, text string) {
		fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", name(i), len(text), text)
	}
	start := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Unix()
	for n := range commits + 1 {
		fmt.Fprintf(&s, "commit refs/heads/main\ncommitter Ada <ada@example.org> %d +0000\ndata 2\nx\n", start+int64(n))
		if n == 0 {
			fmt.Fprintf(&s, "from %s\n", strings.TrimSpace(f.Git("rev-parse", "HEAD")))
			for i := range files {
				put(i, fmt.Sprintf("file %d\n", i))
			}
			continue
		}
		i := (n * 7919) % files
		if n%(commits/10) == 0 {
			i = 4711
		}
		put(i, fmt.Sprintf("file %d, commit %d\n", i, n))
	}
	cmd := exec.Command("git", "-C", f.Dir, "-c", "fastimport.unpackLimit=1000000", "fast-import", "--quiet", "--force")
	cmd.Stdin = strings.NewReader(s.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	v := f.Open()
	var ours, theirs time.Duration
	for b.Loop() {
		b.StopTimer()
		from := time.Now()
		want := strings.Fields(f.Git("log", "--follow", "--format=%H", "--", name(4711)))
		theirs += time.Since(from)
		b.StartTimer()
		from = time.Now()
		got := 0
		for _, err := range v.History().Versions(b.Context(), "", "notes/d111/n4711.md") {
			if err != nil {
				b.Fatal(err)
			}
			got++
		}
		ours += time.Since(from)
		if got != len(want) || got < 11 {
			b.Fatalf("%d versions, git has %d", got, len(want))
		}
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-git")
	b.ReportMetric(float64(ours.Milliseconds())/float64(b.N), "ms/history")
}
