package encode

import (
	"slices"
	"strings"
	"sync"
)

// contradiction judges two clauses without a slot: one denies what the other says,
// says its opposite, or says the same of another number. None of it is sure.
func contradiction(n, o *clause) *Verdict {
	nat, nneg := n.negated()
	oat, oneg := o.negated()
	switch {
	case nneg != oneg && negations(n)+negations(o) > 1:
		return nil // two that seem to cancel each other
	case nneg && !oneg && !n.outright(nat), oneg && !nneg && !o.outright(oat):
		return nil
	case nneg && !oneg:
		return denies(n, nat, o)
	case oneg && !nneg:
		return denies(o, oat, n)
	}
	if v := antonym(n, o); v != nil {
		return v
	}
	return otherValue(n, o)
}

// denies compares what a negated clause denies with what another one says.
func denies(no *clause, at int, yes *clause) *Verdict {
	if k, who := neverAt(no.words); k >= 0 && who != "" {
		return undone(no, yes)
	}
	denied := upToBreak(no.words[at+1:])
	if againsts()[no.words[at].fold] {
		denied = no.words[at:]
		if len(denied) > 1 {
			denied = denied[1:]
		}
	}
	q, s := stems(denied), stems(yes.words)
	if len(q) == 0 || momentary(no) || momentary(yes) || verbal(no.words[at].fold) && !slices.Contains(s, what(denied)) {
		return nil
	}
	shared := 0
	for _, w := range q {
		if slices.Contains(s, w) {
			shared++
		}
	}
	a, b := ownerOf(no.subject), ownerOf(yes.subject)
	part := float64(shared) / float64(len(q))
	vq, vs := values(denied), values(yes.rest())
	switch {
	case len(vq) > 0 && len(vs) > 0 && !slices.ContainsFunc(vq, func(v string) bool { return slices.Contains(vs, v) }):
		return nil // of another thing
	case shared == 1 && (a == "" || phrasal(no.words[at].fold)), bare(yes) && bare(no):
		return nil // "passes without issues" says nothing about other issues
	case a == b && part == 1 && (shared >= 2 || len(stems(yes.rest())) <= 2):
		return conflict(ruleNegation, 0.75)
	case shared >= 2 && part > 0.6 && sameOwner(a, b):
		return conflict(ruleNegation, 0.75)
	case shared >= 2 && part >= 0.5 && sameOwner(a, b):
		return conflict(ruleNegation, 0.6)
	}
	return nil
}

// outright reports whether the negation at words[at] denies what the clause as a
// whole says, and not what it only mentions: "an error that says it is not there",
// "worried about not sleeping", "set up to avoid noise".
func (c *clause) outright(at int) bool {
	if at < 0 || c.verb < 0 || at <= c.verb+1 {
		return true
	}
	between := c.words[c.verb+1 : at]
	if !english(c.words[at].fold) {
		return true
	}
	for _, w := range between {
		if conjunctions()[w.fold] || mentions()[w.fold] || w.comma {
			return false
		}
	}
	last := between[len(between)-1]
	return !againsts()[c.words[at].fold] && !(c.words[at].fold == "not" && !auxiliary(last) && !endsIn(last, "ly"))
}

// english reports whether a negation stands in front of what it denies.
func english(w string) bool {
	return w == "not" || w == "never" || w == "cannot" || strings.HasSuffix(w, "n't") || againsts()[w]
}

// mentions begin what a clause only mentions.
var mentions = sync.OnceValue(func() map[string]bool {
	return set(`that who which when where why how because since if whether case about i he she it we they says say said`)
})

// verbal negations deny the verb behind them, which must then be what the other
// clause says: to know nothing of a thing denies nothing of it.
func verbal(w string) bool {
	return w == "not" || w == "never" || w == "cannot" || strings.HasSuffix(w, "n't")
}

// what is the stem of the first word that says something.
func what(denied []word) string {
	for _, w := range denied {
		if w.content() && !endsIn(w, "ly") && !adverbs()[w.fold] {
			return w.stem
		}
	}
	return ""
}

// momentary reports whether a clause tells of what somebody meets at the moment of
// speaking: "I'm still seeing errors".
func momentary(c *clause) bool {
	for i, w := range c.words {
		if i > 0 && endsIn(w, "ing") && moments()[w.fold] && slices.ContainsFunc(c.words[:i], func(w word) bool { return beings()[w.fold] }) {
			return true
		}
	}
	return false
}

var moments = sync.OnceValue(func() map[string]bool {
	return set(`seeing getting having encountering experiencing noticing facing hitting running feeling dealing`)
})

// phrasal negations deny a phrase, not what the clause says.
func phrasal(w string) bool {
	return w == "without" || w == "no" || w == "ohne" || w == "sans" || w == "sin" || w == "senza"
}

// undone compares "have never done it" with the very deed. Whatever else somebody
// did [rebuttals] looks for.
func undone(no, yes *clause) *Verdict {
	for _, d := range denied(no.words, nil) {
		for _, e := range done(yes.words, "") {
			if slices.Contains(d.verbs, e.verb) && belied(d, e) == 1 {
				return conflict(ruleNegation, 0.75)
			}
		}
	}
	return nil
}

// antonym compares two clauses that differ in a pair of opposites and in nothing
// else that matters.
func antonym(n, o *clause) *Verdict {
	a, b := sequence(n), sequence(o)
	onlyA, onlyB := except(a, b), except(b, a)
	if len(onlyA) == 0 || len(onlyA) > 2 || len(onlyB) == 0 || len(onlyB) > 2 || ownerOf(n.subject) != ownerOf(o.subject) || len(a) == len(onlyA) && ownerOf(n.subject) == "" {
		return nil
	}
	found := slices.ContainsFunc(onlyA, func(x string) bool {
		return slices.ContainsFunc(onlyB, func(y string) bool { return opposite(x, y) })
	})
	if !found || len(onlyA)+len(onlyB) > 3 {
		return nil
	}
	return conflict(ruleAntonym, 0.75)
}

// otherValue compares two clauses that say the same but for one number, date or day
// behind the verb.
func otherValue(n, o *clause) *Verdict {
	if n.verb < 0 || o.verb < 0 || ownerOf(n.subject) != ownerOf(o.subject) || len(stems(n.subject)) == 0 && !loose(ownerOf(n.subject)) {
		return nil
	}
	if !slices.Equal(values(n.subject), values(o.subject)) || slices.ContainsFunc(slices.Concat(n.rest(), o.rest()), stands) {
		return nil
	}
	va, vb := values(n.rest()), values(o.rest())
	if len(va) != len(vb) || len(va) == 0 {
		return nil
	}
	differ := 0
	for i := range va {
		if va[i] == vb[i] {
			continue
		}
		if k := kindOf(va[i]); k == "name" || k != kindOf(vb[i]) {
			return nil
		}
		differ++
	}
	if differ != 1 {
		return nil
	}
	a, b := plain(n), plain(o)
	shared := len(a) - len(except(a, b))
	if shared < 2 || len(except(a, b))+len(except(b, a)) > 1 {
		return nil
	}
	if n.corrects() {
		return supersede(ruleValue, 0.88)
	}
	return conflict(ruleValue, 0.7)
}

// stands reports whether a word stands for a thing that another clause names.
func stands(w word) bool {
	return slices.Contains([]string{"it", "them", "this", "these", "those"}, w.fold)
}

// plain is what a clause says without its values.
func plain(c *clause) []string {
	var out []string
	for _, w := range c.words {
		if w.content() && !w.value() && months()[w.fold] == 0 && !weekdays()[w.fold] {
			out = append(out, w.stem)
		}
	}
	return out
}

func except(a, b []string) []string {
	var out []string
	for _, w := range a {
		if !slices.Contains(b, w) {
			out = append(out, w)
		}
	}
	return out
}
