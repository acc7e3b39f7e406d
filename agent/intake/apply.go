package intake

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
		_, hash, err := tx.Read(old.Path)
		if err != nil {
			return err
		}
		if hash != old.Hash {
			return errMoved
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
		why.Extra = append(slices.Clip(why.Extra),
			vault.TrailerLine{Key: "Stet-Rule", Value: v.Rule},
			vault.TrailerLine{Key: "Stet-Confidence", Value: strconv.FormatFloat(v.Confidence, 'f', 2, 64)})
		body = append(body, line)
	}
	why := tx.Why()
	why.Body = strings.TrimSpace(why.Body + "\n" + strings.Join(body, "\n"))
	return nil
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
