package place

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

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
