package clients_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/clients"
)

// TestTable reads every row and checks what readers, writers and installers rely on.
func TestTable(t *testing.T) {
	t.Parallel()
	ours := []string{"start", "prompt", "answer", "stop", "subagent-stop", "compact", "end", "interrupt"}
	names := clients.Names()
	for n, c := range clients.All() {
		if n >= len(names) || names[n] != c.Name {
			t.Errorf("%s is not number %d of Names", c.Name, n)
		}
		if _, err := time.Parse(time.DateOnly, c.Date); err != nil || c.Version == "" || c.Source == "" {
			t.Errorf("%s: version %q, seen %q, source %q", c.Name, c.Version, c.Date, c.Source)
		}
		if !strings.Contains(string(c.Server.Entry), `"$binary"`) || len(c.Then) == 0 {
			t.Errorf("%s: server %s, and then %q", c.Name, c.Server.Entry, c.Then)
		}
		if c.Print {
			continue
		}
		if c.Fields["session"] == "" || c.Chars < 1 {
			t.Errorf("%s: no path to the session, or no limit", c.Name)
		}
		for _, hole := range []string{`"$command"`, `"$timeout"`} {
			if !strings.Contains(string(c.Hooks.Entry), hole) {
				t.Errorf("%s: entry %s has no %s", c.Name, c.Hooks.Entry, hole)
			}
		}
		for _, e := range c.Events {
			if !slices.Contains(ours, e.Event) {
				t.Errorf("%s %s: no event of ours: %q", c.Name, e.Name, e.Event)
			}
			for how, way := range e.Says {
				if how != clients.Context && how != clients.Block {
					t.Errorf("%s %s: says %q", c.Name, e.Name, how)
				}
				if !strings.Contains(string(way.Output), `"$text"`) {
					t.Errorf("%s %s: %s has no text", c.Name, e.Name, how)
				}
				if err := e.Check(way.Output); err != nil {
					t.Errorf("%s %s: %v", c.Name, e.Name, err)
				}
			}
		}
	}
}

// TestCheck tries outputs that a client would refuse.
func TestCheck(t *testing.T) {
	t.Parallel()
	c, ok := clients.Find("claude-code")
	if !ok {
		t.Fatal("no row for Claude Code")
	}
	stop, _ := c.Event("Stop")
	for text, want := range map[string]bool{
		`{}`:                                   true,
		`{"decision": "block", "reason": "r"}`: true,
		`{"decision": "approve"}`:              false,
		`{"continue": "yes"}`:                  false,
		`{"context": "x"}`:                     false,
		`{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "x"}}`:   true,
		`{"hookSpecificOutput": {"hookEventName": "Start", "additionalContext": "x"}}`:  false,
		`{"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": ["x"]}}`: false,
		`["x"]`: false,
		`x`:     false,
	} {
		if err := stop.Check(json.RawMessage(text)); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	compact, _ := c.Event("PreCompact")
	if compact.Check(json.RawMessage(`{"hookSpecificOutput": {"hookEventName": "PreCompact"}}`)) == nil {
		t.Error("PreCompact takes hookSpecificOutput")
	}
}
