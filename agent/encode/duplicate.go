package encode

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// plain is a text without the difference of capital letters, spaces, list marks and the
// signs at its end; code counts letter by letter.
func (r *reading) plain() string {
	if hasCode(r.Text) {
		return strings.Join(strings.Fields(r.Text), " ")
	}
	var out []string
	for i, s := range r.spans {
		for _, w := range r.words[r.starts[i]:r.starts[i+1]] {
			out = append(out, w.fold)
		}
		if asks(r.Text[s.From:s.To]) {
			out = append(out, "?")
		}
	}
	if len(out) == 0 {
		return strings.TrimSpace(r.Text)
	}
	return strings.Join(out, " ")
}

// literals lists, in their order, the words that a duplicate must repeat letter by letter, for
// folding them would change what they say: signs that stand alone ("<", "✅"), command-line
// options, paths, names in code, and keys of letters and digits. Bullets and dashes are none.
func literals(text string) (out []string) {
	for _, f := range strings.Fields(text) {
		word := strings.Trim(f, ".,;:!?()\"'…")
		letters := strings.ContainsFunc(word, unicode.IsLetter)
		digits := strings.ContainsFunc(word, unicode.IsDigit)
		switch {
		case word == "" || strings.Trim(word, "-–—*•+#|→=") == "" && word != "==" && word != "=" && word != "+":
		case !letters && !digits, strings.ContainsFunc(word, unicode.IsSymbol), word[0] == '-' && letters,
			strings.ContainsAny(word, "/_\\"), digits && strings.ContainsAny(word, "#*"), letters && digits && strings.ContainsFunc(word, unicode.IsUpper):
			out = append(out, word)
		}
	}
	return out
}

func hasCode(text string) bool { return strings.Contains(text, "```") || strings.Contains(text, "~~~") }

// A form is what of a text duplicates have in common: see [literals], in their order and sorted, and [reading.plain].
type form struct {
	literals, sorted []string
	plain            string
}

func (r *reading) form() *form {
	if r.formed == nil {
		all := literals(r.Text)
		r.formed = &form{all, slices.Sorted(slices.Values(all)), r.plain()}
	}
	return r.formed
}

// maxWords bounds the words of two texts that may be the same in another order.
const maxWords = 600

// duplicate reports a stored memory that says all that a new one says: word for word, or
// with the same values, names and stems in an order that gives each the same part.
func duplicate(n, o *reading) *Verdict {
	nForm, oForm := n.form(), o.form()
	if slices.Equal(nForm.literals, oForm.literals) && nForm.plain == oForm.plain && o.knows(n) {
		return &Verdict{Kind: Duplicate, Rule: ruleSame, Confidence: 1}
	}
	if !slices.Equal(nForm.sorted, oForm.sorted) || len(n.words) > maxWords || len(o.words) > maxWords || hasCode(n.Text) || hasCode(o.Text) ||
		!within(n.Scope, o.Scope) || !o.knows(n) || !n.knows(o) || !o.says(n) || strings.ContainsAny(n.Text+o.Text, "\"“”„«»") {
		return nil
	}
	return &Verdict{Kind: Duplicate, Rule: ruleWords, Confidence: 0.9}
}

// says reports whether some clauses of a stored text say what a new one says: each of
// their tokens stands in the new one, and each of its in them. The others must not limit
// them.
func (r *reading) says(n *reading) bool {
	if n.whole == nil {
		whole := n.proposition(n.clauses)
		n.whole, n.forms = &whole, map[string]bool{}
		for _, t := range whole.tokens {
			n.forms[t.form] = true
		}
	}
	var used []*clause
	is, sentences, tokens := make([]bool, len(r.clauses)), map[int]bool{}, 0
	for k, c := range r.clauses {
		all := r.single()[k].tokens
		if len(all) > 0 && !slices.ContainsFunc(all, func(t token) bool { return !n.forms[t.form] }) {
			used, is[k], sentences[c.sentence], tokens = append(used, c), true, true, tokens+len(all)
		}
	}
	if len(used) == 0 || tokens != len(n.whole.tokens) {
		return false
	}
	under := true // a heading that is said too
	for k, c := range r.clauses {
		beside := sentences[c.sentence]
		tied := beside && r.has(indices(r.joint(c), c.a), func(w *word) bool { return w.class&join == 0 })
		before := k == 0 || is[k-1]
		if r.isHeading(c) {
			under = is[k]
		} else if is[k] && !under {
			return false
		}
		if !is[k] && (tied || r.limits(c, beside)) || is[k] && !before && (tied || c.lent || len(r.single()[k].pronouns) > 0) {
			return false
		}
	}
	return r.proposition(used).equals(*n.whole)
}

// limits reports whether a clause that a new text leaves out could say when, where or on
// which condition the others hold, or that they do not.
func (r *reading) limits(c *clause, beside bool) bool {
	w := &r.words[c.a]
	return c.cues&(strongCues|cuePast|cueOnce|cueMaybe|cueExcept) != 0 || strings.HasPrefix(r.Text[c.to:], ":") ||
		beside && w.class&(prep|bind|day) != 0 || beside && r.has(indices(c.a, c.b), func(w *word) bool { return w.class&(deny|turn) != 0 })
}

func (r *reading) isHeading(c *clause) bool {
	line := r.Text[strings.LastIndexByte(r.Text[:c.from], '\n')+1 : c.from]
	return strings.HasPrefix(strings.TrimSpace(line), "#")
}

// denies reports whether two propositions say the same but for a denial in one of them.
func (o proposition) denies(n proposition) bool {
	return (o.denials+n.denials)%2 == 1 && o.affirmed().equals(n.affirmed())
}

func (o proposition) affirmed() proposition {
	o.tokens = slices.Clone(o.tokens)
	for i := range o.tokens {
		o.tokens[i].denied = false
	}
	return o
}

// equals reports whether two propositions say the same.
func (o proposition) equals(n proposition) bool {
	if len(o.tokens) != len(n.tokens) || len(n.tokens) < 2 || !slices.Equal(o.tenses, n.tenses) ||
		missing(o.pronouns, n.pronouns) > 0 && missing(n.pronouns, o.pronouns) > 0 {
		return false
	}
	at, more := o.find(n), map[string]int{}
	for j, i := range at {
		if i < 0 || !n.tokens[j].same(&o.tokens[i], more) {
			return false
		}
	}
	a := arrangement{o: o.tokens, n: n.tokens, place: make([]int, len(at)), pronouns: len(o.pronouns)+len(n.pronouns) > 0, foreign: n.foreign}
	for j, i := range at {
		a.place[i] = j
	}
	return a.keeps(at, 0)
}

// find says where each token of a new line stands in o, -1 for nowhere: side by side as
// there, where it stands more than once.
func (o proposition) find(n proposition) []int {
	used := make([]bool, len(o.tokens))
	out := make([]int, len(n.tokens))
	last := -2
	for j := range n.tokens {
		best, most := -1, -1
		for i := range o.tokens {
			if used[i] || o.tokens[i].form != n.tokens[j].form {
				continue
			}
			fit := 0
			if i == last+1 {
				fit += 4
			}
			if i+1 < len(o.tokens) && j+1 < len(n.tokens) && o.tokens[i+1].form == n.tokens[j+1].form {
				fit += 2
			}
			if o.tokens[i].preposition == n.tokens[j].preposition && o.tokens[i].modifiers == n.tokens[j].modifiers {
				fit++
			}
			if fit > most {
				best, most = i, fit
			}
			if most == 4+2+1 {
				break // none fits better
			}
		}
		if best >= 0 {
			used[best] = true
		}
		out[j], last = best, best
	}
	return out
}

// same reports whether two tokens are one word that stands the same: denied or not,
// limited and placed by the same words. A preposition that does not bind may be left out,
// but in one of the texts alone: more counts in which.
func (t *token) same(o *token, more map[string]int) bool {
	if t.denied != o.denied || t.modifiers != o.modifiers {
		return false
	}
	a, b := t.preposition, o.preposition
	switch {
	case a == b:
		return true
	case a == "of" && b == "to" || a == "to" && b == "of":
		return true
	case a == "" && !o.bound:
		more[b] |= 1
	case b == "" && !t.bound:
		more[a] |= 2
	default:
		return false
	}
	return more[cmp.Or(a, b)] < 3
}

// An arrangement is two propositions of the same tokens.
type arrangement struct {
	o, n     []token
	place    []int // of each token of o in n
	pronouns bool
	foreign  bool // not English: behind what comes first the verb stands before its subject
}

// mostSwaps bounds how often parts inside of parts may have changed places.
const mostSwaps = 3

// keeps reports whether the tokens of a new line, given by where they stand in the stored
// one, differ in nothing but the order of parts that may change places: clauses, members
// of a list of two, what a preposition leads, the sides of "is".
func (a arrangement) keeps(at []int, depth int) bool {
	if len(at) < 2 {
		return true
	}
	if depth > 2*mostSwaps {
		return false
	}
	for k := 1; k < len(at); k++ {
		if slices.Max(at[:k]) < slices.Min(at[k:]) {
			return a.keeps(at[:k], depth) && a.keeps(at[k:], depth)
		}
	}
	parts := a.parts(at, true)
	if len(parts) == 1 {
		if parts = a.parts(at, false); len(parts) != 2 {
			return false
		}
	} else if !a.reorders(parts, depth) {
		return false
	}
	return !slices.ContainsFunc(parts, func(part []int) bool { return !a.keeps(part, depth+1) })
}

// parts are those whose order is the other way round in the stored text; on demand "the
// boat's key" is one.
func (a arrangement) parts(at []int, owned bool) (out [][]int) {
	from := 0
	for k := 1; k <= len(at); k++ {
		if k < len(at) && (slices.Min(at[from:k]) < slices.Max(at[k:]) || owned && a.owned(at[k-1], at[k])) {
			continue
		}
		out = append(out, at[from:k])
		from = k
	}
	return out
}

// owned reports whether a possessive in one text is "of" or "to" in the other.
func (a arrangement) owned(before, after int) bool {
	of := func(t token) bool { return t.preposition == "of" || t.preposition == "to" }
	return a.n[a.place[before]].owns && !a.o[before].owns || of(a.n[a.place[after]]) && a.o[after].preposition == "of" && !a.n[a.place[after]].owns
}

// reorders reports whether parts may stand in the other order.
func (a arrangement) reorders(parts [][]int, depth int) bool {
	near, far, clauses := broken, broken, true // of the gaps between the parts
	for k := 1; k < len(parts); k++ {
		then, now := a.o[slices.Min(parts[k-1])], a.n[a.place[parts[k][0]]]
		near, far = min(near, max(then.gap, now.gap)), min(far, then.gap, now.gap)
		clauses = clauses && a.o[slices.Max(parts[k])].clause != then.clause
	}
	first, last := parts[0], parts[len(parts)-1]
	switch {
	case clauses:
		return !a.pronouns
	case near == joined:
		verb := a.o[first[0]]
		return a.foreign && depth > 0 && len(parts) == 2 && len(first) == 1 && !verb.name && !verb.number // "Am Montag kommt Ann"
	case len(parts) > 2:
		return len(parts) == 3 && a.led(first) != a.led(last)
	}
	return a.led(first) || a.led(last) || a.certain(first) && a.certain(last) || far == broken && len(first) > 1 && len(last) > 1
}

// led reports a part that begins with a preposition or a time.
func (a arrangement) led(part []int) bool {
	return slices.ContainsFunc([]token{a.o[slices.Min(part)], a.n[a.place[part[0]]]}, func(t token) bool { return t.preposition != "" && t.preposition != "of" || t.class&day != 0 })
}

// certain reports a part that is one thing of its own: a name, a number, "the boss".
func (a arrangement) certain(part []int) bool {
	return slices.ContainsFunc(part, func(i int) bool { return a.o[i].the || a.o[i].name || a.o[i].number || a.n[a.place[i]].name })
}

// knows reports whether a memory says what the title of another one says.
func (r *reading) knows(other *reading) bool {
	for i := range other.words {
		if w := &other.words[i]; w.title && w.weight > 0 && !slices.ContainsFunc(r.words, func(x word) bool { return x.stem == w.stem }) {
			return false
		}
	}
	return true
}

// within reports whether a scope lies in another one: the general holds the special.
func within(scope, outer string) bool {
	scope, outer = strings.Trim(scope, "/"), strings.Trim(outer, "/")
	return outer == "" || scope == "" || scope == outer || strings.HasPrefix(scope, outer+"/")
}
