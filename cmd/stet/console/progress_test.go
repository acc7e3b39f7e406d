package console

import (
	"bytes"
	"testing"
	"time"
)

// Progress is talked about when it lasts, on one line that what follows does
// not stand behind; elsewhere than on a terminal it is silence.
func TestProgressKeepsToOneLineAndIsTakenAway(t *testing.T) {
	t.Parallel()
	var talk bytes.Buffer
	now := time.Date(2026, 1, 9, 14, 0, 0, 0, time.UTC)
	host := Host{Stdio: Stdio{Err: &talk, ErrTerminal: true}, Getenv: func(string) string { return "" },
		Now: func() time.Time { return now }}
	e := New(host)
	show := e.progress()
	show("index", 1, 100)
	if talk.Len() != 0 {
		t.Errorf("said %q before anybody could wonder", talk.String())
	}
	now = now.Add(time.Second)
	show("index", 50, 100)
	show("index", 51, 100) // too soon after
	e.Note("hello")
	if got, want := talk.String(), "index 50 of 100\r\x1b[Kstet: hello\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	talk.Reset()
	show("index", 100, 100)
	if talk.Len() != 0 {
		t.Errorf("cleared a line that was not there: %q", talk.String())
	}
	host.ErrTerminal = false
	if New(host).progress() != nil {
		t.Error("progress without a terminal")
	}
}
