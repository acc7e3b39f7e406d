package encode

import (
	"math"
	"slices"
	"strings"
)

// A pairing is a stored memory beside a new one, with which of their words are the same.
type pairing struct {
	o, n   *reading
	same   [][]bool  // word of o by word of n
	oHit   []bool    // words of o that n has
	oW, nW []float64 // weights of the words, by how rare they are in the vault
}

func pair(o, n *reading, c Corpus) *pairing {
	p := &pairing{o: o, n: n, oHit: make([]bool, len(o.words))}
	cells := make([]bool, len(o.words)*len(n.words))
	for i := range o.words {
		row := cells[i*len(n.words) : (i+1)*len(n.words)]
		p.same = append(p.same, row)
		for j := range n.words {
			if sameWord(&o.words[i], &n.words[j]) {
				row[j], p.oHit[i] = true, true
			}
		}
	}
	p.oW, p.nW = weights(o.words, c), weights(n.words, c)
	return p
}

// rareShare is the share of a vault's memories up to which a word is rare, and
// commonShare the one from which it says as little as it can.
const (
	rareShare   = 0.01
	commonShare = 0.2
	leastVault  = 50 // memories; what a smaller vault repeats says little
)

// weights are what words count for, less where a vault has them often.
func weights(words []word, c Corpus) []float64 {
	out := make([]float64, len(words))
	for i := range words {
		out[i] = words[i].weight
		if c.Count == nil || c.Total < leastVault || out[i] == 0 || words[i].number {
			continue
		}
		if share := float64(c.Count(Stem(words[i].fold))) / float64(c.Total); share > rareShare {
			out[i] *= max(0.3, 1-0.7*math.Log(share/rareShare)/math.Log(commonShare/rareShare))
		}
	}
	return out
}

// sameWord reports whether two words are one, or forms of one.
func sameWord(a, b *word) bool {
	if a.who != "" || b.who != "" {
		return a.who == b.who
	}
	if a.stem == b.stem || a.fold == b.fold {
		return true
	}
	if a.number || b.number || a.weight == 0 || b.weight == 0 || a.name && b.name {
		return false
	}
	x, y := a.stem, b.stem
	k := 0
	for k < len(x) && k < len(y) && x[k] == y[k] {
		k++
	}
	longest, shortest := max(len(x), len(y)), min(len(x), len(y))
	return k >= 5 && 5*k >= 3*longest || k == shortest && shortest >= 4 && longest-shortest <= 4 && !a.name && !b.name
}

// cover is the share of the weight of some words of o that some words of n have; 0
// where they have no weight.
func (p *pairing) coverO(ids []int, in func(i int) bool) float64 {
	return covered(ids, p.oW, in)
}

func covered(ids []int, weight []float64, has func(i int) bool) float64 {
	var all, got float64
	for _, i := range ids {
		all += weight[i]
		if weight[i] > 0 && has(i) {
			got += weight[i]
		}
	}
	if all == 0 {
		return 0
	}
	return got / all
}

// inO and inN report whether a word is among some words of the other text.
func (p *pairing) inN(ids []int) func(int) bool {
	return func(i int) bool { return slices.ContainsFunc(ids, func(j int) bool { return p.same[i][j] }) }
}

func (p *pairing) inO(ids []int) func(int) bool {
	return func(j int) bool { return slices.ContainsFunc(ids, func(i int) bool { return p.same[i][j] }) }
}

func any01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *reading) has(ids []int, f func(w *word) bool) bool {
	return slices.ContainsFunc(ids, func(i int) bool { return f(&r.words[i]) })
}

func (r *reading) isSelf(ids []int) bool {
	return r.has(ids, func(w *word) bool { return w.class&(self|userWord) != 0 })
}

func (r *reading) filter(ids []int, f func(i int) bool) []int {
	var out []int
	for _, i := range ids {
		if f(i) {
			out = append(out, i)
		}
	}
	return out
}

// folds joins some words.
func (r *reading) folds(ids []int) string {
	var out []string
	for _, i := range ids {
		out = append(out, r.words[i].fold)
	}
	return strings.Join(out, " ")
}
