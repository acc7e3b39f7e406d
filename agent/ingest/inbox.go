package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/agent/encode"
	"stet/markdown"
	"stet/vault"
)

// A Dispute is two memories of which a person must say which is true, the older first.
type Dispute struct {
	A, B vault.Memory
	// Likely is how likely it is that one of them is no longer true: 1 for a
	// contradiction, of a flag its probability, 0 where the history does not tell.
	Likely float64
}

// Inbox lists what waits for a person: the live memories that conflicts_with or
// may_outdate joins, each pair once, the likeliest first, then in path order of the
// older one.
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
	seen := map[[2]string]int{}
	flags := 0
	for _, m := range all {
		for i, id := range slices.Concat(m.Conflicts, m.MayOutdate) {
			o, live := byID[strings.ToLower(id)]
			if !live || o.ID == m.ID || m.ID == "" {
				continue // the other side went: there is nothing left to decide
			}
			d := Dispute{A: m, B: o, Likely: 1}
			if o.Created.Before(m.Created) || o.Created.Equal(m.Created) && o.ID < m.ID {
				d.A, d.B = o, m
			}
			if i >= len(m.Conflicts) {
				d.Likely, flags = 0, flags+1
			}
			if at, known := seen[pair(m.ID, o.ID)]; known {
				out[at].Likely = max(out[at].Likely, d.Likely)
				continue
			}
			seen[pair(m.ID, o.ID)] = len(out)
			out = append(out, d)
		}
	}
	if flags > 0 {
		if err := estimate(ctx, v, out); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b Dispute) int {
		return cmp.Or(cmp.Compare(b.Likely, a.Likely), strings.Compare(string(a.A.Path), string(b.A.Path)))
	})
	return out, nil
}

// Explain is what the rules say of the newer memory beside the older one today, the
// zero verdict for nothing.
func (d Dispute) Explain() encode.Verdict {
	for _, v := range encode.Decide(storedMemory(d.B), []encode.Memory{storedMemory(d.A)}, encode.Corpus{}).Verdicts {
		return v
	}
	return encode.Verdict{}
}

// estimate looks up how likely flags are, in the commits that set them.
func estimate(ctx context.Context, v *vault.Vault, disputes []Dispute) error {
	open := map[[2]string]*Dispute{}
	for i := range disputes {
		if d := &disputes[i]; d.Likely == 0 {
			open[pair(d.A.ID, d.B.ID)] = d
		}
	}
	for c, err := range v.History().Log(ctx, vault.LogOptions{}) {
		if err != nil || len(open) == 0 {
			return err
		}
		for _, line := range c.Trailers.All(flagTrailer) {
			f := readFlag(line)
			if d := open[f.pair]; d != nil {
				d.Likely = f.likely
				delete(open, f.pair)
			}
		}
	}
	return nil
}

// flagTrailer says in a commit what a memory may outdate: "NEW OLD 0.62", by ids.
const flagTrailer = "May-Outdate"

type flag struct {
	pair   [2]string
	likely float64
}

func readFlag(line string) flag {
	words := strings.Fields(line)
	if len(words) != 3 {
		return flag{}
	}
	likely, err := strconv.ParseFloat(words[2], 64)
	if err != nil {
		return flag{}
	}
	return flag{pair(words[0], words[1]), likely}
}

// A Case is a memory with everything that it is in conflict with, as they stood when
// they were looked up.
type Case struct {
	Memory vault.Memory
	Others []vault.Memory
	links  []string // all that its conflicts_with and may_outdate name
	// disputing lists what each of Others is in conflict with.
	disputing map[vault.Path][]vault.Memory
}

// Cases are the two ways to look at a dispute.
func (d Dispute) Cases() (a, b Case) {
	of := func(m, other vault.Memory) Case {
		return Case{Memory: m, Others: []vault.Memory{other}, disputing: map[vault.Path][]vault.Memory{}}
	}
	return of(d.A, d.B), of(d.B, d.A)
}

// Find is the case of the memory that ref names. It fails with [vault.ErrInvalid] when
// that is in conflict with nothing.
func Find(ctx context.Context, v *vault.Vault, ref string) (Case, error) {
	m, err := v.Resolve(ctx, ref)
	if err != nil {
		return Case{}, err
	}
	disputes, err := Inbox(ctx, v)
	if err != nil {
		return Case{}, err
	}
	c := Case{Memory: m, disputing: map[vault.Path][]vault.Memory{}}
	for _, d := range disputes {
		switch m.ID {
		case d.A.ID:
			c.Memory, c.Others = d.A, append(c.Others, d.B)
		case d.B.ID:
			c.Memory, c.Others = d.B, append(c.Others, d.A)
		}
	}
	c.links = slices.Concat(c.Memory.Conflicts, c.Memory.MayOutdate)
	if len(c.Others) == 0 && len(c.links) == 0 {
		return c, vault.WithHint(fmt.Errorf("settle %q: %w: it is in conflict with nothing", m.Path, vault.ErrInvalid), `"stet conflicts" lists what is`)
	}
	return c, nil
}

// Keep settles a case in favour of its memory: what that is in conflict with goes to
// the archive, and machines do not write it again. It is one commit. Like the others
// it fails with [vault.ErrConflict] when a side changed since it was looked up.
func (c Case) Keep(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
	return c.settle(ctx, v, w, "keep ", vault.Patch{}, func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error) {
		return c.replace(tx, m, other, true)
	})
}

// Both settles a case: all sides are true. It is one commit.
func (c Case) Both(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
	return c.settle(ctx, v, w, "keep both: ", vault.Patch{}, func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error) {
		_, err := unlink(tx, other, m.ID)
		return m, err
	})
}

// Merge settles a case with a text that says what is true: its memory says that from
// now on, pinned or private if one of them was, and what it was in conflict with goes
// to the archive. Machines write what the text leaves out of it no more. It is one
// commit.
func (c Case) Merge(ctx context.Context, v *vault.Vault, text string, w vault.Write) (*vault.Result, error) {
	p := vault.Patch{Text: &text}
	yes := true
	for _, o := range c.Others {
		p.AddCategories = append(p.AddCategories, o.Categories...)
		if o.Pinned {
			p.Pinned = &yes
		}
		if o.Private && !c.Memory.Private {
			p.Set = []vault.KeyValue{{Key: "private", Value: markdown.Bool(true)}}
		}
	}
	return c.settle(ctx, v, w, "merge ", p, func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error) {
		return c.replace(tx, m, other, !encode.SaysSame(text, string(other.Body)))
	})
}

// unlink takes ids out of everything that waits for a decision about m.
func unlink(tx *vault.Tx, m vault.Memory, ids ...string) (after vault.Memory, err error) {
	for _, key := range []string{conflicts, mayOutdate} {
		if after, err = tx.Link(m, key, true, ids...); err != nil {
			return m, err
		}
	}
	return after, nil
}

// replace archives other in favour of m.
func (c Case) replace(tx *vault.Tx, m, other vault.Memory, rejected bool) (vault.Memory, error) {
	if err := errors.Join(tx.Detach(other, c.disputing[other.Path]), tx.Archive(other, rejected)); err != nil {
		return m, err
	}
	why := tx.Why()
	why.Extra = append(slices.Clip(why.Extra), vault.TrailerLine{Key: "Supersedes", Value: other.ID})
	return tx.Link(m, superseding, false, other.ID)
}

// settle edits the memory of a case and then deals with each of the others.
func (c Case) settle(ctx context.Context, v *vault.Vault, w vault.Write, subject string, edit vault.Patch, one func(tx *vault.Tx, m, other vault.Memory) (vault.Memory, error)) (*vault.Result, error) {
	for _, o := range c.Others {
		var err error
		if c.disputing[o.Path], err = v.Disputing(ctx, o); err != nil {
			return nil, err
		}
	}
	var after vault.Memory
	res, err := v.Transact(ctx, w.Why(vault.OpUpdate, subject+c.Memory.Name()), w.DryRun, func(tx *vault.Tx) (err error) {
		for _, m := range slices.Concat([]vault.Memory{c.Memory}, c.Others) {
			if _, hash, err := tx.Read(m.Path); err != nil || hash != m.Hash {
				return cmp.Or(err, fmt.Errorf("settle %q: %w: it changed meanwhile", m.Path, vault.ErrConflict))
			}
		}
		if after, err = edit.Apply(tx, c.Memory); err != nil {
			return err
		}
		about, ids := []string{after.ID}, []string{}
		for _, o := range c.Others {
			if after, err = one(tx, after, o); err != nil {
				return err
			}
			about, ids = append(about, o.ID), append(ids, o.ID)
		}
		// The last link of all: ids that name nothing any more go as well.
		if after, err = unlink(tx, after, slices.Concat(ids, c.links)...); err != nil {
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
