package encode

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/templates/lexicon"
)

// A class is what a word is in a sentence, a set of the classes of class.txt.
type class uint32

const (
	self class = 1 << iota // I, we, my
	userWord
	third // he, it, this
	det
	be
	aux
	prep
	and
	deny
	kin
	day
	away
	over
	lead
	turn   // makes another statement of one: "only", "every", "will"
	bind   // places one thing to another: "from", "behind"
	join   // puts one beside another: "and"
	fill   // says nothing: "which", "there", "does"
	past   // makes a clause say how things were
	verb   // a finite verb
	base   // the base form of an English verb, which may be a noun as well
	single // names an attribute with one value at a time
	common // a word of texts of every subject
	timely // says when: "summer", "yesterday"
	stop
)

func classNames() []string {
	return []string{"self", "user", "third", "det", "be", "aux", "prep", "and", "deny", "kin", "day", "away", "over", "lead", "turn", "bind", "join", "fill", "past"}
}

// A cue is what a phrase says about what was said before, a set of those of cue.txt.
type cue uint32

const (
	cueNow cue = 1 << iota
	cueGone
	cueInstead
	cueChange
	cueEnded
	cueWrong
	cueBegan
	cueBack
	cueAsk
	cueMaybe
	cuePlan
	cuePast
	cueOnce
	cueAlso
	cueExcept
	cueSaid
	cueStill
)

func cueNames() []string {
	return []string{"now", "gone", "instead", "change", "ended", "wrong", "began", "back", "ask", "maybe", "plan", "past", "once", "also", "except", "said", "still"}
}

// strongCues say that something is otherwise now.
const strongCues = cueGone | cueInstead | cueChange | cueEnded | cueWrong

// A language is how the words of a text are read.
type language struct {
	name     string
	classes  map[string]class
	cues     map[string][]phrase // by their first word
	topics   map[string][]string
	months   map[string][]string
	numerals map[string][]string
}

// A phrase is the words of a cue; ".." stands for up to four words, "*" at the end of a
// word for any ending.
type phrase struct {
	words []string
	cue   cue
}

// languages reads the word lists of a language when the first text in it is read.
var languages = sync.OnceValue(func() map[string]func() *language {
	out := map[string]func() *language{}
	for _, name := range slices.Concat(lexicon.Languages("cue"), lexicon.Languages("stop")) {
		out[name] = sync.OnceValue(func() *language { return newLanguage(name) })
	}
	return out
})

func newLanguage(name string) *language {
	l := &language{name: name, classes: map[string]class{}, cues: map[string][]phrase{}}
	mark := func(words map[string]bool, c class) {
		for w := range words {
			l.classes[w] |= c
		}
	}
	mark(lexicon.Words("stop", name), stop)
	mark(lexicon.Words("single", name), single)
	mark(lexicon.Words("time", name), timely)
	for w := range lexicon.Words("common", name) {
		l.classes[w] |= common
	}
	mark(lexicon.Words("verb", name), verb)
	for w := range lexicon.Words("verb", name+" base") {
		l.classes[w] |= base
		for _, form := range forms(w) {
			l.classes[form] |= verb
		}
	}
	for w, heads := range lexicon.Groups("class", name) {
		for _, h := range heads {
			c := class(1) << slices.Index(classNames(), h)
			if c&(self|userWord|third|det|be|aux|prep|and|deny) != 0 {
				c |= stop
			}
			l.classes[w] |= c
		}
	}
	for text, heads := range lexicon.Groups("cue", name) {
		p := phrase{words: strings.Fields(strings.ReplaceAll(text, "..", " .. "))}
		if strings.ContainsFunc(text, unspaced) {
			p.words = signs(text)
		}
		for _, h := range heads {
			p.cue |= cue(1) << slices.Index(cueNames(), h)
		}
		l.cues[p.words[0]] = append(l.cues[p.words[0]], p)
	}
	l.topics = lexicon.Groups("topic", name)
	l.months, l.numerals = lexicon.Groups("month", name), lexicon.Groups("numeral", name)
	return l
}

// forms are the regular forms of an English verb.
func forms(w string) []string {
	stem, last := w, w[len(w)-1]
	switch {
	case last == 'e':
		return []string{w + "s", w + "d"}
	case last == 'y' && !strings.ContainsRune("aeiou", rune(w[len(w)-2])):
		return []string{w[:len(w)-1] + "ies", w[:len(w)-1] + "ied"}
	case strings.ContainsRune("sxzho", rune(last)):
		return []string{w + "es", w + "s", w + "ed"}
	}
	out := []string{stem + "s", stem + "ed"}
	if len(w) < 7 && strings.ContainsRune("pbtdgnml", rune(last)) {
		out = append(out, stem+string(last)+"ed")
	}
	return out
}

// languageOf is the language of a text: the one that most of its words are stop words
// of, by its script where that tells, else English.
func languageOf(words []word) *language {
	var kana, han, cyrillic int
	seen := map[string]int{}
	for i := range words {
		for _, r := range words[i].fold {
			switch {
			case r < 0x400:
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				kana++
			case unicode.Is(unicode.Han, r):
				han++
			case unicode.Is(unicode.Cyrillic, r):
				cyrillic++
			}
		}
		for _, name := range stopLanguages()[words[i].fold] {
			seen[name]++
		}
	}
	name := "en"
	switch {
	case kana > 0 && kana+han > len(words)/3:
		name = "ja"
	case han > len(words)/3:
		name = "zh"
	case cyrillic > len(words):
		name = "ru"
	default:
		for _, l := range lexicon.Languages("stop") {
			if seen[l] > seen[name] {
				name = l
			}
		}
	}
	return languages()[name]()
}

// stopLanguages maps a word to the languages of which it is a stop word.
var stopLanguages = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, l := range lexicon.Languages("stop") {
		for w := range lexicon.Words("stop", l) {
			out[w] = append(out[w], l)
		}
	}
	for _, l := range lexicon.Languages("class") {
		for w := range lexicon.Groups("class", l) {
			if !slices.Contains(out[w], l) {
				out[w] = append(out[w], l)
			}
		}
	}
	return out
})

// A found is a cue in a text: the words from up to to.
type found struct {
	cue      cue
	from, to int
}

// cuesIn finds the cues of a text.
func (l *language) cuesIn(words []word) []found {
	var out []found
	for i := range words {
		f := words[i].fold
		try := func(head string) {
			for _, p := range l.cues[head] {
				if end := p.match(words, i); end > 0 {
					out = append(out, found{p.cue, i, end})
				}
			}
		}
		try(f)
		for k := range f {
			if k >= 2 {
				try(f[:k] + "*")
			}
		}
		try(f + "*")
	}
	return out
}

// maxGap is how many words ".." stands for.
const maxGap = 4

// match says where the phrase ends that begins at word i, 0 for nowhere.
func (p phrase) match(words []word, i int) int {
	return matchAt(p.words, words, i)
}

func matchAt(pattern []string, words []word, i int) int {
	if len(pattern) == 0 {
		return i
	}
	if pattern[0] == ".." {
		for skip := range maxGap + 1 {
			if end := matchAt(pattern[1:], words, i+skip); end > 0 {
				return end
			}
		}
		return 0
	}
	if i >= len(words) || i > 0 && words[i].starts && pattern[0] != words[i].fold {
		return 0
	}
	want, any := strings.CutSuffix(pattern[0], "*")
	if f := words[i].fold; f != want && !(any && strings.HasPrefix(f, want)) {
		return 0
	}
	return matchAt(pattern[1:], words, i+1)
}
