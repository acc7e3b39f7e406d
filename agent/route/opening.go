package route

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	mostOpening  = 7 // words of an opening
	mostOpenings = 7 // one after the other
	// openingBytes bounds an opening, and as much of the clause behind it as is looked at.
	openingBytes = 1 << 10
)

// Bare is a sentence without the English words before it that ask to keep it or only lead to it: of "By the way,
// remember that our cluster is called heron." it is "Our cluster is called heron."
func Bare(sentence string) string {
	rest, _ := opened(sentence)
	if rest == "" || rest == strings.TrimSpace(sentence) {
		return sentence
	}
	if first := wordsOf(rest); len(first) > 0 && begins(first[0]) {
		r, n := utf8.DecodeRuneInString(rest)
		return string(unicode.ToUpper(r)) + rest[n:]
	}
	return rest
}

// Unasked is a text of one line without the English words at its beginning by which its author asks to remember it, and
// nothing else changed.
func Unasked(text string) string {
	if strings.Contains(strings.TrimSpace(text), "\n") {
		return text
	}
	if rest, ok := without(text, languages()[0].asking[:1]); ok && rest != "" {
		return rest
	}
	return text
}

// opened is a sentence without its openings, and whether one of them asks to remember it; "" where what it asks for
// stands in the lines behind.
func opened(sentence string) (rest string, asked bool) {
	english := languages()[0]
	rest = strings.TrimSpace(sentence)
	for range mostOpenings {
		next, asks := without(rest, english.asking)
		led := false
		if !asks {
			next, led = without(rest, english.aside)
		}
		if !asks && !led || led && next == "" {
			break
		}
		rest, asked = next, asked || asks
	}
	return rest, asked
}

// without is a sentence without the longest opening before a clause.
func without(sentence string, openings []pattern) (rest string, ok bool) {
	lead, behind := "", strings.TrimSpace(sentence)
	if r, _ := utf8.DecodeRuneInString(behind); !unicode.IsLetter(r) || others(behind) {
		return "", false
	}
	for range mostOpening {
		next, after, _ := strings.Cut(behind, " ")
		lead, behind = lead+" "+next, strings.TrimSpace(after)
		if len(lead) > openingBytes {
			break
		}
		words := wordsOf(lead)
		closed := len(words) > 0 && words[len(words)-1].fold == ","
		if closed {
			words = words[:len(words)-1]
		}
		opens := slices.ContainsFunc(openings, func(p pattern) bool { return p.match(words, 0) == len(words) })
		colon := strings.HasSuffix(next, ":")
		if len(words) > 0 && opens && (behind == "" && colon || behind != "" && (closed || clause(words, behind))) {
			rest, ok = behind, true
		}
	}
	return rest, ok
}

// clause reports whether a text behind an opening, which no mark parts from it, says something by itself: "that" before
// it is no part of it.
func clause(opening []word, text string) bool {
	words := wordsOf("… " + text[:min(len(text), openingBytes)])
	if len(words) < 2 {
		return false
	}
	english, says := languages()[0], false
	for i := 1; i < len(words) && !says && !has(english.bound, words[i:i+1]); i++ {
		says = has(english.verb, words[i:i+1])
	}
	switch first := words[0].fold; {
	case first == "i", first == "we":
		return true
	case opening[len(opening)-1].fold != "that":
		return says && begins(words[0]) && !words[1].name // what begins with a name may be one: "Remember the Milk"
	default:
		return says || begins(words[0])
	}
}

// begins reports a word with which a clause begins, and none that "that" points at.
func begins(w word) bool {
	return self(w) || has(languages()[0].start, []word{w})
}
