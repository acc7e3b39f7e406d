package imports_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stet/agent/imports"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// An import that is ended writes little of what it has read, and the next one brings the rest, with transcripts in git
// and without.
func TestAnEndedImportDoesNotWriteForLong(t *testing.T) {
	t.Parallel()
	const sessions, read, little = 60, 50, 20
	var lines strings.Builder
	for i := range sessions {
		fmt.Fprintf(&lines, `{"session":"s%d","speaker":"user","date":"2026-03-02","text":"prompt %d, pass`+
			`word: Tr0ub4dor%d"}`+"\n", i, i, i)
	}
	at := place(t, "a.jsonl", lines.String())
	for _, tracked := range []string{"true", "false"} {
		f := vaulttest.New(t)
		with := f.Options()
		layer := settings.Layer{Source: settings.User}.With(settings.SessionsTrack, tracked, "")
		with.Settings = []settings.Layer{layer}
		v, err := vault.Open(t.Context(), f.Dir, with)
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		tell := func(p imports.Progress) {
			if p.Sessions == read {
				end()
			}
		}
		o := imports.Options{Now: later(), Progress: tell}
		r, err := imports.Run(ctx, v, source(t, "jsonl"), []string{at}, o)
		if !errors.Is(err, context.Canceled) || r.Added == 0 || r.Added > little {
			t.Errorf("tracked %s: %d written when it ended: %v", tracked, r.Added, err)
		}
		rest := runLater(t, v, at, imports.Options{})
		if rest.Unchanged != r.Added || rest.Added != sessions-r.Added ||
			r.Redacted != r.Added || rest.Redacted != rest.Added {
			t.Errorf("tracked %s: then %+v", tracked, rest)
		}
	}
}
