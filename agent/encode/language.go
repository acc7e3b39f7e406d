package encode

import (
	"math/bits"
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
	begun    map[string][]phrase // by what it begins with, where its ending may be any
	longest  int                 // bytes of a key of begun
	topics   map[string][]string
	months   map[string][]string
	numerals map[string][]string
	roles    map[string][]string // of words in claims
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
	l := &language{name: name, classes: make(map[string]class, 2048), cues: map[string][]phrase{}, begun: map[string][]phrase{}}
	mark := func(list, section string, c class) {
		lexicon.Each(list, []string{section}, func(w string) { l.classes[w] |= c })
	}
	mark("stop", name, stop)
	mark("single", name, single)
	mark("time", name, timely)
	mark("common", name, common)
	mark("verb", name, verb)
	mark("verb", name+" base", base)
	lexicon.Each("verb", []string{name + " base"}, func(w string) {
		for _, form := range forms(w) {
			l.classes[form] |= verb
		}
	})
	for _, e := range lexicon.Entries("class", name) {
		c := class(1) << slices.Index(classNames(), e.Head)
		if c&(self|userWord|third|det|be|aux|prep|and|deny) != 0 {
			c |= stop
		}
		for _, w := range e.Words {
			l.classes[w] |= c
		}
	}
	cues := map[string]cue{}
	for _, e := range lexicon.Entries("cue", name) {
		c := cue(1) << slices.Index(cueNames(), e.Head)
		for _, text := range e.Words {
			cues[text] |= c
		}
	}
	for text, c := range cues {
		p := phrase{words: []string{text}, cue: c}
		if strings.ContainsAny(text, " .") {
			p.words = strings.Fields(strings.ReplaceAll(text, "..", " .. "))
		}
		if strings.ContainsFunc(text, unspaced) {
			p.words = signs(text)
		}
		if head, any := strings.CutSuffix(p.words[0], "*"); any {
			l.begun[head] = append(l.begun[head], p)
			l.longest = max(l.longest, len(head))
		} else {
			l.cues[head] = append(l.cues[head], p)
		}
	}
	l.topics, l.roles = lexicon.Groups("topic", name), lexicon.Groups("prove", name)
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
	names, known := stopNames(), stopLanguages()
	seen := make([]int, len(names))
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
		for set := known[words[i].fold]; set != 0; set &= set - 1 {
			seen[bits.TrailingZeros32(set)]++
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
		most := seen[slices.Index(names, name)]
		for i, n := range seen {
			if n > most {
				name, most = names[i], n
			}
		}
	}
	return languages()[name]()
}

// stopNames are the languages of stop words.
var stopNames = sync.OnceValue(func() []string { return lexicon.Languages("stop") })

// stopLanguages maps a word to the set of the languages, by their place in stopNames,
// of which it is a stop word.
var stopLanguages = sync.OnceValue(func() map[string]uint32 {
	out := make(map[string]uint32, 4096)
	for i, l := range stopNames() {
		lexicon.Each("stop", []string{l}, func(w string) { out[w] |= 1 << i })
		for _, e := range lexicon.Entries("class", l) {
			for _, w := range e.Words {
				out[w] |= 1 << i
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
		try := func(phrases []phrase) {
			for _, p := range phrases {
				if end := p.match(words, i); end > 0 {
					out = append(out, found{p.cue, i, end})
				}
			}
		}
		try(l.cues[f])
		for k := 2; k <= min(len(f), l.longest); k++ {
			try(l.begun[f[:k]])
		}
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
