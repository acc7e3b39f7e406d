package place

import (
	"cmp"
	"math"
	"slices"
)

// These and the constants of the other files were tuned on testdata/seeds.jsonl, each
// left out in turn, and testdata/tune.jsonl.
const (
	// smoothing is how many memories the scopes above count for beside those of one.
	smoothing = 6.0
	// prior is how much it counts that a scope is in frequent use.
	prior = 0.3
	// named is what it counts that a text has the name of a scope, and kindred that it
	// is of the subject that the scope is named after.
	named   = 2.2
	kindred = 8.0
	// topicWeight is what a topic counts beside a word.
	topicWeight = 2.0
	// A word or topic speaks for a scope when it makes that one so many times as likely.
	// Several words must, or this part of those that tell something: a single one may
	// have another meaning.
	speaksFor = 5.0
	several   = 2
	part      = 0.3
	// sureScope is the confidence that a scope needs.
	sureScope = 0.9
	// sureProject is that of a single project that the text does not name: what is in
	// one is compared with nothing outside.
	sureProject = 0.95
	projects    = "/projects"
)

// scope is the deepest scope that a text is likely enough to belong to.
func (k *Known) scope(t *text, signs []sign) Finding[string] {
	score := map[string]float64{}
	var list []string
	most := math.Inf(-1)
	for _, s := range k.scopes {
		if n := k.nodes[s]; n.own > 0 {
			score[s] = k.fit(t, n, signs)
			list = append(list, s)
			most = max(most, score[s])
		}
	}
	likely, sum := map[string]float64{}, 0.0
	for _, s := range list {
		p := math.Exp(score[s] - most)
		sum += p
		for n := k.nodes[s]; n != nil; n = n.parent {
			likely[n.scope] += p
		}
	}
	best := slices.MaxFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(score[a], score[b]), cmp.Compare(b, a)) })
	for n := k.nodes[best]; n.parent != nil; n = n.parent {
		if p := likely[n.scope] / sum; p >= t.sureEnough(n) && k.evident(t, n, signs) {
			return Finding[string]{n.scope, "scope-words@1", hundredths(p)}
		}
	}
	return Finding[string]{Value: top}
}

// sureEnough is the confidence that a scope needs.
func (t *text) sureEnough(n *node) float64 {
	for at := n; at.parent != nil; at = at.parent {
		if at.parent.scope == projects && slices.ContainsFunc(at.names, func(s string) bool { return !slices.Contains(t.stems, s) }) {
			return sureProject
		}
	}
	return sureScope
}

// A sign is a word or a topic of the text and where memories have it.
type sign struct {
	Usage
	sub    map[string]int // of each scope with those below
	weight float64
	topic  bool
	text   string // the word, or the name of the topic
}

func (k *Known) signs(t *text) []sign {
	var out []sign
	add := func(w Word, weight float64, topic bool) {
		if w.Memories == 0 || w.Memories > k.all.Memories {
			return
		}
		s := sign{Usage: w.Usage, sub: map[string]int{}, weight: weight, topic: topic, text: w.Text}
		for scope, n := range w.Scopes {
			for at := k.nodes[scope]; at != nil; at = at.parent {
				s.sub[at.scope] += n
			}
		}
		out = append(out, s)
	}
	for _, w := range t.note.Words {
		add(w, weight(w.Text), false)
	}
	for _, w := range t.note.Topics {
		for _, s := range t.subjects {
			if s.name == w.Text {
				add(w, topicWeight*s.sure, true)
			}
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
	return (float64(s.sub[n.scope]) + smoothing*k.chance(n.parent, s)) / (float64(n.sub) + smoothing)
}

// base is how often memories have a word.
func (k *Known) base(s sign) float64 {
	return (float64(s.Memories) + 0.5) / (float64(k.all.Memories) + 1)
}

// odds is how much more likely a memory with a word is in a scope than any memory.
func (k *Known) odds(n *node, s sign) float64 {
	with, all := float64(s.sub[n.scope]), float64(s.Memories)
	in, out := float64(n.sub), float64(k.all.Memories-n.sub)
	return (with + 0.5) / (all - with + 0.5) * (out + 0.5) / (in + 0.5)
}

// evident reports whether there is more to it than chance: the name of the scope, or
// several words that speak for it.
func (k *Known) evident(t *text, n *node, signs []sign) bool {
	if !slices.ContainsFunc(n.names, func(s string) bool { return weight(s) < 1 || !slices.Contains(t.stems, s) }) {
		return true
	}
	speak, all := 0, 0
	for i, s := range t.stems {
		if weight(s) < 1 || slices.Contains(t.stems[:i], s) {
			continue
		}
		all++
		if k.speaks(t, n, signs, i) {
			speak++
		}
	}
	return speak >= several || speak > 0 && float64(speak) >= part*float64(all)
}

// speaks reports whether a word of the text speaks for a scope: by itself, or as one
// of a topic that does or that the scope is named after.
func (k *Known) speaks(t *text, n *node, signs []sign, word int) bool {
	has := func(s subject, stem string) bool {
		_, ok := slices.BinarySearch(s.stems, stem)
		return ok
	}
	of := map[string]bool{} // the topics of the word
	for _, s := range t.subjects {
		if has(s, t.stems[word]) {
			of[s.name] = true
			if slices.ContainsFunc(n.names, func(name string) bool { return has(s, name) }) {
				return true
			}
		}
	}
	return slices.ContainsFunc(signs, func(s sign) bool {
		mine := s.topic && of[s.text] || !s.topic && s.text == t.folds[word]
		return mine && s.sub[n.scope] > 0 && k.odds(n, s) >= speaksFor
	})
}
