package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// mergeFront merges everything before the body; the three are readable.
func mergeFront(b, o, t *Document, rule func(string) KeyMerge) ([]byte, []Conflict) {
	switch {
	case bytes.Equal(o.head(), t.head()), bytes.Equal(b.head(), t.head()):
		return o.head(), nil
	case bytes.Equal(b.head(), o.head()):
		return t.head(), nil
	}
	m := &frontMerge{base: b, ours: o, theirs: t, rule: rule, sets: map[string][]string{}}
	if m.decide(); len(m.conflicts) > 0 {
		return nil, m.conflicts
	}
	// Lines first: where that says the same it also keeps comments and blank
	// lines of both sides in place.
	if text, conflicts := mergeText(b.head(), o.head(), t.head(), 1); conflicts == nil {
		if m.isResult(Parse(text)) {
			return text, nil
		}
	}
	if b.meta().flow || o.meta().flow || t.meta().flow {
		return nil, []Conflict{m.whole()}
	}
	text, err := m.assemble()
	if err != nil || !m.isResult(Parse(text)) {
		return nil, []Conflict{m.whole()}
	}
	return text, nil
}

// frontMerge is the merge of three front matters by key.
type frontMerge struct {
	base, ours, theirs *Document
	rule               func(key string) KeyMerge
	pick               map[string]*Document // which side has the result; nil: removed
	sets               map[string][]string  // results that neither side has
	conflicts          []Conflict
}

func (m *frontMerge) whole() Conflict {
	return Conflict{"front matter", string(m.base.head()), string(m.ours.head()), string(m.theirs.head())}
}

// decide picks a side for every key.
func (m *frontMerge) decide() {
	m.pick = map[string]*Document{}
	keys := slices.Concat(m.ours.Keys(), m.theirs.Keys(), m.base.Keys())
	for _, key := range keys {
		if _, done := m.pick[key]; done {
			continue
		}
		m.pick[key] = m.ours
		switch {
		case m.same(m.base, m.theirs, key), m.same(m.ours, m.theirs, key):
		case m.same(m.base, m.ours, key):
			m.pick[key] = m.theirs
		case m.rule(key) == Union && m.mergeSet(key):
		case m.rule(key) == Later && m.laterWins(key):
		default:
			m.conflicts = append(m.conflicts, Conflict{
				Where: fmt.Sprintf("front matter key %q", key),
				Base:  m.base.shown(key), Ours: m.ours.shown(key), Theirs: m.theirs.shown(key),
			})
		}
		if side := m.pick[key]; side != nil && side.meta().find(key) < 0 {
			m.pick[key] = nil
		}
	}
}

// same reports whether a key says the same on two sides; absent is a value.
func (m *frontMerge) same(x, y *Document, key string) bool {
	i, j := x.meta().find(key), y.meta().find(key)
	if i < 0 || j < 0 {
		return i < 0 && j < 0
	}
	return sameNode(x.meta().values[i], y.meta().values[j])
}

// shown is the value of a key for a person.
func (d *Document) shown(key string) string {
	f := d.meta()
	i := f.find(key)
	if i < 0 {
		return ""
	}
	if v := valueOf(f.values[i]); v.kind != mapping || f.flow {
		return v.Text()
	}
	e := f.layout()[i]
	return string(f.text[e.start:e.end])
}

// mergeSet unites two lists: ours, plus what theirs added, minus what either
// side removed.
func (m *frontMerge) mergeSet(key string) bool {
	items := func(d *Document) []string {
		v, _ := d.Meta(key)
		return v.List()
	}
	for _, d := range []*Document{m.base, m.ours, m.theirs} {
		if v, _ := d.Meta(key); v.kind == mapping {
			return false
		}
	}
	b, o, t := items(m.base), items(m.ours), items(m.theirs)
	out := []string{}
	for _, item := range o {
		if !slices.Contains(b, item) || slices.Contains(t, item) {
			out = append(out, item)
		}
	}
	for _, item := range t {
		if !slices.Contains(b, item) && !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	if len(out) == 0 && (m.ours.meta().find(key) < 0 || m.theirs.meta().find(key) < 0) {
		m.pick[key] = nil
		return true
	}
	m.sets[key] = out
	if m.ours.meta().find(key) < 0 {
		m.pick[key] = m.theirs
	}
	return true
}

// laterWins settles two changed times: both writes happened, the later was last,
// and one that is there is later than none.
func (m *frontMerge) laterWins(key string) bool {
	ours, hasO := m.ours.Meta(key)
	theirs, hasT := m.theirs.Meta(key)
	o, okO := ours.Time()
	t, okT := theirs.Time()
	if hasO && !okO || hasT && !okT {
		return false
	}
	if t.After(o) {
		m.pick[key] = m.theirs
	}
	return true
}

// isResult reports whether d has exactly the keys and values decided on.
func (m *frontMerge) isResult(d *Document) bool {
	if d.meta().err != nil || len(d.Body()) != 0 {
		return false
	}
	n := 0
	for key, side := range m.pick {
		if side == nil {
			continue
		}
		n++
		if items, ok := m.sets[key]; ok {
			if v, found := d.Meta(key); !found || !slices.Equal(v.List(), items) {
				return false
			}
		} else if d.meta().find(key) < 0 || !m.same(d, side, key) {
			return false
		}
	}
	return n == len(d.meta().keys)
}

// A piece is one key as written, with the comments above it.
type piece struct {
	key        string
	lead, text []byte
}

func (d *Document) pieces() (out []piece, tail []byte) {
	f := d.meta()
	for i, e := range f.layout() {
		out = append(out, piece{f.keys[i].Value, f.text[e.lead:e.start], f.text[e.start:e.end]})
	}
	return out, f.text[f.tailOf():]
}

// assemble writes the result: the pieces of ours in their order, each replaced or
// dropped as decided, and the new ones of theirs behind the key they follow
// there.
func (m *frontMerge) assemble() ([]byte, error) {
	oPieces, oTail := m.ours.pieces()
	tPieces, tTail := m.theirs.pieces()
	bPieces, bTail := m.base.pieces()
	eol := m.ours.eol()
	find := func(ps []piece) map[string]piece {
		by := make(map[string]piece, len(ps))
		for _, p := range ps {
			by[p.key] = p
		}
		return by
	}
	oBy, tBy, bBy := find(oPieces), find(tPieces), find(bPieces)
	follow := map[string][]piece{} // new pieces of theirs by the key they follow
	anchor := ""
	for _, p := range tPieces {
		if _, ours := oBy[p.key]; ours {
			anchor = p.key
		} else if m.pick[p.key] != nil {
			follow[anchor] = append(follow[anchor], p)
		}
	}
	var out bytes.Buffer
	write := func(parts ...[]byte) {
		for _, p := range parts {
			out.Write(withEOL(p, eol))
		}
	}
	writeNew := func(after string) {
		for _, p := range follow[after] {
			write(p.lead, p.text)
		}
	}
	writeNew("")
	for _, p := range oPieces {
		if side := m.pick[p.key]; side != nil {
			t, b := tBy[p.key], bBy[p.key]
			text := p.text
			if side == m.theirs || bytes.Equal(p.text, b.text) && len(t.text) > 0 {
				text = t.text
			}
			if _, united := m.sets[p.key]; united {
				text = p.text
			}
			write(mergeTrivia(b.lead, p.lead, t.lead), text)
		}
		writeNew(p.key)
	}
	write(mergeTrivia(bTail, oTail, tTail))
	return m.finish(out.Bytes())
}

// finish puts fences around text and writes the united lists.
func (m *frontMerge) finish(text []byte) ([]byte, error) {
	from := m.ours
	if !from.split.has {
		from = m.theirs
	}
	kept := slices.ContainsFunc(m.ours.Keys(), func(k string) bool { return m.pick[k] != nil }) ||
		slices.ContainsFunc(m.theirs.Keys(), func(k string) bool { return m.pick[k] != nil })
	if !kept && !(m.ours.split.has && m.theirs.split.has) {
		return m.ours.src[:m.ours.split.start], nil
	}
	d := Parse(concat(m.ours.src[:m.ours.split.start], from.src[from.split.start:from.split.yamlStart],
		text, from.src[from.split.yamlEnd:from.split.body]))
	for key, items := range m.sets {
		v := Strings(items)
		if old, ok := d.Meta(key); ok && slices.Equal(old.List(), items) {
			continue
		}
		if err := d.SetMeta(key, v); err != nil {
			return nil, err
		}
	}
	return d.Bytes(), nil
}

// mergeTrivia merges comments and blank lines: the side that changed them wins;
// if both did, theirs that are new follow ours, since a comment too many is
// better than one lost.
func mergeTrivia(base, ours, theirs []byte) []byte {
	switch {
	case bytes.Equal(base, theirs), bytes.Equal(ours, theirs):
		return ours
	case bytes.Equal(base, ours):
		return theirs
	}
	out := slices.Clone(ours)
	for _, line := range splitLines(theirs) {
		text := strings.TrimSpace(string(line))
		if text != "" && !bytes.Contains(ours, []byte(text)) && !bytes.Contains(base, []byte(text)) {
			out = append(out, line...)
		}
	}
	return out
}

// withEOL gives every line of b the line ending eol.
func withEOL(b []byte, eol string) []byte {
	if eol == "\n" {
		return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte(eol))
}
