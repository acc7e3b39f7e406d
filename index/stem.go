package index

import (
	"strings"
	"sync"

	porterstemmer "github.com/blevesearch/go-porterstemmer"
)

// A stemmer remembers the stems it has computed: the same few thousand words
// make up nearly all of a vault. It is not safe for concurrent use.
type stemmer struct{ seen map[string]string }

// maxStems bounds the memory of a stemmer (some 6 MB).
const maxStems = 1 << 16

func newStemmer() *stemmer { return &stemmer{seen: make(map[string]string, 1024)} }

// stem is Porter's English stem of a folded word. Words with anything but
// ASCII letters stand for themselves: digits are names, and other alphabets
// are not English.
func (s *stemmer) stem(w string) string {
	if len(w) < 3 {
		return w
	}
	if v, ok := s.seen[w]; ok {
		return v
	}
	out := w
	if isPlainASCII(w) {
		out = string(porterstemmer.StemWithoutLowerCasing([]rune(w)))
	}
	if len(s.seen) < maxStems {
		s.seen[w] = out
	}
	return out
}

func isPlainASCII(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}

// stopWords are indexed but left out of a query that has other words. Question
// words are among them: a question is about what follows them.
var stopWords = sync.OnceValue(func() map[string]bool {
	const list = `a about after again all am an and any are as at be because been before being but by can could
d did do does doing don down during each few for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just ll m me more most my myself no nor not now of off on once only
or other our ours ourselves out over own re s same shall she should so some such t than that the their theirs them
themselves then there these they this those through to too under until up ve very was we were what when where
which while who whom whose why will with would you your yours yourself yourselves`
	m := make(map[string]bool, 160)
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
})
