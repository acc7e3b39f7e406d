package encode

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// A reader has read the new memory and remembers what it read of each stored one.
type reader struct {
	*Reader
	n      *reading
	claims []*claim         // of the clauses of n, nil for none that can prove something
	owned  map[string][]int // claims that say whom they are about, by that
	corpus Corpus
	olds   []*stored
	given  map[string]values // of the claims of olds in one place, by what they have in common; nil before it is needed
	cut    int               // see [Plan.Cut]
}

// mostFlags bounds how many stored memories one new one may flag.
const mostFlags = 3

// A Reader decides about one new memory after the other. The stored ones that notes of one call are held against
// are much the same, so it keeps what it read of them. The zero value is ready; not for concurrent use.
type Reader struct {
	read, before map[Memory]*stored // before are those that read took the place of
	words        int                // of read
	work         work
}

// mostWords bounds the words of read and of before: of what a Reader keeps a word takes up to 260 bytes.
const mostWords = 100_000

// Decide is [Reader.Decide] of one memory alone.
func Decide(m Memory, have []Memory, c Corpus) Plan { return new(Reader).Decide(m, have, c) }

// Decide says what becomes of m beside the stored memories. Their order does not
// matter. A stored memory with the id of m is not looked at. The corpus says how rare
// the words are that two memories share.
func (k *Reader) Decide(m Memory, have []Memory, c Corpus) Plan {
	large := ""
	if len(m.Text) > maxText {
		large, m.Text = m.Text, ""
	}
	k.work.grant()
	r := &reader{Reader: k, n: k.all([]Memory{m})[0].reading, corpus: c}
	r.claims, r.owned = r.n.proving(), map[string][]int{}
	for i, c := range r.claims {
		if c != nil && c.owner != "" {
			r.owned[c.owner] = append(r.owned[c.owner], i)
		}
	}
	var plan Plan
	have = slices.DeleteFunc(slices.Clone(have), func(s Memory) bool { return s.ID == m.ID && m.ID != "" })
	if large == "" {
		r.olds = k.all(have)
	}
	for i, s := range have {
		var d *Verdict
		switch {
		case large == "" && r.olds[i] != nil:
			d = duplicate(r.n, r.olds[i].reading)
		case s.Text == large && s.Title == m.Title:
			d = &Verdict{Kind: Duplicate, Rule: ruleSame, Confidence: 1}
		}
		if d != nil {
			d.Old = s.ID
			if plan.Duplicate == nil || better(*d, *plan.Duplicate) {
				plan.Duplicate = d
			}
		}
	}
	if plan.Duplicate != nil {
		return plan
	}
	r.olds = slices.DeleteFunc(r.olds, func(o *stored) bool { return o == nil })
	plan.Verdicts = r.verdicts()
	plan.Cut = r.cut
	return plan
}

// all reads what is not too large and was not read before, on all processors; nil for what is too large.
func (k *Reader) all(list []Memory) []*stored {
	var next atomic.Int32
	var wg sync.WaitGroup
	out := make([]*stored, len(list))
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				if out[i] = cmp.Or(k.read[list[i]], k.before[list[i]]); out[i] == nil && len(list[i].Text) <= maxText {
					out[i] = settle(read(list[i]))
				}
			}
		})
	}
	wg.Wait()
	for i, o := range out {
		if o == nil || k.read[list[i]] != nil {
			continue
		}
		if k.words += len(o.words); k.read == nil || k.words > mostWords {
			k.before, k.read, k.words = k.read, map[Memory]*stored{}, len(o.words)
		}
		k.read[list[i]] = o
	}
	return out
}

func settle(r *reading) *stored {
	o := &stored{reading: r}
	for _, c := range o.clauses[:min(len(o.clauses), maxClauses)] {
		o.claims = append(o.claims, o.claim(c).settled())
	}
	return o
}

// proving are the claims of a new memory; none where it asks, supposes or quotes.
func (r *reading) proving() []*claim {
	if r.all&(cueAsk|cueMaybe|cueSaid) != 0 || strings.ContainsAny(r.Text, "\"“”„«»?") {
		return nil
	}
	var out []*claim
	for _, c := range r.clauses {
		out = append(out, r.claim(c))
	}
	return out
}

// better orders verdicts: the surer first, then by id, so that the order in which
// memories are stored does not decide.
func better(a, b Verdict) bool {
	if a.Confidence != b.Confidence {
		return a.Confidence > b.Confidence
	}
	return a.Old < b.Old
}

func (r *reader) verdicts() []Verdict {
	var out, flags []Verdict
	var others float64
	compared := 0
	for _, o := range r.olds {
		compared += len(o.clauses)
		v, rest := r.judge(o)
		others += rest
		switch {
		case v == nil:
		case v.Kind == Flag:
			flags = append(flags, *v)
		default:
			out = append(out, *v)
		}
	}
	sortFlags(flags)
	flags = slices.DeleteFunc(rivals(flags, others, compared*len(r.n.clauses)), func(v Verdict) bool { return v.Confidence < scorer()["flag"] })
	sortFlags(flags)
	out = append(out, flags[:min(mostFlags, len(flags))]...)
	slices.SortFunc(out, func(a, b Verdict) int { return cmp.Compare(a.Old, b.Old) })
	return out
}

func sortFlags(flags []Verdict) {
	slices.SortFunc(flags, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Old, b.Old))
	})
}

// rivals lowers the probabilities of what the scorer found, the likeliest first, where much of
// what is stored looks alike to it: one new memory outdates little, so that all that it was held
// against share what is likely, and the more that is the farther the first ones have to be ahead.
// others are the odds of the clauses that are not the likeliest of their memory.
func rivals(flags []Verdict, others float64, compared int) []Verdict {
	for _, v := range flags[min(mostFlags, len(flags)):] {
		if v.Rule == ruleScorer {
			others += min(odds(v.Confidence), mostOdds)
		}
	}
	others = max(0, others-freeOdds) + comparedOdds*float64(compared)
	for i := range flags {
		if v := &flags[i]; v.Rule == ruleScorer {
			v.Confidence = odds(v.Confidence) / (1 + odds(v.Confidence) + others)
		}
	}
	return flags
}

// judge says what the new memory makes of a stored one, nil for nothing, and the odds of its
// clauses but the likeliest.
func (r *reader) judge(o *stored) (v *Verdict, others float64) {
	if len(o.clauses) > maxClauses || len(r.n.clauses) > maxClauses || len(o.words)*len(r.n.words) > maxPairs {
		return nil, 0
	}
	if v := r.proven(o); v != nil {
		return v, 0
	}
	if older(r.n, o.reading) || len(r.n.clauses) == 0 {
		return nil, 0
	}
	if !r.work.spend(r.n, o.reading) {
		r.cut++
		return nil, 0
	}
	if v := r.denied(o.reading); v != nil {
		return v, 0
	}
	v, others = r.likely(o.reading)
	if v == nil || v.Confidence < scorer()["flag"] {
		v = cmp.Or(r.likened(o), v)
	}
	return v, others
}

// likenedAt is the probability of what [claim.likens] finds.
const likenedAt = 0.8

// likened flags a stored memory by the form of two claims, or by "no longer" beside its
// very words. It is no narrower one that speaks of a wider one.
func (r *reader) likened(o *stored) *Verdict {
	if !within(o.Scope, r.n.Scope) {
		return nil
	}
	for i, d := range r.n.clauses {
		for k, c := range o.clauses {
			if c.cues&(cueOnce|cuePast|cueMaybe|cueAsk) != 0 || !r.rivals(d, o.reading, c) &&
				(len(r.claims) == 0 || !r.ends(d, o.reading, c) &&
					(r.claims[i] == nil || !r.claims[i].likens(o.claims[k]) && !r.claims[i].displaces(o.stems(c), o.isSelf(c.subject)))) {
				continue
			}
			said := r.n.string(d)
			why := []Reason{{Feature: ruleRestated, Words: said}}
			return &Verdict{Kind: Flag, Old: o.ID, Rule: ruleRestated, Confidence: likenedAt, Said: said, Was: o.string(c), Why: why}
		}
	}
	return nil
}

// mostInstead is how many words a thing has that stands in front of "instead of".
const mostInstead = 3

// ends reports whether a clause says what a stored one says, but that it is so no longer, or
// that something else is "instead of" it.
func (r *reader) ends(d *clause, o *reading, c *clause) bool {
	if d.cues&(cueGone|cueInstead) == 0 || c.cues&(cueGone|cueInstead) != 0 {
		return false
	}
	same := func(but ...int) bool {
		return o.proposition([]*clause{c}).equals(r.n.proposition([]*clause{d}, but...))
	}
	for _, f := range r.n.cues {
		if f.from < d.a || f.to > d.b {
			continue
		}
		if f.cue&cueGone != 0 && same(f.from, f.to-1) {
			return true
		}
		for k := 1; f.cue&cueInstead != 0 && k <= mostInstead && f.from-k > d.a; k++ {
			if same(indices(f.from-k, f.to)...) {
				return true
			}
		}
	}
	return false
}

// older reports whether what is new here was true before what is stored.
func older(n, o *reading) bool {
	return !n.When.IsZero() && !o.When.IsZero() && n.When.Before(o.When)
}

// denied is a conflict: one clause says what the other denies, in the same words.
func (r *reader) denied(o *reading) *Verdict {
	if !sameScope(r.n.Scope, o.Scope) {
		return nil
	}
	const unsure = cueAsk | cueMaybe | cuePlan | cueSaid | cueOnce | cuePast | cueExcept
	for i, d := range r.n.clauses {
		for k, c := range o.clauses {
			if (c.cues|d.cues)&unsure != 0 || !r.n.single()[i].denies(o.single()[k]) {
				continue
			}
			return &Verdict{Kind: Conflict, Old: o.ID, Rule: ruleNegation, Confidence: 0.8, Said: r.n.string(d), Was: o.string(c)}
		}
	}
	return nil
}

// longTexts is how many clauses two texts have together from which on some of them are alike
// by chance: then a sign that one takes the place of the other is asked for.
const longTexts = 10

// likely is the clause of a stored memory that the scorer takes for untrue now sooner than
// the others, whose odds it adds to what others have.
func (r *reader) likely(o *reading) (*Verdict, float64) {
	m := scorer()
	p := pair(o, r.n, r.corpus)
	var best *view
	var most, sum float64
	long := len(o.clauses)+len(r.n.clauses) > longTexts
	for _, c := range o.clauses {
		v := p.align(c)
		if (c.cues|v.d.cues)&cueAsk != 0 || c.verb >= c.b && o.weight(c) < 2 || long && !v.signed() ||
			v.features().confirmed() {
			continue // a question, a heading, one of many things said, or what is said again
		}
		s := m.score(v.out)
		sum += min(odds(m.probability(s)), mostOdds)
		if best == nil || s > most {
			best, most = v, s
		}
	}
	if best == nil {
		return nil, 0
	}
	p1 := m.probability(most)
	v := &Verdict{Kind: Flag, Old: o.ID, Rule: ruleScorer, Confidence: p1, Said: r.n.string(best.d), Was: o.string(best.c)}
	if p1 >= m["flag"] { // else nobody hears of it
		v.Why = m.why(best)
	}
	return v, sum - min(odds(p1), mostOdds)
}

// odds of a probability; of one that is rounded to 1 they are still finite.
func odds(p float64) float64 { return p / max(1-p, 1e-9) }

// What rivals count for: at most mostOdds each, and nothing before they have freeOdds
// together, for a memory may outdate several things; each two clauses that are compared count
// for comparedOdds.
const (
	mostOdds     = 2
	freeOdds     = 4
	comparedOdds = 0.005
)

// weight is how much the words of a clause say.
func (r *reading) weight(c *clause) (sum float64) {
	for _, w := range r.words[c.a:c.b] {
		sum += w.weight
	}
	return sum
}
