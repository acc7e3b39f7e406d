package cite

import (
	"slices"
	"testing"
	"time"

	"stet/vault/session"
)

// A commit tells the second in which it was made: within that of a renumbering both numbers count as served.
func TestNumbersOfASecondWithARenumbering(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	moved := session.Renumbering(at.Add(time.Second/2), []int{3})
	k := session.Read("sessions/a.md", []byte("---\nrenumbered: [\""+moved+"\"]\n---\n"))
	for when, want := range map[time.Time][]int{
		at.Add(-time.Second): {3, 3}, at: {3, 1}, at.Add(time.Second): {1, 1}, {}: {1},
	} {
		if got := numbersOf(k, 1, when); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", when, got, want)
		}
	}
}
