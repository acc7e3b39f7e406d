package place

import (
	"cmp"
	"math"
	"slices"
	"strings"
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
	// What it counts, as the logarithm of odds, that a text names a day, and that it
	// is a question.
	dayWeight = 0.4
	askWeight = -0.8
	// pastWeight is that of what happened once.
	pastWeight = -0.4
)

// importance is read from the words, the kind and the categories of a text, and from
// what resembles it.
func (t *text) importance(tags []string, near []Neighbour) Finding[float64] {
	sum, found := t.cues()
	for _, name := range append(slices.Clone(tags), t.note.Kind) {
		if w, ok := kinds()[strings.ToLower(name)]; ok {
			sum, found = sum+w, true
		}
	}
	for _, s := range t.subjects {
		if w := subjects()[s.name]; w != 0 {
			sum, found = sum+w*s.sure, true
		}
	}
	value, rule := sigmoid(sum), "importance-cue@1"
	if !found {
		rule = "importance-near@1"
	}
	if mean, worth := t.neighbours(near); worth > 0 {
		part := trust * min(1, worth/full)
		value = (1-part)*value + part*mean
	}
	return important(value, apart, rule)
}

// plainly is importance without anything learned.
func (t *text) plainly() Finding[float64] {
	sum, _ := t.cues()
	return important(sigmoid(sum), plain, "importance-cue@1")
}

func important(value, apart float64, rule string) Finding[float64] {
	value = math.Round(value*100) / 100
	if math.Abs(value-middle) < apart {
		return Finding[float64]{Value: middle}
	}
	return Finding[float64]{Value: value, Rule: rule}
}

// cues adds up what the words say, as the logarithm of odds, and reports whether
// they say anything.
func (t *text) cues() (sum float64, found bool) {
	for _, c := range cueList() {
		if t.says(c.phrases) { // several words of one kind say no more than one
			sum, found = sum+c.weight, true
		}
	}
	if t.dated() {
		sum, found = sum+dayWeight, true
	}
	if t.happened() {
		sum, found = sum+pastWeight, true
	}
	if t.asks {
		sum, found = sum+askWeight, true
	}
	return sum, found
}

// neighbours is the mean importance of what resembles the text, by likeness, and how
// much that is worth.
func (t *text) neighbours(near []Neighbour) (mean, worth float64) {
	mine := content(t.stems)
	type pair struct{ like, value float64 }
	var all []pair
	for _, n := range near {
		if n.Importance == nil {
			continue
		}
		if c := cosine(mine, content(stemsOf(head(n.Text)))); c >= alike {
			all = append(all, pair{c, *n.Importance})
		}
	}
	// Sums of floats depend on their order, and that of neighbours must not matter.
	slices.SortFunc(all, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(a.value, b.value))
	})
	sum := 0.0
	for _, p := range all[:min(nearest, len(all))] {
		sum, worth = sum+p.like*p.value, worth+p.like
	}
	if worth == 0 {
		return 0, 0
	}
	return sum / worth, worth
}

// cosine is the likeness of two sets of stems.
func cosine(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / math.Sqrt(float64(len(a)*len(b)))
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
