package guard

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// A keywordIndex finds the keywords of all rules in one pass over a text.
// Nearly every position of ordinary text is passed with one multiplication and
// one look into a table of bits; only where three bytes are those that a
// keyword begins with are keywords compared.
type keywordIndex struct {
	bits    [1 << gramBits / 64]uint64
	buckets map[uint32][]keyword // by the first three bytes
	short   map[[2]byte][]int    // keywords of two bytes: their rules
	second  [256]bool            // bytes that a short keyword ends with
}

type keyword struct {
	text  string
	rules []int
}

// gramBits makes a table of 4 KiB, which stays in the first cache; some 220
// beginnings of keywords leave it nearly empty.
const gramBits = 15

func gramSlot(gram uint32) uint32 { return gram * 0x9E3779B1 >> (32 - gramBits) }

func newKeywordIndex(rules []rule) *keywordIndex {
	x := &keywordIndex{buckets: map[uint32][]keyword{}, short: map[[2]byte][]int{}}
	byText := map[string][]int{}
	var order []string
	for i, r := range rules {
		for _, k := range r.keywords {
			if _, known := byText[k]; !known {
				order = append(order, k)
			}
			byText[k] = append(byText[k], i)
		}
	}
	for _, k := range order {
		if len(k) == 2 {
			x.short[[2]byte{k[0], k[1]}] = byText[k]
			x.second[k[1]] = true
			continue
		}
		gram := uint32(k[0])<<16 | uint32(k[1])<<8 | uint32(k[2])
		slot := gramSlot(gram)
		x.bits[slot/64] |= 1 << (slot % 64)
		x.buckets[gram] = append(x.buckets[gram], keyword{k, byText[k]})
	}
	return x
}

// find calls hit for every place where a keyword stands, with the rules it
// belongs to. ASCII letters are compared without case.
func (x *keywordIndex) find(text string, hit func(at, end int, rules []int)) {
	gram := uint32(0)
	for i := range len(text) {
		c := lower(text[i])
		gram = gram<<8&0xffffff | uint32(c)
		if x.second[c] && i > 0 {
			if rules, ok := x.short[[2]byte{byte(gram >> 8), c}]; ok {
				hit(i-1, i+1, rules)
			}
		}
		slot := gramSlot(gram)
		if x.bits[slot/64]&(1<<(slot%64)) == 0 || i < 2 {
			continue
		}
		for _, k := range x.buckets[gram] {
			if end := i - 2 + len(k.text); end <= len(text) && equalFold(text[i+1:end], k.text[3:]) {
				hit(i-2, end, k.rules)
			}
		}
	}
}

func lower(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// equalFold compares with a text in lower case, ASCII letters without case.
func equalFold(s, lowered string) bool {
	for i := range len(s) {
		if lower(s[i]) != lowered[i] {
			return false
		}
	}
	return true
}

// A window is a part of a text, whole lines.
type window struct{ start, end int }

// windows collects, for each rule, the lines around its keywords.
type windows struct {
	rules []rule
	text  string
	view  *view          // of the text
	bare  map[int]window // by rule: where no token was found last
	lines []int          // where each starts
	of    map[int][]window
	hits  map[int][]window // of rules that are tried behind their keywords alone: where those stand
}

func newWindows(rules []rule, v *view) *windows {
	text := v.text
	w := &windows{rules: rules, text: text, view: v, lines: []int{0}, bare: map[int]window{},
		of: map[int][]window{}, hits: map[int][]window{}}
	for at := strings.IndexByte(text, '\n'); at >= 0; {
		w.lines = append(w.lines, at+1)
		next := strings.IndexByte(text[at+1:], '\n')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return w
}

// line is the number, from 0, of the line that holds the byte at `at`.
func (w *windows) line(at int) int {
	i, found := slices.BinarySearch(w.lines, at)
	if !found {
		i--
	}
	return i
}

func (w *windows) add(at, end int, rules []int) {
	for _, i := range rules {
		r := &w.rules[i]
		have := w.of[i]
		if r.behind {
			w.hits[i] = append(w.hits[i], window{at, at + len(strings.TrimRight(w.text[at:end], " :=\"'|*`"))})
		}
		if n := len(have); n > 0 && have[n-1].end == len(w.text) {
			continue
		}
		to := end
		switch {
		case r.run > 0 && !longWord(w.text, at, r.run), r.next != "" && !goesOn(w.text[end:], r.next):
			continue
		case r.operator:
			if to = assigned(w.text, end); to < 0 || r.entropy > 0 && !varied(w.text[to:], r.entropy) ||
				strings.HasPrefix(w.text[to-1:], markerStart) { // what the marker stands for was looked at
				continue
			}
		}
		got := w.around(at, to, r)
		n := len(have)
		if n > 0 && got.start >= have[n-1].start && got.end <= have[n-1].end {
			continue
		}
		// Asked here, since what is not wanted makes no larger window; a long line is asked once.
		if r.token > 0 && (w.bare[i] == got || !w.view.hasToken(got, r.token)) {
			w.bare[i] = got
			continue
		}
		if n > 0 && got.start <= have[n-1].end {
			have[n-1].end = max(have[n-1].end, got.end)
			continue
		}
		w.of[i] = append(have, got)
	}
}

// around is the lines that a match of r with a keyword between at and end can
// stand on.
func (w *windows) around(at, end int, r *rule) window {
	if r.span < 0 || r.span > manyLines {
		return window{0, len(w.text)}
	}
	first, last := w.line(at), w.line(end)
	if !r.operator { // else assigned has passed the lines
		last += r.span
		if r.span > 0 && first > 0 {
			first-- // what stands in front of a keyword may be on the line before
		}
	}
	if last+1 >= len(w.lines) {
		return window{w.lines[first], len(w.text)}
	}
	return window{w.lines[first], w.lines[last+1] - 1}
}

// manyLines is the span from which a text is looked at as a whole.
const manyLines = 64

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// longWord reports whether at lies in a run of characters as tokens are made
// of that is long enough for one.
func longWord(text string, at, enough int) bool {
	n := 1
	for i := at - 1; i >= 0 && n < enough && tokenByte(text[i]); i-- {
		n++
	}
	for i := at + 1; i < len(text) && n < enough && tokenByte(text[i]); i++ {
		n++
	}
	return n >= enough
}

func tokenByte(c byte) bool {
	return c-'0' < 10 || lower(c)-'a' < 26 || c == '_' || c == '-' || c == '.' || c == '~' || c == '/' || c == '\\'
}

// assigned looks behind a keyword for what the rules with an operator all
// demand: the rest of a name, an operator, and the beginning of a value. It
// returns a place on the line where the value begins, -1 when there is none.
// It is a coarse form of that part of the expressions: it may let through more
// than they do, never less.
func assigned(text string, at int) int {
	const name, gap, open, value = 72, 4, 10, 8 // the most of each that the rules have
	i := at
	for ; i < len(text) && i-at < name && nameByte(text[i]); i++ {
	}
	verb := strings.Index(text[at:i], "is")
	for n := 0; i < len(text) && n < gap && (spaceByte(text[i]) || strings.IndexByte("'\"`*_)]", text[i]) >= 0); n++ {
		i++
	}
	switch {
	case i < len(text) && strings.IndexByte("=>:|?,", text[i]) >= 0:
	case verb >= 0:
		return at + verb // "is" assigns too, on this line
	case strings.HasPrefix(text[i:], "is"):
		i += 2
	default:
		return -1
	}
	for n := 0; i < len(text) && n < open && (spaceByte(text[i]) || strings.IndexByte("=>:|?,`'\"*_<([", text[i]) >= 0); n++ {
		i++
	}
	for n := range value {
		if i+n >= len(text) || spaceByte(text[i+n]) {
			return -1
		}
	}
	return i
}

// goesOn reports whether a text goes on with a word, in lower case, after blanks and a quote.
func goesOn(text, next string) bool {
	text = strings.TrimLeft(text, " \t")
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		text = text[1:]
	}
	return len(text) >= len(next) && equalFold(text[:len(next)], next)
}

// varied reports whether a text begins with as many characters as the entropy takes that a secret
// has; all rules that ask for it find secrets of ASCII.
func varied(text string, entropy float64) bool {
	const far = 400
	var seen [256]bool
	left := math.Exp2(entropy)
	for i := 0; i < min(len(text), far) && left > 0; i++ {
		if !seen[text[i]] {
			seen[text[i]] = true
			left--
		}
	}
	return left <= 0
}

func nameByte(c byte) bool {
	return c-'0' < 10 || lower(c)-'a' < 26 || c == '_' || c == '-' || c == '.' || c == ' ' || c == '\t'
}

func spaceByte(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' && c != '\v' }

// worth is a cheap look for what every match must have besides its keyword;
// without it the expression would run on every line that says "show".
func (r *rule) worth(v *view, in window) bool {
	if len(r.also) == 0 {
		return true
	}
	low := strings.ToLower(v.text[in.start:in.end])
	stands := func(word string) bool { return strings.Contains(low, word) }
	return slices.ContainsFunc(r.also, stands) && (len(r.besides) == 0 || slices.ContainsFunc(r.besides, stands))
}

// hasToken reports whether a window has a run without a space, of n bytes or
// more, that is no word: with a figure, a capital within or a mark as passwords
// have.
func (v *view) hasToken(in window, n int) bool {
	if !v.looked {
		v.looked, v.tokens = true, tokens(v.text)
	}
	i, _ := slices.BinarySearchFunc(v.tokens, in.start, func(w window, at int) int { return w.start - at })
	for ; i < len(v.tokens) && v.tokens[i].start < in.end; i++ {
		if w := v.tokens[i]; w.end-w.start >= n {
			return true
		}
	}
	return false
}

func tokens(text string) (found []window) {
	start, odd, marks := 0, false, oddByte()
	for i := range len(text) {
		switch c := text[i]; {
		case spaceByte(c):
			if odd {
				found = append(found, window{start, i})
			}
			start, odd = i+1, false
		case !odd:
			odd = marks[c] || i > start && c-'A' < 26 && text[i-1]-'a' < 26
		}
	}
	if odd {
		found = append(found, window{start, len(text)})
	}
	return found
}

// oddByte are figures, and the marks of passwords.
var oddByte = sync.OnceValue(func() *[256]bool {
	var is [256]bool
	for _, c := range []byte("0123456789!@#$%^&*+=?") {
		is[c] = true
	}
	return &is
})
