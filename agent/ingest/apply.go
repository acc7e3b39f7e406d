package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/agent/encode"
	"stet/vault"
)

// apply stages what the verdicts on a new memory mean for the stored ones. It fails
// with errMoved when one of them is no longer what was judged.
func (d *desk) apply(tx *vault.Tx, stored vault.Memory, verdicts []encode.Verdict) error {
	var body []string
	for _, v := range verdicts {
		old := d.stored[v.Old]
		if err := unmoved(tx, old); err != nil {
			return err
		}
		about := slices.Clone(tx.Why().Memories)
		line, err := settle(tx, stored, old, v)
		if err != nil {
			return err
		}
		why := tx.Why()
		why.Memories = about
		if after, _, err := tx.Read(old.Path); err == nil && len(after) > 0 {
			if id := vault.ReadMemory(old.Path, after).ID; id != "" {
				why.Memories = append(why.Memories, id)
			}
		}
		ruled(why, v)
		body = append(body, line)
	}
	why := tx.Why()
	why.Body = strings.TrimSpace(why.Body + "\n" + strings.Join(body, "\n"))
	return nil
}

// unmoved fails with errMoved when a memory is no longer what was judged.
func unmoved(tx *vault.Tx, old vault.Memory) error {
	_, hash, err := tx.Read(old.Path)
	if err == nil && hash != old.Hash {
		err = errMoved
	}
	return err
}

// ruled says in the commit what decided.
func ruled(why *vault.Why, v encode.Verdict) {
	why.Extra = append(slices.Clip(why.Extra),
		vault.TrailerLine{Key: "Stet-Rule", Value: v.Rule},
		vault.TrailerLine{Key: "Stet-Confidence", Value: strconv.FormatFloat(v.Confidence, 'f', 2, 64)})
}

// A merge is a note that a stored memory says from now on.
type merge struct {
	note    vault.Note
	old     vault.Memory
	verdict encode.Verdict
}

// merge stages the merges. A memory keeps all that its front matter says but when it
// was updated; what was given with the note is added.
func (d *desk) merge(tx *vault.Tx) ([]vault.Memory, error) {
	var out []vault.Memory
	for _, m := range d.merges {
		if err := unmoved(tx, m.old); err != nil {
			return nil, err
		}
		p := vault.Patch{Text: &m.verdict.Rest, AddCategories: m.note.Categories, Importance: m.note.Importance}
		if m.note.Pinned {
			p.Pinned = &m.note.Pinned
		}
		about := slices.Clone(tx.Why().Memories)
		after, err := p.Apply(tx, m.old)
		if err != nil {
			return nil, err
		}
		why := tx.Why()
		why.Memories = append(about, after.ID)
		ruled(why, m.verdict)
		why.Body = strings.TrimSpace(why.Body + fmt.Sprintf("\nSaid in %s from now on as well: %q.", m.old.Path, m.verdict.Said))
		out = append(out, after)
	}
	return out, nil
}

// settle stages one verdict and says in a line what it did.
func settle(tx *vault.Tx, stored, old vault.Memory, v encode.Verdict) (string, error) {
	why := tx.Why()
	switch {
	case v.Kind == encode.Conflict:
		linked, err := tx.Link(old, conflicts, false, stored.ID)
		if err != nil {
			return "", err
		}
		if _, err := tx.Link(stored, conflicts, false, linked.ID); err != nil {
			return "", err
		}
		why.Extra = append(slices.Clip(why.Extra), vault.TrailerLine{Key: "Conflicts-With", Value: linked.ID})
		return fmt.Sprintf("In conflict with %s, which says %q.", old.Path, v.Was), nil
	case v.Rest != "":
		if _, err := (vault.Patch{Text: &v.Rest}).Apply(tx, old); err != nil {
			return "", err
		}
		return fmt.Sprintf("No longer true in %s: %q.", old.Path, v.Was), nil
	}
	named := old
	if old.ID == "" {
		var err error
		if named, err = tx.Link(old, supersedes, false); err != nil {
			return "", err
		}
	}
	if err := tx.Archive(named, false); err != nil {
		return "", err
	}
	if _, err := tx.Link(stored, supersedes, false, named.ID); err != nil {
		return "", err
	}
	why = tx.Why()
	why.Extra = append(slices.Clip(why.Extra), vault.TrailerLine{Key: "Supersedes", Value: named.ID})
	return fmt.Sprintf("Takes the place of %s, which says %q.", old.Path, v.Was), nil
}

// The front matter keys that link memories.
const (
	conflicts  = "conflicts_with"
	supersedes = "supersedes"
)
