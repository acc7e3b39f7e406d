package query

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/index/document"
)

// longText is how many bytes of a message are too many to read them for pairs alone.
const longText = 16 << 10

// A messageText is what a message has of the pairs of the query.
type messageText struct {
	pairs    []int     // how often it has each
	length   int       // words
	lost     bool      // it is no longer there
	stands   *distance // verbatim or folded where the query stands in it as it was typed
	together bool      // all words of the query stand in it within a few words
}

// settle looks into the text of every message that has the words of a clause
// which asks for their order, and puts out those that have them in another one.
// It has to be every message: what no text was read of is neither a hit nor
// none. Files are taken one at a time, since most of their messages may be
// asked for.
func (r *Ranking) settle(keep func(int32) bool) error {
	if r.Conversations.doubt == nil {
		return nil
	}
	required, _ := r.q.Count()
	var files [][]int32 // documents, by record
	messages := map[int32]*document.Message{}
	last := int32(-1)
	each(r.Conversations.doubt, func(d int32) {
		if r.out[d] || int(r.met[d]) < required || !keep(d) {
			return
		}
		if rec := r.Conversations.Layout.Owner[d]; rec != last {
			last = rec
			files = append(files, nil)
		}
		files[len(files)-1] = append(files[len(files)-1], d)
		messages[d] = r.Conversations.Message(d) // not for goroutines
	})
	look := newLooker(r.q)
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 4, len(files)))
	for w := range workers {
		wg.Go(func() {
			own := look.clone()
			for i := w; i < len(files) && r.ctx.Err() == nil; i += workers {
				file := r.texts.passing(&r.Conversations.Records[r.Conversations.Layout.Owner[files[i][0]]])
				for _, d := range files[i] {
					r.out[d] = own.refuses(file, messages[d])
				}
			}
		})
	}
	wg.Wait()
	return r.ctx.Err()
}

// read looks into the texts of list: words that stand side by side as in the
// query add to the score.
func (r *Ranking) read(list []Match) ([]Match, error) {
	look := newLooker(r.q)
	if len(look.pairs) == 0 && look.typed == "" {
		return list, nil
	}
	messages := make([]*document.Message, len(list))
	for i := range list {
		messages[i] = r.Conversations.Message(list[i].Doc) // not for goroutines
	}
	found := make([]messageText, len(list))
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 4, len(list)))
	for w := range workers {
		wg.Go(func() {
			own := look.clone()
			for i := w; i < len(list) && r.ctx.Err() == nil; i += workers {
				doc := list[i].Doc
				every := list[i].far == all && look.typed != "" && r.Conversations.has[doc]&own.every == own.every
				pairs := i < MessageTexts && own.possible(r.Conversations.has[doc])
				if !every && !pairs {
					continue
				}
				file := r.texts.Transcript(&r.Conversations.Records[r.Conversations.Layout.Owner[doc]])
				if span := file.Message(messages[i]); pairs && (span == nil || list[i].far == all || span.End-span.Start < longText) {
					found[i] = own.message(file, messages[i])
				}
				if every {
					found[i].stands = own.standsIn(file, messages[i])
				}
			}
		})
	}
	wg.Wait()
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	return r.placed(list, found, len(look.pairs)), nil
}

// placed gives messages the distance and the score for what stands in their texts, and leaves out those that are lost.
func (r *Ranking) placed(list []Match, found []messageText, pairs int) []Match {
	with := make([]int, pairs) // messages with the pair
	for i := range found {
		for p, n := range found[i].pairs {
			if n > 0 {
				with[p]++
			}
		}
	}
	s := similarity(r.src.Stats(document.FieldBody))
	kept := list[:0:0]
	for i, m := range list {
		if found[i].lost {
			continue
		}
		switch {
		case m.far == some:
		case found[i].stands != nil:
			m.far = *found[i].stands
		case r.q.sentence: // what is asked about is seldom said in the words of the question
			m.far = some
		case found[i].together:
			m.far = together
		}
		for p, n := range found[i].pairs {
			if n > 0 {
				r.bonus[m.Doc] += r.Conversations.w.pairs * s.scorer(1, uint64(with[p])).score(n, found[i].length)
			}
		}
		kept = append(kept, m)
	}
	r.rate(kept)
	return kept
}

// A looker finds pairs and phrases of a query in texts. It is not safe for
// concurrent use; its clones are.
type looker struct {
	q     *Query
	stems *document.Stemmer
	ids   map[string]int // stem of the query → number, from 1
	pairs [][2]int
	masks []uint64        // the bits of a message that may have the pair
	typed string          // the query as it was typed, see Query.typed
	every uint64          // the bits of a message that may have all of it
	kinds map[string]int  // word → number of its stem, 0 for others, -1 for stop words
	sieve *document.Sieve // lets the words of pairs pass
	order *document.Sieve // lets the words pass whose order is asked for
}

func newLooker(q *Query) *looker {
	l := &looker{q: q, ids: map[string]int{}, sieve: &document.Sieve{}, order: &document.Sieve{}}
	for i := range q.clauses {
		if c := &q.clauses[i]; c.needsOrder() {
			for _, t := range c.exact {
				l.order.Add(t.Term)
			}
		}
	}
	bits := q.bits()
	l.typed, l.every = q.typed()
	for _, p := range q.pairs() {
		var pair [2]int
		for i, stem := range p {
			if l.ids[stem] == 0 {
				l.ids[stem] = len(l.ids) + 1
				l.sieve.Add(stem)
			}
			pair[i] = l.ids[stem]
		}
		l.pairs = append(l.pairs, pair)
		l.masks = append(l.masks, bits[p[0]]|bits[p[1]])
	}
	return l.clone()
}

func (l *looker) clone() *looker {
	out := *l
	out.stems, out.kinds = document.NewStemmer(l.q.lang), map[string]int{}
	return &out
}

// possible reports whether a message with these words can have a pair.
func (l *looker) possible(has uint64) bool {
	for _, m := range l.masks {
		if has&m == m {
			return true
		}
	}
	return false
}

// kind is what a word is to the query.
func (l *looker) kind(word string) int {
	k, ok := l.kinds[word]
	if !ok {
		if k = -1; !l.q.lang.IsStop(word) {
			k = l.ids[l.stems.Stem(word)]
		}
		l.kinds[word] = k
	}
	return k
}

// message looks for the pairs in one message.
func (l *looker) message(file *Transcript, m *document.Message) (out messageText) {
	span := file.Message(m)
	if span == nil {
		return messageText{lost: true}
	}
	out.pairs = make([]int, len(l.pairs))
	last := 0
	seen, first := make([]int, len(l.ids)), 0 // by word: where it stood last; and the first of them all
	for _, part := range document.Spoken(file.Data, span, file.attached) {
		l.sieve.Tokenize(part.Text, func(t document.Token) {
			out.length++
			switch {
			case t.Term != "":
			case last == 0:
				return // it may be a stop word, which changes nothing here
			default:
				t.Term = strings.ToLower(string(part.Text[t.Start:t.End]))
			}
			k := l.kind(t.Term)
			if t.Gram || k < 0 {
				return
			}
			if k > 0 && !out.together {
				was := seen[k-1]
				seen[k-1] = out.length
				if was == first {
					first = slices.Min(seen)
				}
				out.together = len(seen) > 1 && first > 0 && out.length-first <= spread*len(seen)
			}
			for p, pair := range l.pairs {
				if k > 0 && pair[0] == last && pair[1] == k {
					out.pairs[p]++
				}
			}
			last = k
		})
	}
	return out
}

// refuses reports that a message is no hit by the order of its words, or no
// longer there.
func (l *looker) refuses(file *Transcript, m *document.Message) bool {
	span := file.Message(m)
	if span == nil {
		return true
	}
	var tokens []document.Token
	at := 0
	for _, part := range document.Spoken(file.Data, span, file.attached) {
		words := 0
		l.order.Tokenize(part.Text, func(t document.Token) {
			if words++; t.Term != "" {
				t.Pos += at
				tokens = append(tokens, t)
			}
		})
		at += words + document.Gap
	}
	return slices.ContainsFunc(l.q.clauses, func(c clause) bool {
		return c.needsOrder() && c.occur != should && c.inOrder(tokens) != (c.occur == must)
	})
}

// inOrder reports whether the words of c stand side by side in a text, whose
// tokens come by ascending position.
func (c *clause) inOrder(toks []document.Token) bool {
	first, span := c.exact[0], c.exact[len(c.exact)-1].Pos-c.exact[0].Pos
	for i := range toks {
		if toks[i].Pos+span > toks[len(toks)-1].Pos {
			return false // what is left is shorter
		}
		rest, whole := toks[i:], toks[i].Term == first.Term
		for _, t := range c.exact[1:] {
			if !whole {
				break
			}
			at := toks[i].Pos + t.Pos - first.Pos
			for len(rest) > 0 && rest[0].Pos < at {
				rest = rest[1:]
			}
			whole = false
			for j := 0; j < len(rest) && rest[j].Pos == at && !whole; j++ {
				whole = rest[j].Term == t.Term
			}
		}
		if whole {
			return true
		}
	}
	return false
}

// pairs are the words of the query that stand side by side in it, stop words
// left out.
func (q *Query) pairs() [][2]string {
	var out [][2]string
	last := ""
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.kind != word && c.kind != phrase || c.occur == mustNot {
			last = ""
			continue
		}
		for j, stem := range c.stems {
			if c.exact[j].Gram || q.lang.IsStop(c.exact[j].Term) {
				continue
			}
			if pair := [2]string{last, stem}; last != "" && !slices.Contains(out, pair) {
				out = append(out, pair)
			}
			last = stem
		}
	}
	return out
}

// bits gives each stem of the query a bit; beyond 64 they share the last.
func (q *Query) bits() map[string]uint64 {
	out := map[string]uint64{}
	for i := range q.clauses {
		for _, stem := range q.clauses[i].stems {
			if out[stem] == 0 {
				out[stem] = 1 << min(len(out), 63)
			}
		}
	}
	return out
}
