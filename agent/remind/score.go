package remind

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"sync"

	"stet/templates/lexicon"
)

// weightText is written by the trainer: its first lines say how.
//
//go:embed weights.txt
var weightText string

var weights = sync.OnceValue(func() map[string]float64 { return lexicon.Numbers(weightText) })

// Least is the probability from which on a memory is worth showing.
func Least() float64 { return weights()["least"] }

// Needs are the probabilities that a prompt needs each of the memories that were found for it.
func (p *Prompt) Needs(memories []*Memory, c Counts) []float64 {
	out := make([]float64, len(memories))
	for i, list := range features(p, memories, c) {
		sum := weights()["bias"]
		for _, f := range list {
			sum += weights()[f.name] * f.value
		}
		out[i] = 1 / (1 + math.Exp(-sum))
	}
	return out
}

const (
	most   = 3  // memories: what is shown and not needed costs attention
	within = 20 // by how much the odds of the likeliest may exceed those of another one
)

// Choose chooses what to show by the probability of each memory: none unless the likeliest has at least so much,
// then at most three, the likeliest first; the others may have less.
func Choose(needs []float64, least float64) []int {
	var out []int
	for i := range needs {
		out = append(out, i)
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(needs[b], needs[a]) })
	if len(out) == 0 || needs[out[0]] < least {
		return nil
	}
	odds := func(p float64) float64 { return p / math.Max(1-p, 1e-12) }
	n := 1
	for n < min(most, len(out)) && within*odds(needs[out[n]]) >= odds(needs[out[0]]) {
		n++
	}
	return out[:n]
}

// Samples are what the model sees of a prompt and each memory, for training it: the names of the features, the same
// and in the same order for all, and their values.
func Samples(p *Prompt, memories []*Memory, c Counts) (names []string, values [][]float64) {
	values = make([][]float64, len(memories))
	for i, list := range features(p, memories, c) {
		names = names[:0]
		for _, f := range list {
			names, values[i] = append(names, f.name), append(values[i], f.value)
		}
	}
	return names, values
}
