package vault

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Undo takes back the newest n operations that are not taken back already.
// Adopted hand edits are a person's and are passed over; "revert" takes them
// back by name. It fails with [ErrNothingToUndo] or a [RevertConflictError].
func (v *Vault) Undo(ctx context.Context, n int, w Write) (*Result, error) {
	return v.step(ctx, n, "undo", w)
}

// Redo takes back the newest n undos, as long as nothing else was done since.
func (v *Vault) Redo(ctx context.Context, n int, w Write) (*Result, error) {
	return v.step(ctx, n, "redo", w)
}

func (v *Vault) step(ctx context.Context, n int, mode string, w Write) (*Result, error) {
	if n < 1 {
		return nil, fmt.Errorf("%s: %w: the count must be at least 1", mode, ErrInvalid)
	}
	// What changes nothing, because its file was removed by hand since for
	// instance, is as good as taken back: it must not stand in the way for ever.
	spent := map[Revision]bool{}
	for {
		revs, err := v.candidates(ctx, n, mode, spent)
		if err != nil {
			return nil, err
		}
		if len(revs) < n {
			return nil, withHint(fmt.Errorf("%s: %w: asked for %d, only %d can be", mode, ErrNothingToUndo, n, len(revs)), `"stet log" shows what was done`)
		}
		res, err := v.Revert(ctx, RevertOptions{Revs: revs, Write: w, mode: mode})
		if err != nil || !res.Unchanged {
			return res, err
		}
		for _, rev := range revs {
			spent[Revision(rev)] = true
		}
	}
}

// candidates walks back from HEAD. A revert cancels what it names, unless a
// later one has cancelled the revert itself. Those in spent are passed over.
func (v *Vault) candidates(ctx context.Context, n int, mode string, spent map[Revision]bool) ([]string, error) {
	cancelled := map[Revision]bool{}
	var found []string
	for c, err := range v.Log(ctx, LogOptions{}) {
		if err != nil {
			return nil, err
		}
		if cancelled[c.Rev] {
			continue
		}
		for _, rev := range revertedBy(c) {
			cancelled[rev] = true
		}
		switch step := c.Trailers.Get("Stet-Mode"); {
		case spent[c.Rev], c.Op == "", c.Op == OpAdopt, c.Op == OpConfig, step == "redo":
			continue
		case mode == "redo" && step != "undo":
			return found, nil // something was done since: there is nothing to redo
		case mode == "undo" && step == "undo":
			continue
		}
		if found = append(found, string(c.Rev)); len(found) == n {
			return found, nil
		}
	}
	return found, nil
}

// gitReverts finds what plain "git revert" writes into its message.
var gitReverts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`This reverts commit ([0-9a-f]{40})`)
})

func revertedBy(c Commit) []Revision {
	var out []Revision
	for _, rev := range c.Trailers.All("Reverts") {
		out = append(out, Revision(rev))
	}
	if strings.HasPrefix(c.Subject, "Revert ") {
		for _, m := range gitReverts().FindAllStringSubmatch(c.Body, -1) {
			out = append(out, Revision(m[1]))
		}
	}
	return out
}
