package index

import (
	"runtime"
	"slices"
	"sync"

	"stet/markdown"
	"stet/vault"
)

// texts reads transcripts, each at most once. It is safe for concurrent use.
type texts struct {
	src  Source
	mu   sync.Mutex
	have map[vault.Path]*transcript
}

// A transcript is one file as it is now; nil data is a file that cannot be
// read.
type transcript struct {
	once     sync.Once
	data     []byte
	info     vault.File
	messages []markdown.MessageSpan
	memory   func() vault.Memory // reads the front matter
}

func newTexts(src Source) *texts { return &texts{src: src, have: map[vault.Path]*transcript{}} }

func (t *texts) of(p vault.Path) *transcript {
	t.mu.Lock()
	s := t.have[p]
	if s == nil {
		s = &transcript{}
		t.have[p] = s
	}
	t.mu.Unlock()
	s.once.Do(func() {
		data, info, err := t.src.ReadFile(p)
		if err != nil {
			return
		}
		s.data, s.info = data, info
		d := markdown.Parse(data)
		s.messages = messagesOf(d)
		s.memory = sync.OnceValue(func() vault.Memory { return conversation(p, d) })
	})
	return s
}

// message is the span with that number; nil when there is none.
func (s *transcript) message(number int) *markdown.MessageSpan {
	i, ok := slices.BinarySearchFunc(s.messages, number, func(m markdown.MessageSpan, n int) int { return m.Number - n })
	if !ok {
		return nil
	}
	return &s.messages[i]
}

// A talkText is what a message has of the pairs of the query.
type talkText struct {
	pairs  []int // how often it has each
	length int   // words
	lost   bool  // it is no hit by its text, or no longer there
}

// read looks into the texts of list: messages without a phrase that is
// required go, words that stand side by side as in the query add to the score.
func (r *ranking) read(list []match) ([]match, error) {
	look := newLooker(r.q)
	if len(look.pairs) == 0 && !r.order {
		return list, nil
	}
	numbers := make([]int, len(list))
	for i := range list {
		numbers[i] = r.talk.of(list[i].doc).number // not for goroutines
	}
	found := make([]talkText, len(list))
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 4, len(list)))
	for w := range workers {
		wg.Go(func() {
			own := look.clone()
			for i := w; i < len(list) && r.ctx.Err() == nil; i += workers {
				if doc := list[i].doc; r.order || own.possible(r.talk.has[doc]) {
					found[i] = own.message(r.texts.of(r.talk.recs[r.talk.lay.owner[doc]].path), numbers[i])
				}
			}
		})
	}
	wg.Wait()
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	with := make([]int, len(look.pairs)) // messages with the pair
	for i := range found {
		for p, n := range found[i].pairs {
			if n > 0 {
				with[p]++
			}
		}
	}
	s := r.src.stats(fieldBody)
	kept := list[:0:0]
	for i, m := range list {
		if found[i].lost {
			continue
		}
		for p, n := range found[i].pairs {
			if n > 0 {
				r.bonus[m.doc] += r.talk.w.pairs * s.scorer(1, uint64(with[p])).score(n, found[i].length)
			}
		}
		kept = append(kept, m)
	}
	r.rate(kept)
	return kept, nil
}

// A looker finds pairs and phrases of a query in texts. It is not safe for
// concurrent use; its clones are.
type looker struct {
	q     *query
	stems *stemmer
	ids   map[string]int // stem of the query → number, from 1
	pairs [][2]int
	masks []uint64 // the bits of a message that may have the pair
	known map[string]string
	kinds map[string]int // word → number of its stem, 0 for others, -1 for stop words
}

func newLooker(q *query) *looker {
	l := &looker{q: q, ids: map[string]int{}}
	bits := q.bits()
	for _, p := range q.pairs() {
		var pair [2]int
		for i, stem := range p {
			if l.ids[stem] == 0 {
				l.ids[stem] = len(l.ids) + 1
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
	out.stems, out.known, out.kinds = newStemmer(l.q.lang), map[string]string{}, map[string]int{}
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
		if k = -1; !l.q.lang.isStop(word) {
			k = l.ids[l.stems.stem(word)]
		}
		l.kinds[word] = k
	}
	return k
}

// message reads one message.
func (l *looker) message(file *transcript, number int) (out talkText) {
	span := file.message(number)
	if span == nil {
		return talkText{lost: true}
	}
	out.pairs = make([]int, len(l.pairs))
	var tokens []token
	ordered := slices.ContainsFunc(l.q.clauses, func(c clause) bool { return c.needsOrder() })
	last, at := 0, 0
	for _, text := range spoken(file.data, span) {
		tokenizeKnown(text, l.known, func(t token) {
			out.length++
			if ordered {
				t.pos += at
				tokens = append(tokens, t)
			}
			k := l.kind(t.term)
			if t.gram || k < 0 {
				return
			}
			for p, pair := range l.pairs {
				if k > 0 && pair[0] == last && pair[1] == k {
					out.pairs[p]++
				}
			}
			last = k
		})
		at += out.length + gap
	}
	for i := range l.q.clauses {
		c := &l.q.clauses[i]
		if !c.needsOrder() {
			continue
		}
		if has := c.inOrder(tokens); has && c.occur == mustNot || !has && c.occur == must {
			out.lost = true
		}
	}
	return out
}

// inOrder reports whether the words of c stand side by side.
func (c *clause) inOrder(toks []token) bool {
	p := linePhrase{weight: 1}
	for _, t := range c.exact {
		p.terms = append(p.terms, t.term)
		p.shift = append(p.shift, t.pos-c.exact[0].pos)
	}
	return p.in(toks) > 0
}

// pairs are the words of the query that stand side by side in it, stop words
// left out.
func (q *query) pairs() [][2]string {
	var out [][2]string
	last := ""
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.kind != word && c.kind != phrase || c.occur == mustNot {
			last = ""
			continue
		}
		for j, stem := range c.stems {
			if c.exact[j].gram || q.lang.isStop(c.exact[j].term) {
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
func (q *query) bits() map[string]uint64 {
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
