// Package cite says whether turns of a person's in a conversation ask for a change of what they wrote.
//
// It would rather say no. A turn counts where it is the person's, recorded by a person's command or import
// and not by an agent's, of no private conversation, and where it served no change before. A change counts
// as asked for where the person's own words name what the text is about, and every word that the change
// brings in; for what only goes, most of what goes, and that it goes. What is quoted, pasted, code, a
// supposition or a question is not the person's own word; "could you …?" is. A clause that brings words in
// has nothing but plain words beside those of the text: any other may deny or report it. What stands behind it, and
// what the person says later in the conversation, may not take it back.
//
//	err := cite.Asks(cite.Own(turn), "The gate code is 4711.", "The gate code is 4712.")
//	refs, err := cite.Citation{Because: "session:4711#3"}.Turns(ctx, v, p, p, before, after)
package cite

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"stet/agent/encode"
	"stet/agent/spoken"
)

// maxOwn is the largest paragraph that a person types, in characters; a longer one was pasted.
const maxOwn = 600

// maxLines is how many lines without a blank one between them a person types.
const maxLines = 5

// Own is what of a turn are the person's own words, "" for none.
func Own(turn string) string {
	turn = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, turn)
	var out, paragraph []string
	for _, line := range append(typed(spoken.Lines(turn)), "") {
		if line != "" {
			paragraph = append(paragraph, line)
			continue
		}
		if len(paragraph) <= maxLines && utf8.RuneCountInString(strings.Join(paragraph, "\n")) <= maxOwn {
			for _, l := range paragraph {
				out = append(out, spoken.Unquoted(l, "…"))
			}
		}
		paragraph = nil
	}
	return strings.Join(out, "\n")
}

// asksOnly reports a sentence that says and orders nothing: a question, or what is supposed.
func asksOnly(s string) bool {
	w := words(s)
	asked := strings.HasSuffix(strings.TrimRight(s, " )"), "?")
	return asked && !polite().MatchString(s) || len(w) > 0 && w[0].is("suppose")
}

var polite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b((can|could|would|will) (you|we)|please|bitte|k(ö|oe)nntest|kannst|peux-tu|` +
		`pourrais|puedes|podr[ií]as)\b`)
})

// A word is one of a text: folded, and its English stem.
type word struct{ fold, stem string }

// tokens keeps together what stands within a number, an address or a name of a file.
var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[+-]?[\pL\pN\pM]+(?:[.:/@,_'’#+-]+[\pL\pN\pM]+)*[+#%€$£]?`)
})

func words(text string) []word {
	var out []word
	for _, raw := range tokens().FindAllString(norm.NFKC.String(text), -1) {
		fold := strings.ToLower(strings.ReplaceAll(raw, "’", "'"))
		whole := strings.ContainsFunc(fold, unicode.IsDigit) || strings.ContainsAny(fold, "@/_.+#")
		if whole { // a number, an address, a version: as it is written
			out = append(out, word{fold, fold})
			continue
		}
		for part := range strings.FieldsFuncSeq(fold, func(r rune) bool { return strings.ContainsRune("-:,", r) }) {
			if part == "use" { // too short for the stemmer
				part = "uses"
			}
			if part, ok := strings.CutSuffix(part, "n't"); ok {
				out = append(out, word{part, encode.Stem(part)}, word{"not", "not"})
				continue
			}
			part, _, _ = strings.Cut(part, "'")
			out = append(out, word{part, encode.Stem(part)})
		}
	}
	return out
}

// stems are those of all words, in order.
func stems(text string) (out []string) {
	for _, w := range words(text) {
		out = append(out, w.stem)
	}
	return out
}

// content are the stems of the words that say something, each once, in order.
func content(text string) (out []string) {
	for _, w := range words(text) {
		if !slices.Contains(empty(), w.fold) && !slices.Contains(out, w.stem) && w.stem != "" {
			out = append(out, w.stem)
		}
	}
	return out
}

// empty are words that say nothing of their own. Those that turn a sentence round (not, before, only) are
// not among them: none of these may come in unasked.
func empty() []string {
	return strings.Fields(`a an the is are was were be been being am it its of to in at for with by as that this
		these those and his her their my our your i he she they we you him them me us user has have had having do does
		did will would now der die das ein eine ist sind le la les un une est el los es una o os`)
}

// going are words that ask for something to go. Those behind the first five are said of things as well, and of files:
// they count where the memory is named as what it is.
func going() []string {
	return strings.Fields(`forget vergiss oublie oublier olvida delete remove drop erase discard scrap lösche löschen
		entferne supprime efface borra elimina`)
}

const ofMemories = 5 // of the words in going

// negations turn a sentence round; extenders may stand between one and what it denies.
func negations() []string {
	return strings.Fields(`not no non never cannot nicht kein keine keinen nie niemals pas plus jamais nunca ningún`)
}

func extenders() []string { return strings.Fields("longer more any anymore mehr ya on") }

// denied reports whether each negation denies something of what goes, as in "not 4711" and "no longer on 5432":
// "don't forget 4711" and "I never said 4712" deny something else. Words that stay may stand between. ok is false
// where none stands there.
func denied(said []word, gone, kept []string) (ok, all bool) {
	all = true
	for i, w := range said {
		if !slices.Contains(negations(), w.fold) || i == 0 && (w.fold == "no" || w.fold == "non") {
			continue
		}
		next := slices.IndexFunc(said[i+1:], func(w word) bool {
			return !slices.Contains(empty(), w.fold) && !slices.Contains(extenders(), w.fold) &&
				!slices.Contains(kept, w.stem)
		})
		if next >= 0 && slices.Contains(gone, said[i+1+next].stem) {
			ok = true
		} else {
			all = false
		}
	}
	return ok, all
}

// Asks fails with the reason where a person's own words do not ask that a text becomes another one. after
// is "" where the text goes.
func Asks(own, before, after string) error {
	all := spoken.Sentences(own)
	err := errors.New("the turn has no words of the person's own: what is quoted, pasted or asked does not count")
	for width := min(together, len(all)); width > 0; width-- {
		for i := range len(all) - width + 1 {
			if slices.ContainsFunc(all[i:i+width], asksOnly) {
				continue
			}
			if reason := asks(all[i:i+width], before, after); reason == nil {
				if has(words(own), stems(before+" "+after), "told") || winks().MatchString(own) {
					return errors.New("the turn may hand over what others say, or joke: " + plainly)
				}
				return stands(all[i:], width, before, after)
			} else if width == min(together, len(all)) {
				err = reason
			}
		}
	}
	return err
}

// together is how many sentences one request may take: "The code has changed. It is 4712 now." Two have to name all
// that a text is about: they may be about two things.
const together = 2

func asks(sentences []string, before, after string) error {
	own := strings.Join(sentences, " ")
	named, said := content(own), words(own)
	was, is := changed(before, after)
	removed, added, kept := apart(content(was), content(is))
	if len(removed)+len(added) == 0 {
		return errors.New("the turn cannot be held against the change: no word of the text changes")
	}
	if len(kept) == 0 && was == "" {
		kept = content(before) // a sentence comes in: it belongs to what is said there
		if count(kept, named) == 0 {
			return fmt.Errorf("the turn does not name what the text is about (%s)", list(kept))
		}
		kept = nil
	}
	if n := count(kept, named); 2*n < len(kept) || len(sentences) > 1 && n < len(kept) {
		return fmt.Errorf("the turn does not name what the text is about (%s)", list(missing(kept, named)))
	}
	if len(added) > 0 {
		if lack := missing(added, named); len(lack) > 0 {
			return fmt.Errorf("the turn does not say %s", list(lack))
		}
		// What is new takes the place of about as much, and of no other sentence.
		if lack := missing(removed, named); len(lack) > len(added)+1 || lines(was) > lines(is) {
			return fmt.Errorf("the turn does not say that more is to go (%s)", list(lack))
		}
		// Where all that stood there stays, "Update the code to 4713" does not say that "the code 4711 is 4713".
		if lack := missing(kept, named); len(removed) == 0 && (len(lack) > 0 || leaves(said, numbers(kept))) {
			return fmt.Errorf("the turn does not say that this stays (%s)", list(kept))
		}
		// A text that comes in with a negation of its own may be said with one.
		turned := slices.ContainsFunc(added, func(w string) bool { return slices.Contains(negations(), w) })
		if _, all := denied(said, removed, kept); !all && !turned {
			return errors.New("the turn denies something else than what is to go")
		}
		return ordered(sentences, stems(before+" "+after), added)
	}
	n := count(removed, named)
	if len(removed)-n > max(1, len(removed)/4) || n == 0 || n+count(kept, named) < min(2, len(removed)+len(kept)) {
		return fmt.Errorf("the turn does not say what is to go (%s)", list(missing(removed, named)))
	}
	ok, all := denied(said, removed, kept)
	if !all {
		return errors.New("the turn denies something else than what is to go")
	}
	if ok && ordered(sentences, stems(before), removed) == nil {
		return nil
	}
	return ordersAway(sentences, stems(before))
}

// ordersAway fails where sentences do not order that a text goes which has the words in about: plain words alone, the
// last sentence, or the one before it, with a word of going. "Remove it from the config" is work on something else.
func ordersAway(sentences, about []string) error {
	by, noted := "", false
	for i, s := range sentences {
		if i == len(sentences)-1 || count(content(s), about) > 0 {
			by = cmp.Or(orders(s), by)
		}
		noted = noted || slices.ContainsFunc(words(s), func(w word) bool { return w.is("memory") })
	}
	if by == "" {
		return errors.New("the turn does not say, at the beginning of a sentence, that it is to go")
	}
	for _, part := range clause().Split(strings.Join(sentences, ", "), -1) {
		all := slices.DeleteFunc(words(part), func(w word) bool { return w.is("memory", "beside") })
		named := slices.ContainsFunc(all, func(w word) bool {
			return slices.Contains(going(), w.fold) ||
				slices.Contains(about, w.stem) && !slices.Contains(empty(), w.fold)
		})
		if named && (!plain(all, about, nil) || forNow(all, about)) {
			return errors.New(
				"the turn may be about work on something else, or set a condition: say what to forget alone")
		}
	}
	if !noted && slices.Index(going(), by) >= ofMemories {
		return fmt.Errorf("%q may be said of the thing itself: name it as a note or a memory, or say forget", by)
	}
	return nil
}

// forNow reports words by which an order to forget means this once.
func forNow(all []word, about []string) bool {
	for i, w := range all {
		if w.is("meanwhile") && !slices.Contains(about, w.stem) || w.fold == "now" && i > 0 && all[i-1].fold == "for" {
			return true
		}
	}
	return false
}

// orders is the word of going with which a sentence begins, behind what people say before a request, or ends as German
// does, "" for none: "Nobody may forget it" orders nothing.
func orders(sentence string) string {
	all := words(sentence)
	first := slices.IndexFunc(all, func(w word) bool { return !slices.Contains(openers(), w.fold) })
	if first < 0 || first > 0 && (all[first-1].fold == "i" || all[first-1].fold == "we") { // who tells what they do
		return ""
	}
	for _, w := range []word{all[first], all[len(all)-1]} {
		if slices.Contains(going(), w.fold) && (w == all[first] || first > 0) {
			return w.fold
		}
	}
	return ""
}

// openers are words before a request.
func openers() []string {
	return strings.Fields(`please kindly just ok okay yes no so now then and also hey hi actually sorry can could would
		will you i want like need to let's let lets us we should bitte ja nein dann und kannst könntest du por favor
		puedes s'il te plaît peux-tu tu`)
}

// changed are the sentences of two texts that the other one does not have.
func changed(before, after string) (was, is string) {
	a, b := spoken.Sentences(before), spoken.Sentences(after)
	without := func(from, others []string) string {
		return strings.Join(missing(from, others), "\n")
	}
	return without(a, b), without(b, a)
}

// numbers are those of some words that have a digit.
func numbers(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(w string) bool { return !strings.ContainsAny(w, "0123456789") })
}

func lines(s string) int { return len(spoken.Sentences(s)) }

func apart(was, is []string) (removed, added, kept []string) {
	return missing(was, is), missing(is, was), slices.DeleteFunc(slices.Clone(was),
		func(w string) bool { return !slices.Contains(is, w) })
}

func missing(want, have []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(w string) bool { return slices.Contains(have, w) })
}

func count(want, have []string) int { return len(want) - len(missing(want, have)) }

// list are the first few words.
func list(all []string) string {
	const few = 5
	if len(all) > few {
		return strings.Join(all[:few], ", ") + " …"
	}
	return strings.Join(all, ", ")
}
