package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stet/agent/clients"
)

// hookVault makes a vault with an index of 10,000 memories and 100,000 messages in 1,000 conversations below home.
func hookVault(b *testing.B, bin, home string) {
	b.Helper()
	if err := os.MkdirAll(home, 0o700); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	words := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "w%x ", rng.IntN(5000))
		}
		return strings.TrimSpace(text.String())
	}
	var notes, talks strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&notes, "{\"text\": \"Service %d listens on port %d: %s.\"}\n", i, 1000+i, words(25))
	}
	began := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		fmt.Fprintf(&talks, `{"session":"s%d","id":"%d","role":%q,"date":%q,"text":"%s"}`+"\n", i/100, i,
			[]string{"user", "assistant"}[i%2], began.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), words(30))
	}
	for name, text := range map[string]string{"notes.jsonl": notes.String(), "talks.jsonl": talks.String()} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	dir := filepath.Join(home, "vault")
	timed(b, home, home, bin, "init", dir)
	timed(b, home, dir, bin, "remember", "--plain", "--batch", filepath.Join(home, "notes.jsonl"))
	timed(b, home, dir, bin, "import", "jsonl", filepath.Join(home, "talks.jsonl"))
	timed(b, home, dir, bin, "reindex")
}

// BenchmarkHookProcess runs one process for each event of Claude Code, conversation by conversation, in a vault of
// 10,000 memories and 100,000 messages. It reports the median and the 99th percentile of each; the bounds are
// 300 ms for a start and 100 ms for any other, of 200 runs. STET_HOOK_RUNS is how many, else 200; STET_HOOK_HOME is a
// folder that keeps the vault between runs, which takes minutes to make.
func BenchmarkHookProcess(b *testing.B) {
	if os.Getenv("STET_FULL") == "" {
		b.Skip("skip: STET_FULL is not set")
	}
	bin, home := shipped(b), os.Getenv("STET_HOOK_HOME")
	if home == "" {
		home = b.TempDir()
	}
	dir := filepath.Join(home, "vault")
	if _, err := os.Stat(dir); err != nil {
		hookVault(b, bin, home)
	}
	runs, err := strconv.Atoi(os.Getenv("STET_HOOK_RUNS"))
	if err != nil {
		runs = 200
	}
	client, _ := clients.Find("claude-code")
	in := filepath.Join(b.TempDir(), "in")
	took := map[string][]float64{}
	began := time.Now().UnixNano()
	for b.Loop() {
		for i := range runs {
			for _, e := range client.Events {
				text := fmt.Sprintf(`{"session_id":"b%d-%d","cwd":%q,"source":"startup","prompt":"Which port does `+
					`service %d listen on?","last_assistant_message":"On port %d.","agent_id":"a1"}`,
					began, i, dir, i, 1000+i)
				if e.Event != "subagent-stop" {
					text = strings.Replace(text, `,"agent_id":"a1"`, "", 1)
				}
				if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
				line := fmt.Sprintf("STET_HOOKS_WORKER=false exec %s hook claude-code %s < %s", bin, e.Name, in)
				took[e.Name] = append(took[e.Name], timed(b, home, dir, "sh", "-c", line))
			}
		}
	}
	for name, ms := range took {
		slices.Sort(ms)
		b.ReportMetric(median(ms), "ms/"+name+"-p50")
		b.ReportMetric(ms[len(ms)*99/100], "ms/"+name+"-p99")
	}
}
