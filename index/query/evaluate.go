package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stet/index/document"
)

// The weights of the fields. The body says what a note is about; a word in the
// title or a heading counts again, a composite name found whole counts like a
// rare word, and the place of a file is a hint only.
func fieldBoost(f int) float64 {
	switch f {
	case document.FieldTitle:
		return 0.8
	case document.FieldHead:
		return 0.3
	case document.FieldPath:
		return 0.3
	case document.FieldIdent:
		return 1.5
	}
	return 1
}

// wordFields are the fields a bare word is looked up in, in the order in which
// their scores are added: both sources must add in one order, or their sums
// differ in the last bit.
func wordFields() [4]int {
	return [4]int{document.FieldBody, document.FieldTitle, document.FieldHead, document.FieldPath}
}

// A Source is what a query is evaluated on. Every source of the same files gives the
// same postings, and so the same answer.
type Source interface {
	// Records are the files, in path order.
	Records() []document.Record
	// Layout says which documents belong to which record; nil where each record
	// is one document, of the same number.
	Layout() *document.Layout
	// Superseded marks the records that are superseded; nil when there are none.
	Superseded() []bool
	// Stats are the statistics of a field.
	Stats(field int) document.FieldStat
	// Term lists the documents with a term, each once, by ascending number. It
	// may use room for the list.
	Term(field int, term string, room []document.Posting) ([]document.Posting, error)
	// Places fills in the positions of an exact term in some of the documents
	// that term listed.
	Places(term string, list []document.Posting) error
	// Terms lists the terms of a field that begin with prefix and that keep accepts,
	// sorted; nil accepts all.
	Terms(field int, prefix string, keep func(string) bool) ([]string, error)
}

// A Match is one document of the answer.
type Match struct {
	Doc   int32
	Tier  tier
	Score float64
	far   distance // of a message
}

// A tier says how strictly the query was read to find a document. Stricter
// ones come first; each fills up behind the one before.
type tier uint8

const (
	strict   tier = iota // every word
	relaxed              // any word
	fuzzy                // only words that look like those of the query
	Semantic             // none of them, but what it means
)

// String is the tier's name in answers.
func (t tier) String() string { return [...]string{"strict", "relaxed", "fuzzy", "semantic"}[t] }

// Whole reports a match with every word of the query.
func (m Match) Whole() bool { return m.Tier == strict }

// An Evaluation adds up one query on one source.
type Evaluation struct {
	src           Source
	files         document.FileReader
	ctx           context.Context
	q             *Query
	scores        []float64
	hit           []uint16           // optional clauses matched
	met           []uint16           // required clauses matched
	partly        []bool             // a composite name matched by some of its words alone
	near          []bool             // matched by a word that only looks like one of the query
	guessed       []uint16           // optional clauses matched by such a word alone
	out           []bool             // excluded
	room          []document.Posting // for lists that nobody keeps: those of common words are megabytes
	explain       map[int32][]string
	weights       map[string]float64  // term → weight, to choose the line that is shown
	similar       map[string][]string // unknown word → what it was taken for
	boost         func(field int) float64
	texts         int            // messages that say the word last looked up
	Conversations *Conversations // set where documents are messages
	// Weigh is by how much the score of a document counts, unless it is nil.
	Weigh func(doc int32) float64
}

// New prepares the evaluation of q on src. Documents are messages where src has a layout.
func New(ctx context.Context, src Source, files document.FileReader, q *Query) *Evaluation {
	n, lay := len(src.Records()), src.Layout()
	if lay != nil {
		n = len(lay.Owner)
	}
	e := &Evaluation{
		src: src, files: files, ctx: ctx, q: q, boost: fieldBoost, scores: make([]float64, n),
		hit: make([]uint16, n), met: make([]uint16, n), near: make([]bool, n), out: make([]bool, n),
		guessed: make([]uint16, n), partly: make([]bool, n),
		weights: map[string]float64{}, similar: map[string][]string{},
	}
	if lay != nil {
		e.Conversations = NewConversations(src.Records(), lay)
		e.Conversations.bits = q.bits()
		e.boost = e.Conversations.w.boost
	}
	return e
}

// Best are the documents that match and that keep lets pass, the best limit of them (0 is
// all) in order of tier, score and path, and how many there are in all.
func (e *Evaluation) Best(keep func(int32) bool, limit int) ([]Match, int) {
	var all []Match
	e.each(func(m Match) {
		if keep(m.Doc) {
			if e.Weigh != nil {
				m.Score *= e.Weigh(m.Doc)
			}
			all = append(all, m)
		}
	})
	slices.SortFunc(all, better)
	return cutTo(all, limit), len(all)
}

// foremost are the first n of list as it would be in order, in its place. Cost: a look at each, where most are not
// among them.
func foremost(list []Match, n int, order func(a, b Match) int) []Match {
	kept, whole := list[:0], false // whole says that n are kept, and the last of them is behind the others
	for _, m := range list {
		if whole && order(m, kept[n-1]) > 0 {
			continue
		}
		if kept = append(kept, m); len(kept) == 2*n {
			slices.SortFunc(kept, order)
			kept, whole = kept[:n], true
		}
	}
	slices.SortFunc(kept, order)
	return kept[:min(n, len(kept))]
}

// each calls f for every document that matches.
func (e *Evaluation) each(f func(Match)) {
	required, optional := e.q.Count()
	for d := range e.scores {
		if e.out[d] || int(e.met[d]) < required || required == 0 && e.hit[d] == 0 && !e.near[d] && optional > 0 {
			continue
		}
		m := Match{Doc: int32(d), Score: e.scores[d]}
		switch {
		case int(e.hit[d]) == optional && !e.partly[d]:
			m.Tier = strict
		case e.hit[d] > 0 || required > 0:
			m.Tier = relaxed
		case e.near[d]:
			m.Tier = fuzzy
		default:
			continue
		}
		f(m)
	}
}

// Count is the number of required and of optional clauses.
func (q *Query) Count() (required, optional int) {
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

// Run adds up every clause.
func (e *Evaluation) Run() error {
	for i := range e.q.clauses {
		if err := context.Cause(e.ctx); err != nil {
			return err
		}
		c, found := &e.q.clauses[i], make([]bool, len(e.scores))
		leaves, err := e.leaves(c, found)
		if err != nil {
			return err
		}
		parts := e.partsOf(c)
		for _, k := range leaves {
			list, err := e.src.Term(k.field, k.term, e.room)
			if err != nil {
				return err
			}
			e.room = list[:0]
			e.add(k, e.boost(k.field), c, list, found)
			parts.add(k, k.field == document.FieldIdent || k.term == c.joined, list)
		}
		parts.mark(found, e.partly)
		if none := e.mark(c, found); none && !e.q.AsSpelt && c.mayBeMisspelt() {
			if err := e.misspelt(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// mark notes which documents match c; none reports that there are none.
func (e *Evaluation) mark(c *clause, found []bool) (none bool) {
	none = true
	each(found, func(d int32) {
		none = false
		switch c.occur {
		case must:
			e.met[d]++
		case mustNot:
			// Words side by side are looked up in the text of messages.
			e.out[d] = e.out[d] || e.Conversations == nil || !c.needsOrder()
		default:
			e.hit[d]++
		}
	})
	return none
}

// Explained lists for each of some documents every part of their score.
func (e *Evaluation) Explained(docs []int32) (map[int32][]string, error) {
	again := New(e.ctx, e.src, e.files, e.q)
	again.explain = make(map[int32][]string, len(docs))
	for _, d := range docs {
		again.explain[d] = nil
	}
	return again.explain, again.Run()
}

// each calls f once for every marked document.
func each(marked []bool, f func(int32)) {
	for d, ok := range marked {
		if ok {
			f(int32(d))
		}
	}
}

// leaves are the terms whose postings are the documents of c. What is more than terms is
// looked up here: its documents are marked and scored.
func (e *Evaluation) leaves(c *clause, found []bool) (out []leafKey, err error) {
	switch {
	case c.kind == literal:
		return nil, e.literal(c.raw, found)
	case c.kind == prefix:
		return nil, e.prefix(c, found)
	case c.needsOrder() && e.Conversations != nil:
		return nil, e.together(c, found)
	case c.needsOrder():
		// Several words in one, and required: side by side, or as the name.
		if err = e.phrase(c, found); c.kind == phrase {
			return nil, err
		}
	case c.kind == named:
	default:
		for i, stem := range c.stems {
			if slices.Contains(c.stems[:i], stem) || c.idle(i, e.q.lang) {
				continue
			}
			for _, f := range wordFields() {
				if f != document.FieldHead || e.Conversations == nil || !e.q.undated(c, c.exact[i].Term) {
					out = append(out, leafKey{f, stem})
				}
			}
		}
	}
	if c.name != "" {
		out = append(out, leafKey{document.FieldIdent, c.name})
	}
	if c.joined != "" {
		out = append(out, leafKey{document.FieldBody, c.joined})
	}
	for _, name := range c.split {
		if list, err := e.src.Term(document.FieldIdent, name, e.room); err != nil {
			return nil, err
		} else if e.room = list[:0]; len(list) > 0 {
			out = append(out, leafKey{document.FieldIdent, name})
		}
	}
	return out, err
}

// add scores postings that all stand for one term.
func (e *Evaluation) add(k leafKey, boost float64, c *clause, list []document.Posting, found []bool) {
	n := len(list)
	switch {
	case e.Conversations == nil:
	case k.field == document.FieldBody:
		e.texts = n
	case k.field == document.FieldTitle:
		n = max(n, e.texts) // few conversations have titles: a word that all speak of is not rare there
	}
	s := similarity(e.src.Stats(k.field)).scorer(boost, uint64(n))
	if k.field == document.FieldBody || k.field == document.FieldExact || k.field == document.FieldIdent {
		e.weights[k.term] = s.weight
	}
	if e.Conversations != nil && k.field == document.FieldBody && c.occur != mustNot {
		e.Conversations.note(k.term, list)
	}
	for _, p := range list {
		found[p.Doc] = true
		if c.occur == mustNot {
			continue
		}
		v := s.score(int(p.Freq), int(p.Length))
		e.scores[p.Doc] += v
		if e.explain != nil {
			e.note(p, k, s, v)
		}
	}
}

func (e *Evaluation) note(p document.Posting, k leafKey, s scorer, v float64) {
	if lines, ok := e.explain[p.Doc]; ok {
		e.explain[p.Doc] = append(lines, fmt.Sprintf("%.4f %s:%s (tf %d, n %d of %d, length %d, mean %.1f, boost %g)",
			v, fieldLabel(k.field), k.term, p.Freq, s.n, s.Docs, p.Length, s.AvgLen, s.boost))
	}
}

func fieldLabel(f int) string {
	return [...]string{"body", "title", "heading", "path", "name", "exact"}[f]
}

// better orders by tier, then by score, then by path, which is the order of
// documents.
func better(a, b Match) int {
	if a.Tier != b.Tier {
		return cmp.Compare(a.Tier, b.Tier)
	}
	return byScore(a, b)
}

// Admits reports that nothing excludes a document and that it has what is required.
func (e *Evaluation) Admits(d int32, required int) bool {
	return !e.out[d] && int(e.met[d]) >= required
}

// Matched reports that a document has a word of the query, or one like it.
func (e *Evaluation) Matched(d int32) bool { return e.hit[d] > 0 || e.near[d] }

// TierRank is the tier of a name in an answer, the loosest for an unknown one.
func TierRank(name string) tier {
	for t := strict; t < Semantic; t++ {
		if t.String() == name {
			return t
		}
	}
	return Semantic
}
