package place

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/agent/encode"
	"stet/templates/lexicon"
)

// A text is a note taken apart.
type text struct {
	note     Note
	folds    []string // its words in order
	stems    []string
	line     string             // the folds with a space around each
	subjects map[string]float64 // that it touches, and how surely
}

// maxText bounds what is read of a text, in bytes: what it is about shows at its
// beginning.
const maxText = 16 << 10

func newText(n Note) *text {
	t := &text{note: n, folds: wordsOf(n.Title + "\n" + head(n.Text))}
	t.stems, t.line = stems(t.folds), " "+strings.Join(t.folds, " ")+" "
	t.subjects = touched(t.stems)
	return t
}

func head(s string) string { return s[:min(len(s), maxText)] }

// wordsOf are the folded words of a text.
func wordsOf(s string) []string {
	s = cases.Fold().String(norm.NFKC.String(s))
	return strings.FieldsFunc(strings.ReplaceAll(s, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	})
}

func stem(w string) string { return encode.Stem(strings.TrimSuffix(strings.Trim(w, "'"), "'s")) }

func stems(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, stem(w))
	}
	return out
}

// commonWeight is how much a word of texts of every subject tells beside others.
const commonWeight = 0.05

// weight is how much a word, or its stem, tells of the subject of its text.
func weight(w string) float64 {
	if common()[stem(w)] {
		return commonWeight
	}
	return 1
}

// common are stems of words that texts of every subject have.
var common = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range lexicon.Words("common", "en") {
		out[stem(w)] = true
	}
	return out
})

// subjects maps stems to the subjects that they are words of, their names included. Which
// scope a subject belongs to is said by nobody but the vault: by the memories in it and by
// its name.
var subjects = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, e := range listed() {
		for _, s := range stems(wordsOf(e.Head + " " + strings.Join(e.Words, " "))) {
			if !slices.Contains(out[s], e.Head) {
				out[s] = append(out[s], e.Head)
			}
		}
	}
	return out
})

var listed = sync.OnceValue(func() []lexicon.Entry { return lexicon.Entries("subject") })

// oneWord is how surely a text touches a subject of which it has one word: that may have
// another meaning, several do not.
const oneWord = 0.4

// touched are the subjects that words are about, and how surely.
func touched(stems []string) map[string]float64 {
	sum := map[string]float64{}
	seen := map[string]bool{}
	for _, s := range stems {
		names := subjects()[s]
		if len(names) == 0 || seen[s] {
			continue
		}
		seen[s] = true
		for _, name := range names {
			sum[name] += weight(s)
		}
	}
	out := map[string]float64{}
	for name, n := range sum {
		if n >= 2 {
			out[name] = 1
		} else if n >= 1 {
			out[name] = oneWord
		}
	}
	return out
}

// A Topic is a subject that a text touches, and the words that tell of it.
type Topic struct {
	Name  string
	Words string
}

// Topics are the subjects that a text touches.
func Topics(title, body string) []Topic {
	var out []Topic
	in := touched(stems(wordsOf(title + "\n" + head(body))))
	for _, e := range listed() {
		if in[e.Head] > 0 {
			out = append(out, Topic{e.Head, strings.Join(e.Words, " ")})
		}
	}
	return out
}

// named and kindred are what it counts that a text has a name, or words of its subject.
const (
	named   = 2.2
	kindred = 8.0
)

// called is what it counts that a text has the words of a name, or words of their subjects.
func (t *text) called(names []string) float64 {
	sum := 0.0
	for _, name := range names {
		if slices.Contains(t.stems, name) {
			sum += named * weight(name)
			continue
		}
		kin := 0.0
		for _, s := range subjects()[name] {
			kin = max(kin, t.subjects[s])
		}
		sum += kindred * kin
	}
	return sum / float64(max(1, len(names)))
}

// says reports whether the text has one of some phrases, in which "*" at the end stands for
// any ending and "^" for the beginning of the text.
func (t *text) says(phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		begin, first := strings.CutPrefix(p, "^")
		p = strings.TrimSuffix(" "+begin+" ", "* ")
		return first && strings.HasPrefix(t.line, p) || !first && strings.Contains(t.line, p)
	})
}
