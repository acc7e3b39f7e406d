package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/agent/place"
	"stet/index"
	"stet/vault"
)

// A Meaner finds memories by meaning. An [index.Index] with an embedder is one.
type Meaner interface {
	// Alike lists for each of texts up to limit memories that mean the like,
	// nearest first; nil where it cannot tell.
	Alike(ctx context.Context, texts []string, limit int) ([][]index.Likeness, error)
}

// unspoken reports whether a draft is shown to nobody outside: it is private, or looks
// like a secret.
func (d *gatherer) unspoken(dr *draft) bool {
	if dr.self != nil {
		return dr.self.Private || d.secret(dr.self.Path, dr.memory.Text)
	}
	return dr.note.Private || d.secret("memories/note.md", dr.memory.Text+"\n"+dr.note.Title)
}

func (d *gatherer) secret(p vault.Path, text string) bool {
	return len(d.v.Secrets(p, []byte(text))) > 0
}

// liken looks for what resembles the drafts in meaning, in one call for all of them.
// Where that fails, words decide what resembles them.
func (d *gatherer) liken(drafts []*draft) error {
	if d.mind.Meaning == nil {
		return nil
	}
	var texts []string
	var of []*draft
	for i := range drafts {
		dr := drafts[i]
		if _, asked := d.thoughts[i]; asked || dr.plan.Duplicate != nil || dr.late || !pipeline.Judgeable(dr.memory.Text) || d.unspoken(dr) {
			continue
		}
		// As the index sends a memory: its name, then what it says.
		name := cmp.Or(dr.note.Title, vault.Note{Text: dr.memory.Text}.Name(""))
		texts, of = append(texts, name+"\n"+strings.TrimSpace(dr.memory.Text)), append(of, dr)
	}
	if len(texts) == 0 {
		return nil
	}
	found, err := d.mind.Meaning.Alike(d.ctx, texts, near)
	if err != nil {
		if cause := context.Cause(d.ctx); cause != nil {
			return cause
		}
		d.warnings = append(d.warnings, fmt.Sprintf("what resembles the new memory in meaning could not be looked up: %s; shared words decide", strings.Join(strings.Fields(err.Error()), " ")))
		return nil
	}
	for i, list := range found {
		if err := d.resembles(of[i], list); err != nil {
			return err
		}
	}
	return nil
}

// resembles takes up what was found by meaning. The rules judge what the words did
// not find.
func (d *gatherer) resembles(dr *draft, list []index.Likeness) error {
	dr.cosine = map[string]float64{}
	more := false
	for _, l := range list {
		if !concerns(dr.note.Scope, vault.ScopeOf(l.Path)) {
			continue
		}
		m, ok, err := d.read(l.Path)
		if err != nil {
			return err
		}
		if !ok || !dr.follows(m) {
			continue
		}
		key := string(m.Path)
		dr.cosine[key] = l.Cosine
		if d.near(dr, key) {
			continue
		}
		d.stored[key] = m
		dr.near, more = append(dr.near, storedMemory(m)), true
	}
	if !more {
		return nil
	}
	if dr.self != nil {
		return d.reconsider(dr)
	}
	return d.decideNew(dr)
}

// shownBytes bounds the stored memories that a note is judged beside, as a model reads them, each
// with framed bytes of JSON around it: with the prompt itself about 1,200 tokens. The first one is
// shown whatever its length.
const (
	shownBytes = 2600
	framed     = 75
)

// beside are the stored memories that a note is judged beside; at is what the rules guess of its
// place.
func (d *gatherer) beside(dr *draft, at place.Placing) ([]vault.Memory, error) {
	if n := dr.note; n.Scope != "" {
		at.Scope.Value = vault.Scope(n.Scope).Slug()
	}
	if n := dr.note; len(n.Categories) > 0 {
		at.Categories.Value = n.Categories
	}
	if err := d.neighbours(dr, at); err != nil {
		return nil, err
	}
	return d.resembling(dr, at), nil
}

// resembling are the candidates that a note is judged beside, the likeliest first.
// What makes one likely adds up: words that both use, the rarer the heavier, an attribute
// that both give a value to, a verdict of the rules, a near place, and likeness in
// meaning. What room is left is filled with those beside it, the newest first.
func (d *gatherer) resembling(dr *draft, at place.Placing) []vault.Memory {
	type candidate struct {
		vault.Memory
		stems []string
		score float64
	}
	var all []candidate
	have := map[string]int{}
	for _, o := range dr.near {
		m := d.stored[o.ID]
		if m.Private || !pipeline.Judgeable(o.Text) {
			continue
		}
		c := candidate{Memory: m, stems: pipeline.Stems(o.Text + "\n" + m.Title)}
		for _, s := range c.stems {
			have[s]++
		}
		all = append(all, c)
	}
	mine := pipeline.Stems(dr.memory.Text + "\n" + dr.note.Title)
	for i := range all {
		c := &all[i]
		key := string(c.Path)
		for _, s := range c.stems {
			if slices.Contains(mine, s) {
				c.score += math.Log(1 + float64(len(all))/float64(have[s]))
			}
		}
		if slices.ContainsFunc(dr.plan.Verdicts, func(v encode.Verdict) bool { return v.Old == key }) {
			c.score += certain
		}
		if body := string(c.Body); encode.Keyed(dr.memory.Text, body) || encode.SameKind(dr.memory.Text, body) {
			c.score += sameAttribute
		}
		c.score += nearness(c.Memory, at)
		if cosine := dr.cosine[key]; cosine >= d.mind.Similar {
			c.score += cosine * sameAttribute
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Created.Compare(a.Created))
	})
	var out []vault.Memory
	size := 0
	for _, c := range all {
		if c.score == 0 && d.words == nil && !dr.around[string(c.Path)] || d.secret(c.Path, string(c.Body)) {
			continue
		}
		if size += len(c.Body) + len(c.Title) + framed; len(out) > 0 && size > shownBytes {
			break
		}
		out = append(out, c.Memory)
	}
	return out
}

// What the reasons to show a memory weigh; a word that it alone shares weighs about 3.
const (
	certain       = 8
	sameAttribute = 3
	samePlace     = 0.5 // the scope, or a category
	nearPlace     = 0.25
)

// nearness is how near a memory stands to where a note belongs, as far as that is known.
func nearness(m vault.Memory, at place.Placing) (sum float64) {
	if a, b := vault.Scope(at.Scope.Value), vault.Scope(m.Scope); a != "" && a != "/" && b != "/" {
		switch {
		case a == b:
			sum += samePlace
		case a.In(string(b)) || b.In(string(a)):
			sum += nearPlace
		}
	}
	if slices.ContainsFunc(m.Categories, func(c string) bool { return slices.Contains(at.Categories.Value, c) }) {
		sum += samePlace
	}
	return sum
}

// neighbours are the memories of the scope that a note belongs to, or of all scopes that
// concern it, where they are few: what shares no word with the note may still be what it changes.
func (d *gatherer) neighbours(dr *draft, at place.Placing) error {
	scope := at.Scope.Value
	switch {
	case d.voc == nil:
		return nil
	case sum(d.voc.All.Scopes) <= fewNeighbours:
		scope = ""
	case scope == "" || d.voc.All.Scopes[scope] > fewNeighbours:
		return nil
	}
	all, err := d.v.List(d.ctx, vault.Filter{Scope: scope, Public: true})
	if err != nil {
		return err
	}
	dr.around = map[string]bool{}
	for _, m := range all {
		key := string(m.Path)
		if scope != "" && m.Scope != scope || !concerns(dr.note.Scope, m.Scope) || m.Problem != "" || m.SupersededBy != "" ||
			!dr.follows(m) {
			continue
		}
		dr.around[key] = true
		if !d.near(dr, key) {
			d.stored[key] = m
			dr.near = append(dr.near, storedMemory(m))
		}
	}
	return nil
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// fewNeighbours bounds what is read as a whole: a scope, or the vault.
const fewNeighbours = 48

func (d *gatherer) near(dr *draft, key string) bool {
	return slices.ContainsFunc(dr.near, func(o encode.Memory) bool { return o.ID == key })
}
