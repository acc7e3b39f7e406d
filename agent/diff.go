package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/vault"
)

// DiffOptions says what to compare.
type DiffOptions struct {
	// Words are at most two revisions, or REV..REV, then memories or paths; no path is all.
	Words []string
	// Literal is how many of Words may be revisions.
	Literal int
	Stat    bool // count lines, without the text
}

// A Diff is what differs between two states.
type Diff struct {
	From  string           `json:"from"` // "" is HEAD
	To    string           `json:"to"`   // "" is the files on disk
	Files []vault.FileDiff `json:"files"`
}

// Diff compares HEAD with the files on disk, a revision with them, or two revisions. The first
// word that git knows as no revision is a path, and so is all that follows. It fails with
// [vault.ErrNotFound] for a word that is neither.
func (h History) Diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	words := o.Words
	var revs []string
	for i := 0; i < o.Literal && len(revs) < 2; i++ {
		more, err := h.revisions(words[0], len(revs) == 0)
		if err != nil {
			return nil, err
		}
		if more == nil {
			break
		}
		revs, words = append(revs, more...), words[1:]
	}
	var paths []vault.Path
	for _, word := range words {
		p, err := h.compared(ctx, word, len(revs) > 0)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	revs = append(revs, "", "")
	diffs, err := h.a.v.History().Diff(ctx, revs[0], revs[1], paths)
	for i := range diffs {
		if o.Stat {
			diffs[i].Text = ""
		}
	}
	return &Diff{From: revs[0], To: revs[1], Files: append([]vault.FileDiff{}, diffs...)}, err
}

// revisions reads a word as one revision or, where it is the first, as a range REV..REV; nil when
// it is neither.
func (h History) revisions(word string, first bool) ([]string, error) {
	candidates := []string{word}
	if a, b, ok := strings.Cut(word, ".."); ok && first && a != "" {
		candidates = []string{a, cmp.Or(b, "HEAD")}
	}
	for _, c := range candidates {
		switch _, err := h.a.v.History().ResolveRevision(c); {
		case errors.Is(err, vault.ErrNoRevision):
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	return candidates, nil
}

// compared is the path of a memory, else a path, which may be of the past where a revision was
// named. A word that is nothing is an error: an empty diff would look like "no difference".
func (h History) compared(ctx context.Context, word string, historic bool) (vault.Path, error) {
	m, err := h.a.v.Resolve(ctx, h.a.ref(word))
	if err == nil {
		return m.Path, nil
	}
	if !errors.Is(err, vault.ErrNotFound) {
		return "", err
	}
	p, err := h.a.path(word)
	if err != nil || historic || h.a.exists(p) || strings.HasSuffix(word, ".md") {
		return p, err
	}
	return "", vault.WithHint(fmt.Errorf("%q is neither a revision, a memory nor a path: %w", word, vault.ErrNotFound),
		`"stet log" shows revisions, "stet list" memories`)
}

func textOf(diffs []vault.FileDiff) string {
	var b strings.Builder
	for _, d := range diffs {
		b.WriteString(d.Text)
	}
	return b.String()
}
