package route

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"stet/agent/spoken"
)

// A word is one word of a sentence, or a comma; what stands in quotation marks is one word.
type word struct {
	fold string
	name bool // written with a capital letter, and not because a sentence begins
}

const quotation = "“”" // stands for what somebody else says

// wordsOf cuts a sentence into words: contractions are written out.
func wordsOf(sentence string) []word {
	var out []word
	for i, raw := range strings.Fields(spoken.Unquoted(sentence, quotation)) {
		raw = strings.ReplaceAll(raw, "’", "'")
		core := strings.TrimFunc(raw, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSymbol(r) && r != '\''
		})
		core = strings.Trim(core, "'")
		if raw == quotation {
			core = quotation
		}
		if core != "" {
			first := []rune(core)[0]
			for k, part := range parts(strings.ToLower(core)) {
				out = append(out, word{part, i > 0 && k == 0 && unicode.IsUpper(first) && part != "i"})
			}
		}
		if strings.ContainsAny(raw[max(0, len(raw)-3):], ",;:") || core == "" && strings.ContainsAny(raw, "-–—") {
			out = append(out, word{fold: ","})
		}
	}
	return out
}

// parts are the words of which one is made: "i'm", "don't", "wife's", "j'ai".
func parts(w string) []string {
	switch w {
	case "dont", "don't":
		return []string{"do", "not"}
	case "cant", "can't", "cannot":
		return []string{"can", "not"}
	case "doesnt":
		return []string{"does", "not"}
	case "won't":
		return []string{"will", "not"}
	case "im":
		return []string{"i", "am"}
	case "ive":
		return []string{"i", "have"}
	}
	head, tail, cut := strings.Cut(w, "'")
	if !cut || head == "" || tail == "" {
		return []string{w}
	}
	switch {
	case tail == "m":
		return []string{head, "am"}
	case tail == "re":
		return []string{head, "are"}
	case tail == "ve":
		return []string{head, "have"}
	case tail == "ll":
		return []string{head, "will"}
	case tail == "d":
		return []string{head, "would"}
	case tail == "t" && strings.HasSuffix(head, "n") && head != "n":
		return []string{strings.TrimSuffix(head, "n"), "not"}
	case tail == "s" && head == "let":
		return []string{"let", "us"}
	case tail == "s" && slices.Contains([]string{"it", "that", "he", "she", "what", "there", "here", "who"}, head):
		return []string{head, "is"}
	case tail == "s":
		return []string{head, "'s"}
	case len(head) <= 2:
		return []string{head + "'", tail}
	}
	return []string{w}
}

// A pattern is a sequence of elements.
type pattern struct {
	begins bool // at the beginning of the sentence
	all    []element
}

// An element stands for some words.
type element struct {
	words    [][]string // any of them; "*" at an end of a word is any ending or beginning
	not      bool       // one word that is none of them
	name     bool       // a word with a capital
	number   bool
	any      bool
	gap      int // up to so many words
	optional bool
}

// anyGap is wider than a sentence.
const anyGap = 1 << 10

// has reports whether one of the patterns stands in a sentence.
func has(patterns []pattern, words []word) bool {
	return slices.ContainsFunc(patterns, func(p pattern) bool {
		for at := range words {
			if p.match(words, at) > 0 {
				return true
			}
			if p.begins {
				return false
			}
		}
		return false
	})
}

// match is where the pattern ends when it begins at a word, 0 where it does not.
func (p pattern) match(words []word, at int) int {
	if p.begins && at > 0 {
		return 0
	}
	return matching(p.all, words, at)
}

func matching(all []element, words []word, at int) int {
	if len(all) == 0 {
		return at
	}
	e, rest := all[0], all[1:]
	for n := 0; n <= e.gap && e.gap > 0 && at+n <= len(words); n++ {
		if end := matching(rest, words, at+n); end > 0 {
			return end
		}
	}
	if e.gap > 0 {
		return 0
	}
	for _, n := range e.take(words[at:]) {
		if end := matching(rest, words, at+n); end > 0 {
			return end
		}
	}
	if e.optional {
		return matching(rest, words, at)
	}
	return 0
}

// take lists how many words the element may stand for.
func (e element) take(words []word) (out []int) {
	if len(words) == 0 {
		return nil
	}
	w := words[0]
	if e.any && w.fold != "," || e.name && w.name || e.number && w.fold[0] >= '0' && w.fold[0] <= '9' {
		out = append(out, 1)
	}
	for _, alternative := range e.words {
		if like(alternative, words) {
			out = append(out, len(alternative))
		}
	}
	if e.not {
		if len(out) > 0 {
			return nil
		}
		return []int{1}
	}
	return out
}

func like(phrase []string, words []word) bool {
	if len(phrase) > len(words) {
		return false
	}
	for i, p := range phrase {
		w := words[i].fold
		tail, any := strings.CutPrefix(p, "*")
		head, open := strings.CutSuffix(p, "*")
		switch {
		case any && (!strings.HasSuffix(w, tail) || len(w) < len(tail)+2), open && !strings.HasPrefix(w, head),
			!any && !open && w != p:
			return false
		}
	}
	return true
}

// classOf is the element that a class of the lexicon stands for.
func classOf(list []string) element {
	var e element
	for _, w := range list {
		w, e.not = strings.CutPrefix(w, "!")
		e.words = append(e.words, phraseOf(w))
	}
	return e
}

// phraseOf are the words of a phrase as [wordsOf] cuts them.
func phraseOf(s string) (out []string) {
	for w := range strings.FieldsSeq(s) {
		out = append(out, parts(w)...)
	}
	return out
}

// patternsOf reads the patterns of a line; the lexicon has put a space for each "_".
func patternsOf(list []string, classes map[string]element) []pattern {
	var out []pattern
	for _, text := range list {
		text, begins := strings.CutPrefix(text, "^")
		p := pattern{begins: begins}
		for w := range strings.FieldsSeq(text) {
			p.all = append(p.all, elementOf(w, classes))
		}
		out = append(out, p)
	}
	return out
}

func elementOf(w string, classes map[string]element) element {
	w, optional := strings.CutSuffix(w, "?")
	e := element{optional: optional}
	for alternative := range strings.SplitSeq(w, "|") {
		class, known := classes[alternative]
		switch {
		case alternative == "..":
			e.gap = 4
		case alternative == "...":
			e.gap = anyGap
		case alternative == "<Name>":
			e.name = true
		case alternative == "<num>":
			e.number = true
		case alternative == "<word>":
			e.any = true
		case known:
			e.not, e.words = class.not, append(e.words, class.words...)
		case strings.HasPrefix(alternative, "<"):
			panic("lexicon: route: no class " + alternative)
		default:
			e.words = append(e.words, phraseOf(alternative))
		}
	}
	return e
}

// ruleOf reads the head of a line: kind, confidence and name.
func ruleOf(head string, patterns []pattern) rule {
	var r rule
	var name string
	if _, err := fmt.Sscanf(head, "%s %g %s", &r.Kind, &r.Confidence, &name); err != nil {
		panic(fmt.Sprintf("lexicon: route: %q: %v", head, err))
	}
	r.Rule, r.patterns = "route-"+name+"@1", patterns
	return r
}
