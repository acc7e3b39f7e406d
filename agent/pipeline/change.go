package pipeline

import (
	"slices"
	"strings"
	"unicode"

	"stet/templates/lexicon"
)

// replaces reports whether a clause of a note, in one of a few plain forms, says that a
// statement of the same writer ended or has another value: "I no longer take X", "I quit
// at X", "I sold X", "my new X is Y", "we moved to ADDRESS", "X is live since Monday".
func replaces(unit, gone string) bool {
	n, o := wordsOf(unit), wordsOf(gone)
	if lists(gone) {
		return false
	}
	if !negated(n) && (renewed(n, o) || relocated(n, o) || supported(n, o)) {
		return true
	}
	object := slices.DeleteFunc(content(n), func(w word) bool {
		return turning()[w.fold] || changing()[w.fold] || timed()[w.fold] || self(w) || w.stem == "longer"
	})
	ends := func(cues ...string) bool {
		return has(n, set(cues)) && (len(n) > 0 && self(n[0]) || slices.Contains(cues, n[0].fold))
	}
	if len(object) == 0 || len(o) == 0 || !self(o[0]) || negated(o) ||
		slices.ContainsFunc(object, func(w word) bool { return !holds(o, w.stem) }) {
		return false
	}
	named := !slices.ContainsFunc(object, func(w word) bool { return !w.value })
	switch {
	case ends("no longer", "nicht mehr", "ya no"):
		return len(object) > 1 && !strings.Contains(gone, ",")
	case negated(n) || !named:
		return false
	case ends("quit", "resigned", "gekündigt", "dejé"):
		roles := lexicon.Groups("prove")
		return slices.ContainsFunc(o, func(w word) bool { return slices.Contains(roles[w.fold], "work") })
	case ends("sold", "verkauft", "vendu", "vendimos", "vendí"):
		return slices.ContainsFunc(o, func(w word) bool {
			return slices.Contains([]string{"drive", "own", "have", "fahre", "fahren", "besitze", "habe", "tengo", "tenemos"}, w.fold)
		})
	}
	return false
}

// renewed: "my new GP is B" after "my GP is A".
func renewed(n, o []word) bool {
	k := slices.IndexFunc(n, func(w word) bool { return is(w) })
	j := slices.IndexFunc(o, func(w word) bool { return is(w) })
	if k < 3 || j < 2 || !possessive(n[0]) || !possessive(o[0]) || n[0].stem != o[0].stem {
		return false
	}
	fresh := set([]string{"new", "neue", "neuer", "neues", "nouveau", "nouvelle", "nuevo", "nueva"})
	return fresh[n[1].fold] && sameWords(n[2:k], o[1:j])
}

// relocated: "we moved to B" after "our address is A", both of the same shape.
func relocated(n, o []word) bool {
	address := set([]string{"address", "adresse", "anschrift", "dirección"})
	if len(o) < 6 || !possessive(o[0]) || !address[o[1].fold] || !is(o[2]) || len(n) == 0 || !self(n[0]) {
		return false
	}
	k := slices.IndexFunc(n, func(w word) bool { return slices.Contains([]string{"moved", "relocated"}, w.fold) })
	if k < 0 || k+2+len(o)-3 > len(n) || n[k+1].fold != "to" {
		return false
	}
	return slices.EqualFunc(n[k+2:k+2+len(o)-3], o[3:], func(a, b word) bool {
		return a.value && b.value && number(a) == number(b)
	})
}

// supported: "the X gateway is live since Monday" after "we do not support X".
func supported(n, o []word) bool {
	if !has(n, set([]string{"is live", "went live"})) || !dated(n) || !has(o, set([]string{"not support", "don't support"})) ||
		len(o) == 0 || !self(o[0]) {
		return false
	}
	skip := set([]string{"live", "support", "not", "don't", "gateway", "api", "endpoint"})
	names := func(words []word) []word {
		return slices.DeleteFunc(content(words), func(w word) bool {
			return skip[w.fold] || changing()[w.fold] || timed()[w.fold] || self(w)
		})
	}
	x := names(o)
	return len(x) > 0 && sameWords(names(n), x)
}

// denied reports a change that did not happen: "has not moved".
func denied(words []word) bool {
	for i, w := range words {
		if changing()[w.fold] && w.fold != "anymore" && negated(words[max(0, i-2):i]) {
			return true
		}
	}
	return false
}

func negated(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool {
		return strings.HasSuffix(w.fold, "n't") ||
			slices.Contains([]string{"not", "never", "no", "nicht", "nie", "pas", "jamais", "nunca", "non", "mai"}, w.fold)
	})
}

// lists reports whether a statement names several things, of which one may still be so.
func lists(text string) bool {
	_, tail, more := strings.Cut(text, ",")
	return has(wordsOf(text), set([]string{"and", "or", "und", "oder", "et", "ou", "y", "e"})) ||
		more && !strings.ContainsFunc(tail, unicode.IsDigit) ||
		more && has(wordsOf(tail), set([]string{"a", "an", "the", "ein", "eine", "un", "une", "una"}))
}

func is(w word) bool {
	return slices.Contains([]string{"is", "are", "ist", "sind", "est", "sont", "es", "son"}, w.fold)
}

func possessive(w word) bool {
	return slices.Contains([]string{"my", "our", "mein", "meine", "unser", "unsere", "mon", "ma", "notre", "mi", "nuestro", "nuestra"}, w.fold)
}

// self reports a word by which the writer is the subject.
func self(w word) bool {
	return strings.HasPrefix(w.fold, "j'") || slices.Contains([]string{"i", "i'm", "i've", "we", "we're", "we've", "ich", "wir", "je", "j'ai", "nous", "yo", "nosotros"}, w.fold)
}

func set(list []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range list {
		out[w] = true
	}
	return out
}
