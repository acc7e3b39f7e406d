package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// The weights of the fields. The body says what a note is about; a word in the
// title or a heading counts again, a composite name found whole counts like a
// rare word, and the place of a file is a hint only.
func fieldBoost(f int) float64 {
	switch f {
	case fieldTitle:
		return 0.8
	case fieldHead:
		return 0.3
	case fieldPath:
		return 0.3
	case fieldIdent:
		return 1.5
	}
	return 1
}

// wordFields are the fields a bare word is looked up in, in the order in which
// their scores are added: both sources must add in one order, or their sums
// differ in the last bit.
func wordFields() [4]int { return [4]int{fieldBody, fieldTitle, fieldHead, fieldPath} }

// A posting is one document with a term.
type posting struct {
	doc          int32
	freq, length int32
	number       uint32  // the source's own number of the document
	positions    []int32 // ascending; filled in by places
}

// A source is what a query is evaluated on. Every source of the same files gives the
// same postings, and so the same answer.
type source interface {
	// records are the files, in path order.
	records() []record
	// layout says which documents belong to which record; nil where each record
	// is one document, of the same number.
	layout() *layout
	// superseded marks the records that are superseded; nil when there are none.
	superseded() []bool
	// stats are the statistics of a field.
	stats(field int) similarity
	// term lists the documents with a term, each once, by ascending number. It
	// may use room for the list.
	term(field int, term string, room []posting) ([]posting, error)
	// places fills in the positions of an exact term in some of the documents
	// that term listed.
	places(term string, list []posting) error
	// expand lists the terms of a field that begin with prefix, sorted.
	expand(field int, prefix string) ([]string, error)
	// similar lists the exact terms that word may be a misspelling of, sorted.
	similar(word string) ([]string, error)
}

// A match is one document of the answer.
type match struct {
	doc   int32
	tier  tier
	score float64
}

// A tier says how strictly the query was read to find a document. Stricter
// ones come first; each fills up behind the one before.
type tier uint8

const (
	strict   tier = iota // every word
	relaxed              // any word
	fuzzy                // only words that look like those of the query
	semantic             // none of them, but what it means
)

// String is the tier's name in answers.
func (t tier) String() string { return [...]string{"strict", "relaxed", "fuzzy", "semantic"}[t] }

// An evaluation adds up one query on one source.
type evaluation struct {
	src     source
	files   Source
	ctx     context.Context
	lang    *language
	scores  []float64
	hit     []uint16  // optional clauses matched
	met     []uint16  // required clauses matched
	near    []bool    // matched by a word that only looks like one of the query
	out     []bool    // excluded
	room    []posting // for lists that nobody keeps: those of common words are megabytes
	explain map[int32][]string
	weights map[string]float64  // term → weight, to choose the line that is shown
	similar map[string][]string // unknown word → what it was taken for
	boost   func(field int) float64
	talk    *talk // set where documents are messages
}

func newEvaluation(ctx context.Context, src source, files Source, lang *language) *evaluation {
	n, lay := len(src.records()), src.layout()
	if lay != nil {
		n = len(lay.owner)
	}
	e := &evaluation{
		src: src, files: files, ctx: ctx, lang: lang, scores: make([]float64, n), hit: make([]uint16, n), met: make([]uint16, n), boost: fieldBoost,
		near: make([]bool, n), out: make([]bool, n), weights: map[string]float64{}, similar: map[string][]string{},
	}
	if lay != nil {
		e.talk = newTalk(src.records(), lay)
		e.boost = e.talk.w.boost
	}
	return e
}

// evaluate finds the documents for q that keep lets pass: the best limit of
// them in order of tier, score and path, and how many there are in all.
func evaluate(ctx context.Context, src source, files Source, q *query, keep func(int32) bool, limit int) (*evaluation, []match, int, error) {
	e := newEvaluation(ctx, src, files, q.lang)
	if err := e.run(q); err != nil {
		return nil, nil, 0, err
	}
	top := topList{order: better, limit: limit}
	e.each(q, func(m match) {
		if keep(m.doc) {
			top.add(m)
		}
	})
	return e, top.sorted(), top.total, nil
}

// each calls f for every document that matches q.
func (e *evaluation) each(q *query, f func(match)) {
	required, optional := q.count()
	for d := range e.scores {
		if e.out[d] || int(e.met[d]) < required || required == 0 && e.hit[d] == 0 && !e.near[d] && optional > 0 {
			continue
		}
		m := match{doc: int32(d), score: e.scores[d]}
		switch {
		case int(e.hit[d]) == optional:
			m.tier = strict
		case e.hit[d] > 0 || required > 0:
			m.tier = relaxed
		case e.near[d]:
			m.tier = fuzzy
		default:
			continue
		}
		f(m)
	}
}

// count is the number of required and of optional clauses.
func (q *query) count() (required, optional int) {
	for i := range q.clauses {
		switch q.clauses[i].occur {
		case must:
			required++
		case should:
			optional++
		}
	}
	return required, optional
}

// run adds up every clause.
func (e *evaluation) run(q *query) error {
	for i := range q.clauses {
		if err := context.Cause(e.ctx); err != nil {
			return err
		}
		c := &q.clauses[i]
		found, err := e.clause(c)
		if err != nil {
			return err
		}
		none := true
		each(found, func(d int32) {
			none = false
			switch c.occur {
			case must:
				e.met[d]++
			case mustNot:
				// Words side by side are looked up in the text of messages.
				e.out[d] = e.out[d] || e.talk == nil || !c.needsOrder()
			default:
				e.hit[d]++
			}
		})
		if none && !q.asSpelt && c.mayBeMisspelt() {
			if err := e.misspelt(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// evaluateNotes writes down, for the documents that are keys of notes, every
// part of their score.
func evaluateNotes(ctx context.Context, src source, files Source, q *query, notes map[int32][]string) error {
	e := newEvaluation(ctx, src, files, q.lang)
	e.explain = notes
	return e.run(q)
}

// each calls f once for every marked document.
func each(marked []bool, f func(int32)) {
	for d, ok := range marked {
		if ok {
			f(int32(d))
		}
	}
}

// clause marks the documents that match c and adds their scores.
func (e *evaluation) clause(c *clause) ([]bool, error) {
	found := make([]bool, len(e.scores))
	switch c.kind {
	case literal:
		return found, e.literal(c.raw, found)
	case phrase:
		if e.talk != nil {
			return found, e.together(c, found)
		}
		return found, e.phrase(c, found)
	case prefix:
		return found, e.prefix(c, found)
	}
	if c.occur == should || len(c.exact) == 1 {
		return found, e.words(c, found)
	}
	if e.talk != nil {
		return found, e.together(c, found)
	}
	// Several words in one, and required: side by side, or as the name.
	if err := e.phrase(c, found); err != nil || c.name == "" {
		return found, err
	}
	return found, e.leaf(fieldIdent, c.name, c, found)
}

func (e *evaluation) words(c *clause, found []bool) error {
	for i, stem := range c.stems {
		if slices.Contains(c.stems[:i], stem) || c.idle(i, e.lang) {
			continue
		}
		for _, f := range wordFields() {
			if err := e.leaf(f, stem, c, found); err != nil {
				return err
			}
		}
	}
	if c.name == "" {
		return nil
	}
	return e.leaf(fieldIdent, c.name, c, found)
}

// leaf adds the postings of one term.
func (e *evaluation) leaf(field int, term string, c *clause, found []bool) error {
	list, err := e.src.term(field, term, e.room)
	if err != nil {
		return err
	}
	e.room = list[:0]
	e.add(leafKey{field, term}, e.boost(field), c, list, found)
	return nil
}

// add scores postings that all stand for one term.
func (e *evaluation) add(k leafKey, boost float64, c *clause, list []posting, found []bool) {
	s := e.src.stats(k.field).scorer(boost, uint64(len(list)))
	if k.field == fieldBody || k.field == fieldExact || k.field == fieldIdent {
		e.weights[k.term] = s.weight
	}
	if e.talk != nil && k.field == fieldBody && c.occur != mustNot {
		e.talk.note(k.term, list, e.src.stats(fieldBody))
	}
	for _, p := range list {
		found[p.doc] = true
		if c.occur == mustNot {
			continue
		}
		v := s.score(int(p.freq), int(p.length))
		e.scores[p.doc] += v
		if e.explain != nil {
			e.note(p, k, s, v)
		}
	}
}

func (e *evaluation) note(p posting, k leafKey, s scorer, v float64) {
	if lines, ok := e.explain[p.doc]; ok {
		e.explain[p.doc] = append(lines, fmt.Sprintf("%.4f %s:%s (tf %d, n %d of %d, length %d, mean %.1f, boost %g)",
			v, fieldLabel(k.field), k.term, p.freq, s.n, s.docs, p.length, s.avgLen, s.boost))
	}
}

func fieldLabel(f int) string {
	return [...]string{"body", "title", "heading", "path", "name", "exact"}[f]
}

// topList keeps the best limit matches; limit 0 keeps all.
type topList struct {
	order func(a, b match) int
	limit int
	total int
	list  []match
	floor match // the worst that was kept, once full
	full  bool
}

// better orders by tier, then by score, then by path, which is the order of
// documents.
func better(a, b match) int {
	if a.tier != b.tier {
		return cmp.Compare(a.tier, b.tier)
	}
	return byScore(a, b)
}

func (t *topList) add(m match) {
	t.total++
	if t.full && t.order(t.floor, m) < 0 {
		return
	}
	t.list = append(t.list, m)
	// Cutting at twice the size sorts rarely and keeps memory bounded.
	if t.limit > 0 && len(t.list) >= 2*t.limit+64 {
		slices.SortFunc(t.list, t.order)
		t.list = t.list[:t.limit]
		t.floor, t.full = t.list[t.limit-1], true
	}
}

func (t *topList) sorted() []match {
	slices.SortFunc(t.list, t.order)
	if t.limit > 0 && len(t.list) > t.limit {
		t.list = t.list[:t.limit]
	}
	return t.list
}
