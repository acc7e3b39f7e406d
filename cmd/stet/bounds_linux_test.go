package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A bounded command and what it reads from standard input; TEXT is as much of the text as an
// argument may be. Each of many notes is compared with 16, so 500 take several times as long as one.
type bounded struct {
	line string
	in   func(text string) string
	many bool
}

func boundedCommands() []bounded {
	same, none := func(s string) string { return s }, func(string) string { return "" }
	tool := func(key string) func(string) string {
		return func(s string) string { return line(map[string]any{key: s}) }
	}
	all := []bounded{
		{"remember --batch -", batch, true}, {"tool call memory_save -", items, true},
		{"remember -", same, false}, {"remember --batch -", same, false},
		{"observe --session s --role user -", same, false},
		{"tool call memory_save -", tool("text"), false}, {"tool call memory_search -", tool("query"), false},
		{"tool call history -", same, false}, {"mcp", same, false},
	}
	for _, line := range []string{"remember -- TEXT", "new decision -- TEXT", "search a", "search -- TEXT", "list",
		"show n", "reindex", "context", "status", "update n --append x", "doctor", "links n", "adopt --all",
		"session search a", "session end s", "import jsonl ../talk.json"} {
		all = append(all, bounded{line, none, false})
	}
	for _, source := range []string{"jsonl", "chatgpt", "openai", "mcp-memory", "basic-memory", "codex", "claude-code",
		"hermes"} {
		all = append(all, bounded{"import " + source + " ../n.json", none, false})
	}
	return append(all, bounded{"skill lint", none, false})
}

// boundedTexts are made one at a time: the largest process before a child counts as the child's.
func boundedTexts(size int) (texts []func() string) {
	long := func(before, unit, after string) {
		texts = append(texts, func() string { return before + strings.Repeat(unit, size/len(unit)) + after })
	}
	units := nasty()
	if os.Getenv("STET_FULL") == "" {
		units = []string{"`a_b`", "\ufdfa"}
	}
	for _, unit := range units {
		long("", unit, "")
	}
	long("---\ntags: [", "a,", "]\n---\n")
	if os.Getenv("STET_FULL") == "" {
		return texts
	}
	long("---\n", "{a: ", "\n---\n")
	long("---\na: \"", "\x00", "\"\n---\n")
	long("", "[", "")
	long("[", "{},", "{}]")
	long("{\"messages\":[", "{\"role\":\"user\"},", "{}]}")
	long("{\"", "\xff", "\":1}")
	for n := range 200 {
		texts = append(texts, func() string { return grammar(n, size) })
	}
	return texts
}

// A megabyte of anything takes two seconds of a processor and 200 MB at most; of the bytes a
// process that only tells its version has some as well.
func TestAMegabyteOfAnythingIsRead(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	texts, home, every := boundedTexts(size), t.TempDir(), 4
	if os.Getenv("STET_FULL") != "" {
		every = 1
	}
	t.Logf("%d texts, each with one in %d commands (STET_FULL=1 takes 243, and all)", len(texts), every)
	for i, text := range texts {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			readMegabyte(t, filepath.Join(home, fmt.Sprint(i), "vault"), text(), i, every)
		})
	}
}

// readMegabyte gives text number i to one in so many commands.
func readMegabyte(t *testing.T, dir, text string, i, every int) {
	const most, seconds = 200 << 10, 2
	put := func(name, data string) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("n.md", "Nothing.\n")
	usage(t, dir, "", "init")
	put("n.md", text)
	put("../n.json", text)
	put("../talk.json", talk(text))
	floor, _ := usage(t, dir, "", "--version")
	worst, dearest := int64(0), time.Duration(0)
	for k, c := range boundedCommands() {
		if (i+k)%every != 0 || c.many && every > 1 {
			continue
		}
		if c.line == "skill lint" { // the last one: the others have one megabyte to read
			put("skills/x/SKILL.md", text)
		}
		args := strings.Fields(c.line)
		if last := len(args) - 1; args[last] == "TEXT" {
			args[last] = strings.ReplaceAll(text[:100_000], "\x00", "")
		}
		kib, took := usage(t, dir, c.in(text), args...)
		worst, dearest = max(worst, kib-floor), max(dearest, took)
		bound := 2 * seconds * time.Second // a busy machine counts up to twice the time
		if c.many {
			bound *= 2
		}
		say := t.Logf // what is beyond the bound on a busy machine
		if kib-floor > most || took > bound {
			say = t.Errorf
		}
		if kib-floor > most || took > seconds*time.Second {
			say("text %d, %.40q, stet %s: %d KB and %v", i, text, c.line, kib-floor, took)
		}
	}
	t.Logf("%.40q: at most %d KB and %v", text, worst, dearest)
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
}

// usage runs a command in dir and returns the most memory that it had and its time of a processor.
func usage(t *testing.T, dir, in string, args ...string) (kib int64, took time.Duration) {
	t.Helper()
	// The most memory of this process counts as the child's, unless it is forgotten.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	cmd := exec.Command("stet", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(dir), "GIT_AUTHOR_NAME=A",
		"GIT_AUTHOR_EMAIL=a@example.com"}
	_ = cmd.Run() // what it says of such a text is tested elsewhere
	s := cmd.ProcessState
	if s == nil {
		t.Fatalf("stet %.80q did not start", args)
	}
	return s.SysUsage().(*syscall.Rusage).Maxrss, s.UserTime() + s.SystemTime()
}

// What many large notes of one call cost is bounded together: each is compared with what resembles it, and each that
// reads like an order is put on record.
func TestABatchOfLargeNotesIsBounded(t *testing.T) {
	t.Parallel()
	const size, most = 1 << 19, 4 * time.Second // of a processor: on a busy machine twice what it takes
	units := []string{"]token is x%d", "not #\n- ( )`a_b`&a w%d\n", "My port is %d.\n"}
	for i, unit := range units {
		var text strings.Builder
		for n := 0; text.Len() < size; n++ {
			fmt.Fprintf(&text, unit, n)
		}
		dir := filepath.Join(t.TempDir(), "vault")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		usage(t, dir, "", "init")
		if _, took := usage(t, dir, batch(text.String()), "remember", "--batch", "-"); took > most {
			t.Errorf("text %d, %q: %v", i, unit, took)
		}
	}
}

// Each note of a batch is compared with each text that was rejected, and each of those is read once.
func TestABatchBesideManyRejectedTextsIsBounded(t *testing.T) {
	t.Parallel()
	const rejected, notes, most = 3000, 500, 4 * time.Second // of a processor; about one where nothing else runs
	texts := func(from, n int) (lines string) {
		for i := range n {
			words := []string{"The", "lamp"}
			for k := range 10 {
				words = append(words, fmt.Sprintf("w%d", (from+i)*(k+7)%997))
			}
			lines += line(map[string]any{"text": strings.Join(words, " ")})
		}
		return lines
	}
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	usage(t, dir, "", "init")
	usage(t, dir, texts(0, rejected), "remember", "--as", "bot", "--plain", "--batch", "-")
	usage(t, dir, "", "undo")
	if all, err := os.ReadDir(filepath.Join(dir, ".stet", "tombstones")); err != nil || len(all) == 0 {
		t.Fatalf("%v, %v: nothing was rejected", all, err)
	}
	if _, took := usage(t, dir, texts(rejected, notes), "remember", "--as", "bot", "--batch", "-"); took > most {
		t.Errorf("%v beside %d texts that were rejected", took, rejected)
	}
}
