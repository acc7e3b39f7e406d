package bench

import (
	"math"
	"slices"
)

// A mark is what one question scored, or the mean of several.
type mark struct {
	Recall1  float64 `json:"recall@1"`
	Recall5  float64 `json:"recall@5"`
	Recall10 float64 `json:"recall@10"`
	Recall50 float64 `json:"recall@50"`
	Any5     float64 `json:"any@5"`
	All5     float64 `json:"all@5"`
	All10    float64 `json:"all@10"`
	NDCG5    float64 `json:"ndcg@5"`
	NDCG10   float64 `json:"ndcg@10"`
	MRR      float64 `json:"mrr"`
}

func (m *mark) values() []*float64 {
	return []*float64{&m.Recall1, &m.Recall5, &m.Recall10, &m.Recall50, &m.Any5, &m.All5, &m.All10, &m.NDCG5, &m.NDCG10,
		&m.MRR}
}

// The levels at which answers are compared.
const (
	levelTurn    = "turn"
	levelSession = "session"
	levelUser    = "lme" // sessions in which the person said it, as LongMemEval counts
)

// targets are what an answer should hold at that level; none means that the
// question takes no part.
func (g *gold) targets(level string) []string {
	switch level {
	case levelTurn:
		return g.Turns
	case levelSession:
		return g.Sessions
	}
	if g.UserSessions == nil {
		return nil
	}
	if g.TurnLabels != nil && !*g.TurnLabels {
		return g.Sessions
	}
	return g.UserSessions
}

// score compares a ranking, each thing once and best first, with the targets.
func score(ranked, targets []string, level string) mark {
	targets = slices.Compact(slices.Sorted(slices.Values(targets)))
	rel := make([]bool, len(ranked))
	m := mark{}
	for i, id := range ranked {
		_, rel[i] = slices.BinarySearch(targets, id)
		if rel[i] && m.MRR == 0 {
			m.MRR = 1 / float64(i+1)
		}
	}
	found := func(k int) float64 {
		n := 0
		for _, is := range rel[:min(k, len(rel))] {
			if is {
				n++
			}
		}
		return float64(n)
	}
	n := float64(len(targets))
	m.Recall1, m.Recall5, m.Recall10, m.Recall50 = found(1)/n, found(5)/n, found(10)/n, found(50)/n
	m.Any5, m.All5, m.All10 = truth(found(5) > 0), truth(found(5) == n), truth(found(10) == n)
	m.NDCG5, m.NDCG10 = ndcg(rel, len(targets), 5, level), ndcg(rel, len(targets), 10, level)
	return m
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ndcg is the discounted gain of the first k, as a share of the best possible.
func ndcg(rel []bool, targets, k int, level string) float64 {
	gain := func(i int) float64 {
		if level == levelUser { // LongMemEval does not discount the second
			return 1 / math.Log2(float64(max(i, 1))+1)
		}
		return 1 / math.Log2(float64(i)+2)
	}
	got, best := 0.0, 0.0
	for i := range min(k, len(rel)) {
		if rel[i] {
			got += gain(i)
		}
	}
	for i := range min(k, targets) {
		best += gain(i)
	}
	return got / best
}

// mean averages marks.
func mean(marks []mark) mark {
	var sum mark
	for _, m := range marks {
		for i, v := range m.values() {
			*sum.values()[i] += *v / float64(len(marks))
		}
	}
	return sum
}
