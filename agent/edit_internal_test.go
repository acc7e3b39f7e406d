package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/doctor"
	"stet/vault/vaulttest"
)

func opened(t *testing.T, notify func(Notice)) *App {
	t.Helper()
	f := vaulttest.New(t, "memories/gate.md", "The gate is green.\n")
	f.LeaveDirty()
	at := time.Date(2026, 1, 9, 14, 0, 0, 0, time.UTC)
	a, err := Open(t.Context(), Options{At: f.Dir, Door: "test", PID: 7, Now: func() time.Time { return at },
		Getenv: vaulttest.Env, Notify: notify})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// What was typed outlasts the process that opened the editor, whichever process comes next.
func TestTypedTextOutlastsAProcessOfTheSameNumber(t *testing.T) {
	t.Parallel()
	told := ""
	a := opened(t, func(n Notice) { told += n.Text })
	data := []byte("The gate is green.\n")
	killed, err := a.newDraft(t.Context(), "memories/gate.md", data)
	if err != nil {
		t.Fatal(err)
	}
	file := killed.path()
	if err := errors.Join(os.WriteFile(file, []byte("typed\n"), 0o600), killed.lock.Release()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		edit := func(_ context.Context, at string) error {
			if at == file {
				t.Error("the editor gets the file of another edit")
			}
			return os.WriteFile(at, []byte("The gate is red.\n"), 0o600)
		}
		if _, err := a.Memories().Edit(t.Context(), "memories/gate.md", Write{}, edit); err != nil {
			t.Error(err)
		}
		if _, err := a.Memories().Edit(t.Context(), "memories/gate.md", Write{},
			func(context.Context, string) error { return os.WriteFile(file+"x", data, 0o600) }); err != nil {
			t.Error(err)
		}
	}
	kept := filepath.Join(filepath.Dir(file), doctor.KeptEdit+filepath.Base(file))
	if now, err := os.ReadFile(kept); err != nil || string(now) != "typed\n" || strings.Count(told, kept) != 1 {
		t.Errorf("the typed text: %q, %v; told %q", now, err, told)
	}
}

type leaking struct{}

func (leaking) Close() error { return errors.New("a leak") }

// A failure to close what was used fails nothing: what was written is written.
func TestAFailureToCloseIsAWarning(t *testing.T) {
	t.Parallel()
	var told []Notice
	a := opened(t, func(n Notice) { told = append(told, n) })
	a.closed("the search index", leaking{})
	if len(told) != 1 || !told[0].Warning || told[0].Text != "close the search index: a leak" {
		t.Errorf("told %+v", told)
	}
}

// The notes of a caller are the caller's.
func TestRememberLeavesItsOptionsAlone(t *testing.T) {
	t.Parallel()
	a := opened(t, nil)
	a.place.Fallback, a.o.Dir = true, a.Root()
	o := RememberOptions{Write: Write{Agent: "robo"}, Notes: []vault.Note{{Text: "Lunch is at noon."}}}
	res, err := a.Memories().Remember(t.Context(), o)
	if err != nil || !strings.HasPrefix(res.Memories[0].Scope, "/projects/") {
		t.Fatalf("%+v, %v", res, err)
	}
	if o.Notes[0].Scope != "" {
		t.Errorf("the caller's note has the scope %q", o.Notes[0].Scope)
	}
}

// What several processes agree to at the same time is all remembered.
func TestAgreementsMadeTogetherAreAllKept(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	e := NewEnvironment(Options{Getenv: func(string) string { return home }})
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			if err := e.agree(fmt.Sprintf("/vaults/%d", n)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if known, _, err := e.agreements(); err != nil || len(known) != 200 {
		t.Errorf("%d %q, %v", len(known), known, err)
	}
}
