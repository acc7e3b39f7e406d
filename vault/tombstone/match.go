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
	return strings.TrimRight(fold(strings.Join(strings.Fields(b.String()), " ")), ".!?。！？ ")
}

// fold is what the case does not tell apart.
func fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	return cases.Fold().String(text)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// visible is a text in one Unicode form without what is drawn as nothing.
func visible(text string) string {
	if ascii(text) {
		return text
	}
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

// A reading is what a candidate is compared by: the hash of its text, and that of its letters as Latin ones.
type reading struct {
	*Said
	hash, saidHash string
}

// Read is c for many calls of [Stone.Matches], each of which else reads the whole text.
func (c Candidate) Read() Candidate {
	c.read = sync.OnceValue(func() reading {
		hash, latin := Hash(c.Text), Latin(c.Text)
		r := reading{Said: Read(c.Text), hash: hash, saidHash: hash}
		if latin != c.Text {
			r.saidHash = Hash(latin)
		}
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
// not decide; it returns nil when the text cannot be had any more. Of two texts that were read
// before and have little in common it looks at a few words.
func (s *Stone) Matches(c Candidate, text func() *Said) string {
	if slices.ContainsFunc(c.IDs, func(id string) bool { return slices.Contains(s.IDs, id) }) {
		return "id"
	}
	if s.TextHash == "" || c.Text == "" {
		return ""
	}
	if c.read == nil {
		c = c.Read()
	}
	b := c.read()
	if s.TextHash == b.hash || s.TextHash == b.saidHash {
		return "text"
	}
	size := len(b.words)
	sized := size >= s.Words-mostSmall && size <= s.Words+mostSmall
	within := s.Words >= leastContained && size >= s.Words && size <= s.Words+mostAround
	related := s.Slot != "" && s.Slot == c.Slot || s.Session != "" && s.Session == c.Session
	if small, big := min(s.Words, size), max(s.Words, size); s.Words > 0 && !related && !within && !sized &&
		float64(small) < near*float64(big) {
		return "" // they cannot share as many words as it takes
	}
	a := text()
	if a == nil {
		return ""
	}
	least := near
	if related {
		least = 0
	}
	like, turned := a.like(b.Said, least)
	switch {
	case like == 1:
		return "words" // in another order
	case within && contains(b.normal, a.normal), len(a.spelt) > 1 && slices.Equal(a.spelt, b.spelt):
		return Contains
	case like < least || turned || opposed(except(a.words, b.words), except(b.words, a.words)):
		return ""
	case like >= near:
		return "words"
	case s.Slot != "" && s.Slot == c.Slot && a.value: // the other one has all its values
		return "slot"
	case s.Session != "" && s.Session == c.Session && like >= sibling && overlap(s.Turns, c.Turns):
		return "turns"
	}
	return ""
}

// small are words that say nothing of their own; none turns a sentence round.
var small = sync.OnceValue(func() map[string]bool {
	return words(`a an the is are was were be it its of to in at on for by and that this note der die das
		den dem ein eine ist sind war von vom im am zu und le la les un une est sont de du des et
		el los las es son del en y`)
})

// contains reports whether a text has another one in it, whole words of it.
func contains(text, part string) bool {
	for at := 0; part != ""; at++ {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		at += i
		next, _ := utf8.DecodeRuneInString(text[at+len(part):])
		if (at == 0 || text[at-1] == ' ') && !unicode.IsLetter(next) && !unicode.IsDigit(next) {
			return true
		}
	}
	return false
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(n int) bool { return slices.Contains(b, n) })
}

// words are the folded words of a text; true marks one that carries a value: a
// number, a version, a path, an address, a name.
func words(text string) map[string]bool {
	out := map[string]bool{}
	if text = visible(text); strings.Contains(text, "](") {
		text = link().ReplaceAllString(text, "$1")
	}
	for line := range strings.Lines(text) {
		start := true // of a sentence, where a capital letter says nothing
		for _, w := range strings.Fields(line[len(marker().FindString(line)):]) {
			ends := strings.ContainsAny(w[len(w)-1:], ".!?:")
			w = strings.TrimFunc(w, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#' && r != '%'
			})
			for _, part := range unspaced(w) {
				folded := fold(part)
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
	return r > unicode.MaxLatin1 &&
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
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

// opposed reports whether two texts have the words of a pair of opposites, one each.
func opposed(onlyA, onlyB []word) bool {
	has := func(all []word, fold string) bool {
		return slices.ContainsFunc(all, func(w word) bool { return w.fold == fold })
	}
	for _, pair := range opposites() {
		for i := range pair {
			if has(onlyA, pair[i]) && has(onlyB, pair[1-i]) {
				return true
			}
		}
	}
	return false
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
