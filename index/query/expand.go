package query

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/index/document"
	"stet/markdown"
)

// prefix treats all words that begin alike as one word.
func (e *Evaluation) prefix(c *clause, found []bool) error {
	field, p := wordsField(e.Conversations != nil), ""
	switch {
	case len(c.exact) == 1:
		p = c.first(e.Conversations != nil)
	default:
		field, p = document.FieldIdent, c.name
	}
	terms, err := e.src.Terms(field, p, nil)
	if err != nil {
		return err
	}
	list, _, err := e.union(field, terms)
	if err != nil {
		return err
	}
	e.add(leafKey{field, p + "*"}, e.boost(field), c, list, found)
	return nil
}

// wordsField is the field whose dictionary is asked for words that begin or
// look alike: the words as they were written, or, where only their stems are
// kept, those.
func wordsField(byMessage bool) int {
	if byMessage {
		return document.FieldBody
	}
	return document.FieldExact
}

// first is the first word, a prefix or one that may be misspelt, in the form of
// that field.
func (c *clause) first(byMessage bool) string {
	if byMessage && len(c.stems) > 0 {
		return c.stems[0]
	}
	return c.exact[0].Term
}

// The bounds of words that are looked for with a hyphen as well.
const (
	leastHyphened = 4
	mostHyphened  = 16
)

// hyphens fills in how else a bare word is written: Wi-Fi, wi-fi and wifi are one.
func (c *clause) hyphens(stems *document.Stemmer) {
	if c.kind != word || c.occur == mustNot {
		return
	}
	if parts := strings.Split(c.name, "-"); len(c.exact) == len(parts) && len(parts) > 1 {
		c.joined = stems.Stem(strings.Join(parts, ""))
	}
	w := c.exact[0].Term
	if len(c.exact) > 1 || len(w) < leastHyphened || len(w) > mostHyphened || !guessable(c.exact[0]) {
		return
	}
	for i := range w {
		if i > 0 {
			c.split = append(c.split, w[:i]+"-"+w[i:])
		}
	}
}

// union is the postings of several terms as if they were one, and those of terms that have any: an index keeps for a
// while the words of files that are gone.
func (e *Evaluation) union(field int, terms []string) (sum []document.Posting, live []string, _ error) {
	place := make([]int32, len(e.scores)) // document → its place in sum, from 1
	for _, t := range terms {
		if err := context.Cause(e.ctx); err != nil {
			return nil, nil, err // a short prefix stands for thousands of words
		}
		list, err := e.src.Term(field, t, e.room)
		if err != nil {
			return nil, nil, err
		}
		if e.room = list[:0]; len(list) > 0 {
			live = append(live, t)
		}
		for _, x := range list {
			if at := place[x.Doc]; at > 0 {
				sum[at-1].Freq += x.Freq
				continue
			}
			sum = append(sum, x)
			place[x.Doc] = int32(len(sum))
		}
	}
	return sum, live, nil
}

// The bounds of what counts as a misspelling. Shorter words have too many
// neighbours, and two edits in a word of less than eight letters make another
// word more often than the same one.
const (
	fuzzyMinLetters = 4
	fuzzyTwoLetters = 8
	// fuzzyBoost keeps a guess below a word that was really typed.
	fuzzyBoost = 0.6
)

// mayBeMisspelt reports a bare word of letters, long enough to guess at. What
// a person requires, excludes or quotes is meant as it stands.
func (c *clause) mayBeMisspelt() bool {
	return c.kind == word && c.occur == should && len(c.exact) == 1 && guessable(c.exact[0])
}

func guessable(t document.Token) bool {
	if t.Gram || utf8.RuneCountInString(t.Term) < fuzzyMinLetters {
		return false
	}
	for _, r := range t.Term {
		if !unicode.IsLetter(r) || document.IsUnspaced(r) {
			return false
		}
	}
	return true
}

// misspelt adds, for a word that no document has, the words it may stand for: those that look like it, and the library
// as linkers and packages name it, -lzstd and libzstd.
func (e *Evaluation) misspelt(c *clause) error {
	field, w := wordsField(e.Conversations != nil), c.first(e.Conversations != nil)
	_, first := utf8.DecodeRuneInString(w)
	terms, err := e.src.Terms(field, w[:first], func(term string) bool { return isSimilar(w, term) || begins(w, term) })
	if err != nil {
		return err
	}
	list, terms, err := e.union(field, append(terms, "l"+w, "lib"+w))
	if err != nil || len(terms) == 0 {
		return err
	}
	found := make([]bool, len(e.scores))
	e.add(leafKey{field, w + "~"}, fuzzyBoost, c, list, found)
	e.similar[w] = terms
	each(found, func(d int32) {
		e.near[d] = true
		e.guessed[d]++
	})
	return nil
}

// begins reports whether a term goes on where a word ends that is long enough to mean something: a part of a compound,
// or a word that was not typed to its end.
func begins(word, term string) bool {
	const least = 6 // letters
	return utf8.RuneCountInString(word) >= least && strings.HasPrefix(term, word)
}

// isSimilar reports whether term may be what was meant by word: it begins with
// the same letter, as nearly all misspellings do, and is at most one edit away,
// two in long words. An edit puts in, leaves out or replaces a letter, or swaps
// two neighbours.
func isSimilar(word, term string) bool {
	most := maxEdits(utf8.RuneCountInString(word))
	if utf8.RuneCountInString(term) < fuzzyMinLetters-1 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(word)
	return strings.HasPrefix(term, string(first)) && markdown.Edits(word, term, most) <= most
}

// maxEdits is how many edits a word of n letters may be away.
func maxEdits(n int) int {
	if n >= fuzzyTwoLetters {
		return 2
	}
	return 1
}
