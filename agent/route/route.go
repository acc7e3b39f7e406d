// Package route says of what a person says to an assistant which sentences are worth keeping about that person:
// a preference, an instruction, a routine or a fact. It knows no model: cues, and many more reasons not to keep a
// sentence, for what is kept wrongly stands before every later conversation. Its words are in the lexicon "route".
//
//	if r, ok := route.Of("I hate when you start every reply with 'Got it'"); ok && r.Confidence >= route.Sure {
//		… r.Kind is "instruction"
//	}
package route

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/agent/spoken"
	"stet/templates/lexicon"
)

// Sure is the confidence from which on a sentence is written without being asked about, and Likely that from
// which on it is worth asking.
const (
	Sure   = 0.85
	Likely = 0.60
)

// A Route says what a sentence is.
type Route struct {
	Kind       string  `json:"kind"` // preference, instruction, routine or fact
	Rule       string  `json:"rule"` // "route-birthday@1"
	Confidence float64 `json:"confidence"`
}

const (
	// longest bounds a sentence, in bytes, and wordy in words: what is longer tells a story.
	longest = 400
	wordy   = 45
	// doubt is what a word of doubt takes from the confidence, and asked what it adds that a sentence asks to be
	// remembered; noted is the confidence of one that does no more than ask so.
	doubt = 0.25
	asked = 0.05
	noted = 0.7
	// mostAsking bounds the words that ask to keep a sentence.
	mostAsking = 6
)

// Of says what one sentence of a person's is; false for a text that is nothing to keep, is no single sentence, or
// of which nothing can be told.
func Of(sentence string) (Route, bool) {
	sentence = strings.TrimSpace(sentence)
	if len(sentence) > longest || foreign(sentence) || len(spoken.Sentences(sentence)) != 1 {
		return Route{}, false
	}
	words := wordsOf(sentence)
	if len(words) < 2 || len(words) > wordy {
		return Route{}, false
	}
	var best Route
	for _, l := range languages() {
		if r, ok := l.of(words); ok && r.Confidence > best.Confidence {
			best = r
		}
	}
	return best, best.Kind != ""
}

// foreign reports a line of code, of a quotation or of a table, a question, and one with an address in it.
func foreign(s string) bool {
	return strings.HasSuffix(s, "?") || strings.ContainsAny(s[:min(1, len(s))], ">|#<{[¿") ||
		strings.ContainsAny(s, "`{}\\¿") || strings.Contains(s, "://") || strings.Contains(s, "?!") ||
		strings.Contains(s, "=>") || strings.Contains(s, "();") || !utf8.ValidString(s)
}

// A language is what one section of the lexicon knows.
type language struct {
	lead, memo, asking, less, joke, lasting, vetoAny, vetoTask, vetoWish, vetoTurn []pattern
	rules                                                                          []rule
}

// A rule is one line: what a sentence with one of its patterns is.
type rule struct {
	Route
	patterns []pattern
}

func (l *language) of(words []word) (Route, bool) {
	memo, joke := has(l.memo, words), has(l.joke, words)
	words = l.begin(words)
	if has(l.vetoAny, words) || has(l.vetoTask, words) && !has(l.lasting, words) {
		return Route{}, false
	}
	deictic, best := has(l.vetoWish, words), Route{}
	for _, r := range l.rules {
		if deictic && r.Kind != "fact" || joke && r.Kind == "instruction" || r.Confidence <= best.Confidence {
			continue
		}
		if has(r.patterns, words) {
			best = r.Route
		}
	}
	if best.Kind == "" && memo && !deictic && l == languages()[0] && ofSelf(words) {
		best = Route{"fact", "route-noted@1", noted}
	} else if memo {
		best.Confidence = min(best.Confidence+asked, 0.97)
	}
	if deictic || joke || best.Kind != "instruction" && has(l.less, words) {
		best.Confidence -= doubt
	}
	best.Confidence = math.Round(best.Confidence*100) / 100
	return best, best.Kind != "" && best.Confidence > 0
}

// ofSelf reports a sentence about the speaker.
func ofSelf(words []word) bool { return slices.ContainsFunc(words, self) }

func self(w word) bool { return slices.Contains([]string{"i", "my", "we", "our", "me"}, w.fold) }

// Bare is a sentence about the speaker without the English words before it that ask to keep it: of "Remember that our
// cluster is called heron." it is "Our cluster is called heron."
func Bare(sentence string) string {
	lead, rest := "", strings.TrimSpace(sentence)
	for range mostAsking {
		next, behind, _ := strings.Cut(rest, " ")
		lead, rest = lead+" "+next, strings.TrimSpace(behind)
		first := wordsOf(rest)
		asks := slices.ContainsFunc(languages()[0].asking, func(p pattern) bool {
			words := slices.DeleteFunc(wordsOf(lead), func(w word) bool { return w.fold == "," })
			return p.match(words, 0) == len(words)
		})
		if asks && len(first) > 0 && self(first[0]) {
			r, n := utf8.DecodeRuneInString(rest)
			return string(unicode.ToUpper(r)) + rest[n:]
		}
	}
	return sentence
}

// begin leaves out what only leads to what is said: "btw, …", "please remember that …".
func (l *language) begin(words []word) []word {
	for again := true; again; {
		again = false
		for _, p := range l.lead {
			if n := p.match(words, 0); n > 0 && n < len(words) {
				words, again = words[n:], true
			}
		}
		for len(words) > 0 && words[0].fold == "," {
			words, again = words[1:], true
		}
	}
	return words
}

// languages are those of the lexicon; what "any" vetoes every one does. English is the first.
var languages = sync.OnceValue(func() []*language {
	var out []*language
	var every language
	for _, name := range lexicon.Languages("route") {
		l := &language{}
		classes := map[string]element{}
		for _, e := range lexicon.Entries("route", name) {
			if strings.HasPrefix(e.Head, "<") {
				classes[e.Head] = classOf(e.Words)
			}
		}
		for _, e := range lexicon.Entries("route", name) {
			if !strings.HasPrefix(e.Head, "<") {
				l.add(e.Head, patternsOf(e.Words, classes))
			}
		}
		if name == "any" {
			every = *l
			continue
		}
		l.vetoAny, l.joke = append(l.vetoAny, every.vetoAny...), every.joke
		out = append(out, l)
	}
	return out
})

// add adds a line of the lexicon.
func (l *language) add(head string, patterns []pattern) {
	for name, list := range map[string]*[]pattern{"lead": &l.lead, "memo": &l.memo,
		"asking": &l.asking, "less": &l.less, "joke": &l.joke,
		"lasting": &l.lasting, "veto any": &l.vetoAny,
		"veto task": &l.vetoTask, "veto wish": &l.vetoWish, "veto turn": &l.vetoTurn} {
		if head == name {
			*list = append(*list, patterns...)
			return
		}
	}
	l.rules = append(l.rules, ruleOf(head, patterns))
}
