package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A megabyte of anything takes two seconds of a processor and 200 MB at most; of the bytes a
// process that only tells its version has some as well.
func TestAMegabyteOfAnythingIsRead(t *testing.T) {
	t.Parallel()
	const size, most, seconds = 1 << 20, 200 << 10, 2
	long := func(before, unit, after string) string { return before + strings.Repeat(unit, size/len(unit)) + after }
	texts := []string{long("---\ntags: [", "a,", "]\n---\n"), long("---\n", "{a: ", "\n---\n"),
		long("---\na: \"", "\x00", "\"\n---\n"),
		long("", "[", ""), long("[", "{},", "{}]"),
		long("{\"messages\":[", "{\"role\":\"user\"},", "{}]}"), long("{\"", "\xff", "\":1}")}
	for _, unit := range nasty() {
		texts = append(texts, long("", unit, ""))
	}
	if os.Getenv("STET_FULL") == "" {
		texts = texts[:1]
		for _, unit := range []string{"a\n", "# a\n", "`a_b`", "key="} {
			texts = append(texts, long("", unit, ""))
		}
		t.Log("5 of the texts (STET_FULL=1 takes all)")
	}
	home := t.TempDir()
	usage := func(dir string, in []byte, args ...string) (kib int64, took time.Duration) {
		cmd := exec.Command("stet", args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_AUTHOR_NAME=A",
			"GIT_AUTHOR_EMAIL=a@example.com"}
		_ = cmd.Run() // what it says of such a text is tested elsewhere
		s := cmd.ProcessState
		return s.SysUsage().(*syscall.Rusage).Maxrss, s.UserTime() + s.SystemTime()
	}
	floor, _ := usage(home, nil, "--version")
	worst, dearest := int64(0), time.Duration(0)
	for i, text := range texts {
		dir := filepath.Join(home, fmt.Sprint(i))
		usage(home, nil, "init", dir)
		for name, data := range map[string]string{"n.md": text, "../n.json": text} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, line := range append(readers()[:7], "update n --append x", "doctor", "links n", "import jsonl ../n.json",
			"import chatgpt ../n.json", "import openai ../n.json", "import mcp-memory ../n.json",
			"import basic-memory ../n.json") {
			kib, took := usage(dir, []byte(text), strings.Fields(line)...)
			worst, dearest = max(worst, kib-floor), max(dearest, took)
			// A busy machine counts up to twice the time.
			if kib-floor > most || took > 2*seconds*time.Second {
				t.Errorf("%.20q, stet %s: %d KB and %v", text, line, kib-floor, took)
			}
		}
	}
	t.Logf("at most %d KB above %d, and %v", worst, floor, dearest)
}
