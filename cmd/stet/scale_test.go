package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStatusProcess runs one "stet status" process and, right after it, one
// "git status" without its cache of untracked files. It reports the ratio of the
// medians.
func BenchmarkStatusProcess(b *testing.B) {
	if !hasGit() {
		b.Skip("skip: the ratio needs the real git")
	}
	bin, home := shipped(b), b.TempDir()
	dir := filepath.Join(home, "vault")
	corpus(b, dir, 10_000)
	timed(b, home, home, bin, "init", dir)
	time.Sleep(1100 * time.Millisecond) // git's index is no longer racy
	timed(b, home, dir, "git", "status", "--porcelain")
	var ours, theirs []float64
	for b.Loop() {
		for range 10 {
			ours = append(ours, timed(b, home, dir, bin, "status"))
			theirs = append(theirs, timed(b, home, dir, "git", "-c", "core.untrackedCache=false", "status"))
		}
	}
	b.ReportMetric(median(ours)/median(theirs), "x-git")
	b.ReportMetric(median(ours), "ms/status")
}

// anon is the memory of a process's own in MB, 0 when it is gone.
func anon(pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "RssAnon:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	return float64(kb) / 1024
}

// most looks at a process's own memory until ctx ends and returns the most.
func most(ctx context.Context, pid int) (peak float64) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return peak
		case <-look.C:
			peak = max(peak, anon(pid))
		}
	}
}

// What commands and a watcher hold in memory, and how soon an edit can be found,
// in vaults of 10,000 and 100,000 files.
func TestWhatLargeVaultsTake(t *testing.T) {
	if os.Getenv("STET_FULL") == "" {
		t.Skip("skip: STET_FULL=1 runs it; it takes minutes")
	}
	if anon(os.Getpid()) == 0 {
		t.Skip("skip: there is no /proc here to ask for memory")
	}
	bin := shipped(t)
	for files, bound := range map[int]float64{10_000: 60, 100_000: 150} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(home, "vault")
			corpus(t, dir, files)
			timed(t, home, home, bin, "init", dir)
			timed(t, home, dir, bin, "reindex")
			for _, args := range [][]string{{"status"}, {"search", "w10"}, {"list"}, {"review"},
				{"remember", "the gate code is 4711"}, {"adopt"}, {"diff"}, {"undo"}} {
				cmd := exec.Command(bin, args...)
				cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ctx, end := context.WithCancel(t.Context())
				peak := make(chan float64, 1)
				go func() { peak <- most(ctx, cmd.Process.Pid) }()
				err := cmd.Wait()
				end()
				mb := <-peak
				t.Logf("stet %s: %.0f MB", args[0], mb)
				if err != nil || mb > bound {
					t.Errorf("stet %s: %v, %.0f MB, at most %.0f", args[0], err, mb, bound)
				}
			}
			watched(t, bin, home, dir)
		})
	}
}

// watched follows a vault and edits one file after the other. The times are
// reported; the memory is bounded.
func watched(t *testing.T, bin, home, dir string) {
	const bound, edits = 60, 9
	cmd := exec.CommandContext(t.Context(), bin, "watch", "--json")
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	peak := make(chan float64, 1)
	go func() { peak <- most(ctx, cmd.Process.Pid) }()
	events := bufio.NewScanner(out)
	until := func(kind string) {
		for events.Scan() {
			var e struct{ Event string }
			if err := json.Unmarshal(events.Bytes(), &e); err != nil {
				t.Fatal(err)
			}
			if e.Event == kind {
				return
			}
		}
		t.Fatalf("the watcher ended before %q", kind)
	}
	until("started")
	var took []float64
	for i := range edits {
		file := filepath.Join(dir, "notes", fmt.Sprintf("d%03d", i), fmt.Sprintf("n%d.md", i))
		start := time.Now()
		if err := os.WriteFile(file, fmt.Appendf(nil, "edit number %d\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
		until("indexed")
		took = append(took, float64(time.Since(start).Milliseconds()))
	}
	until("committed")
	now := anon(cmd.Process.Pid)
	end()
	mb := <-peak
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Logf("the watcher ended with %v", err)
	}
	t.Logf("stet watch: %.0f MB at most, %.0f at the end; an edit is indexed after %.0f ms (median of %.0f)", mb, now,
		median(took), took)
	if mb > bound {
		t.Errorf("stet watch held %.0f MB, at most %d", mb, bound)
	}
}
