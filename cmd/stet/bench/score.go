package bench

import (
	"math"
	"slices"
)

// A mark is what one question scored.
type mark struct {
	recall1, recall5, recall10, recall50 float64
	hit5, all5, all10                    float64
	ndcg5, ndcg10, mrr                   float64
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
		if rel[i] && m.mrr == 0 {
			m.mrr = 1 / float64(i+1)
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
	m.recall1, m.recall5, m.recall10, m.recall50 = found(1)/n, found(5)/n, found(10)/n, found(50)/n
	m.hit5, m.all5, m.all10 = truth(found(5) > 0), truth(found(5) == n), truth(found(10) == n)
	m.ndcg5, m.ndcg10 = ndcg(rel, len(targets), 5, level), ndcg(rel, len(targets), 10, level)
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
	n := float64(len(marks))
	if n == 0 {
		return sum
	}
	for _, m := range marks {
		sum.recall1 += m.recall1 / n
		sum.recall5 += m.recall5 / n
		sum.recall10 += m.recall10 / n
		sum.recall50 += m.recall50 / n
		sum.hit5 += m.hit5 / n
		sum.all5 += m.all5 / n
		sum.all10 += m.all10 / n
		sum.ndcg5 += m.ndcg5 / n
		sum.ndcg10 += m.ndcg10 / n
		sum.mrr += m.mrr / n
	}
	return sum
}
