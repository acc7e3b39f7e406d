package memory

import (
	"testing"

	"stet/agent"
)

func TestATitleIsLeftOutWhereTheLineSaysIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		title, line, shown string // "" where the title stands before the line
	}{
		{"Go", "Google pays on the 5th of May", ""}, {"Go", "# Go", "Go"}, {"Go", "Go: tips", "Go: tips"},
		{"Go", "title: Go", "Go"}, {"The gate…", "The gate sticks", "The gate sticks"},
		{"Beds", "- The gate", ""}, {"", "The gate", ""},
	} {
		h, same := titled(agent.Hit{Title: c.title, Snippet: c.line})
		if same != (c.shown != "") || same && h.Snippet != c.shown {
			t.Errorf("%q, %q: %q, %v", c.title, c.line, h.Snippet, same)
		}
	}
}
