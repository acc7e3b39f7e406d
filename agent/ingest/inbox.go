package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
func Inbox(ctx context.Context, v *vault.Vault, doubts Doubts) ([]Dispute, error) {
	all, err := doubts.read(ctx, v)
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

// Doubts tells, as [index.Index.Doubting], which memories Inbox has to read. Where it fails, or is nil, all are read.
type Doubts func(context.Context) (doubting []vault.Path, byID map[string][]vault.Path, err error)

// read reads the memories that doubt others and those that they name, in path order.
func (d Doubts) read(ctx context.Context, v *vault.Vault) ([]vault.Memory, error) {
	if d == nil {
		return v.List(ctx, vault.Filter{})
	}
	paths, byID, err := d(ctx)
	if err != nil {
		return v.List(ctx, vault.Filter{})
	}
	known := map[vault.Path]*vault.Memory{}
	for ; len(paths) > 0 && ctx.Err() == nil; paths = paths[1:] {
		if known[paths[0]] != nil {
			continue
		}
		m := vault.Memory{}
		if data, _, err := v.ReadFile(paths[0]); err == nil { // else it vanished, or is withheld
			m = vault.ReadMemory(paths[0], data)
		}
		known[paths[0]] = &m
		for _, id := range slices.Concat(m.Conflicts, m.MayOutdate) {
			paths = append(paths, byID[strings.ToLower(id)]...)
		}
	}
	var out []vault.Memory
	for _, p := range slices.Sorted(maps.Keys(known)) {
		if known[p].Path != "" {
			out = append(out, *known[p])
		}
	}
	return out, context.Cause(ctx)
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
	for c, err := range v.Whole().History().Log(ctx, vault.LogOptions{}) {
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

// flagTrailer says in a commit what a memory may outdate: "NEW OLD 0.62 The port is 8080.", by
// ids, and the words of the old one that it is about.
const flagTrailer = "May-Outdate"

type flag struct {
	pair   [2]string
	likely float64
}

func readFlag(line string) flag {
	words := strings.Fields(line)
	if len(words) < 3 {
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
}

// Cases are the two ways to look at a dispute.
func (d Dispute) Cases() (a, b Case) {
	of := func(m, other vault.Memory) Case {
		return Case{Memory: m, Others: []vault.Memory{other}}
	}
	return of(d.A, d.B), of(d.B, d.A)
}

// Find is the case of the memory that ref names. It fails with [vault.ErrInvalid] when
// that is in conflict with nothing.
func Find(ctx context.Context, v *vault.Vault, doubts Doubts, ref string) (Case, error) {
	m, err := v.Resolve(ctx, ref)
	if err != nil {
		return Case{}, err
	}
	disputes, err := Inbox(ctx, v, doubts)
	if err != nil {
		return Case{}, err
	}
	c := Case{Memory: m}
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
		return c, vault.WithHint(fmt.Errorf("%w: %s contradicts no memory", vault.ErrInvalid, m.Path),
			`"stet conflicts" lists those that do`)
	}
	return c, nil
}

// ByPerson is the rule of what a person decided.
const ByPerson = "user"

// Keep plans to settle a case in favour of its memory: what that is in conflict with goes to
// the archive, and machines do not write it again.
func (c Case) Keep(ctx context.Context, v *vault.Vault) (*Plan, error) {
	return c.plan(ctx, v, encode.Supersede, vault.Patch{}, func(vault.Memory) bool { return true })
}

// Both plans to settle a case: all sides are true.
func (c Case) Both(ctx context.Context, v *vault.Vault) (*Plan, error) {
	return c.plan(ctx, v, Release, vault.Patch{}, nil)
}

// Merge plans to settle a case with a text that says what is true: its memory says that from
// now on, pinned or private if one of them was, and what it was in conflict with goes
// to the archive. Machines write what the text leaves out of it no more.
func (c Case) Merge(ctx context.Context, v *vault.Vault, text string) (*Plan, error) {
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
	return c.plan(ctx, v, encode.Supersede, p, func(o vault.Memory) bool { return !encode.SaysSame(text, string(o.Body)) })
}

func (c Case) plan(ctx context.Context, v *vault.Vault, kind encode.Kind, edit vault.Patch, rejected func(vault.Memory) bool) (*Plan, error) {
	it := Item{Outcome: Settle, Path: c.Memory.Path, self: &c.Memory, edit: edit, unlink: slices.Clone(c.links)}
	said := strings.TrimSpace(string(c.Memory.Body))
	if edit.Text != nil {
		said = *edit.Text
	}
	for _, o := range c.Others {
		dec := Decision{Kind: kind, Rule: ByPerson, Confidence: 1, Path: o.Path, ID: o.ID, Said: said, Was: strings.TrimSpace(string(o.Body)), old: o}
		if kind == encode.Supersede {
			var err error
			if dec.disputing, err = o.Disputing(ctx, v); err != nil {
				return nil, err
			}
			dec.rejected = rejected(o)
		}
		it.Decisions, it.unlink = append(it.Decisions, dec), append(it.unlink, o.ID)
	}
	return &Plan{Items: []Item{it}}, nil
}

// Settle carries out the plan of a [Case] in one commit. It fails with [vault.ErrConflict]
// when a side changed since it was looked up.
func (p *Plan) Settle(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
	it := &p.Items[0]
	subject := "merge "
	switch {
	case it.edit.Text != nil:
	case len(it.Decisions) > 0 && it.Decisions[0].Kind == encode.Supersede:
		subject = "keep "
	default:
		subject = "keep both: "
	}
	var after vault.Memory
	res, err := v.Transact(ctx, w.Why(vault.OpUpdate, subject+it.self.Name()), w.DryRun, func(tx *vault.Tx) (err error) {
		tx.Why().Settles = true
		s := p.Begin()
		if err := errors.Join(unmoved(tx, *it.self), s.check(tx)); err != nil {
			return err
		}
		if after, err = it.edit.Apply(tx, *it.self); err != nil {
			return err
		}
		tx.Why().Memories = []string{after.ID}
		if err := s.effects(tx, 0, after); err != nil {
			return err
		}
		// The last link of all: ids that name nothing any more go as well.
		after, err = unlink(tx, after, it.unlink...)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Memories = []vault.Memory{after}
	return res, nil
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
