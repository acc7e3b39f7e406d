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
	Asked      bool    `json:"asked,omitempty"` // its author asks to remember it, in English
}

// Asked is the rule of what is worth keeping only because its author asks so: it may be about anything.
const Asked = "route-asked@1"

const (
	// longest bounds a sentence, in bytes, and wordy in words: what is longer tells a story.
	longest = 400
	wordy   = 45
	// doubt is what a word of doubt takes from the confidence, and asked what it adds that a sentence asks to be
	// remembered; noted is the confidence of one that does no more than ask so.
	doubt = 0.25
	asked = 0.05
	noted = 0.7
)

// Of says what one sentence of a person's is; false for a text that is nothing to keep, is no single sentence, or
// of which nothing can be told.
func Of(sentence string) (Route, bool) {
	sentence = strings.TrimSpace(sentence)
	said, asked := opened(sentence)
	if len(sentence) > longest || foreign(sentence) && !asked || len(spoken.Sentences(sentence)) != 1 {
		return Route{}, false
	}
	if said == "" { // it stands in the lines behind
		return Route{"fact", Asked, noted - doubt, true}, true
	}
	words := wordsOf(said)
	if len(words) < 2 || len(words) > wordy {
		return Route{}, false
	}
	var best Route
	for i, l := range languages() {
		if r, ok := l.of(words, asked && i == 0); ok && r.Confidence > best.Confidence {
			best = r
		}
	}
	return best, best.Kind != ""
}

// foreign reports a line with code or an address in it, and one that is [others].
func foreign(s string) bool {
	return others(s) || strings.ContainsAny(s, "`{}\\") || strings.Contains(s, "://") ||
		strings.Contains(s, "=>") || strings.Contains(s, "();")
}

// others reports a line of a quotation or of a table, and a question.
func others(s string) bool {
	return strings.HasSuffix(s, "?") || strings.ContainsAny(s[:min(1, len(s))], ">|#<{[¿") ||
		strings.Contains(s, "¿") || strings.Contains(s, "?!") || !utf8.ValidString(s)
}

// A language is what one section of the lexicon knows.
type language struct {
	lead, memo, asking, aside, verb, bound, start, moment      []pattern
	less, joke, lasting, vetoAny, vetoTask, vetoWish, vetoTurn []pattern

	rules []rule
}

// A rule is one line: what a sentence with one of its patterns is.
type rule struct {
	Route
	patterns []pattern
}

func (l *language) of(words []word, requested bool) (Route, bool) {
	memo, joke := requested || has(l.memo, words), has(l.joke, words)
	whole := words
	words = l.begin(words)
	task := has(l.vetoTask, words) && !has(l.lasting, words)
	if has(l.vetoAny, whole) || has(l.vetoAny, words) || task && !requested {
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
	switch {
	case best.Kind == "" && memo && !deictic && !task && l == languages()[0] && ofSelf(words):
		best = Route{"fact", "route-noted@1", noted, false}
	case best.Kind == "" && requested:
		best = Route{"fact", Asked, noted, true}
	case memo:
		best.Confidence = min(best.Confidence+asked, 0.97)
	}
	best.Asked = requested
	if deictic || task || joke || best.Kind != "instruction" && has(l.less, words) {
		best.Confidence -= doubt
	}
	best.Confidence = math.Round(best.Confidence*100) / 100
	return best, best.Kind != "" && best.Confidence > 0
}

// ofSelf reports a sentence about the speaker.
func ofSelf(words []word) bool { return slices.ContainsFunc(words, self) }

func self(w word) bool { return slices.Contains([]string{"i", "my", "we", "our", "me"}, w.fold) }

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
		"asking": &l.asking, "aside": &l.aside, "verb": &l.verb, "bound": &l.bound, "start": &l.start,
		"moment": &l.moment, "less": &l.less, "joke": &l.joke,
		"lasting": &l.lasting, "veto any": &l.vetoAny,
		"veto task": &l.vetoTask, "veto wish": &l.vetoWish, "veto turn": &l.vetoTurn} {
		if head == name {
			*list = append(*list, patterns...)
			return
		}
	}
	l.rules = append(l.rules, ruleOf(head, patterns))
}
