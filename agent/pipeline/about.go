package pipeline

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/agent/encode"
)

// A part is a clause with its sentence up to it, which may hold its subject.
type part struct{ said, within string }

func partsOf(text string) []part {
	var out []part
	from, end := 0, 0
	for i, c := range encode.Clauses(text) {
		if i == 0 || strings.ContainsAny(text[end:c.From], ".!?\n。！？") {
			from = c.From
		}
		out = append(out, part{text[c.From:c.To], text[from:c.To]})
		end = c.To
	}
	return out
}

// grounded reports whether the words of a note bear out that a clause of a stored memory
// is no longer true.
func grounded(n Note, s Stored, gone part) bool {
	outdated := sync.OnceValue(func() float64 {
		m, o := encode.Memory{Text: n.Text, Title: n.Title}, encode.Memory{Text: s.Text, Title: s.Title}
		return encode.Outdated(m, o, gone.said)
	})
	return slices.ContainsFunc(partsOf(n.Text), func(unit part) bool {
		words := wordsOf(unit.said)
		unsure := has(words, hedging()) && !has(words, lasting())
		if unsure || has(wordsOf(unit.within), reporting()) || denied(words) || strings.ContainsAny(unit.said, "?？") {
			return false
		}
		if n.Title == "" && s.Title == "" && replaces(unit.said, gone.said) {
			return true
		}
		if differs(n, s, unit.within, gone.within) || has(words, set([]string{"quit at", "resigned from", "resigned at"})) {
			return false
		}
		if !has(words, changing()) && !dated(words) {
			return restates(words, wordsOf(gone.said)) && outdated() >= restatedAt
		}
		o := wordsOf(gone.said)
		about := sameSubject(wordsOf(unit.within), o) && !lists(gone.said)
		return encode.SameKind(unit.said, gone.said) || outdated() >= shownAt && (covers(n, s, unit.within, gone.said) ||
			about && (encode.Keyed(unit.said, gone.said) || leaves(words, o) || goesOn(words, o)) || ended(words, o)) ||
			outdated() >= likelyAt && replaceable(unit.said, gone.said)
	})
}

// The probabilities by the scorer from which on a removal is borne out: by the same statement with
// another value, by a form of words that shows a change, and by any words of change.
const (
	restatedAt = 0.04
	shownAt    = 0.24
	likelyAt   = 0.5
)

// replaceable reports whether nothing in the words of a note that tells of a change speaks
// against it that a clause is untrue now: that says one thing without a limit, both name
// something, and the note has a number for each number that it does not repeat, a value for each
// value, or a word of ending.
func replaceable(unit, gone string) bool {
	here, there := wordsOf(unit), wordsOf(gone)
	if x, _ := common(telling(unit), telling(gone)); x < 0 || has(there, turning()) || lists(gone) || speaks(gone) != speaks(unit) {
		return false
	}
	other := func(v word) bool { return number(v) && !holds(there, v.stem) }
	lost, gained, kept := 0, 0, 0
	for _, w := range content(there) {
		switch {
		case !w.value:
		case holds(here, w.stem):
			kept++
		case number(w) && !slices.ContainsFunc(here, other):
			return false
		default:
			lost++
		}
	}
	for _, w := range content(here) {
		if w.value && !holds(there, w.stem) {
			gained++
		}
	}
	return lost <= gained && (lost > 0 || kept == 0) || has(here, ending())
}

// lasting are phrases that hold a hedging one and say from when on something is so.
func lasting() map[string]bool {
	return set([]string{"since this week", "since this month", "since today", "from today", "from tomorrow",
		"seit heute", "ab heute", "ab morgen"})
}

// ending are words by which something that is named is over.
func ending() map[string]bool {
	return set([]string{"no longer", "instead of", "from", "off", "sold", "left", "quit", "closed", "retired", "replaced", "dropped", "stopped",
		"cancelled", "canceled", "ended", "fixed", "resolved", "renamed", "finished"})
}

// leaves: "we moved off X", "switched from X", where the other statement has X for something.
func leaves(n, o []word) bool {
	named := content(o)
	for i, w := range n[:max(len(n)-1, 0)] {
		if (w.fold == "off" || w.fold == "from") && n[i+1].value && len(named) > 0 && holds(named[1:], n[i+1].stem) {
			return true
		}
	}
	return false
}

// goesOn reports whether the same subject has another state, or does the same with something
// else: "X is B now" after "X is A", "I take B now" after "I take A". What is liked, had or
// used can be so beside the other.
func goesOn(n, o []word) bool {
	j, k := slices.IndexFunc(n, is), slices.IndexFunc(o, is)
	if (j < 0) != (k < 0) {
		return false
	}
	if !self(n[0]) && j < 0 {
		return false
	}
	if j >= 0 {
		return sameWords(content(n[:j]), content(o[:k])) && slices.ContainsFunc(n[j:], number) == slices.ContainsFunc(o[k:], number)
	}
	does := func(words []word) []word {
		return slices.DeleteFunc(content(words), func(w word) bool { return changing()[w.fold] || self(w) })
	}
	a, b := does(n), does(o)
	beside := []string{"like", "love", "have", "own", "speak", "know", "use", "us", "need", "want", "plai", "visit", "read", "eat", "work"}
	return len(a) > 1 && len(b) > 1 && a[0].stem == b[0].stem && !slices.Contains(beside, a[0].stem)
}

// ended: "X died", "X closed", where the other statement has X for something.
func ended(n, o []word) bool {
	if !has(n, set([]string{"died", "retired", "closed", "shut down", "is gone", "gestorben", "geschlossen"})) || has(o, set([]string{"was", "were", "born", "had"})) {
		return false
	}
	named, about := content(o), slices.DeleteFunc(content(n), func(w word) bool { return changing()[w.fold] || timed()[w.fold] || w.fold == "good" })
	return len(named) > 0 && len(about) > 0 && about[0].stem != named[0].stem &&
		!slices.ContainsFunc(about, func(w word) bool { return !w.value && w.fold != about[0].fold || !holds(named, w.stem) })
}

// sameSubject reports whether a statement is about what another one is about: the writer, or
// what stands in front of its "is", else the first thing that it names.
func sameSubject(n, o []word) bool {
	if len(n) == 0 || len(o) == 0 || self(o[0]) {
		return len(n) > 0 && len(o) > 0 && self(n[0])
	}
	about := content(o)
	if k := slices.IndexFunc(o, is); k > 0 {
		about = content(o[:k])
	} else if len(about) > 1 {
		about = about[:1]
	}
	return len(about) > 0 && possessive(n[0]) == possessive(o[0]) &&
		!slices.ContainsFunc(about, func(w word) bool { return !holds(n, w.stem) })
}

// reporting are the words by which a note tells what somebody else says.
func reporting() map[string]bool {
	return set([]string{"said", "says", "claims", "claimed", "thinks", "believes", "sagt", "sagte", "meint", "dit", "dice", "dijo"})
}

// covers reports whether what a note says changed is what a statement says: the note names
// more than half of what that is about, and has a value for each one that it does not name.
func covers(n Note, s Stored, unit, gone string) bool {
	here, there := wordsOf(unit+". "+n.Title), wordsOf(gone+". "+s.Title)
	shared, missing, values := 0, 0, 0
	for _, w := range content(wordsOf(gone)) {
		switch {
		case everyday(w.stem) || timed()[w.fold] || number(w) && holds(here, w.stem):
		case holds(here, w.stem):
			shared++
		case w.value:
			values++
		case !changing()[w.fold] && !slices.Contains([]string{"planned", "scheduled", "weekday", "geplant", "prévu"}, w.fold):
			missing++
		}
	}
	for _, w := range telling(unit) {
		if w.value && !holds(there, w.stem) {
			values--
		}
	}
	return shared > missing && values <= 0
}

// telling are the words of a text that say what it is about.
func telling(text string) []word {
	return slices.DeleteFunc(content(wordsOf(text)), func(w word) bool {
		return turning()[w.fold] || changing()[w.fold] || timed()[w.fold] || everyday(w.stem)
	})
}

// Stems are the different stems of the words of a text that say what it is about.
func Stems(text string) []string {
	var out []string
	for _, w := range telling(text) {
		if !slices.Contains(out, w.stem) {
			out = append(out, w.stem)
		}
	}
	return out
}

func everyday(stem string) bool {
	return slices.Contains([]string{"use", "us", "run", "get", "make", "go", "come", "take", "keep", "day", "week", "month", "year", "time", "new", "old",
		"thing", "last", "next", "got", "live", "everi", "longer"}, stem)
}

// restates reports whether a statement is another one with other values, each in the place
// of one: all its other words stand there, and the new one has none beside them.
func restates(n, o []word) bool {
	plain := func(words []word) []word {
		return slices.DeleteFunc(content(words), func(w word) bool { return changing()[w.fold] })
	}
	a, b := plain(n), plain(o)
	kept, changed := 0, 0
	for {
		x, y := common(a, b)
		left, right := a, b
		if x >= 0 {
			left, right = a[:x], b[:y]
		}
		if slices.ContainsFunc(slices.Concat(left, right), func(w word) bool { return !w.value }) || len(left) < len(right) || len(right) == 0 && len(left) > 0 {
			return false
		}
		changed += len(right)
		if x < 0 {
			return changed > 0 && kept > 0
		}
		kept++
		a, b = a[x+1:], b[y+1:]
	}
}

// differs reports whether two statements are about different things: before the first
// word that both name, or in their titles, each has a word that the other memory nowhere
// has, or later a name or a word behind a preposition.
func differs(n Note, s Stored, unit, gone string) bool {
	inN, inS := wordsOf(n.Text+". "+n.Title), wordsOf(s.Text+". "+s.Title)
	a, b := telling(unit), telling(gone)
	own := func(words, there []word, values bool) bool {
		return slices.ContainsFunc(words, func(w word) bool { return !holds(there, w.stem) && (values || !number(w)) })
	}
	if own(telling(n.Title), inS, true) && own(telling(s.Title), inN, true) {
		return true
	}
	if x, y := numbered(unit), numbered(gone); x != "" && y != "" && x != y {
		return true
	}
	i, j := 0, 0
	for {
		x, y := common(a[i:], b[j:])
		if x < 0 {
			x, y := subject(unit), subject(gone)
			return i == 0 && x != "" && y != "" && !holds(inS, x) && !holds(inN, y)
		}
		left, right := a[i:i+x], b[j:j+y]
		if i == 0 && !(ofWriter(unit) && ofWriter(gone)) {
			left, right = slices.Concat(left, telling(n.Title)), slices.Concat(right, telling(s.Title))
			if own(left, inS, true) && (own(right, inN, true) || speaks(gone) && !speaks(unit)) {
				return true
			}
		} else if own(bound(left), inS, false) && own(bound(right), inN, false) {
			return true
		}
		i, j = i+x+1, j+y+1
	}
}

// ofWriter reports whether a statement begins with its writer.
func ofWriter(text string) bool {
	words := wordsOf(text)
	return len(words) > 0 && self(words[0])
}

func bound(words []word) []word {
	return slices.DeleteFunc(slices.Clone(words), func(w word) bool { return !w.bound && !w.value })
}

// speaks reports whether a statement is about whoever makes it.
func speaks(text string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w word) bool {
		return self(w) && !strings.HasPrefix(w.fold, "we") && w.fold != "wir" && w.fold != "nous"
	})
}

// subject is the stem of the word that a statement begins with, "" where that is a pronoun.
func subject(text string) string {
	for _, w := range wordsOf(text) {
		if !w.stop {
			return w.stem
		}
		if slices.Contains([]string{"i", "we", "he", "she", "it", "they", "you", "ich", "wir", "er", "sie", "es", "je", "nous", "il", "elle", "yo", "io"}, w.fold) {
			return ""
		}
	}
	return ""
}

// numbered is the thing with a number that a statement begins with, as "bug 4711", ""
// for none.
func numbered(text string) string {
	words := wordsOf(text)
	if len(words) > 0 && words[0].stop {
		words = words[1:]
	}
	if len(words) < 2 || !number(words[1]) || words[0].stop {
		return ""
	}
	return words[0].stem + " " + words[1].fold
}

// common is where the next word stands that two lists have, (-1, -1) for none.
func common(a, b []word) (int, int) {
	for i, w := range a {
		if j := slices.IndexFunc(b, func(o word) bool { return o.stem == w.stem }); j >= 0 {
			return i, j
		}
	}
	return -1, -1
}

func number(w word) bool { return strings.ContainsFunc(w.fold, unicode.IsDigit) }
