package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

func TestSessionKeepsWholeLinesAndDropsATornOne(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	s := v.State()
	for _, line := range []string{`{"n":1}`, `{"n":2}`} {
		if err := s.AppendSession(t.Context(), "01abc", []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	// A writer that died in the middle of a line.
	name := filepath.Join(v.StateDir(), "sessions", "01abc.jsonl")
	appendTo(t, name, `{"n":`)
	lines, err := s.Session("01abc")
	if err != nil || len(lines) != 2 || string(lines[1]) != `{"n":2}` {
		t.Fatalf("lines %q, %v, want the two whole ones", lines, err)
	}
	if err := s.AppendSession(t.Context(), "01abc", []byte(`{"n":3}`)); err != nil {
		t.Fatal(err)
	}
	lines, err = s.Session("01abc")
	if err != nil || string(lines[len(lines)-1]) != `{"n":3}` {
		t.Errorf("after the torn line: %q, %v, want the new line whole", lines, err)
	}
	if ids, err := s.Sessions(); err != nil || len(ids) != 1 || ids[0] != "01abc" {
		t.Errorf("open sessions %v, %v", ids, err)
	}
	if err := s.RewriteSession(t.Context(), "01abc", func([][]byte) [][]byte { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session("01abc"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("closed session: %v, want not found", err)
	}
}

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestQueueKeepsOrderWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	o := f.Options()
	o.Now = func() time.Time { at = at.Add(-time.Hour); return at }
	s := f.OpenWith(o).State()
	for _, job := range []string{"a", "b", "c"} {
		if _, err := s.Enqueue(t.Context(), "review", []byte(job)); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := s.Jobs("review")
	if err != nil {
		t.Fatal(err)
	}
	var order strings.Builder
	for _, j := range jobs {
		order.Write(j.Data)
	}
	if order.String() != "abc" {
		t.Errorf("jobs come out as %q, want abc", order.String())
	}
	for range 2 { // the second time it is gone already
		if err := s.Done(t.Context(), "review", jobs[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if jobs, err = s.Jobs("review"); err != nil || len(jobs) != 2 {
		t.Errorf("%d jobs left (%v), want 2", len(jobs), err)
	}
	if jobs, err = s.Jobs("other"); err != nil || len(jobs) != 0 {
		t.Errorf("another queue has %d jobs (%v)", len(jobs), err)
	}
}

func TestStateNamesCannotLeaveTheFolder(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	s := f.Open().State()
	for _, name := range []string{"", "..", "../x", "a/b", ".hidden", "a b", "ä", strings.Repeat("x", 200)} {
		if err := s.AppendSession(t.Context(), name, []byte("x")); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("session %q: %v, want ErrInvalid", name, err)
		}
		if _, err := s.Seen(name); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("mark %q: %v, want ErrInvalid", name, err)
		}
		if err := s.Done(t.Context(), "review", name); !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("job %q: %v, want ErrInvalid", name, err)
		}
	}
	if err := s.AppendSession(t.Context(), "ok", []byte("two\nlines")); !errors.Is(err, vault.ErrInvalid) {
		t.Errorf("line with a newline: %v", err)
	}
}
