package guard

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Orders are put in endless ways, but of few ideas: put aside what you were told, do
// not tell the user, send the keys away. A sentence that tells somebody to do such a
// thing is found by what its words mean, in six languages; see rules/speech.txt.

//go:embed rules/speech.txt
var speechText string

// An idea is one bit of a set of ideas.
type idea uint64

// A said is words side by side that mean an idea.
type said struct {
	rest []string // behind the first word
	stem bool     // the last word only begins so
	idea idea
}

// A need is met by a sentence that has one of these ideas, tells somebody to do one, or calls
// somebody one; or by one that has none of not.
type need struct{ any, told, called, not idea }

type speechRule struct {
	rule  *rule
	needs []need
	near  int // all within so many words
}

// A lexicon is the words and rules of speech.txt.
type lexicon struct {
	words                map[string][]said // by their first word
	stems                map[string][]said // by the first three letters of words of which only the stem is known
	ends                 []said            // what words end with
	rules                []speechRule
	we, fill, join, must idea
	to, dest, not, you   idea
}

const stemLetters = 3

var speech = sync.OnceValue(func() *lexicon {
	l := &lexicon{words: map[string][]said{}, stems: map[string][]said{}}
	ideas, rules := map[string]idea{}, map[string]*rule{}
	of := func(name string) idea {
		if ideas[name] == 0 {
			ideas[name] = 1 << len(ideas)
		}
		return ideas[name]
	}
	for line := range strings.Lines(speechText) {
		fields := strings.Fields(line)
		switch {
		case len(fields) > 2 && fields[0] == "WORDS":
			for _, w := range fields[2:] {
				l.add(w, of(fields[1]))
			}
		case len(fields) > 2 && fields[0] == "rule":
			id, near, _ := strings.Cut(strings.TrimSuffix(fields[1], ":"), "/")
			if rules[id] == nil {
				rules[id] = &rule{id: id}
			}
			r := speechRule{rule: rules[id], near: longest}
			if n, err := strconv.Atoi(near); err == nil {
				r.near = n
			}
			for _, word := range fields[2:] {
				n := need{}
				for name := range strings.SplitSeq(word, "|") {
					switch bare := name[1:]; name[0] {
					case '^':
						n.told |= of(bare)
					case '@':
						n.called |= of(bare)
					case '!':
						n.not |= of(bare)
					default:
						n.any |= of(name)
					}
				}
				r.needs = append(r.needs, n)
			}
			l.rules = append(l.rules, r)
		}
	}
	l.we, l.fill, l.join, l.must = of("WE"), of("FILL"), of("JOIN"), of("MUST")
	l.to, l.dest, l.not = of("TO"), of("DEST"), of("NOT")
	l.you = of("YOU") | of("AI") | of("EVERYREPLY")
	return l
})

func (l *lexicon) add(w string, i idea) {
	if end, ok := strings.CutPrefix(w, "*"); ok {
		l.ends = append(l.ends, said{[]string{end}, false, i})
		return
	}
	parts := strings.Split(w, "_")
	last, stem := strings.CutSuffix(parts[len(parts)-1], "*")
	parts[len(parts)-1] = last
	if stem && len(parts) == 1 {
		l.stems[last[:stemLetters]] = append(l.stems[last[:stemLetters]], said{[]string{last}, true, i})
		return
	}
	l.words[parts[0]] = append(l.words[parts[0]], said{parts[1:], stem, i})
}

// A word is one of a sentence.
type word struct {
	text       string // in lower case, without accents
	start, end int
	opens      bool // a sentence or clause begins with it
	means      idea
	// told is what it tells somebody to do, called what it calls who reads, named what ends
	// with it.
	told, called, named idea
}

// longest is the words of a sentence that are looked at together.
const longest = 60

// spoken lists the sentences of a text that the rules of speech are about.
func spoken(v *view) (found []match) {
	l := speech()
	var sentence []word
	opens := true
	flush := func() {
		found = append(found, l.judge(v, sentence)...)
		sentence, opens = sentence[:0], true
	}
	dest := idea(0)
	for at := 0; at < len(v.text); {
		c := v.text[at]
		switch r, size := rune(c), 1; {
		case wordByte(c) || c >= utf8.RuneSelf:
			if c >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(v.text[at:])
			}
			if !unicode.In(r, unicode.Latin, unicode.Nd) {
				at, opens = at+size, true
				continue
			}
			w := wordAt(v.text, at)
			w.opens, w.means, opens, dest = opens && !strings.HasPrefix(v.text[w.end:], `":`), dest, false, 0
			sentence, at = append(sentence, w), w.end
			if len(sentence) == longest {
				flush()
			}
			continue
		case ends(v.text, at):
			flush()
		case c == '@', c == ':' && strings.HasPrefix(v.text[at:], "://"):
			dest = l.dest
		default:
			opens = opens || parts(v.text, at)
		}
		at++
	}
	flush()
	return found
}

// ends reports whether a sentence ends at a place: a full stop before a space, a blank
// line, an item of a list, a row of a table.
func ends(text string, at int) bool {
	next := byte('\n')
	if at+1 < len(text) {
		next = text[at+1]
	}
	switch text[at] {
	case '.', '!', '?':
		return next == ' ' || next == '\n' || next == '\r' || next == '"' || next == '<' || next == '*' || next == ')'
	case '\n':
		return next == '\n' || next == '\r' || next == '-' || next == '*' || next == '#' || next == '|' || digit(next)
	case '<':
		return next == '/' || next == '!'
	}
	return false
}

// parts reports whether a mark parts clauses: a comma or the like before a space, an opening
// one behind a space. Marks within code do not.
func parts(text string, at int) bool {
	switch text[at] {
	case ',', ';', ':':
		return at+1 == len(text) || spaceByte(text[at+1])
	case '(', '"', '-', '>', '#', '|', '[', '\'':
		return at == 0 || spaceByte(text[at-1])
	}
	return false
}

// wordAt reads the word at a place: letters and figures, an English ending behind an
// apostrophe with them.
func wordAt(text string, at int) word {
	w, plain := word{start: at}, true
	for at < len(text) && (wordByte(text[at]) || text[at] >= utf8.RuneSelf) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if size > 1 && (r == '’' || !unicode.In(r, unicode.Latin, unicode.M)) {
			break
		}
		plain = plain && size == 1
		at += size
	}
	w.text = text[w.start:at]
	if !plain {
		w.text = fold(w.text)
	}
	w.text = strings.ToLower(w.text)
	rest := strings.TrimPrefix(strings.TrimPrefix(text[at:], "'"), "’")
	if len(rest) < len(text[at:]) {
		n := 0
		for n < len(rest) && wordByte(rest[n]) {
			n++
		}
		switch s := strings.ToLower(rest[:n]); s {
		case "t", "re", "m", "ve", "ll", "s", "d":
			w.text += s
			at = len(text) - len(rest) + n
		}
	}
	w.end = max(at, w.start+1)
	return w
}

// fold is a word without the marks on its letters.
func fold(s string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s)), "ß", "ss")
}

// judge lists the rules that a sentence meets, each once.
func (l *lexicon) judge(v *view, words []word) (found []match) {
	all := idea(0)
	for i := range words {
		l.mean(words, i)
		all |= words[i].means | words[i].named
	}
	if all == 0 {
		return nil // every rule needs something
	}
	for i, w := range words {
		if w.means != 0 && l.tells(words, i) {
			words[i].told = w.means
		}
		if i < 6 && (i+1 == len(words) || words[i+1].opens) {
			words[i].called = w.named
		}
	}
	var has need
	for _, w := range words {
		has.any, has.told, has.called = has.any|w.means, has.told|w.told, has.called|w.called
	}
	for _, r := range l.rules {
		again := func(m match) bool { return m.rule == r.rule }
		if !r.possible(has) || slices.ContainsFunc(found, again) || !r.met(words) {
			continue
		}
		from, to := words[0].start, words[len(words)-1].end
		start, end := v.origin(from, to)
		text := strings.Join(strings.Fields(strings.ToLower(v.text[from:to])), " ")
		found = append(found, match{r.rule, start, end, text, v.text[from:to]})
	}
	return found
}

// possible reports whether a sentence that has all this, anywhere, may have what a rule needs.
func (r *speechRule) possible(has need) bool {
	for i := range r.needs {
		if n := &r.needs[i]; n.not == 0 && n.any&has.any|n.told&has.told|n.called&has.called == 0 {
			return false
		}
	}
	return true
}

// met reports whether words that stand near each other have all that a rule needs.
func (r *speechRule) met(words []word) bool {
	for i := 0; ; i++ {
		var all, told, called idea
		for _, w := range words[i:min(len(words), i+r.near)] {
			all, told, called = all|w.means, told|w.told, called|w.called
		}
		if !slices.ContainsFunc(r.needs, func(n need) bool {
			return n.not&all != 0 || n.not == 0 && n.any&all|n.told&told|n.called&called == 0
		}) {
			return true
		}
		if i+r.near >= len(words) {
			return false
		}
	}
}

// mean looks up what the words from i on mean.
func (l *lexicon) mean(words []word, i int) {
	text := words[i].text
	for _, s := range l.words[text] {
		if s.follows(words[i+1:]) {
			words[i].means |= s.idea
			words[i+len(s.rest)].named |= s.idea
		}
	}
	if len(text) < stemLetters {
		return
	}
	for _, s := range l.stems[text[:stemLetters]] {
		if strings.HasPrefix(text, s.rest[0]) {
			words[i].means |= s.idea
		}
	}
	for _, s := range l.ends {
		if strings.HasSuffix(text, s.rest[0]) {
			words[i].means |= s.idea
		}
	}
}

func (s said) follows(words []word) bool {
	if len(words) < len(s.rest) {
		return false
	}
	for i, want := range s.rest {
		if words[i].text != want && !(s.stem && i == len(s.rest)-1 && strings.HasPrefix(words[i].text, want)) {
			return false
		}
	}
	return true
}

// tells reports whether the word at i tells somebody to do something: it opens a clause,
// but for words that may stand before an order, or follows "you must"; an infinitive may
// close one in German. Somebody else who does it is the subject of the clause.
func (l *lexicon) tells(words []word, i int) bool {
	for j := i; j >= 0 && i-j < 8; j-- {
		if words[j].opens {
			return true
		}
		switch before := words[max(j-1, 0)].means; {
		case before&l.fill != 0 || before&l.to != 0 && j >= 2 && words[j-2].means&l.must != 0:
			continue
		case before&l.join != 0:
			return !l.others(words, i)
		case before&l.must != 0:
			you := slices.ContainsFunc(words[max(0, j-4):j], func(w word) bool { return w.means&l.you != 0 })
			return you && !l.others(words, i)
		}
		break
	}
	closes := i+1 == len(words) || words[i+1].opens
	return closes && strings.HasSuffix(words[i].text, "en") && !l.others(words, i)
}

// others reports whether the clause of the word at i denies it, or has a subject that is not
// who reads.
func (l *lexicon) others(words []word, i int) bool {
	for ; i > 0 && !words[i].opens; i-- {
		if words[i-1].means&(l.we|l.not) != 0 {
			return true
		}
	}
	return false
}
