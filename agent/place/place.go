package place

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// A Usage says of how many memories something is true, and where those stand: by
// scope, and by category.
type Usage struct {
	Memories   int
	Scopes     map[string]int
	Categories map[string]int
}

// A Word is a word of the new text and the memories that have it in any form.
type Word struct {
	Text string
	Usage
}

// A Neighbour is a stored memory that resembles the new one.
type Neighbour struct {
	Text       string
	Importance *float64 // nil where it does not say
}

// A Note is a new memory. What is given is not asked for.
type Note struct {
	Text, Title, Kind string
	Scope             string // "" = not known; "/" is the top
	Replaces          string // the scope of the memory that it takes the place of
	Categories        []string
	Importance        *float64
	Words             []Word
	// Topics are the memories that have any word of a topic, for each of [Topics].
	Topics []Word
	Near   []Neighbour
}

// A Finding is an answer and the rule that gave it, "" for no answer.
type Finding[T any] struct {
	Value      T       `json:"value"`
	Rule       string  `json:"rule"`
	Confidence float64 `json:"confidence,omitempty"` // of importance nobody can say
}

// A Placing says where a note belongs. What was given, or is not known, has no rule.
type Placing struct {
	Scope      Finding[string]
	Categories Finding[[]string]
	Importance Finding[float64]
}

// Known is what a vault teaches. It does not change.
type Known struct {
	all        Usage
	nodes      map[string]*node // every scope in use and those above
	used       []*node          // those with memories of their own, by name
	categories []tag            // by name
	filed      int              // memories with a scope
}

// A node is a scope. Its own memories are those in it, not below.
type node struct {
	scope    string
	parent   *node // nil for the top
	own, sub int
	tags     map[string]int // of its memories and those below
	names    []string       // stems of the last segment
}

// fewest is how many memories with a scope there must be to learn from.
const fewest = 12

// Learn takes in what all memories are, and how many of each scope have which
// category.
func Learn(all Usage, tagged map[string]map[string]int) *Known {
	k := &Known{all: all, nodes: map[string]*node{}}
	for scope, n := range all.Scopes {
		at := k.node(scope)
		at.own += n
		if at.parent != nil {
			k.filed += n
		}
		for ; at != nil; at = at.parent {
			at.sub += n
		}
	}
	for scope, counts := range tagged {
		for at := k.nodes[scope]; at != nil; at = at.parent {
			for c, n := range counts {
				at.tags[c] += n
			}
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(k.nodes)) {
		if n := k.nodes[scope]; n.own > 0 {
			k.used = append(k.used, n)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(all.Categories)) {
		names := stems(wordsOf(c))
		k.categories = append(k.categories, tag{c, names, ways()[strings.Join(names, " ")]})
	}
	return k
}

// node is that of a scope, which is made with those above it at its first mention.
func (k *Known) node(scope string) *node {
	if n, ok := k.nodes[scope]; ok {
		return n
	}
	n := &node{scope: scope, tags: map[string]int{}}
	k.nodes[scope] = n
	if scope != top {
		i := strings.LastIndexByte(scope, '/')
		n.parent = k.node(scope[:max(i, 1)])
		n.names = stems(wordsOf(scope[i+1:]))
	}
	return n
}

const top = "/"

// Place says where a note belongs. Of a vault that is too small to learn from it says
// nothing but how much matters what speaks for itself.
func (k *Known) Place(n Note) Placing {
	var p Placing
	t := newText(n)
	if k.filed < fewest {
		if n.Importance == nil {
			p.Importance = t.importance(nil, nil, plain)
		}
		return p
	}
	signs := k.signs(t)
	scope, tags := n.Scope, n.Categories
	if scope == "" {
		if n := k.nodes[n.Replaces]; n != nil && n.parent != nil {
			p.Scope = Finding[string]{n.scope, "scope-replaced@1", 1}
		} else {
			p.Scope = k.scope(t, signs)
		}
		scope = p.Scope.Value
	}
	if len(tags) == 0 {
		p.Categories = k.tags(t, signs, scope)
		tags = p.Categories.Value
	}
	if n.Importance == nil {
		p.Importance = t.importance(tags, n.Near, apart)
	}
	return p
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func hundredths(x float64) float64 { return math.Round(x*100) / 100 }
