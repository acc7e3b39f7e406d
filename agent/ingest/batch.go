package ingest

import (
	"cmp"
	"slices"
	"strings"

	"stet/agent/encode"
)

// A batch holds the notes of one call, so that those that a later one could have to do
// with are found without comparing each with each.
type batch struct {
	all  []encode.Memory
	with map[string][]int // by word
}

func (b *batch) add(m encode.Memory, probes []string) {
	if b.with == nil {
		b.with = map[string][]int{}
	}
	for _, w := range words(m.Text, probes) {
		b.with[w] = append(b.with[w], len(b.all))
	}
	b.all = append(b.all, m)
}

// words are those of a text that it is found by, each once.
func words(text string, probes []string) []string {
	out := []string{whole(text)}
	if len(probes) > 0 {
		out = append(out, strings.Fields(probes[0])...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// whole stands for a text that has no other word to be found by.
func whole(text string) string { return "=" + strings.Join(strings.Fields(strings.ToLower(text)), "=") }

// near lists notes of the batch that share words with a text, or with what else its
// attributes are called, in their order: for each probe the best, rare words counting
// more.
func (b *batch) near(text string, probes []string) []encode.Memory {
	if len(b.all) <= near {
		return b.all
	}
	found := map[int]bool{}
	for _, probe := range append(slices.Clip(probes), whole(text)) {
		b.best(strings.Fields(probe), found)
	}
	var out []encode.Memory
	for i := range b.all {
		if found[i] {
			out = append(out, b.all[i])
		}
	}
	return out
}

func (b *batch) best(probe []string, found map[int]bool) {
	score := map[int]float64{}
	for _, w := range probe {
		for _, i := range b.with[w] {
			score[i] += 1 / float64(len(b.with[w]))
		}
	}
	ranked := make([]int, 0, len(score))
	for i := range score {
		ranked = append(ranked, i)
	}
	slices.SortFunc(ranked, func(x, y int) int { return cmp.Or(cmp.Compare(score[y], score[x]), cmp.Compare(x, y)) })
	for _, i := range ranked[:min(near, len(ranked))] {
		found[i] = true
	}
}
