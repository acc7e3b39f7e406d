package ingest

import (
	"cmp"
	"maps"
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
	out := make([]encode.Memory, 0, len(found))
	for _, i := range slices.Sorted(maps.Keys(found)) {
		out = append(out, b.all[i])
	}
	return out
}

// best adds the notes that a probe means. Of a word that a great part of a great batch has, only
// the first notes are looked at: it tells little, and all of them for each note are too many.
func (b *batch) best(probe []string, found map[int]bool) {
	const looks = 1 << 18 // of all notes for one word of each
	limit := max(2*near, looks/len(b.all))
	score := map[int]float64{}
	for _, w := range probe {
		with := b.with[w]
		for _, i := range with[:min(limit, len(with))] {
			score[i] += 1 / float64(len(with))
		}
	}
	order := func(x, y int) int { return cmp.Or(cmp.Compare(score[y], score[x]), cmp.Compare(x, y)) }
	ranked := slices.SortedFunc(maps.Keys(score), order)
	for _, i := range ranked[:min(near, len(ranked))] {
		found[i] = true
	}
}
