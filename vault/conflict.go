package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/store"
)

// checkMerged refuses to write into a file in which a merge was not finished. Only a
// person may put a text without its marks in its place.
func (t *Tx) checkMerged(p Path, data []byte) error {
	at, err := t.tx.Touch(p)
	if err != nil || !at.Disk.Exists {
		return err
	}
	line := markdown.ConflictAt(at.Disk.Data)
	if line == 0 || t.why.actor() == ActorUser && markdown.ConflictAt(data) == 0 {
		return nil
	}
	err = fmt.Errorf("%q: %w: a merge was not finished at line %d", p, ErrConflict, line)
	return WithHint(err, "choose one side in an editor")
}

// unfinishedMerges finds files with the marks of a merge among those that differ from
// HEAD and those that git committed since stet last wrote; "stet doctor" reads them all.
// Of a commit that brings many files those that are new are not read: a merge leaves its
// marks in files that were there.
// It names archived files as well into which a merge of those brought an edit.
func (v *Vault) unfinishedMerges(ctx context.Context, s *store.Scan) ([]Problem, error) {
	var out []Problem
	if ends := gitstore.StoppedRevert(v.store.Repo()); ends != "" && len(s.Staged) > 0 {
		out = append(out, Problem{ID: "in-progress", Advice: true, Hint: ends,
			Text: `a "git revert" is staged and not committed`})
	}
	look := map[Path]bool{}
	for _, c := range s.Changed {
		look[c.Path] = true
	}
	const most, many = 50, 1000 // commits, and files of one
	id := s.Head.ID
	for range most {
		if id.IsZero() {
			break
		}
		c, err := s.Objects.Commit(id)
		if err != nil {
			return nil, err
		}
		if commitOf(c).Op != "" || len(c.Parents) == 0 {
			break
		}
		before, err := s.Objects.TreeOf(c.Parents[0])
		if errors.Is(err, gitstore.ErrMissing) {
			break // the end of a shallow clone
		}
		if err != nil {
			return nil, err
		}
		changes, err := v.store.TreeChanges(s.Objects, before, c.Tree)
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			look[ch.Path] = look[ch.Path] || ch.Status != Added || len(changes) <= many
			if len(c.Parents) > 1 && ch.Status == Modified && ClassOf(ch.Path) == ClassArchive {
				out = append(out, Problem{ID: "archived-edit", Path: ch.Path, Advice: true,
					Text: "a merge brought an edit of what was forgotten here", Hint: `"stet restore" brings it back`})
			}
		}
		id = c.Parents[0]
	}
	for p, read := range look {
		if !read || !p.IsMarkdown() || !inDomain(p) || ctx.Err() != nil {
			continue
		}
		d, err := v.store.Look(p)
		if err != nil || !d.Exists || !bytes.Contains(d.Data, []byte("<<<<<<< ")) {
			continue // what cannot be read is named already
		}
		if line := markdown.ConflictAt(d.Data); line > 0 {
			out = append(out, Problem{ID: "conflict-marker", Path: p,
				Text: fmt.Sprintf("a merge was not finished at line %d", line), Hint: "choose one side in an editor"})
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out, context.Cause(ctx)
}
