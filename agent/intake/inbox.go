package intake

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/vault"
)

// A Dispute is two memories that cannot both be true, the older first.
type Dispute struct{ A, B vault.Memory }

// Inbox lists what waits for a person: the live memories that conflicts_with joins,
// each pair once, in path order of the older one.
func Inbox(ctx context.Context, v *vault.Vault) ([]Dispute, error) {
	all, err := v.List(ctx, vault.Filter{})
	if err != nil {
		return nil, err
	}
	byID := map[string]vault.Memory{}
	for _, m := range all {
		if m.ID != "" {
			byID[m.ID] = m
		}
	}
	var out []Dispute
	seen := map[[2]string]bool{}
	for _, m := range all {
		for _, id := range m.Conflicts {
			o, live := byID[strings.ToLower(id)]
			if !live || o.ID == m.ID || m.ID == "" {
				continue // the other side went: there is nothing left to decide
			}
			d := Dispute{A: m, B: o}
			if o.Created.Before(m.Created) || o.Created.Equal(m.Created) && o.ID < m.ID {
				d = Dispute{A: o, B: m}
			}
			if key := [2]string{d.A.ID, d.B.ID}; !seen[key] {
				seen[key] = true
				out = append(out, d)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Dispute) int { return strings.Compare(string(a.A.Path), string(b.A.Path)) })
	return out, nil
}

// Keep settles the disputes of the memory that ref names in its favour: what it is
// in conflict with goes to the archive, and machines do not write it again. It is
// one commit.
func Keep(ctx context.Context, v *vault.Vault, ref string, w vault.Write) (*vault.Result, error) {
	return settleFor(ctx, v, ref, w, "keep ", func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error) {
		if err := tx.Archive(other, true); err != nil {
			return m, err
		}
		return tx.Link(m, supersedes, false, other.ID)
	})
}

// Both settles the disputes of the memory that ref names: it and the others are all
// true. It is one commit.
func Both(ctx context.Context, v *vault.Vault, ref string, w vault.Write) (*vault.Result, error) {
	return settleFor(ctx, v, ref, w, "keep both: ", func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error) {
		_, err := tx.Link(other, conflicts, true, m.ID)
		return m, err
	})
}

func settleFor(ctx context.Context, v *vault.Vault, ref string, w vault.Write, subject string, settle func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error)) (*vault.Result, error) {
	m, err := v.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	disputes, err := Inbox(ctx, v)
	if err != nil {
		return nil, err
	}
	var others []vault.Memory
	for _, d := range disputes {
		switch m.ID {
		case d.A.ID:
			others = append(others, d.B)
		case d.B.ID:
			others = append(others, d.A)
		}
	}
	if len(others) == 0 {
		return nil, vault.WithHint(fmt.Errorf("settle %q: %w: it is in conflict with nothing", m.Path, vault.ErrInvalid), `"stet conflicts" lists what is`)
	}
	why := w.Why(vault.OpUpdate, subject+m.Name())
	var after vault.Memory
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *vault.Tx) error {
		after = m
		about, ids := []string{m.ID}, []string{}
		for _, o := range others {
			if after, err = settle(tx, after, o); err != nil {
				return err
			}
			about, ids = append(about, o.ID), append(ids, o.ID)
		}
		// The last link of all: ids that name nothing any more go as well.
		if after, err = tx.Link(after, conflicts, true, slices.Concat(ids, m.Conflicts)...); err != nil {
			return err
		}
		tx.Why().Memories = about
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories = []vault.Memory{after}
	return res, nil
}
