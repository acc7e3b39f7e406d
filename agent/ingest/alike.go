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
		if _, asked := d.thoughts[i]; asked || dr.plan.Duplicate != nil || !pipeline.Judgeable(dr.memory.Text) || d.unspoken(dr) {
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

// shown and shownBytes bound what a note is judged beside: how many stored memories, and
// how much of them together. The first one is shown whatever its length.
const (
	shown      = 8
	shownBytes = 2400
)

// resembling are the stored memories that a note is judged beside, the likeliest first.
// What makes one likely adds up: words that both use, the rarer the heavier, an attribute
// that both give a value to, a verdict of the rules, the same scope, and likeness in
// meaning.
func (d *gatherer) resembling(dr *draft) []vault.Memory {
	type candidate struct {
		vault.Memory
		stems []string
		score float64
	}
	var all []candidate
	have := map[string]int{}
	for _, o := range dr.near {
		m := d.stored[o.ID]
		if m.Private || !pipeline.Judgeable(o.Text) || d.secret(m.Path, o.Text) {
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
		if dr.note.Scope != "" && vault.Scope(dr.note.Scope).Slug() == c.Scope {
			c.score += sameScope
		}
		if cosine := dr.cosine[key]; cosine >= d.mind.Similar {
			c.score += cosine * sameAttribute
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	var out []vault.Memory
	size := 0
	for _, c := range all {
		if size += len(c.Body) + len(c.Title); c.score == 0 && d.words == nil || len(out) == shown || len(out) > 0 && size > shownBytes {
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
	sameScope     = 0.5
)

// neighbours are the memories of a note's scope, where they are few: what shares no word
// with the note may still be what it changes.
func (d *gatherer) neighbours(dr *draft) error {
	if dr.note.Scope == "" {
		return nil
	}
	scope := vault.Scope(dr.note.Scope).Slug()
	if d.voc == nil || d.voc.All.Scopes[scope] > fewNeighbours {
		return nil
	}
	all, err := d.v.List(d.ctx, vault.Filter{Scope: scope})
	if err != nil {
		return err
	}
	for _, m := range all {
		key := string(m.Path)
		if m.Scope != scope || m.Problem != "" || m.SupersededBy != "" || m.Private || !dr.follows(m) || d.near(dr, key) {
			continue
		}
		d.stored[key] = m
		dr.near = append(dr.near, storedMemory(m))
	}
	return nil
}

// fewNeighbours bounds a scope that is read as a whole.
const fewNeighbours = 48

func (d *gatherer) near(dr *draft, key string) bool {
	return slices.ContainsFunc(dr.near, func(o encode.Memory) bool { return o.ID == key })
}
