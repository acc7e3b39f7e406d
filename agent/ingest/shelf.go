package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/place"
	"stet/agent/route"
	"stet/agent/spoken"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
)

// What a person says of himself or herself stands in USER.md as long as nothing disputes it: an entry has no id and
// no front matter, so what is linked or flagged has to be a memory. So a new note is compared with the entries of
// both notebooks; it goes where its writer says, or to USER.md when a rule of package route is sure of it, and nothing
// else was decided about it; and an entry that stet itself put there becomes a memory again before something is decided about it. What a person
// put into a notebook stays there, whatever contradicts it: the reply names it.

// A shelf is a notebook as it stood when the plan was made.
type shelf struct {
	book     *notebook.Notebook
	withheld bool // it is private, and an agent asks: nothing of it is known, and nothing written into it
	pen      *notebook.Pen
	entries  map[string]markdown.Entry // by address
	agents   map[string]bool           // texts of agents; nil before they are needed
}

// shelve reads both notebooks, once.
func (d *gatherer) shelve() error {
	if d.shelves != nil {
		return nil
	}
	limits := notebook.LimitsOf(d.v)
	for _, n := range []*notebook.Notebook{notebook.Profile(d.v, limits), notebook.Core(d.v, limits)} {
		page, err := n.Read()
		withheld := errors.Is(err, vault.ErrRefused)
		if err != nil && !withheld {
			return err
		}
		s := &shelf{withheld: withheld, book: n, pen: n.Pen(), entries: map[string]markdown.Entry{}}
		d.shelves = append(d.shelves, s)
		for _, e := range page.Entries {
			m := vault.Memory{Path: vault.Path(n.Address(e)), Hash: vault.Hash(e.Hash()), Body: []byte(e.Body()),
				Kind: e.Kind}
			if e.Body() == "" {
				continue
			}
			s.entries[string(m.Path)], d.stored[string(m.Path)] = e, m
			d.shelved.add(storedMemory(m), encode.Probes(e.Body()))
		}
	}
	return nil
}

// shelfOf is the notebook in which a path names an entry, nil for the path of a file.
func (d *gatherer) shelfOf(p vault.Path) *shelf {
	for _, s := range d.shelves {
		if strings.HasPrefix(string(p), string(s.book.Path())+"#") {
			return s
		}
	}
	return nil
}

// word is that of an entry.
func (s *shelf) word(ctx context.Context, p vault.Path) (_ encode.Authority, err error) {
	if s.agents == nil {
		if s.agents, err = s.book.ByAgents(ctx); err != nil {
			return 0, err
		}
	}
	if s.agents[s.entries[string(p)].Text] {
		return encode.Inference, nil
	}
	return encode.Statement, nil
}

// writerSays is the rule that a note goes where its writer wants it.
const writerSays = "writer@1"

// route says what kind of thing a note is, where no kind was given, and whether it may stand in USER.md.
func (d *gatherer) route(dr *draft) {
	n, bound := &dr.note, route.Sure
	if d.sent(dr); n.To != "" || n.Kind != "" || n.Form != nil || n.ID != "" || dr.plan.Duplicate != nil {
		return
	}
	if d.v.Waits(d.w) { // a person looks at it
		bound = route.Likely
	}
	r, ok := route.Of(dr.said)
	if !ok || r.Confidence < bound || r.Rule == route.Asked { // what is not about the user is none of USER.md's
		if r, ok = d.succeeds(dr); !ok {
			return
		}
	}
	n.Kind = r.Kind
	dr.decided = append(dr.decided, r.Rule)
	kind := &place.Finding[string]{Value: r.Kind, Rule: r.Rule, Confidence: r.Confidence}
	dr.filed = &Placing{Note: dr.i + 1, Kind: kind}
	if n.Scope == "" && n.Title == "" && len(n.Categories) == 0 && n.Importance == nil && !n.Pinned &&
		!n.Private && (n.Source == "" || strings.HasPrefix(n.Source, "session:")) && len(n.Meta) == 0 {
		dr.book = d.shelves[0].given()
	}
}

// sent lets a note go to the notebook that its writer names.
func (d *gatherer) sent(dr *draft) {
	for _, s := range d.shelves {
		if dr.note.To == string(s.book.Path()) && dr.plan.Duplicate == nil {
			kind := &place.Finding[string]{Value: dr.note.Kind, Rule: writerSays, Confidence: 1}
			dr.filed, dr.book = &Placing{Note: dr.i + 1, Kind: kind}, s.given()
		}
	}
}

// given is the notebook for who writes, nil where it is withheld.
func (s *shelf) given() *shelf {
	if s.withheld {
		return nil
	}
	return s
}

// succeeds says what a short note is that does nothing but take the place of one whole entry of USER.md.
func (d *gatherer) succeeds(dr *draft) (route.Route, bool) {
	text := strings.TrimSpace(dr.note.Text)
	short := len(spoken.Sentences(text)) <= 2 && !strings.Contains(text, "\n") // "I left Acme. I work at Globex."
	if len(dr.plan.Verdicts) != 1 || !short {
		return route.Route{}, false
	}
	v := dr.plan.Verdicts[0]
	old, ok := d.shelves[0].entries[v.Old]
	return route.Route{Kind: cmp.Or(old.Kind, "fact"), Rule: v.Rule, Confidence: v.Confidence},
		ok && v.Kind == encode.Supersede && v.Rest == ""
}

// settleEntries settles what is done about entries of notebooks, and whether the note becomes one.
func (d *gatherer) settleEntries(it *Item) {
	for i := range it.Decisions {
		dec := &it.Decisions[i]
		if dec.shelf == nil {
			it.book = nil
			continue
		}
		inPlace := it.book != nil && len(it.Decisions) == 1 && dec.shelf == it.book && dec.Kind == encode.Supersede
		if inPlace && dec.Kept == "" {
			break // it takes the entry's place
		}
		filed, err := d.filed(dec)
		if err != nil {
			d.warnings = append(d.warnings, fmt.Sprintf("left where it is: %s: %v", dec.old.Path, err))
		}
		if filed && inPlace {
			break // and what is still true of the entry stays beside it
		}
		if filed {
			it.book = nil
		} else {
			dec.Kind, dec.Kept, dec.Gone, dec.aside = encode.Conflict, "", nil, true
		}
	}
	if it.book == nil {
		return
	}
	it.Filed.Notebook = it.book.book.Path()
	if err := it.book.pen.Foresee(d.ctx, it.note.Text); err != nil {
		d.warnings = append(d.warnings, fmt.Sprintf("not filed in %s: %v", it.Filed.Notebook, err))
		it.stay()
	}
}

// filed reports whether a decision may make a memory of the entry that it is about: stet chose its place, and no
// machine decides about a person's words.
func (d *gatherer) filed(dec *Decision) (bool, error) {
	filed, err := dec.shelf.pen.Filed(d.ctx, dec.shelf.entries[string(dec.old.Path)].Text)
	if err != nil || !filed || d.authority() >= encode.Statement {
		return filed, err
	}
	word, err := dec.shelf.word(d.ctx, dec.old.Path)
	return word < encode.Statement, err
}

// stay lets a note be a memory and no entry.
func (it *Item) stay() {
	if it.book != nil {
		it.book, it.Filed.Notebook = nil, ""
		it.set(classifiedBy, markdown.String(it.Filed.Kind.Rule))
	}
}

// lift makes a memory of the entry that a decision is about, once a transaction.
func (s *Staging) lift(tx *vault.Tx, d Decision) (vault.Memory, error) {
	if m, done := s.lifted[d.old.Path]; done {
		return m, nil
	}
	m, err := d.shelf.pen.Lift(tx, string(d.old.Hash))
	if err == nil {
		s.lifted[d.old.Path] = m
	}
	return m, err
}

// file writes the notes of items as entries of notebooks, with each in one commit each.
func (s *Staging) file(
	ctx context.Context, tx *vault.Tx, items []int, w vault.Write, each bool,
) (out []vault.Memory, err error) {
	if s.told = nil; len(items) == 0 {
		return nil, nil
	}
	if err := s.check(tx); err != nil {
		return nil, err
	}
	for _, i := range items {
		it, old, rest := &s.Items[i], "", notebook.New{}
		if each && len(tx.Why().Memories) > 0 {
			tx.Split(w.Why(vault.OpRemember, ""))
		}
		why := tx.Why()
		for _, d := range it.Decisions {
			if !d.aside {
				old, rest = string(d.old.Hash), notebook.New{Text: d.Kept, Kind: d.old.Kind}
				ruled(&why.Writer, d.Rule, d.Confidence)
			}
		}
		kind := it.Filed.Kind // a rule that replaced an entry may be what files the new one
		if !slices.ContainsFunc(it.Decisions, func(d Decision) bool { return !d.aside && d.Rule == kind.Rule }) {
			ruled(&why.Writer, kind.Rule, kind.Confidence)
		}
		res, err := it.book.pen.File(ctx, tx, old, notebook.New{Text: it.note.Text, Kind: it.note.Kind}, w)
		if err != nil {
			return nil, err
		}
		if it.note.Source != "" {
			why.Trail("Stet-Source", it.note.Source)
		}
		moved := res.Moved
		if rest.Text != "" { // what is still true of the entry
			left, err := it.book.pen.File(ctx, tx, "", rest, w)
			if err != nil {
				return nil, err
			}
			moved = slices.Concat(moved, left.Moved)
		}
		for _, m := range moved {
			told := fmt.Sprintf("%s was full: %q moved to %s", it.Filed.Notebook, m.Entry.Text, m.Memory.Path)
			s.told = append(s.told, told)
		}
		if m := res.Stored; m != nil {
			out = append(out, *m)
			continue
		}
		at := vault.Path(it.book.book.Address(res.Entry))
		out = append(out, vault.Memory{Path: at, Kind: it.note.Kind, Body: []byte(it.note.Text)})
	}
	return out, nil
}
