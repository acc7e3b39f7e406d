package place

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

const (
	// middle is the importance of what says nothing about it.
	middle = 0.5
	// apart is how far from the middle an importance must be to be said.
	apart = 0.02
	// plain is that of a vault that teaches nothing yet: only what every reader sees.
	plain = 0.15
	// trust is the most that neighbours count beside the words; they count that much
	// when their likenesses add up to full.
	trust = 0.4
	full  = 1.2
	// alike is the likeness from which a memory says something about another, and
	// nearest how many of them are asked.
	alike   = 0.08
	nearest = 5
	// askWeight is what it counts, as the logarithm of odds, that a text is a question.
	askWeight = -0.8
)

// importance is read from the words, the kind and the categories of a text, and from
// what resembles it. What is nearer to the middle than apart is not said.
func (t *text) importance(tags []string, near []Neighbour, apart float64) Finding[float64] {
	sum, rule := 0.0, "importance-near@1"
	count := func(weight float64, is bool) {
		if is {
			sum, rule = sum+weight, "importance-cue@1"
		}
	}
	for _, e := range phrases() {
		count(odds(e), t.says(e.Words)) // several phrases of one line say no more than one
	}
	for _, e := range kinds() {
		for _, tag := range append(slices.Clone(tags), t.note.Kind) {
			count(odds(e), slices.Contains(e.Words, strings.ToLower(tag)))
		}
	}
	count(askWeight, strings.HasSuffix(strings.TrimSpace(t.note.Text), "?"))
	value := sigmoid(sum)
	if mean, worth := t.neighbours(near); worth > 0 {
		part := trust * min(1, worth/full)
		value = (1-part)*value + part*mean
	}
	if value = hundredths(value); math.Abs(value-middle) < apart {
		return Finding[float64]{Value: middle}
	}
	return Finding[float64]{Value: value, Rule: rule}
}

// phrases and kinds have what they count in front, see odds.
var phrases = sync.OnceValue(func() []lexicon.Entry { return lexicon.Entries("importance", "phrase") })
var kinds = sync.OnceValue(func() []lexicon.Entry { return lexicon.Entries("importance", "kind") })

// odds is the number in front of words, the logarithm of odds; a test holds that it is one.
func odds(e lexicon.Entry) float64 {
	n, _ := strconv.ParseFloat(e.Head, 64)
	return n
}

// neighbours is the mean importance of what resembles the text, by likeness, and how
// much that is worth.
func (t *text) neighbours(near []Neighbour) (mean, worth float64) {
	mine := content(t.stems)
	type weighted struct{ like, value float64 }
	var all []weighted
	for _, n := range near {
		if n.Importance == nil {
			continue
		}
		if like := cosine(mine, content(stems(wordsOf(head(n.Text))))); like >= alike {
			all = append(all, weighted{like, *n.Importance})
		}
	}
	// Sums of floats depend on their order, and that of neighbours must not matter.
	slices.SortFunc(all, func(a, b weighted) int { return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(a.value, b.value)) })
	sum := 0.0
	for _, p := range all[:min(nearest, len(all))] {
		sum, worth = sum+p.like*p.value, worth+p.like
	}
	return sum / max(worth, alike), worth
}

// cosine is the likeness of two sets of stems.
func cosine(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / math.Sqrt(float64(max(1, len(a)*len(b))))
}

// content leaves out the stems that texts of every subject have.
func content(stems []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range stems {
		if !common()[s] {
			out[s] = true
		}
	}
	return out
}
