package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stet/index/document"
)

const (
	messagePool  = 1000 // messages that neighbours and their session lend score to
	MessageTexts = 200  // messages whose text is read for pairs

	// verbatimTexts is how many messages with every word of the query are read for the query as it was typed, unless
	// it is a question, which is seldom said twice.
	verbatimTexts = 600
)

// A Conversations is what an evaluation knows of conversations.
type Conversations struct {
	w       messageWeights
	Records []document.Record
	Layout  *document.Layout
	facts   map[int32][]document.Message // by record, as needed
	priors  []float64                    // by record: score of the conversation as one text
	mean    float64                      // words of a conversation
	count   uint64                       // of conversations
	sums    []int32                      // scratch, by record
	bits    map[string]uint64            // stem → its bit in has
	has     []uint64                     // by document: the words of the query in it
	doubt   []bool                       // by document: has all the words of a clause that needs their order; nil for none
}

// NewConversations prepares the messages of records; those of a record are decoded when they are needed.
func NewConversations(recs []document.Record, lay *document.Layout) *Conversations {
	t := &Conversations{w: weighMessages(), Records: recs, Layout: lay, facts: map[int32][]document.Message{}, priors: make([]float64, len(recs)), sums: make([]int32, len(recs)), has: make([]uint64, len(lay.Owner))}
	words := uint64(0)
	for i := range recs {
		if recs[i].Docs > 0 {
			t.count++
			words += uint64(recs[i].Lens[0])
		}
	}
	t.mean = float64(words) / float64(max(1, t.count))
	return t
}

// note takes down which messages have a term of the text, and adds it to the
// scores of whole conversations.
func (t *Conversations) note(term string, list []document.Posting) {
	var met []int32
	bit := t.bits[term]
	for _, p := range list {
		t.has[p.Doc] |= bit
		rec := t.Layout.Owner[p.Doc]
		if t.sums[rec] == 0 {
			met = append(met, rec)
		}
		t.sums[rec] += p.Freq
	}
	score := similarity{t.count, t.mean}.scorer(1, uint64(len(met)))
	for _, rec := range met {
		t.priors[rec] += score.score(int(t.sums[rec]), int(t.Records[rec].Lens[0]))
		t.sums[rec] = 0
	}
}

// Message returns what is known of a message.
func (t *Conversations) Message(doc int32) *document.Message {
	rec := t.Layout.Owner[doc]
	list, ok := t.facts[rec]
	if !ok {
		list = document.DecodeTranscript(t.Records[rec].Meta)
		t.facts[rec] = list
	}
	if n := int(doc - t.Layout.Base[rec]); n < len(list) {
		return &list[n]
	}
	return &document.Message{}
}

// near calls f for the messages at most two away in the same conversation.
func (t *Conversations) near(doc int32, f func(other int32, weight float64)) {
	rec := t.Layout.Owner[doc]
	for _, n := range [...]struct {
		by     int32
		weight float64
	}{{-1, t.w.before}, {-2, t.w.before2}, {1, t.w.after}, {2, t.w.after2}} {
		if other := doc + n.by; other >= t.Layout.Base[rec] && other < t.Layout.Base[rec+1] {
			f(other, n.weight)
		}
	}
}

// needsOrder reports a clause that messages can only be asked in their text.
func (c *clause) needsOrder() bool {
	return c.kind == phrase && len(c.exact) > 0 || c.kind == word && c.occur != should && len(c.exact) > 1
}

// together finds the messages with all the words of a clause; whether they
// stand side by side is for settle to look up in their text.
func (e *Evaluation) together(c *clause, found []bool) error {
	seen := make([]uint16, len(e.scores))
	distinct := uint16(0)
	for i, stem := range c.stems {
		if slices.Contains(c.stems[:i], stem) {
			continue
		}
		list, err := e.src.Term(document.FieldBody, stem, e.room)
		if err != nil {
			return err
		}
		e.room = list[:0]
		e.add(leafKey{document.FieldBody, stem}, e.boost(document.FieldBody), c, list, make([]bool, len(found)))
		for _, p := range list {
			if seen[p.Doc] == distinct {
				seen[p.Doc]++
			}
		}
		distinct++
	}
	if e.Conversations.doubt == nil {
		e.Conversations.doubt = make([]bool, len(e.scores))
	}
	for d := range found {
		found[d] = distinct > 0 && seen[d] == distinct
		e.Conversations.doubt[d] = e.Conversations.doubt[d] || found[d]
	}
	return nil
}

// A Successors finds the memory that took the place of one that a message, by its
// number, led to; "" for none.
type Successors func(transcript *document.Record, number int) string

// A Ranking puts the messages of one evaluation in order.
type Ranking struct {
	*Evaluation
	parts uint64 // the bits of the words of composite names, which have to be there like any other
	typed string // see Query.typed
	bonus map[int32]float64
	texts *TranscriptCache
	old   Successors // nil where no message is superseded
}

// A distance says how far the words of a message are from those of the query. The closest come first: somebody who
// pastes a line looks for that line, whatever else resembles it.
type distance uint8

const (
	verbatim distance = iota // stand there as they were typed, the newest first
	folded                   // but for capitals and white space
	together                 // are all there, within a few words
	all                      // are all there
	some                     // are there in part
)

// Rank finds the messages that match and that keep lets pass, best first, like
// [Evaluation.Best], but by distance before score. Beside those that match are those next to them, unless the query
// requires something.
func (e *Evaluation) Rank(
	keep func(int32) bool, limit int, from *TranscriptCache, old Successors,
) (*Ranking, []Match, int, error) {
	r := &Ranking{Evaluation: e, parts: e.q.parts(), bonus: map[int32]float64{}, texts: from, old: old}
	r.typed, _ = e.q.typed()
	if err := r.settle(keep); err != nil {
		return nil, nil, 0, err
	}
	best, rest, total := r.candidates(keep, limit)
	r.rate(best)
	n := min(MessageTexts, len(best))
	for n < min(verbatimTexts, len(best)) && best[n].far == all && !strings.HasSuffix(r.typed, "?") {
		n++
	}
	kept, err := r.read(best[:n])
	if err != nil {
		return nil, nil, 0, err
	}
	return r, cutTo(slices.Concat(kept, best[n:], rest), limit), total, nil
}

// rate scores messages and puts them in order. One that has no word of the
// query itself stays behind the neighbour that it owes its score to.
func (r *Ranking) rate(list []Match) {
	scores := make(map[int32]float64, len(list))
	for i := range list {
		list[i].Score = r.score(list[i].Doc)
		if r.own(list[i].Doc) > 0 {
			scores[list[i].Doc] = list[i].Score
		}
	}
	for i := range list {
		m := &list[i]
		if r.own(m.Doc) > 0 {
			continue
		}
		most := 0.0
		r.Conversations.near(m.Doc, func(other int32, _ float64) { most = max(most, scores[other]) })
		m.Score = min(m.Score, r.Conversations.w.lent*most)
	}
	slices.SortFunc(list, r.closer)
}

// closer orders by distance, then by score, of what stands there verbatim by time.
func (r *Ranking) closer(a, b Match) int {
	if a.far != b.far {
		return cmp.Compare(a.far, b.far)
	}
	if a.far <= folded {
		if c := cmp.Compare(r.Conversations.Message(b.Doc).At, r.Conversations.Message(a.Doc).At); c != 0 {
			return c
		}
	}
	return byScore(a, b)
}

func cutTo(list []Match, limit int) []Match {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}

// byScore orders messages: how strictly the query was read says less here than
// the conversation around them.
func byScore(a, b Match) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	return cmp.Compare(a.Doc, b.Doc)
}

// candidates are the messages that can be among the best, with the messages
// next to them, and, where limit asks for more than those, the others that
// match in order of their own score.
func (r *Ranking) candidates(keep func(int32) bool, limit int) (best, rest []Match, total int) {
	var list []Match
	taken := make([]bool, len(r.scores))
	r.each(func(m Match) {
		if keep(m.Doc) {
			m.Score += r.Conversations.w.session * r.Conversations.priors[r.Conversations.Layout.Owner[m.Doc]]
			m.far = r.distance(m.Doc)
			list = append(list, m)
			taken[m.Doc] = true
		}
	})
	total = len(list)
	if limit > 0 && limit <= messagePool-verbatimTexts { // what is read and then left out makes no room for the rest
		list = foremost(list, messagePool, r.closer)
	} else {
		slices.SortFunc(list, r.closer)
	}
	n := min(messagePool, len(list))
	best, rest = slices.Clip(list[:n]), list[n:]
	if required, _ := r.q.Count(); required > 0 || len(r.q.clauses) == 0 {
		return best, rest, total
	}
	for _, m := range list[:n] {
		r.Conversations.near(m.Doc, func(other int32, _ float64) {
			if !taken[other] && !r.out[other] && keep(other) {
				taken[other] = true
				best = append(best, Match{Doc: other, Tier: max(m.Tier, relaxed), far: some})
				total++
			}
		})
	}
	return best, rest, total
}

// distance is how far a message is from the query without a look into its text.
func (r *Ranking) distance(doc int32) distance {
	_, optional := r.q.Count()
	if r.typed == "" || int(r.hit[doc]+r.guessed[doc]) < optional ||
		r.Conversations.has[doc]&r.parts != r.parts {
		return some
	}
	return all
}

// own is the score of a message by itself.
func (r *Ranking) own(doc int32) float64 {
	if r.out[doc] {
		return 0
	}
	v := r.scores[doc] + r.bonus[doc]
	if v > 0 && r.q.when && r.Conversations.Message(doc).Dated {
		v *= 1 + r.Conversations.w.dated
	}
	return v
}

// score is the score of a message in its conversation.
func (r *Ranking) score(doc int32) float64 {
	own, f := r.own(doc), r.Conversations.Message(doc)
	v := own + r.Conversations.w.session*r.Conversations.priors[r.Conversations.Layout.Owner[doc]]
	if f.Asks && f.Side == document.SideUser {
		v -= r.Conversations.w.asking * own
	}
	r.Conversations.near(doc, func(other int32, weight float64) { v += weight * r.own(other) })
	if r.Successor(doc) != "" {
		v *= r.Conversations.w.outdated
	}
	return v * r.Conversations.w.side[f.Side]
}

// Successor is the memory that took the place of one that a message led to.
func (r *Ranking) Successor(doc int32) string {
	if r.old == nil {
		return ""
	}
	rec := r.Conversations.Layout.Owner[doc]
	return r.old(&r.Conversations.Records[rec], r.Conversations.Message(doc).Number)
}

// Explain says what the score of a message is made of.
func (r *Ranking) Explain(doc int32) []string {
	f := r.Conversations.Message(doc)
	out := []string{fmt.Sprintf("%.4f its own words, names and date", r.scores[doc])}
	if b := r.bonus[doc]; b > 0 {
		out = append(out, fmt.Sprintf("%.4f words side by side as in the query", b))
	}
	if r.q.when && f.Dated {
		out = append(out, fmt.Sprintf("×%.1f the query asks when, and the message says", 1+r.Conversations.w.dated))
	}
	if f.Asks && f.Side == document.SideUser {
		out = append(out, fmt.Sprintf("-%.4f it only asks", r.Conversations.w.asking*r.own(doc)))
	}
	r.Conversations.near(doc, func(other int32, weight float64) {
		if v := weight * r.own(other); v > 0 {
			out = append(out, fmt.Sprintf("%.4f from message %d (%g of its score)", v, r.Conversations.Message(other).Number, weight))
		}
	})
	out = append(out, fmt.Sprintf("%.4f from the conversation (%g of its score)", r.Conversations.w.session*r.Conversations.priors[r.Conversations.Layout.Owner[doc]], r.Conversations.w.session))
	if by := r.Successor(doc); by != "" {
		out = append(out, fmt.Sprintf("×%g what it led to is superseded by %s", r.Conversations.w.outdated, by))
	}
	if w := r.Conversations.w.side[f.Side]; w != 1 {
		out = append(out, fmt.Sprintf("×%g for this side of the conversation", w))
	}
	return out
}

// messageWeights are the weights of the ranking of messages. An answer seldom
// repeats the words of the question, but it stands next to them, in a
// conversation about them.
type messageWeights struct {
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

// weighMessages is the ranking for all conversations. The numbers lie in the middle
// of what was best for LoCoMo, LongMemEval and BEAM together when one
// collection at a time was left out; on the collections left out the choice
// lost less than .02 of recall and rank against hindsight. What tools and systems
// count is a guess, since none of these has any, and so is what is outdated: half keeps
// it in front of what only resembles the question.
func weighMessages() messageWeights {
	return messageWeights{
		head: 2, title: 0.5, name: 1,
		before: 0.15, before2: 0.05, after: 0.2, after2: 0.1,
		session: 0.6, pairs: 0.6, dated: 0.2, asking: 0.2, lent: 0.99, outdated: 0.5,
		side: [4]float64{document.SideUser: 1, document.SideAssistant: 0.55, document.SideTool: 0.4, document.SideSystem: 0.3},
	}
}

// boost are the weights of the fields. What stands in the heading stands there
// once, so that its saturation is 1/(1+k1): the boost makes up for it.
func (w *messageWeights) boost(f int) float64 {
	switch f {
	case document.FieldTitle:
		return w.title
	case document.FieldHead:
		return w.head * (1 + bm25K1)
	case document.FieldIdent:
		return w.name
	}
	return 1
}
