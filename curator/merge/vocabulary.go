package merge

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/markdown"
	"stet/templates/lexicon"
)

// neutral are words by which an umbrella says that it has sections.
const neutral = "a about all an and any are at by can choose collection combines contains contents cover " +
	"description detail each every file for from full guide how in instructions into is it its of on one or overview " +
	"part pick read reference related section see skill step task that the their these this to topic trigger " +
	"umbrella use used uses using what when where which with work workflow you your"

// orders are words that turn what stands beside them into an order or a ban, beside those that every text may turn by.
const orders = "again always before cancel first forget ignore instead last must now obsolete off once shall should " +
	"skip stop then after"

const stem = 5 // letters

// turnWords are those that may make another meaning of others beside them.
var turnWords = sync.OnceValue(func() map[string]bool {
	out := lexicon.Words("turn")
	for _, w := range words(orders) {
		out[w] = true
	}
	return out
})

// turning are those of them that are not neutral.
var turning = sync.OnceValue(func() map[string]bool {
	out := maps.Clone(turnWords())
	for _, w := range words(neutral) {
		delete(out, w)
	}
	return out
})

// free are the stems of words that an umbrella may use anywhere: neutral ones, and those that every text has.
var free = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range lexicon.Words("stop") {
		if s := stemOf(w); len(w) > 1 && !turning()[s] {
			out[s] = true
		}
	}
	for _, w := range words(neutral) {
		out[stemOf(w)] = true
	}
	return out
})

// stemOf is the beginning of a word, without common endings. No other word has that of one which turns others.
func stemOf(word string) string {
	if turnWords()[word] || strings.ContainsFunc(word, unicode.IsDigit) {
		return word
	}
	out := word
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		if cut, ok := strings.CutSuffix(word, end); ok && len(cut) > 2 && !strings.HasSuffix(word, "ss") {
			out = cut
			break
		}
	}
	if r := []rune(out); len(r) > stem {
		out = string(r[:stem])
	}
	if turnWords()[out] {
		return word
	}
	return out
}

// wordLike finds numbers with what makes another one of them (2.5, 10:30, 5%, <5, €5, v1.2), and words.
var wordLike = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[<>≤≥~±$€£¥]?\d(?:[.,:/-]\d|[\pL\pM\pN])*(?:[ ]?[%°‰])?|` +
		`\pL(?:['.]\d|['\pL\pM\pN])*`)
})

// words are those of a text, folded. What is contracted is two: don't is do and not, and user's is user.
func words(text string) (out []string) {
	text = strings.ReplaceAll(markdown.Fold(text), "’", "'")
	for _, w := range wordLike().FindAllString(text, -1) {
		if bare, ok := strings.CutSuffix(w, "n't"); ok {
			out = append(out, strings.TrimSuffix(bare, "'"), "not")
			continue
		}
		for i, part := range strings.Split(w, "'") {
			if i == 0 || !strings.Contains(contracted, " "+part+" ") {
				out = append(out, part)
			}
		}
	}
	return slices.DeleteFunc(out, func(w string) bool { return w == "" })
}

// contracted are what may stand behind an apostrophe and says nothing.
const contracted = " s ll re ve d m "

// A term is a word that is not free.
type term struct {
	word, stem string
	denied     bool // it stands behind a word that denies it
}

// denying are words that deny what follows them.
var denying = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range words("not no never none nor neither without except unless instead nicht kein keine keinen " +
		"keinem keiner nie niemals ohne weder pas jamais aucun aucune sans sauf nunca jamás ningún ninguna sin " +
		"excepto salvo mai nessun nessuna senza tranne eccetto") {
		out[w] = true
	}
	return out
})

var clauseEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[,;:]\s|[()|–—]`) })

// terms are those of a text.
func terms(text string) (out []term) {
	for _, clause := range clauseEnd().Split(text, -1) {
		denied := false
		for _, w := range words(clause) {
			if s := stemOf(w); !free()[s] {
				out = append(out, term{w, s, denied})
			}
			denied = denied || denying()[w]
		}
	}
	return out
}

// beside is a term and the one behind it, as stems.
func beside(all []term, i int) string {
	if i+1 < len(all) {
		return all[i].stem + " " + all[i+1].stem
	}
	return all[i].stem + " "
}

// A vocabulary is what words a line of a model's own may have. A word that turns others (not, only, before) may stand
// before those alone before which it stood, so pairs are in it as well. A word that was always denied stays so.
type vocabulary map[string]bool

const denied = "~" // before the stem of a word that stands denied

func (v vocabulary) add(text string) vocabulary {
	for _, one := range sentences(plain(text)) {
		all := terms(one)
		for i, t := range all {
			v[beside(all, i)], v[denied+t.stem] = true, true
			if !t.denied {
				v[t.stem] = true
			}
		}
	}
	return v
}

// foreign are the words of a text that are in none of some vocabularies, those that turn others with the next one.
func foreign(text string, in ...vocabulary) (out []string) {
	has := func(key string) bool {
		return slices.ContainsFunc(in, func(v vocabulary) bool { return v[key] })
	}
	for _, one := range sentences(plain(text)) {
		all := words(one)
		for i := 1; i < len(all); i++ { // one that turns others, written as two
			if turnWords()[all[i-1]+all[i]] && !turning()[all[i]] {
				out = append(out, all[i-1]+" "+all[i])
			}
		}
		some := terms(one)
		for i := 0; i < len(some); i++ {
			t := some[i]
			switch turns := turning()[t.stem]; {
			case turns && !has(beside(some, i)) && i+1 < len(some):
				i++
				out = append(out, t.word+" "+some[i].word)
			case turns && !has(beside(some, i)), !turns && !has(t.stem) && !(t.denied && has(denied+t.stem)):
				out = append(out, t.word)
			}
		}
	}
	return out
}

// turns reports whether one of the words turns others, or is a number.
func turns(all []string) bool {
	return slices.ContainsFunc(words(strings.Join(all, " ")), func(w string) bool {
		return turning()[w] || strings.ContainsFunc(w, unicode.IsDigit)
	})
}

// turned are the terms that turn others, with those.
func turned(all []term) (out []string) {
	for i, t := range all {
		if turning()[t.stem] {
			out = append(out, beside(all, i))
		}
	}
	return out
}

// follows reports whether terms stand among others in the same order, and no word that turns them was left out.
func follows(some, all []term) bool {
	at := 0
	for _, t := range some {
		n := slices.IndexFunc(all[at:], func(a term) bool { return a.stem == t.stem })
		if n < 0 {
			return false
		}
		at += n + 1
	}
	return slices.Equal(turned(some), turned(all))
}
