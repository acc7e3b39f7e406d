package main

import (
	"strings"
	"testing"
)

// A conversation takes a line of a terminal; what is said is broken at spaces, and what tools say is not.
func TestOnATerminalConversationsFitItsLines(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	s.env["NO_COLOR"] = "1"
	long := strings.Repeat("word ", 40) + "end"
	s.run(0, "", "observe", "--session", "a", "--role", "user", "--project", "/home/dev/some/where/shop", long)
	s.run(0, "", "observe", "--session", "a", "--role", "tool", "--project", "/home/dev/some/where/shop", long)
	out, _ := s.run(0, "", "session", "list")
	if n := len([]rune(strings.TrimRight(out, "\n"))); n > 80 || strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, "…  shop  open") {
		t.Errorf("%d columns:\n%s", n, out)
	}
	id := strings.Fields(out)[0]
	for _, args := range [][]string{{"session", "show", id}, {"session", "show", "a"}} {
		out, _ = s.run(0, "", args...)
		for line := range strings.Lines(out) {
			if whole := line == "  "+long+"\n"; len([]rune(line)) > 81 && !whole {
				t.Errorf("%q: %d columns: %s", args, len(line), line)
			}
		}
		if !strings.Contains(out, "\n  "+long+"\n") {
			t.Errorf("the line of a tool is broken:\n%s", out)
		}
	}
}
