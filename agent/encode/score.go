package encode

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

// weightText is written by the trainer: its first lines say how.
//
//go:embed weights.txt
var weightText string

// A model is a linear scorer of features: their weights, the bias, the slope and the offset of the
// calibration, and flag, the probability from which on a stored memory is flagged.
type model map[string]float64

var scorer = sync.OnceValue(func() model { return lexicon.Numbers(weightText) })

// score is the logarithm of the odds, before the calibration.
func (m model) score(out []feature) float64 {
	sum := m["bias"]
	for _, f := range out {
		if f.value != 0 {
			sum += m[f.name] * f.value
		}
	}
	return sum
}

// probability is the calibrated one of a score.
func (m model) probability(score float64) float64 {
	return 1 / (1 + math.Exp(-(m["slope"]*score + m["offset"])))
}

// mostReasons bounds the features that are told.
const mostReasons = 8

// why are the features that weigh most in a score, the heaviest first.
func (m model) why(v *view) []Reason {
	var out []Reason
	for _, f := range v.out {
		if weight := m["slope"] * m[f.name] * f.value; weight != 0 {
			out = append(out, Reason{Feature: f.name, Weight: weight, Words: v.wordsOf(f.name)})
		}
	}
	slices.SortStableFunc(out, func(a, b Reason) int { return cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)) })
	return out[:min(mostReasons, len(out))]
}

// wordsOf are the words that a feature is about, as far as single words are.
func (v *view) wordsOf(name string) string {
	head, rest, _ := strings.Cut(name, ".")
	if k := slices.Index(cueNames(), rest); head == "cue" || head == "best" && k >= 0 {
		for _, f := range v.n.cues {
			if k >= 0 && f.cue&(1<<k) != 0 {
				return v.n.folds(indices(f.from, f.to))
			}
		}
	}
	switch head {
	case "cover", "shared", "match":
		return v.o.folds(v.o.filter(weighty(indices(v.c.a, v.c.b), v.oW), func(i int) bool { return v.oHit[i] }))
	case "subject", "head":
		return v.o.folds(v.c.subject)
	case "newsubject":
		return v.n.folds(v.d.subject)
	}
	return ""
}

// A Sample is what the scorer sees of one clause of a stored memory beside a new one,
// for training it.
type Sample struct {
	Clause   string
	Features []string // names, the same and in the same order in every sample
	Values   []float64
}

// Samples are those of the clauses of a stored memory, in their order.
func Samples(m, stored Memory, c Corpus) []Sample {
	n, o := read(m), read(stored)
	if len(n.clauses) == 0 {
		return nil
	}
	p := pair(o, n, c)
	var out []Sample
	for _, oc := range o.clauses {
		s := Sample{Clause: o.string(oc)}
		for _, f := range p.align(oc).features().out {
			s.Features, s.Values = append(s.Features, f.name), append(s.Values, f.value)
		}
		out = append(out, s)
	}
	return out
}

// Outdated is the probability, by the scorer alone, that a new memory makes a clause of a
// stored one untrue, given as it stands there; 0 where none reads so.
func Outdated(m, stored Memory, clause string) float64 {
	n, o := read(m), read(stored)
	for _, c := range o.clauses {
		if len(n.clauses) > 0 && o.Text[c.from:c.to] == clause {
			return scorer().probability(scorer().score(pair(o, n, Corpus{}).align(c).features().out))
		}
	}
	return 0
}
