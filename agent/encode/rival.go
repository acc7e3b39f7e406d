package encode

import (
	"slices"
	"sync"

	"stet/templates/lexicon"
)

// rivalWords bound, at least and at most, the words of two sentences that are equal but for one value.
const rivalFew, rivalMany = 3, 12

// rivals reports whether two clauses are equal but for one value of a kind that has one at a time: "Deploys run on
// Tuesday", "Deploys run on Thursday"; and the number at the end, behind the name of an attribute.
func (r *reader) rivals(d *clause, o *reading, c *clause) bool {
	a, b := r.n.words[d.a:d.b], o.words[c.a:c.b]
	if len(a) != len(b) || len(a) < rivalFew || len(a) > rivalMany ||
		(d.cues|c.cues)&(cueAlso|cueExcept|cueOnce|cuePast|cueMaybe|cueAsk|cuePlan|cueSaid) != 0 {
		return false
	}
	at := -1
	for i := range a {
		if a[i].fold == b[i].fold {
			continue
		}
		if at >= 0 {
			return false
		}
		at = i
	}
	if at < 1 {
		return false
	}
	if a[at].number && b[at].number {
		return at == len(a)-1 && a[at-1].class&single != 0
	}
	return slices.ContainsFunc(rivalKinds()[a[at].fold], func(kind string) bool {
		return slices.Contains(rivalKinds()[b[at].fold], kind)
	})
}

var rivalKinds = sync.OnceValue(func() map[string][]string { return lexicon.Groups("rival") })
