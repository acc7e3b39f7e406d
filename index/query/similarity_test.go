package query

import (
	"math"
	"testing"
)

// Scores computed by hand from the formula, to six digits.
func TestSimilarityIsOkapiBM25(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		s            similarity
		n            uint64
		freq, length int
		want         float64
	}{
		// idf = ln(1 + 9.5/1.5) = 1.992430; 1/(1+1.2) = 0.454545
		{"rare, mean length", similarity{Docs: 10, AvgLen: 20}, 1, 1, 20, 0.905650},
		// idf = ln(1 + 0.5/10.5) = 0.046520; tf part 3/(3+1.2·(0.4+0.6·40/20)) = 3/4.92
		{"in every document, long", similarity{Docs: 10, AvgLen: 20}, 10, 3, 40, 0.028366},
		// idf = ln(1 + 7.5/3.5) = 1.145132; 2/(2+1.2) = 0.625
		{"no length", similarity{Docs: 10}, 3, 2, 7, 0.715708},
	} {
		got := tc.s.scorer(1, tc.n).score(tc.freq, tc.length)
		if math.Abs(got-tc.want) > 1e-6 {
			t.Errorf("%s: %.7f, want %.6f", tc.name, got, tc.want)
		}
	}
}

// The defect of Bluge 0.2.2: a word of half the documents weighed nearly as
// much as a word of one.
func TestRareWordsOutweighCommonOnes(t *testing.T) {
	t.Parallel()
	s := similarity{Docs: 1000}
	if rare, common := s.idf(1), s.idf(500); rare < 9*common {
		t.Errorf("idf of 1 in 1000 is %.3f, of 500 in 1000 %.3f", rare, common)
	}
}
