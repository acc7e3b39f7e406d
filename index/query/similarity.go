package query

import (
	"math"

	"stet/index/document"
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
// out.
type similarity document.FieldStat

// idf is the weight of a term that n documents have.
func (s similarity) idf(n uint64) float64 {
	d := float64(s.Docs) - float64(n) + 0.5
	return math.Log1p(max(d, 0.5) / (float64(n) + 0.5))
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

func (s scorer) score(freq, length int) float64 {
	rel := 1.0
	if s.AvgLen > 0 {
		rel = 1 - bm25B + bm25B*float64(length)/s.AvgLen
	}
	return s.weight * (float64(freq) / (float64(freq) + bm25K1*rel))
}
