package place

import (
	"cmp"
	"math"
	"slices"
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

// tags are the categories that a text is likely to have, the likeliest first.
func (k *Known) tags(t *text, signs []sign, scope string) Finding[[]string] {
	type likely struct {
		name string
		p    float64
	}
	var all []likely
	under, sub := k.under(scope)
	for _, c := range k.categories {
		if p := k.likely(t, signs, c, under[c.name], sub); p >= sureTag {
			all = append(all, likely{c.name, p})
		}
	}
	if len(all) == 0 {
		return Finding[[]string]{}
	}
	slices.SortFunc(all, func(a, b likely) int { return cmp.Or(cmp.Compare(b.p, a.p), cmp.Compare(a.name, b.name)) })
	f := Finding[[]string]{Rule: "category-words@1", Confidence: hundredths(all[0].p)}
	for _, c := range all[:min(mostTags, len(all))] {
		f.Value = append(f.Value, c.name)
	}
	return f
}

// under counts the memories of a scope and below, and those of them with each
// category; none where the scope says nothing.
func (k *Known) under(scope string) (tags map[string]int, all int) {
	n := k.nodes[scope]
	if n == nil || n.parent == nil {
		return nil, 0
	}
	tags = map[string]int{}
	for s, counts := range k.tagged {
		if at := k.nodes[s]; at != nil && at.in(n) {
			for c, m := range counts {
				tags[c] += m
			}
		}
	}
	return tags, n.sub
}

func (n *node) in(other *node) bool {
	for ; n != nil; n = n.parent {
		if n == other {
			return true
		}
	}
	return false
}

// likely is how likely a text has a category that some of the memories around have.
func (k *Known) likely(t *text, signs []sign, c tag, some, around int) float64 {
	has, all := float64(k.all.Categories[c.name]), float64(k.all.Memories)
	before := (float64(some) + tagSmoothing*(has+0.5)/(all+1)) / (float64(around) + tagSmoothing)
	sum := math.Log(before / (1 - before))
	for _, s := range signs {
		base := k.base(s)
		with := (float64(s.Categories[c.name]) + tagSmoothing*base) / (has + tagSmoothing)
		without := (float64(s.Memories-s.Categories[c.name]) + tagSmoothing*base) / (all - has + tagSmoothing)
		heat := wordHeat * s.weight
		if s.topic {
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
