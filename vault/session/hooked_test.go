package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stet/markdown"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

func message(role, ref, text string) markdown.Message {
	return markdown.Message{Role: role, Ref: ref, Content: []byte(text)}
}

// TestCovered matches what a hook told with the client's own record: in order, each once, and nothing else.
func TestCovered(t *testing.T) {
	t.Parallel()
	own := []markdown.Message{message("user", "u1", "yes"), message("assistant", "u2", "I look.\n\nThe port is 4711."),
		message("tool", "u3", "yes"), message("user", "u4", "yes"), message("user", "u5", "stop")}
	hooked := []markdown.Message{message("user", "hook", " yes\n"), message("assistant", "hook", "The port is 4711."),
		message("user", "hook", "never written"), message("user", "hook", "yes"), message("user", "", "stop"),
		message("user", "hook", "yes")}
	want := []int{0, 1, -1, 3, -1, -1}
	for i, got := range session.Covered(hooked, own, nil) {
		if got != want[i] {
			t.Errorf("turn %d stands at %d, want %d", i, got, want[i])
		}
	}
}

// TestCoveredTakesAsManyAsItCan: a prompt that was taken back does not keep the later ones from their places, nor does
// one cross what was imported before.
func TestCoveredTakesAsManyAsItCan(t *testing.T) {
	t.Parallel()
	own := []markdown.Message{message("user", "u1", "look"), message("assistant", "u2", "Found."),
		message("user", "u3", "ok"), message("assistant", "u4", "Done.")}
	hooked := []markdown.Message{message("user", "hook", "ok"), message("user", "hook", "look"),
		message("assistant", "hook", "Found."), message("assistant", "hook", "Done.")}
	if got := session.Covered(hooked, own, nil); !slices.Equal(got, []int{-1, 0, 1, 3}) {
		t.Errorf("a prompt taken back: %v", got)
	}
	ok := message("user", "hook", "ok")
	turns := []markdown.Message{ok, message("user", "u1", "look"), ok}
	got := session.Covered(turns, own, func(i, j int) bool {
		return turns[i].Ref == session.HookRef || turns[i].Ref == own[j].Ref
	})
	if !slices.Equal(got, []int{-1, 0, 2}) {
		t.Errorf("around what was imported: %v", got)
	}
	many := slices.Repeat(own, 800)
	if got := session.Covered(slices.Repeat(hooked, 800), many, nil); got[0] != 2 || got[1] != 4 {
		t.Errorf("beyond the bound: %v", got[:4])
	}
}

// TestCoveredByTime: of places that are as good a turn has the nearest, and none in a record that ends before its hook.
func TestCoveredByTime(t *testing.T) {
	t.Parallel()
	at := func(m markdown.Message, minute int) markdown.Message {
		m.Time = time.Date(2026, 11, 23, 10, minute, 0, 0, time.UTC)
		return m
	}
	ok := message("user", "hook", "ok")
	hooked := []markdown.Message{at(message("user", "hook", "look"), 1), at(ok, 3), at(ok, 7)}
	own := []markdown.Message{at(message("user", "u1", "ok"), 2), at(message("user", "u2", "ok"), 4)}
	if got := session.Covered(hooked[:2], own, nil); !slices.Equal(got, []int{-1, 1}) {
		t.Errorf("the nearest: %v", got)
	}
	if got := session.Covered(hooked, own, nil); !slices.Equal(got, []int{-1, 1, -1}) {
		t.Errorf("later than the record: %v", got)
	}
}

// TestNumbers: what was cited before messages had other numbers is the same message behind.
func TestNumbers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 10, 0, 0, 5e8, time.UTC)
	first := session.Renumbering(at, []int{1, 4, 5, 9})
	second := session.Renumbering(at.Add(time.Hour), []int{1, 2, 3, 4, 6})
	if first != "2026-11-23T10:00:00.5Z 2-3:4 4-4:9" || session.Renumbering(at, []int{1, 2}) != "" {
		t.Errorf("%q", first)
	}
	all := &markdown.Transcript{ID: "x", Renumbered: []string{first, "a person's", second}}
	data, _, err := markdown.RenderTranscript(all, markdown.TranscriptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := session.Read("sessions/x.md", data)
	for _, c := range []struct{ n, want int }{{1, 1}, {2, 4}, {3, 6}, {4, 9}, {7, 7}} {
		if got := k.Number(c.n, at.Truncate(time.Second)); got != c.want {
			t.Errorf("message %d is %d, want %d", c.n, got, c.want)
		}
	}
	if k.Number(5, at.Add(time.Second)) != 6 || k.Number(5, at.Add(2*time.Hour)) != 5 || k.Number(5, time.Time{}) != 5 {
		t.Error("what was cited later has another number")
	}
}

// TestSpool keeps turns apart and takes them up in their order, each once, also where a process was killed between
// adding a turn and saying so.
func TestSpool(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	at := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	turn := func(n int, text string) session.Turn {
		return session.Turn{Session: "s", Agent: "robo", Role: "user", Ref: session.HookRef,
			Time: at.Add(time.Duration(n) * time.Second), Text: []byte(text)}
	}
	for i, text := range []string{"one", "two", "three"} {
		if err := session.Spool(v, turn(i, text)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session.FindOpen(v, session.Key("robo", "s")); err == nil {
		t.Fatal("a spooled turn stands in its session already")
	}
	if err := session.Append(t.Context(), v, turn(0, "one")); err != nil { // of the killed process
		t.Fatal(err)
	}
	for range 2 {
		if err := session.TakeUp(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	open, err := session.FindOpen(v, session.Key("robo", "s"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range open.Facts.Messages {
		all = append(all, string(m.Content))
	}
	if got := strings.Join(all, " "); got != "one two three" {
		t.Errorf("the session holds %q", got)
	}
	if n, err := v.State().Queued("turns"); n != 0 || err != nil {
		t.Errorf("%d turns wait (%v)", n, err)
	}
}
