package index

import (
	"fmt"
	"math"

	"github.com/blugelabs/bluge/search"
	segment "github.com/blugelabs/bluge_segment_api"
)

// BM25's free parameters. k1 is the value of the literature; b = 0.6 was the
// best compromise between short chat turns and long notes on the development
// sets (research: k1 1.2, b 0.6).
const (
	bm25K1 = 1.2
	bm25B  = 0.6
)

// A similarity is Okapi BM25 with the idf that cannot become negative
// (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009, eq. 3.15, with the "1 +" of Lucene's BM25Similarity):
//
//	score = boost · idf · tf / (tf + k1 · (1 − b + b · dl/avgdl))
//	idf   = ln(1 + (N − n + 0.5) / (n + 0.5))
//
// N counts documents, n those with the term, tf its occurrences in this one,
// dl this document's length in tokens, avgdl the mean of that. Bluge 0.2.2
// computes ln(1 + (N − n) + 0.5/(n + 0.5)): a missing pair of brackets that
// makes rare and common words weigh nearly the same, and counts deleted copies
// in N and avgdl. N and avgdl come from the manifest here, which knows the
// living documents only; n is a count of postings with the deleted ones left
// out. It implements Bluge's search.Similarity.
type similarity struct {
	docs   uint64
	avgLen float64
	b      float64
}

// ComputeNorm stores the length itself; 23 bits of mantissa hold any length of
// a file below 10 MiB exactly.
func (similarity) ComputeNorm(tokens int) float32 {
	return math.Float32frombits(uint32(tokens))
}

// normLength undoes [similarity.ComputeNorm].
func normLength(norm float64) int { return int(math.Float32bits(float32(norm))) }

// idf is the weight of a term that n documents have.
func (s similarity) idf(n uint64) float64 {
	d := float64(s.docs) - float64(n) + 0.5
	return math.Log1p(max(d, 0.5) / (float64(n) + 0.5))
}

// Scorer ignores Bluge's collection statistics, which count deleted copies.
func (s similarity) Scorer(boost float64, _ segment.CollectionStats, term segment.TermStats) search.Scorer {
	return s.scorer(boost, term.DocumentFrequency())
}

func (s similarity) scorer(boost float64, n uint64) scorer {
	return scorer{similarity: s, boost: boost, n: n, weight: boost * s.idf(n)}
}

// A scorer is a similarity bound to one term.
type scorer struct {
	similarity
	boost, weight float64
	n             uint64
}

func (s scorer) saturation(freq, length int) float64 {
	rel := 1.0
	if s.avgLen > 0 {
		rel = 1 - s.b + s.b*float64(length)/s.avgLen
	}
	return float64(freq) / (float64(freq) + bm25K1*rel)
}

func (s scorer) score(freq, length int) float64 { return s.weight * s.saturation(freq, length) }

// Score is Bluge's form of the formula above.
func (s scorer) Score(freq int, norm float64) float64 { return s.score(freq, normLength(norm)) }

// Explain spells the formula out.
func (s scorer) Explain(freq int, norm float64) *search.Explanation {
	length := normLength(norm)
	return search.NewExplanation(s.score(freq, length),
		fmt.Sprintf("boost × idf × tf/(tf + k1·(1−b+b·dl/avgdl)), tf=%d", freq),
		search.NewExplanation(s.boost, "boost"),
		search.NewExplanation(s.idf(s.n), "idf = ln(1 + (N−n+0.5)/(n+0.5))",
			search.NewExplanation(float64(s.docs), "N, living documents"),
			search.NewExplanation(float64(s.n), "n, those with the term")),
		search.NewExplanation(s.saturation(freq, length), "saturation",
			search.NewExplanation(bm25K1, "k1"), search.NewExplanation(s.b, "b"),
			search.NewExplanation(float64(length), "dl"), search.NewExplanation(s.avgLen, "avgdl")))
}
