package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Import alone on a terminal brings in what the user names.
func TestImportAsksWhatToBringIn(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	dir := filepath.Join(s.env["HOME"], "claude", "projects", "-p")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","uuid":"u","timestamp":"2026-03-02T09:00:00Z","sessionId":"s1",` +
		`"message":{"role":"user","content":"Fix the tide table."}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "s1.jsonl"), []byte(line), 0o666); err != nil {
		t.Fatal(err)
	}
	s.env["CLAUDE_CONFIG_DIR"] = filepath.Dir(filepath.Dir(dir))
	out, talk := s.run(0, "\n", "import")
	const asks = "Bring in which? [claude-code; all; Enter for none] "
	if !strings.Contains(talk, asks) || strings.Contains(out, "added") {
		t.Errorf("asked %q, said %q", talk, out)
	}
	long := func(l string) bool { return len([]rune(l)) > 80 && !strings.Contains(l, ", in ") }
	if lines := strings.Split(out, "\n"); len(lines) > 20 || slices.ContainsFunc(lines, long) {
		t.Errorf("it does not fit a screen: %q", out)
	}
	s.run(2, "claude-cod\n", "import")
	if out, _ = s.run(0, "claude-code\n", "import"); !strings.Contains(out, "claude-code: 1 read, 1 new") {
		t.Errorf("by name: %q", out)
	}
	if out, _ = s.run(0, "all\n", "import"); !strings.Contains(out, "claude-code: 1 read, 0 new") {
		t.Errorf("all: %q", out)
	}
	out, talk = s.run(0, "\n", "import")
	if !strings.Contains(talk, "none; Enter for claude-code]") || !strings.Contains(out, "claude-code: 1 read, 0 new") {
		t.Errorf("as before: asked %q, said %q", talk, out)
	}
	s.run(0, "none\n", "import")
	if out, talk = s.run(0, "\n", "import"); !strings.Contains(talk, asks) || strings.Contains(out, "1 read") {
		t.Errorf("after none: asked %q, said %q", talk, out)
	}
}
