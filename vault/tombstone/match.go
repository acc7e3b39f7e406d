package tombstone

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/markdown"
)

// Added is the text that a file gained: the lines of its body that it did not
// have before. Before is nil for a new file, whose whole text it then is.
func Added(before, after []byte) string {
	old, now := markdown.Parse(before).Body(), markdown.Parse(after).Body()
	var b strings.Builder
	lines := markdown.Lines(now)
	for i, was := range markdown.Unchanged(old, now) {
		if was < 0 {
			b.Write(lines[i])
		}
	}
	return b.String()
}

// Labels are the texts beside the body that a file gained: the values of its front matter, and for a new file, whose
// before is nil, the names in its path. They are long enough to say something.
func Labels(path string, before, after []byte) (out []Candidate) {
	add := func(text string) {
		if len(words(text)) >= leastContained {
			out = append(out, Candidate{Text: text})
		}
	}
	was, now := markdown.Parse(before), markdown.Parse(after)
	for _, key := range now.Keys() {
		value, _ := now.Meta(key)
		if old, _ := was.Meta(key); old.Equal(value) {
			continue
		}
		texts := value.List()
		if !value.IsList() {
			texts = []string{value.Text()}
		}
		for _, text := range append(texts, slices.Collect(maps.Values(value.Texts()))...) {
			add(text)
		}
	}
	if before == nil {
		for name := range strings.SplitSeq(strings.TrimSuffix(path, ".md"), "/") {
			add(strings.NewReplacer("-", " ", "_", " ").Replace(name))
		}
	}
	return out
}

// marker is what a line may begin with that is not part of what it says: quote,
// heading, bullet, number, task box, kind.
var marker = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(>\s*)*(#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+)?(\[[ xX/-]\]\s+|\[\pL{2,}\]\s+)?`)
})

// link is a link, with its text.
var link = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\[\]]*)\]\([^()\n]*\)`) })

// Normal is a text reduced to what it says: Unicode form, case, white space, list
// marks, characters that nobody sees and the punctuation at its end do not count.
func Normal(text string) string {
	var b strings.Builder
	for line := range strings.Lines(visible(text)) {
		b.WriteString(line[len(marker().FindString(line)):])
		b.WriteByte('\n')
	}
	folded := cases.Fold().String(strings.Join(strings.Fields(b.String()), " "))
	return strings.TrimRight(folded, ".!?。！？ ")
}

// visible is a text in one Unicode form without what is drawn as nothing.
func visible(text string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, text))
}

// Hash is the SHA-256 of [Normal], in hex; "" for a text that says nothing.
func Hash(text string) string {
	n := Normal(text)
	if !strings.ContainsFunc(n, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	sum := sha256.Sum256([]byte(n))
	return hex.EncodeToString(sum[:])
}

// Of begins the stone of a rejected text.
func Of(action, text string) Stone {
	s := Stone{Action: action, TextHash: Hash(text)}
	if s.TextHash != "" {
		s.Words = len(words(text))
	}
	return s
}

// A Candidate is something about to be written.
type Candidate struct {
	IDs     []string
	Text    string
	Slot    string // what it is a value of, "" when that is not known
	Session string
	Turns   []int
	read    func() reading // see [Candidate.Read]
}

// A reading is what a text is compared by: its letters as Latin ones, its hash and that of those, and its words.
type reading struct {
	said, hash, saidHash string
	words                map[string]bool
}

// Read is c for many calls of [Stone.Matches], each of which else reads the whole text.
func (c Candidate) Read() Candidate {
	c.read = sync.OnceValue(func() reading {
		r := reading{said: Latin(c.Text), hash: Hash(c.Text)}
		if r.saidHash = r.hash; r.said != c.Text {
			r.saidHash = Hash(r.said)
		}
		r.words = words(r.said)
		return r
	})
	return c
}

// The bounds of likeness. near is the near-duplicate bound of the research on
// contradictions without a model; sibling is for texts from the same turns of one
// session, where half the words in common is the same thing said again.
const (
	near    = 0.85
	sibling = 0.5
)

// Contains is the match of a text that says what was rejected, and something more, or says it with other small words,
// endings or spellings.
const Contains = "contains"

// The bounds of [Contains]: of fewer words too much is said with them, and more words around
// it are another text.
const (
	leastContained = 3
	mostAround     = 12
	mostSmall      = 5 // words like "the", more or fewer
)

// Matches says why a candidate is what was rejected: "id", "text", "words", "slot",
// "turns" or [Contains]; "" when it is not. Text reads the rejected text when the hash does
// not decide; it may return "" when the text cannot be had any more.
func (s Stone) Matches(c Candidate, text func() string) string {
	if slices.ContainsFunc(c.IDs, func(id string) bool { return slices.Contains(s.IDs, id) }) {
		return "id"
	}
	if s.TextHash == "" || c.Text == "" {
		return ""
	}
	if c.read == nil {
		c = c.Read()
	}
	r := c.read()
	said, b := r.said, r.words
	if s.TextHash == r.hash || s.TextHash == r.saidHash {
		return "text"
	}
	sized := len(b) >= s.Words-mostSmall && len(b) <= s.Words+mostSmall
	within := s.Words >= leastContained && len(b) >= s.Words && len(b) <= s.Words+mostAround
	related := s.Slot != "" && s.Slot == c.Slot || s.Session != "" && s.Session == c.Session
	if small, big := min(s.Words, len(b)), max(s.Words, len(b)); s.Words > 0 && !related && !within && !sized &&
		float64(small) < near*float64(big) {
		return "" // they cannot share as many words as it takes
	}
	rejected := Latin(text())
	if rejected == "" {
		return ""
	}
	a := words(rejected)
	like := Jaccard(a, b)
	switch {
	case like == 1:
		return "words" // in another order
	case within && contains(Normal(said), Normal(rejected)), alike(a, b):
		return Contains
	case !compatible(a, b):
		return ""
	case like >= near:
		return "words"
	case s.Slot != "" && s.Slot == c.Slot && sameValues(a, b):
		return "slot"
	case s.Session != "" && s.Session == c.Session && like >= sibling && overlap(s.Turns, c.Turns):
		return "turns"
	}
	return ""
}

// alike reports whether two texts have the same words but for small ones, the ends of plurals and the ways to spell
// some.
func alike(a, b map[string]bool) bool {
	said, again := spelt(a), spelt(b)
	return len(said) > 1 && len(said) == len(again) && Jaccard(said, again) == 1
}

// spelt are words without small ones, and without what differs between plurals and spellings.
func spelt(all map[string]bool) map[string]bool {
	out := map[string]bool{}
	for w := range all {
		if !slices.Contains(small(), w) {
			if utf8.RuneCountInString(w) > 3 {
				w = strings.TrimSuffix(spellings().Replace(w), "s")
			}
			out[w] = true
		}
	}
	return out
}

var spellings = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("our", "or", "ise", "ize", "isa", "iza")
})

// small are words that say nothing of their own; none turns a sentence round.
var small = sync.OnceValue(func() []string {
	return strings.Fields(`a an the is are was were be it its of to in at on for by and that this note der die das
		den dem ein eine ist sind war von vom im am zu und le la les un une est sont de du des et
		el los las es son del en y`)
})

// contains reports whether a text has another one in it, whole words of it.
func contains(text, part string) bool {
	for rest := " " + text; ; {
		i := strings.Index(rest, " "+part)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
		if next, _ := utf8.DecodeRuneInString(rest[len(part):]); !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return true
		}
	}
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(n int) bool { return slices.Contains(b, n) })
}

// words are the folded words of a text; true marks one that carries a value: a
// number, a version, a path, an address, a name.
func words(text string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(link().ReplaceAllString(visible(text), "$1")) {
		start := true // of a sentence, where a capital letter says nothing
		for _, w := range strings.Fields(line[len(marker().FindString(line)):]) {
			ends := strings.ContainsAny(w[len(w)-1:], ".!?:")
			w = strings.TrimFunc(w, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' && r != '%'
			})
			for _, part := range unspaced(w) {
				folded := cases.Fold().String(part)
				out[folded] = out[folded] || isValue(part, start)
			}
			start = ends
		}
	}
	return out
}

// unspaced cuts scripts that are written without spaces into their signs.
func unspaced(w string) []string {
	if w == "" {
		return nil
	}
	if !strings.ContainsFunc(w, ideographic) {
		return []string{w}
	}
	var out []string
	rest := ""
	for _, r := range w {
		if !ideographic(r) {
			rest += string(r)
			continue
		}
		if rest != "" {
			out, rest = append(out, rest), ""
		}
		out = append(out, string(r))
	}
	if rest != "" {
		out = append(out, rest)
	}
	return out
}

func ideographic(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func isValue(w string, start bool) bool {
	for i, r := range w {
		switch {
		case unicode.IsDigit(r), strings.ContainsRune("/@_.:\\=%+#", r),
			unicode.IsUpper(r) && !(start && i == 0) && w != "I":
			return true
		}
	}
	return false
}

// Jaccard is the part of all words of two texts that both have, 0 when there are
// none. The values of the maps do not count.
func Jaccard(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if _, ok := b[w]; ok {
			both++
		}
	}
	if len(a)+len(b) == both {
		return 0 // no words at all
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

func sameValues(a, b map[string]bool) bool {
	n := 0
	for w, value := range a {
		if !value {
			continue
		}
		if _, ok := b[w]; !ok {
			return false
		}
		n++
	}
	return n > 0
}

// compatible is the guard: two texts that differ in a value, in a negation or by
// a pair of opposites say different things, however many words they share.
func compatible(a, b map[string]bool) bool {
	onlyA, onlyB := except(a, b), except(b, a)
	for _, w := range slices.Concat(onlyA, onlyB) {
		if a[w] || b[w] || negates(w) {
			return false
		}
	}
	for _, pair := range opposites() {
		for i := range pair {
			if slices.Contains(onlyA, pair[i]) && slices.Contains(onlyB, pair[1-i]) {
				return false
			}
		}
	}
	return true
}

func except(a, b map[string]bool) []string {
	var out []string
	for w := range a {
		if _, ok := b[w]; !ok {
			out = append(out, w)
		}
	}
	return out
}

// negates knows the usual words of a few languages; a contraction ends in n't.
func negates(w string) bool {
	switch w {
	case "not", "no", "never", "none", "cannot", "without", "neither", "nor", "stopped", "quit", "longer", "avoid", "avoids", "dislikes", "dislike",
		"nicht", "kein", "keine", "keinen", "nie", "ohne", "ne", "pas", "jamais", "sans", "nunca", "sin", "non", "mai", "不", "没", "沒", "无", "無", "非":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

func opposites() [][2]string {
	return [][2]string{
		{"enable", "disable"}, {"enabled", "disabled"}, {"allow", "deny"}, {"allowed", "denied"}, {"always", "never"}, {"love", "hate"},
		{"loves", "hates"}, {"likes", "dislikes"}, {"tabs", "spaces"}, {"light", "dark"}, {"on", "off"}, {"true", "false"}, {"up", "down"},
		{"open", "closed"}, {"start", "stop"}, {"before", "after"}, {"more", "less"}, {"with", "without"}, {"public", "private"}, {"left", "right"},
		{"first", "last"}, {"old", "new"}, {"morning", "evening"}, {"internal", "external"}, {"required", "optional"}, {"yes", "no"},
	}
}
