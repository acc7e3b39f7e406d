package place

import (
	"slices"
	"strings"
	"unicode"

	"github.com/blevesearch/go-porterstemmer"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A text is a note taken apart.
type text struct {
	note     Note
	folds    []string // its words in order
	stems    []string
	line     string             // the folds with a space around each
	kin      map[string]float64 // stems of the subjects it touches, and how surely
	subjects []subject
	asks     bool // it is a question
}

// maxText bounds what is read of a text, in bytes: what it is about shows at its
// beginning.
const maxText = 16 << 10

func head(s string) string { return s[:min(len(s), maxText)] }

func newText(n Note) *text {
	t := &text{note: n, folds: wordsOf(n.Title + "\n" + head(n.Text))}
	for _, w := range t.folds {
		t.stems = append(t.stems, stem(w))
	}
	t.line = " " + strings.Join(t.folds, " ") + " "
	t.subjects, t.kin = touched(t.stems), map[string]float64{}
	for _, s := range t.subjects {
		for _, w := range s.stems {
			t.kin[w] = max(t.kin[w], s.sure)
		}
	}
	t.asks = strings.HasSuffix(strings.TrimSpace(n.Text), "?")
	return t
}

// called is what it counts that a text has a name, or words of the same subject.
func (t *text) called(names []string) float64 {
	if len(names) == 0 {
		return 0
	}
	sum := 0.0
	for _, s := range names {
		if slices.Contains(t.stems, s) {
			sum += named * weight(s)
		} else {
			sum += kindred * t.kin[s]
		}
	}
	return sum / float64(len(names))
}

// wordsOf are the folded words of a text.
func wordsOf(s string) []string {
	s = cases.Fold().String(norm.NFKC.String(s))
	return strings.FieldsFunc(strings.ReplaceAll(s, "’", "'"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '\''
	})
}

func stemsOf(s string) []string {
	var out []string
	for _, w := range wordsOf(s) {
		out = append(out, stem(w))
	}
	return out
}

// stem is the English stem of a folded word; a word with other letters or digits
// is its own.
func stem(w string) string {
	w = strings.TrimSuffix(strings.Trim(w, "'"), "'s")
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	if len(w) < 4 {
		return w
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(w)))
}
