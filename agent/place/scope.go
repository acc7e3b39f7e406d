package place

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

// These and the constants of the other files were tuned on testdata/seeds.jsonl, each
// left out in turn, and testdata/tune.jsonl.
const (
	// smoothing is how many memories the scopes above count for beside those of one.
	smoothing = 6.0
	// prior is how much it counts that a scope is in frequent use.
	prior = 0.3
	// topicWeight is what a topic counts beside a word.
	topicWeight = 2.0
	// A word or topic speaks for a scope when it makes that one so many times as likely.
	// Several must: a single one may have another meaning.
	speaksFor = 5.0
	several   = 2
	// sureScope is the confidence that a scope needs: what is in one project is compared with
	// nothing outside, and a wrong folder is further away than none.
	sureScope = 0.95
)

// scope is the deepest scope that a text is likely enough to belong to.
func (k *Known) scope(t *text, signs []sign) Finding[string] {
	score, best := make([]float64, len(k.used)), 0
	for i, n := range k.used {
		if score[i] = k.fit(t, n, signs); score[i] > score[best] {
			best = i
		}
	}
	likely := map[*node]float64{}
	for i, n := range k.used {
		for at := n; at != nil; at = at.parent {
			likely[at] += math.Exp(score[i] - score[best])
		}
	}
	for n := k.used[best]; n.parent != nil; n = n.parent {
		if p := likely[n] / likely[k.nodes[top]]; p >= sureScope && k.evident(t, n, signs) {
			return Finding[string]{n.scope, "scope-words@1", hundredths(p)}
		}
	}
	return Finding[string]{Value: top}
}

func (t *text) hasAll(stems []string) bool {
	return !slices.ContainsFunc(stems, func(s string) bool { return !slices.Contains(t.stems, s) })
}

// A sign is a word or a topic of the text and where memories have it.
type sign struct {
	Usage
	sub    map[*node]int // of each scope with those below
	weight float64
	topic  string // "" for a word
}

func (k *Known) signs(t *text) []sign {
	var out []sign
	add := func(s sign) {
		if s.Memories == 0 || s.Memories > k.all.Memories {
			return
		}
		s.sub = map[*node]int{}
		for scope, n := range s.Scopes {
			for at := k.nodes[scope]; at != nil; at = at.parent {
				s.sub[at] += n
			}
		}
		out = append(out, s)
	}
	for _, w := range t.note.Words {
		add(sign{Usage: w.Usage, weight: weight(w.Text)})
	}
	for _, w := range t.note.Topics {
		if sure, ok := t.subjects[w.Text]; ok {
			add(sign{Usage: w.Usage, weight: topicWeight * sure, topic: w.Text})
		}
	}
	return out
}

// fit is the logarithm of how well a text fits among the memories of a scope.
func (k *Known) fit(t *text, n *node, signs []sign) float64 {
	sum := prior * math.Log(float64(n.own)+1)
	for _, s := range signs {
		sum += s.weight * math.Log((float64(s.Scopes[n.scope])+smoothing*k.chance(n, s))/(float64(n.own)+smoothing)/k.base(s))
	}
	for at := n; at != nil; at = at.parent {
		sum += t.called(at.names)
	}
	return sum
}

// chance is how often the memories of a scope and below have a word.
func (k *Known) chance(n *node, s sign) float64 {
	if n.parent == nil {
		return k.base(s)
	}
	return (float64(s.sub[n]) + smoothing*k.chance(n.parent, s)) / (float64(n.sub) + smoothing)
}

// base is how often memories have a word.
func (k *Known) base(s sign) float64 {
	return (float64(s.Memories) + 0.5) / (float64(k.all.Memories) + 1)
}

// speaks reports whether a memory with a word is much more likely in a scope than any.
func (k *Known) speaks(s sign, n *node) bool {
	with, all := float64(s.sub[n]), float64(s.Memories)
	in, out := float64(n.sub), float64(k.all.Memories-n.sub)
	return with > 0 && (with+0.5)/(all-with+0.5)*(out+0.5)/(in+0.5) >= speaksFor
}

// evident reports whether there is more to it than chance: the name of the scope, or
// several words and topics that speak for it, or that it is named after.
func (k *Known) evident(t *text, n *node, signs []sign) bool {
	if t.hasAll(n.names) && !slices.ContainsFunc(n.names, func(s string) bool { return weight(s) < 1 }) {
		return true
	}
	speak := 0
	for _, s := range signs {
		if (s.topic != "" || s.weight == 1) && k.speaks(s, n) {
			speak++
		}
	}
	for _, name := range n.names {
		if slices.ContainsFunc(subjects()[name], func(of string) bool { return t.subjects[of] > 0 }) {
			speak++
		}
	}
	return speak >= several
}

const (
	mostTags = 3
	// sureTag is the confidence that a category needs: in a small vault, where much is
	// about as likely, wrong ones are worse than none.
	sureTag = 0.6
	// tagSmoothing is how many memories the whole vault counts for beside a scope.
	tagSmoothing = 8.0
	// wordHeat and topicHeat are less than one, as words that belong together count
	// several times.
	wordHeat  = 0.4
	topicHeat = 0.1
	// tagNamed is what the name of a category counts beside that of a scope.
	tagNamed = 0.15
	// What it counts that a text is spoken, or not, in the way of a category.
	spoken = 1.8
	silent = -2.0
)

// A tag is a category.
type tag struct {
	name  string
	names []string // stems of its words
	way   []string // the phrases in which it is spoken of, nil where nobody knows
}

// tags are the categories that a text is likely to have, the likeliest first.
func (k *Known) tags(t *text, signs []sign, scope string) Finding[[]string] {
	type tagged struct {
		name string
		p    float64
	}
	var all []tagged
	for _, c := range k.categories {
		if p := k.likely(t, signs, c, k.nodes[scope]); p >= sureTag {
			all = append(all, tagged{c.name, p})
		}
	}
	if len(all) == 0 {
		return Finding[[]string]{}
	}
	slices.SortFunc(all, func(a, b tagged) int { return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.name, b.name)) })
	f := Finding[[]string]{Rule: "category-words@1", Confidence: hundredths(all[0].p)}
	for _, c := range all[:min(mostTags, len(all))] {
		f.Value = append(f.Value, c.name)
	}
	return f
}

// likely is how likely a text of a scope has a category that some memories have.
func (k *Known) likely(t *text, signs []sign, c tag, n *node) float64 {
	has, all := float64(k.all.Categories[c.name]), float64(k.all.Memories)
	some, around := 0.0, 0.0
	if n != nil && n.parent != nil {
		some, around = float64(n.tags[c.name]), float64(n.sub)
	}
	before := (some + tagSmoothing*(has+0.5)/(all+1)) / (around + tagSmoothing)
	sum := math.Log(before / (1 - before))
	for _, s := range signs {
		base := k.base(s)
		with := (float64(s.Categories[c.name]) + tagSmoothing*base) / (has + tagSmoothing)
		without := (float64(s.Memories-s.Categories[c.name]) + tagSmoothing*base) / (all - has + tagSmoothing)
		heat := wordHeat * s.weight
		if s.topic != "" {
			heat = topicHeat
		}
		sum += heat * math.Log(with/without)
	}
	sum += tagNamed * t.called(c.names)
	switch {
	case c.way == nil:
	case t.says(c.way):
		sum += spoken
	default:
		sum += silent
	}
	return sigmoid(sum)
}

// ways maps names of categories, as stems, to the phrases in which they are spoken of: what
// is a rule or a date to keep shows in the form of a sentence, whatever it is about.
var ways = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, e := range lexicon.Entries("way") {
		for name := range strings.SplitSeq(e.Head, ",") {
			out[strings.Join(stems(wordsOf(name)), " ")] = e.Words
		}
	}
	return out
})
