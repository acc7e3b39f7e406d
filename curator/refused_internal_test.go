package curator

import (
	"slices"
	"testing"
)

// A cluster that grew is still the one whose umbrella was refused; one skill in common is not enough.
func TestARefusalIsToldToTheModelOfAClusterThatGrew(t *testing.T) {
	t.Parallel()
	var m mark
	m.Refused = map[string]refusal{
		"claude-code": {[]string{"claude-code", "codex"}, []string{"codex lost a value"}},
		"notes":       {[]string{"notes", "reminders"}, []string{"notes lost a line"}},
	}
	got := m.refused([]string{"blackbox", "claude-code", "codex"})
	if !slices.Equal(got, []string{"codex lost a value"}) {
		t.Errorf("%q", got)
	}
	if got = m.refused([]string{"codex", "notes", "opencode"}); got != nil {
		t.Errorf("%q", got)
	}
}
