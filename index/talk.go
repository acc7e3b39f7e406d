package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

const (
	talkTop   = 1000 // messages that neighbours and their session lend score to
	talkTexts = 200  // messages whose text is read for pairs
)

// A talk is what an evaluation knows of conversations.
type talk struct {
	w      talkWeights
	recs   []record
	lay    *layout
	facts  map[int32][]messageFacts // by record, as needed
	priors []float64                // by record: score of the conversation as one text
	mean   float64                  // words of a conversation
	count  uint64                   // of conversations
	sums   []int32                  // scratch, by record
	bits   map[string]uint64        // stem → its bit in has
	has    []uint64                 // by document: the words of the query in it
	doubt  []bool                   // by document: has all the words of a clause that needs their order; nil for none
}

func newTalk(recs []record, lay *layout) *talk {
	t := &talk{w: weighTalk(), recs: recs, lay: lay, facts: map[int32][]messageFacts{}, priors: make([]float64, len(recs)), sums: make([]int32, len(recs)), has: make([]uint64, len(lay.owner))}
	words := uint64(0)
	for i := range recs {
		if recs[i].docs > 0 {
			t.count++
			words += uint64(recs[i].lens[0])
		}
	}
	t.mean = float64(words) / float64(max(1, t.count))
	return t
}

// note takes down which messages have a term of the text, and adds it to the
// scores of whole conversations.
func (t *talk) note(term string, list []posting, s similarity) {
	var met []int32
	bit := t.bits[term]
	for _, p := range list {
		t.has[p.doc] |= bit
		rec := t.lay.owner[p.doc]
		if t.sums[rec] == 0 {
			met = append(met, rec)
		}
		t.sums[rec] += p.freq
	}
	s.docs, s.avgLen = t.count, t.mean
	score := s.scorer(1, uint64(len(met)))
	for _, rec := range met {
		t.priors[rec] += score.score(int(t.sums[rec]), int(t.recs[rec].lens[0]))
		t.sums[rec] = 0
	}
}

// of returns what is known of a message.
func (t *talk) of(doc int32) *messageFacts {
	rec := t.lay.owner[doc]
	list, ok := t.facts[rec]
	if !ok {
		list = decodeTalk(t.recs[rec].meta).messages
		t.facts[rec] = list
	}
	if n := int(doc - t.lay.base[rec]); n < len(list) {
		return &list[n]
	}
	return &messageFacts{}
}

// near calls f for the messages at most two away in the same conversation.
func (t *talk) near(doc int32, f func(other int32, weight float64)) {
	rec := t.lay.owner[doc]
	for _, n := range [...]struct {
		by     int32
		weight float64
	}{{-1, t.w.before}, {-2, t.w.before2}, {1, t.w.after}, {2, t.w.after2}} {
		if other := doc + n.by; other >= t.lay.base[rec] && other < t.lay.base[rec+1] {
			f(other, n.weight)
		}
	}
}

// needsOrder reports a clause that messages can only be asked in their text.
func (c *clause) needsOrder() bool {
	return c.kind == phrase && len(c.exact) > 0 || c.kind == word && c.occur != should && len(c.exact) > 1
}

// together finds the messages with all the words of a clause; whether they
// stand side by side is for [ranking.settle] to look up in their text.
func (e *evaluation) together(c *clause, found []bool) error {
	seen := make([]uint16, len(e.scores))
	distinct := uint16(0)
	for i, stem := range c.stems {
		if slices.Contains(c.stems[:i], stem) {
			continue
		}
		list, err := e.src.term(fieldBody, stem, e.room)
		if err != nil {
			return err
		}
		e.room = list[:0]
		e.add(leafKey{fieldBody, stem}, e.boost(fieldBody), c, list, make([]bool, len(found)))
		for _, p := range list {
			if seen[p.doc] == distinct {
				seen[p.doc]++
			}
		}
		distinct++
	}
	if e.talk.doubt == nil {
		e.talk.doubt = make([]bool, len(e.scores))
	}
	for d := range found {
		found[d] = distinct > 0 && seen[d] == distinct
		e.talk.doubt[d] = e.talk.doubt[d] || found[d]
	}
	return nil
}

// A ranking puts the messages of one evaluation in order.
type ranking struct {
	*evaluation
	q     *query
	when  bool // the query asks when
	bonus map[int32]float64
	texts *texts
	old   *Outdated
}

// evaluateTalk finds the messages for q that keep lets pass, best first, like
// [evaluate]. Beside those that match are those next to them, unless the query
// requires something.
func evaluateTalk(ctx context.Context, src source, q *query, keep func(int32) bool, limit int, from *texts, old *Outdated) (*ranking, []match, int, error) {
	e := newEvaluation(ctx, src, from.src, q.lang)
	e.talk.bits = q.bits()
	if err := e.run(q); err != nil {
		return nil, nil, 0, err
	}
	r := &ranking{evaluation: e, q: q, bonus: map[int32]float64{}, texts: from, when: q.when, old: old}
	if err := r.settle(keep); err != nil {
		return nil, nil, 0, err
	}
	best, rest, total := r.candidates(keep, limit)
	r.rate(best)
	n := min(talkTexts, len(best))
	kept, err := r.read(best[:n])
	if err != nil {
		return nil, nil, 0, err
	}
	return r, cutTo(slices.Concat(kept, best[n:], rest), limit), total, nil
}

// rate scores messages and puts them in order. One that has no word of the
// query itself stays behind the neighbour that it owes its score to.
func (r *ranking) rate(list []match) {
	scores := make(map[int32]float64, len(list))
	for i := range list {
		list[i].score = r.score(list[i].doc)
		if r.own(list[i].doc) > 0 {
			scores[list[i].doc] = list[i].score
		}
	}
	for i := range list {
		m := &list[i]
		if r.own(m.doc) > 0 {
			continue
		}
		most := 0.0
		r.talk.near(m.doc, func(other int32, _ float64) { most = max(most, scores[other]) })
		m.score = min(m.score, r.talk.w.lent*most)
	}
	slices.SortFunc(list, byScore)
}

func cutTo(list []match, limit int) []match {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// byScore orders messages: how strictly the query was read says less here than
// the conversation around them.
func byScore(a, b match) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return cmp.Compare(a.doc, b.doc)
}

// candidates are the messages that can be among the best, with the messages
// next to them, and, where limit asks for more than those, the others that
// match in order of their own score.
func (r *ranking) candidates(keep func(int32) bool, limit int) (best, rest []match, total int) {
	top := topList{order: byScore, limit: max(limit, talkTop)}
	if limit == 0 {
		top.limit = 0
	}
	taken := make([]bool, len(r.scores))
	r.each(r.q, func(m match) {
		if keep(m.doc) {
			m.score += r.talk.w.session * r.talk.priors[r.talk.lay.owner[m.doc]]
			top.add(m)
			taken[m.doc] = true
		}
	})
	all := top.sorted()
	n := min(talkTop, len(all))
	best, rest, total = slices.Clip(all[:n]), all[n:], top.total
	if required, _ := r.q.count(); required > 0 || len(r.q.clauses) == 0 {
		return best, rest, total
	}
	for _, m := range all[:n] {
		r.talk.near(m.doc, func(other int32, _ float64) {
			if !taken[other] && !r.out[other] && keep(other) {
				taken[other] = true
				best = append(best, match{doc: other, tier: max(m.tier, relaxed)})
				total++
			}
		})
	}
	return best, rest, total
}

// own is the score of a message by itself.
func (r *ranking) own(doc int32) float64 {
	if r.out[doc] {
		return 0
	}
	v := r.scores[doc] + r.bonus[doc]
	if v > 0 && r.when && r.talk.of(doc).dated {
		v *= 1 + r.talk.w.dated
	}
	return v
}

// score is the score of a message in its conversation.
func (r *ranking) score(doc int32) float64 {
	own, f := r.own(doc), r.talk.of(doc)
	v := own + r.talk.w.session*r.talk.priors[r.talk.lay.owner[doc]]
	if f.asks && f.side == sideUser {
		v -= r.talk.w.asking * own
	}
	r.talk.near(doc, func(other int32, weight float64) { v += weight * r.own(other) })
	if r.successor(doc) != "" {
		v *= r.talk.w.outdated
	}
	return v * r.talk.w.side[f.side]
}

// successor is the memory that took the place of one that a message led to.
func (r *ranking) successor(doc int32) string {
	if r.old == nil {
		return ""
	}
	rec := r.talk.lay.owner[doc]
	return r.old.in(r.talk.recs[rec].path, r.talk.recs[rec].meta).by(r.talk.of(doc).number)
}

// explain says what the score of a message is made of.
func (r *ranking) explain(doc int32) []string {
	f := r.talk.of(doc)
	out := []string{fmt.Sprintf("%.4f its own words, names and date", r.scores[doc])}
	if b := r.bonus[doc]; b > 0 {
		out = append(out, fmt.Sprintf("%.4f words side by side as in the query", b))
	}
	if r.when && f.dated {
		out = append(out, fmt.Sprintf("×%.1f the query asks when, and the message says", 1+r.talk.w.dated))
	}
	if f.asks && f.side == sideUser {
		out = append(out, fmt.Sprintf("-%.4f it only asks", r.talk.w.asking*r.own(doc)))
	}
	r.talk.near(doc, func(other int32, weight float64) {
		if v := weight * r.own(other); v > 0 {
			out = append(out, fmt.Sprintf("%.4f from message %d (%g of its score)", v, r.talk.of(other).number, weight))
		}
	})
	out = append(out, fmt.Sprintf("%.4f from the conversation (%g of its score)", r.talk.w.session*r.talk.priors[r.talk.lay.owner[doc]], r.talk.w.session))
	if by := r.successor(doc); by != "" {
		out = append(out, fmt.Sprintf("×%g what it led to is superseded by %s", r.talk.w.outdated, by))
	}
	if w := r.talk.w.side[f.side]; w != 1 {
		out = append(out, fmt.Sprintf("×%g for this side of the conversation", w))
	}
	return out
}

// talkWeights are the weights of the ranking of messages. An answer seldom
// repeats the words of the question, but it stands next to them, in a
// conversation about them.
type talkWeights struct {
	head  float64 // who spoke, and on which day
	title float64 // of the conversation, for its first message
	name  float64 // a composite name found whole
	// What a message gets of the scores of its neighbours: of the one before
	// and the one before that, of the one after and the one after that.
	before, before2, after, after2 float64
	session                        float64 // of the score of the conversation as one text
	pairs                          float64 // words side by side as in the query
	dated                          float64 // more for a text that says when, if the query asks
	asking                         float64 // less for a message that only asks
	lent                           float64 // of a neighbour's score at most, for a message without a word of the query
	outdated                       float64 // what a message counts that led to a superseded memory
	// side is what one side of a conversation counts: people say what is so,
	// assistants mostly repeat it at length.
	side [4]float64
}

// weighTalk is the ranking for all conversations. The numbers lie in the middle
// of what was best for LoCoMo, LongMemEval and BEAM together when one
// collection at a time was left out; on the collections left out the choice
// lost less than .02 of recall and rank against hindsight. What tools and systems
// count is a guess, since none of these has any, and so is what is outdated: half keeps
// it in front of what only resembles the question.
func weighTalk() talkWeights {
	return talkWeights{
		head: 2, title: 0.5, name: 1,
		before: 0.15, before2: 0.05, after: 0.2, after2: 0.1,
		session: 0.6, pairs: 0.6, dated: 0.2, asking: 0.2, lent: 0.99, outdated: 0.5,
		side: [4]float64{sideUser: 1, sideAssistant: 0.55, sideTool: 0.4, sideSystem: 0.3},
	}
}

// boost are the weights of the fields. What stands in the heading stands there
// once, so that its saturation is 1/(1+k1): the boost makes up for it.
func (w *talkWeights) boost(f int) float64 {
	switch f {
	case fieldTitle:
		return w.title
	case fieldHead:
		return w.head * (1 + bm25K1)
	case fieldIdent:
		return w.name
	}
	return 1
}
