package names

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/markdown"
)

// A Known is what one file is called.
type Known struct {
	ID      string // in lower case
	Slug    string // see [Slug]
	Title   string
	Aliases []string
}

// longestName is how many bytes of a name an index keeps.
const longestName = 256

// Cut is a name as an index keeps it.
func Cut(name string) string {
	if len(name) <= longestName {
		return name
	}
	end := longestName
	for end > 0 && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// A Ref is what somebody typed to name a file.
type Ref struct {
	whole string // folded, as it is
	words string // folded, the words with one blank between them
}

// Parse reads what somebody typed.
func Parse(ref string) Ref {
	return Ref{whole: markdown.Fold(strings.TrimSpace(Cut(ref))), words: wordsOf(ref)}
}

// Is reports whether the title or another name of a file is what was typed, in letters of either case.
func (r Ref) Is(k Known) bool {
	same := func(name string) bool { return name != "" && markdown.Fold(strings.TrimSpace(Cut(name))) == r.whole }
	return same(k.Title) || slices.ContainsFunc(k.Aliases, same)
}

// Begins reports whether a name begins with what was typed, in letters of either case.
func (r Ref) Begins(name string) bool { return strings.HasPrefix(markdown.Fold(name), r.whole) }

// A Degree is how much of a name was typed.
type Degree int

// The degrees, the least first.
const (
	None  Degree = iota
	Part         // some letters in a row
	Words        // whole words in a row
)

// Degree says how much what was typed is of the best of a file's names, its id apart. What is short, or a path, is
// part of none.
func (r Ref) Degree(k Known) Degree {
	if !r.partial() {
		return None
	}
	best := max(r.of(k.Slug), r.of(k.Title))
	for _, alias := range k.Aliases {
		best = max(best, r.of(alias))
	}
	return best
}

func (r Ref) of(name string) Degree {
	folded := markdown.Fold(strings.TrimSuffix(name, "…")) // of a text's first words: what is ASCII folds fast
	if first, _, _ := strings.Cut(r.words, " "); !strings.Contains(folded, first) {
		return None // most names, at a glance
	}
	words := wordsOf(folded)
	switch {
	case strings.Contains(" "+words+" ", " "+r.words+" "):
		return Words
	case strings.Contains(words, r.words):
		return Part
	}
	return None
}

// partial reports whether what was typed is enough for a part of a name: three letters, or two of those that stand for
// a word or half of one.
func (r Ref) partial() bool {
	const least, cjk = 3, 0x2e80
	n := 0
	for _, letter := range r.words {
		if letter != ' ' {
			n++
		}
		if letter >= cjk && n >= least-1 {
			return !r.path()
		}
	}
	return n >= least && !r.path()
}

func (r Ref) path() bool {
	return strings.ContainsAny(r.whole, "/#") || strings.HasSuffix(r.whole, ".md") || IsID(r.whole)
}

// wordsOf are the folded words of a text with one blank between them.
func wordsOf(text string) string {
	return strings.Join(strings.FieldsFunc(markdown.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	}), " ")
}
