package embed

import (
	"cmp"
	"slices"
)

// fuseK damps the first ranks; 60 is what the paper below found, and hardly
// matters.
const fuseK = 60

// A Fused is one document of a joined ranking.
type Fused struct {
	Doc   int32
	Score float64
	// Ranks are its places in the rankings that were joined, from 1; 0 is none.
	Ranks []int
}

// Fuse joins rankings, best first, by reciprocal rank: a document scores the
// sum of 1/(60 + rank) over the rankings it stands in. Equal scores stand in
// the order of the first ranking, then of the next. Only ranks count, so
// scores that cannot be compared need not be.
//
// Source: Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms
// Condorcet and individual Rank Learning Methods, SIGIR 2009.
func Fuse(rankings ...[]int32) []Fused {
	var out []Fused
	at := map[int32]int{}
	for r, ranking := range rankings {
		for i, doc := range ranking {
			n, ok := at[doc]
			if !ok {
				n = len(out)
				at[doc] = n
				out = append(out, Fused{Doc: doc, Ranks: make([]int, len(rankings))})
			}
			out[n].Ranks[r] = i + 1
			out[n].Score += 1 / float64(fuseK+i+1)
		}
	}
	slices.SortStableFunc(out, func(a, b Fused) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
