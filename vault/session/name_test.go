package session_test

import (
	"testing"

	"stet/vault"
	"stet/vault/session"
)

func TestAFullMonthIsSplitIntoDays(t *testing.T) {
	t.Parallel()
	const p = "sessions/2026/03/2026-03-09-gate-abc123.md"
	const parts = "sessions/2026/03/2026-03-01-7ck2ma-parts/2026-03-09-x.md"
	for _, c := range []struct {
		at   vault.Path
		have int
		want vault.Path
	}{
		{p, 0, p}, {p, 239, p}, {p, 240, "sessions/2026/03/09/2026-03-09-gate-abc123.md"},
		{"sessions/undated/gate-abc123.md", 1000, "sessions/undated/gate-abc123.md"},
		{parts, 1000, parts},
	} {
		if got := session.Spread(c.at, c.have); got != c.want {
			t.Errorf("%s beside %d: %s, want %s", c.at, c.have, got, c.want)
		}
	}
}

func TestTheFirstSentence(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"The gate opens twice. Find out why.": "The gate opens twice.",
		"Hi. The gate is open. Shut it.":      "Hi. The gate is open.",
		"Use e.g. the gate of v1.2 now":       "Use e.g. the gate of v1.2 now",
		"门开了两次。请看一下":                          "门开了两次。",
		"Why?":                                "Why?", "": "", "\xff. A": "\xff. A",
	} {
		if got := session.FirstSentence(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
