package console_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func TestExitCodesArePromised(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		exit int
		code string
	}{
		{errors.New("anything"), 1, "failed"},
		{fmt.Errorf("write: %w", vault.ErrReadOnly), 1, "read-only"},
		{agent.Usagef("x"), 2, "usage"},
		{fmt.Errorf("x: %w", vault.ErrConflict), 3, "conflict"},
		{vault.ErrInProgress, 3, "in-progress"},
		{&vault.MassDeletionError{Missing: 60, Total: 100}, 3, "mass-deletion"},
		{&vault.NotFoundError{Ref: "x"}, 4, "not-found"},
		{&vault.AmbiguousError{Ref: "x"}, 4, "ambiguous"},
		{vault.ErrNotVault, 4, "not-a-vault"},
		{vault.ErrNoRevision, 4, "no-revision"},
		{vault.ErrBusy, 5, "busy"},
		{vault.ErrDamaged, 6, "damaged"},
		{console.ErrProblems, 6, "problems"},
		{vault.ErrBadPath, 8, "bad-path"},
		{vault.ErrTooLarge, 8, "too-large"},
		{vault.ErrNewerFormat, 8, "newer-format"},
		{vault.ErrUnsupportedRepository, 8, "unsupported-repository"},
		{vault.ErrNothingToUndo, 0, "nothing-to-undo"},
	} {
		exit, cause := console.Judge(c.err)
		if exit != c.exit || cause.Name != c.code {
			t.Errorf("Judge(%v) = %d %s, want %d %s", c.err, exit, cause.Name, c.exit, c.code)
		}
	}
}

func TestErrorsAreOneJSONLineWithCandidates(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := env(&out, false, nil)
	e.JSON = true
	exit := e.Finish(&vault.AmbiguousError{Ref: "db",
		Candidates: []vault.Memory{{ID: "01a", Path: "memories/a/db.md"}, {Path: "memories/b/db.md"}}})
	var f console.Failure
	if err := json.Unmarshal(out.Bytes(), &f); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("not one line of JSON: %v: %q", err, out.String())
	}
	if exit != 4 || f.Schema != 1 || f.Error.Exit != 4 || f.Error.Code != "ambiguous" || len(f.Error.Candidates) != 2 ||
		f.Error.Candidates[0].Path != "memories/a/db.md" || f.Error.Hint == "" {
		t.Errorf("exit %d, failure %+v", exit, f)
	}
}

func TestErrorsForPeopleSayWhatNext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	exit := env(&out, false, nil).Finish(fmt.Errorf("remember: %w", vault.ErrBusy))
	want := "stet: remember: locked by another process\nstet: hint: try again, or wait longer with --lock-wait 60s\n"
	if exit != 5 || out.String() != want {
		t.Errorf("exit %d, %q; want 5, %q", exit, out.String(), want)
	}
}
