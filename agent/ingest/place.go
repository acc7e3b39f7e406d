package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/place"
	"stet/index"
	"stet/vault"
)

// A Placing is what the rules say about where a note belongs, nil for what was given
// or is not known.
type Placing struct {
	Note       int                      `json:"note"` // its number in the call, from 1
	Kind       *place.Finding[string]   `json:"kind,omitempty"`
	Notebook   vault.Path               `json:"notebook,omitempty"` // in which it is an entry
	Scope      *place.Finding[string]   `json:"scope,omitempty"`
	Categories *place.Finding[[]string] `json:"categories,omitempty"`
	Importance *place.Finding[float64]  `json:"importance,omitempty"`
}

// file gives places to the notes that no model places, but nothing that was given.
func (d *gatherer) file(drafts []*draft) error {
	var open []*draft
	for _, dr := range drafts {
		if dr.plan.Duplicate == nil && d.unplaced(dr) {
			open = append(open, dr)
		}
	}
	placing, err := d.placing(open)
	if err != nil {
		if len(d.warnings) == 0 { // else the search said so before
			d.warnings = append(d.warnings, fmt.Sprintf("not filed by the rules: %v", err))
		}
		return context.Cause(d.ctx)
	}
	for _, dr := range open {
		if err := d.fileOne(dr, placing(dr)); err != nil {
			return err
		}
	}
	return nil
}

// placing counts what is known of the words of drafts, and gives what the rules say of the place
// of each.
func (d *gatherer) placing(drafts []*draft) (func(*draft) place.Placing, error) {
	c, err := d.counted, error(nil)
	if len(drafts) == 0 {
		return nil, nil
	}
	if c == nil {
		if c, err = d.countWords(drafts); err != nil {
			return nil, err
		}
	}
	known := place.Learn(usable(place.Usage(c.All)), c.Tagged)
	return func(dr *draft) place.Placing {
		q := d.asked(dr, c.Words[c.text[dr.i]])
		for _, t := range c.about[dr.i] {
			q.Topics = append(q.Topics, place.Word{Text: t.Name, Usage: place.Usage(c.Groups[c.group[t.Name]])})
		}
		return known.Place(q)
	}, nil
}

// unplaced reports a note that lacks something the rules may say. A form says
// itself what belongs into it.
func (d *gatherer) unplaced(dr *draft) bool {
	n := &dr.note
	if n.Form != nil || dr.book != nil || dr.late || n.Scope != "" && len(n.Categories) > 0 && n.Importance != nil {
		return false
	}
	return d.mind == nil || n.Scope != "" && n.Importance != nil || dr.failed != nil || d.unspoken(dr)
}

// usable leaves out the scopes that stet would not make.
func usable(u place.Usage) place.Usage {
	scopes := map[string]int{}
	for scope, n := range u.Scopes {
		if folder, err := vault.Scope(scope).Folder(); err == nil && string(folder) == strings.TrimSuffix("memories"+scope, "/") {
			scopes[scope] = n
		}
	}
	u.Scopes = scopes
	return u
}

// asked is a note as the rules see it.
func (d *gatherer) asked(dr *draft, words []index.Word) place.Note {
	n := &dr.note
	q := place.Note{Text: dr.memory.Text, Title: n.Title, Kind: n.Kind, Scope: n.Scope, Categories: n.Categories, Importance: n.Importance}
	if q.Scope != "" {
		q.Scope = vault.Scope(q.Scope).Slug()
	}
	for _, v := range dr.plan.Verdicts {
		if old, ok := d.stored[v.Old]; ok && v.Kind == encode.Supersede && v.Rest == "" {
			q.Replaces = old.Scope
		}
	}
	for _, w := range words {
		q.Words = append(q.Words, place.Word{Text: w.Text, Usage: place.Usage(w.Usage)})
	}
	for _, o := range dr.near {
		q.Near = append(q.Near, place.Neighbour{Text: o.Text, Importance: d.stored[o.ID].Importance})
	}
	return q
}

// fileOne gives a note what the rules found.
func (d *gatherer) fileOne(dr *draft, p place.Placing) (err error) {
	n, told := &dr.note, Placing{Note: dr.i + 1}
	if dr.filed != nil {
		told = *dr.filed
	}
	if f := p.Scope; f.Rule != "" && d.mayFile(dr, f) {
		n.Scope, told.Scope = f.Value, &f
		dr.decided = append(dr.decided, f.Rule)
		if vault.Scope(n.Scope).In(projects) {
			err = d.compareIn(dr)
		}
	}
	if f := p.Categories; f.Rule != "" {
		d.spell(dr, f.Value)
		n.Categories, told.Categories = f.Value, &f
		dr.decided = append(dr.decided, f.Rule)
	}
	if f := p.Importance; f.Rule != "" && dr.failed == nil {
		n.Importance, told.Importance = &f.Value, &f
		dr.decided = append(dr.decided, f.Rule)
	}
	if told != (Placing{Note: told.Note}) {
		dr.filed = &told
	}
	return err
}

// sureScope is the confidence from which on the rules' scope stays when the model failed.
// Specified in DESIGN.md 5.2.
const sureScope = 0.9

// mayFile reports whether a scope that the rules found is given. Where a model failed they
// must be sure, and what it said of stored memories was not said of those of a project.
func (d *gatherer) mayFile(dr *draft, f place.Finding[string]) bool {
	return dr.failed == nil || f.Confidence >= sureScope && (d.thoughts[dr.i].Actions == nil || !vault.Scope(f.Value).In(projects))
}

// spell writes categories as the memories that resemble the note do: the index has
// them in lower case.
func (d *gatherer) spell(dr *draft, categories []string) {
	for i, c := range categories {
		for _, o := range dr.near {
			have := d.stored[o.ID].Categories
			if at := slices.IndexFunc(have, func(s string) bool { return strings.EqualFold(s, c) }); at >= 0 {
				categories[i] = have[at]
				break
			}
		}
	}
}
