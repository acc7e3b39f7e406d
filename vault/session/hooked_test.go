package session_test

import (
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
	for i, got := range session.Covered(hooked, own) {
		if got != want[i] {
			t.Errorf("turn %d stands at %d, want %d", i, got, want[i])
		}
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
