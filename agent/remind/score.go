package remind

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

// weightText is written by the trainer: its first lines say how.
//
//go:embed weights.txt
var weightText string

var weights = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(weightText) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		w, err := strconv.ParseFloat(value, 64)
		if err != nil {
			panic("remind: weights.txt: " + err.Error())
		}
		out[name] = w
	}
	return out
})

// Least is the probability from which on a memory is worth showing.
func Least() float64 { return weights()["least"] }

// Needs is the probability that a prompt needs a memory.
func (p *Prompt) Needs(m *Memory, c Counts) float64 {
	sum := weights()["bias"]
	for _, f := range features(p, m, c) {
		sum += weights()[f.name] * f.value
	}
	return 1 / (1 + math.Exp(-sum))
}

// Sample is what the model sees of a prompt and a memory, for training it: the names of the features, the same
// and in the same order each time, and their values.
func Sample(p *Prompt, m *Memory, c Counts) (names []string, values []float64) {
	for _, f := range features(p, m, c) {
		names, values = append(names, f.name), append(values, f.value)
	}
	return names, values
}
