package pipeline

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/agent/encode"
	"stet/templates/lexicon"
)

// A word is one word of a text as the guards compare it.
type word struct {
	fold, stem string
	value      bool // it stands for one thing: a number, a name, an address
	bound      bool // it follows a preposition: "of alpha"
	stop       bool // it says nothing of its own
}

// stops are the words that say nothing of their own, by language, English first.
var stops = sync.OnceValue(func() []map[string]bool {
	var out []map[string]bool
	for _, l := range lexicon.Languages("stop") {
		out = append(out, lexicon.Words("stop", l))
	}
	return out
})

// language is that of a text by its stop words: "son" says something in English.
func language(words []word) map[string]bool {
	best, most := 0, 0
	for l, list := range stops() {
		n := 0
		for _, w := range words {
			if list[w.fold] {
				n++
			}
		}
		if n > most {
			best, most = l, n
		}
	}
	return stops()[best]
}

var turning = sync.OnceValue(func() map[string]bool { return lexicon.Words("turn") })

var changing = sync.OnceValue(func() map[string]bool { return lexicon.Words("change") })

var hedging = sync.OnceValue(func() map[string]bool { return lexicon.Words("hedge") })

var timed = sync.OnceValue(func() map[string]bool { return lexicon.Words("time") })

func wordsOf(text string) []word {
	var out []word
	first := true
	for raw := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("()[]{}\"“”„«»`*<>|", r)
	}) {
		w := strings.Trim(raw, ".,;:!?'’_~#=…-")
		if w == "" {
			continue
		}
		fold := strings.ReplaceAll(strings.ToLower(w), "’", "'")
		fold = strings.TrimSuffix(fold, "'s")
		inner := strings.IndexFunc(w, unicode.IsUpper)
		value := strings.ContainsFunc(w, unicode.IsDigit) || strings.ContainsAny(w, "/@_.:\\") || inner > 0 || inner == 0 && !first
		bound := len(out) > 0 && slices.Contains(prepositions(), out[len(out)-1].fold)
		out = append(out, word{fold, encode.Stem(fold), value, bound, false})
		first = strings.ContainsAny(raw[len(raw)-1:], ".!?:")
	}
	list := language(out)
	for i := range out {
		out[i].stop = list[out[i].fold]
	}
	return out
}

func prepositions() []string {
	return []string{"of", "for", "in", "on", "at", "with", "by", "von", "für", "auf", "bei", "am", "im", "de", "du", "des", "pour", "del", "di", "per"}
}

// content are the words that say something of their own, and those that turn a meaning.
func content(words []word) []word {
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return w.stop && !turning()[w.fold] })
}

// has reports whether words or phrases of a list stand in a text.
func has(words []word, list map[string]bool) bool {
	folds := make([]string, len(words))
	for i, w := range words {
		folds[i] = w.fold
	}
	for i := range folds {
		for n := 1; n <= 4 && i+n <= len(folds); n++ {
			if list[strings.Join(folds[i:i+n], " ")] {
				return true
			}
		}
	}
	return false
}

// dated reports whether words say from when on something is so: "since January".
func dated(words []word) bool {
	for i, w := range words[:max(len(words)-1, 0)] {
		if !slices.Contains([]string{"since", "from", "of", "ab", "seit", "depuis", "dès", "desde", "da"}, w.fold) || w.fold == "of" && (i == 0 || words[i-1].fold != "as") {
			continue
		}
		if slices.ContainsFunc(words[i+1:min(i+3, len(words))], func(w word) bool { return timed()[w.fold] || number(w) }) {
			return true
		}
	}
	return false
}

func holds(words []word, stem string) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.stem == stem })
}

func sameWords(a, b []word) bool {
	return slices.EqualFunc(a, b, func(x, y word) bool { return x.stem == y.stem })
}
