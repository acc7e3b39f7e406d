package tombstone

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Said is a text that has been read to be compared with many others. Nobody changes it.
type Said struct {
	normal string   // [Normal] of its letters as Latin ones
	words  []word   // in the order of their keys
	spelt  []string // see [spelt]
	value  bool     // one of its words carries a value
}

// A word is one that a text has.
type word struct {
	key   uint64 // by which this process tells words apart: to look at their letters takes five times as long
	fold  string
	turns bool // a text says something else without it: it carries a value, or denies
}

var seed = sync.OnceValue(maphash.MakeSeed)

// Read reads a text; nil for one that is empty.
func Read(text string) *Said {
	if text == "" {
		return nil
	}
	text = Latin(text)
	s := &Said{normal: Normal(text)}
	for fold, value := range words(text) {
		s.words = append(s.words, word{maphash.String(seed(), fold), fold, value || negates(fold)})
		s.value = s.value || value
	}
	slices.SortFunc(s.words, func(a, b word) int { return cmp.Compare(a.key, b.key) })
	s.spelt = spelt(s.words)
	return s
}

// like is [Jaccard] of the words of two texts, 0 as soon as it is sure to be under least. It also reports whether one
// of the words that only one of them has turns a text.
func (s *Said) like(other *Said, least float64) (like float64, turned bool) {
	a, b, both := s.words, other.words, 0
	// With n words of both, one too few in common leaves more than this many that only one has.
	n := float64(len(a) + len(b))
	for most := int(n*(1-least)/(1+least)) + 1; len(a) > 0 || len(b) > 0; most-- {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = cmp.Compare(a[0].key, b[0].key)
		}
		switch {
		case order == 0:
			both, most = both+1, most+1
			a, b = a[1:], b[1:]
			continue
		case order < 0:
			turned, a = turned || a[0].turns, a[1:]
		default:
			turned, b = turned || b[0].turns, b[1:]
		}
		if most < 0 {
			return 0, turned
		}
	}
	if n == 0 {
		return 0, false // no words at all
	}
	return float64(both) / (n - float64(both)), turned
}

// except are the words of one text that the other does not have.
func except(a, b []word) (out []word) {
	for i := range a {
		for len(b) > 0 && b[0].key < a[i].key {
			b = b[1:]
		}
		if len(b) == 0 || b[0].key != a[i].key {
			out = append(out, a[i])
		}
	}
	return out
}

// spelt are words without small ones, and without what differs between plurals and spellings, in their order.
func spelt(all []word) []string {
	var out []string
	for _, w := range all {
		if _, is := small()[w.fold]; !is {
			if utf8.RuneCountInString(w.fold) > 3 {
				w.fold = strings.TrimSuffix(spelling(w.fold), "s")
			}
			out = append(out, w.fold)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spelling is a word in the American way.
func spelling(w string) string {
	if !strings.Contains(w, "our") && !strings.Contains(w, "is") {
		return w
	}
	return spellings().Replace(w)
}

var spellings = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("our", "or", "ise", "ize", "isa", "iza")
})
