package encode

import (
	"slices"
	"strings"
	"sync"

	"stet/templates/lexicon"
)

// A claim is what a clause says in one of the few forms that can prove something. It
// accounts for every word of the clause: one that is not known is another subject,
// another time, another condition, and then the clause has no claim.
type claim struct {
	form  string // live, work, use, is; of a change: switch, move, leave, quit, gone
	owner string // whom it is about: a name, or the writer
	what  string // the attribute, of form is
	value string // of forms gone and quit, what somebody did
	said  string // the stems from the verb on
	from  string // what was, of a change
	now   bool   // it says that it is so now
	kind  string // of the value, see kind.txt; "name", "number" or "" else

	kin, letters string // see [claim.of] and [spelled]
}

// done keeps what a claim is compared by again and again; nil of nil.
func (c *claim) done() *claim {
	if c != nil {
		c.kin, c.letters = c.owner+"|"+c.form+"|"+c.what+"|"+c.kind, spelled(c.value)
	}
	return c
}

// claim reads a clause, nil where it has none of the forms.
func (r *reading) claim(c *clause) *claim { return r.claimed(c).done() }

func (r *reading) claimed(c *clause) *claim {
	if c.question || c.verb >= c.b || len(own(c)) != len(c.subject) || c.cues&(cueAsk|cueMaybe|cuePlan|cueOnce|cueAlso|cueExcept|cueSaid|cueStill) != 0 {
		return nil
	}
	words := r.lang.roles
	if words == nil {
		return nil
	}
	cl := &claim{now: c.cues&cueNow != 0}
	if len(c.subject) == 0 || !r.opens(c, words) {
		return nil
	}
	owner, what := r.owner(c)
	cl.owner = owner
	rest := r.terms(c, words)
	if owner == "" && len(what) == 0 || len(rest) == 0 {
		return nil
	}
	if len(what) > 0 && r.attribute(c, cl, what) {
		return cl
	}
	if len(what) > 0 {
		cl.owner = "" // it proves nothing: there may be two of them
	}
	cl.said = joinTerms(rest)
	if !cl.read(rest) || len(what) > 0 && cl.from == "" {
		return nil
	}
	cl.kind = kindOf(cl.value)
	return cl
}

// read reads the words from the verb on.
func (cl *claim) read(rest []term) bool {
	head := rest[0]
	switch {
	case head.is("no") && len(rest) > 2 && rest[1].is("longer"):
		cl.form, cl.value = "gone", joinTerms(rest[2:])
	case head.has("quit") && len(rest) > 1:
		cl.form, cl.value = "quit", joinTerms(rest[1:])
	case head.has("leave") && named(rest[1:]):
		cl.form, cl.from = "leave", joinTerms(rest[1:])
	case head.has("replace"):
		k := slices.IndexFunc(rest, func(t term) bool { return t.has("with") })
		if k < 2 || k+1 == len(rest) {
			return false
		}
		cl.form, cl.from, cl.value = "switch", joinTerms(rest[1:k]), joinTerms(rest[k+1:])
		if !named(rest[1:k]) || !named(rest[k+1:]) {
			cl.form = "does"
			return k == 2 && len(rest) == 4
		}
	case head.has("hold") && len(rest) > 1:
		cl.form = "holds"
	case head.has("lose") && len(rest) > 1 && named(rest[len(rest)-1:]):
		rest = slices.DeleteFunc(slices.Clone(rest[1:]), func(t term) bool { return articles()[t.fold] })
		cl.form, cl.from = "lost", joinTerms(rest)
	case head.has("switch") || head.has("move"):
		if !cl.moved(head, rest[1:]) {
			return false
		}
	case head.has("live") && len(rest) > 2 && rest[1].has("in") && named(rest[2:]):
		cl.form, cl.value = "live", joinTerms(rest[2:])
	case head.has("work") && len(rest) > 2 && rest[1].has("at") && named(rest[2:]):
		cl.form, cl.value = "work", joinTerms(rest[2:])
	case head.has("use") && len(rest) > 1:
		if rest[1].has("in") {
			rest = rest[1:]
		}
		if k := insteadOf(rest); k > 1 && named(rest[1:k]) && named(rest[k+2:]) {
			cl.form, cl.value, cl.from = "switch", joinTerms(rest[1:k]), joinTerms(rest[k+2:])
			break
		}
		if !named(rest[1:]) {
			return false
		}
		cl.form, cl.value = "use", joinTerms(rest[1:])
	default:
		if cl.form = "does"; head.class&(verb|base) == 0 {
			return false
		}
		if k := insteadOf(rest); k > 1 && named(rest[k+2:]) {
			cl.from = joinTerms(rest[k+2:])
		}
	}
	return true
}

// insteadOf is where "instead of" stands with words behind it, -1 for nowhere.
func insteadOf(rest []term) int {
	k := slices.IndexFunc(rest, func(t term) bool { return t.is("instead") })
	if k < 0 || k+2 >= len(rest) || !rest[k+1].is("of") {
		return -1
	}
	return k
}

// opens reports whether nothing stands in front of the subject of a clause but words
// that say when.
func (r *reading) opens(c *clause, roles map[string][]string) bool {
	for i := c.a; i < c.subject[0]; i++ {
		if w := &r.words[i]; w.class&lead == 0 && !slices.Contains(roles[w.fold], "idle") && !r.dates(i, c.subject[0]) {
			return false
		} else if r.dates(i, c.subject[0]) {
			break
		}
	}
	return true
}

// settled is what a stored claim says holds since: who moved to a place lives there.
func (c *claim) settled() *claim {
	if c == nil || c.form != "switch" && c.form != "move" {
		return c
	}
	s := *c
	s.form = map[string]string{"switch": "use", "move": "live"}[c.form]
	return s.done()
}

// A term is a word that counts in a claim.
type term struct {
	*word
	roles []string
}

func (t term) is(fold string) bool  { return t.fold == fold }
func (t term) has(role string) bool { return slices.Contains(t.roles, role) }

// terms are the words of a clause from its verb on, without those that say nothing about
// what it claims: "now", "officially", the date since when it is so, the reason.
func (r *reading) terms(c *clause, roles map[string][]string) []term {
	var out []term
	for i := c.subject[len(c.subject)-1] + 1; i < c.b; i++ {
		w := &r.words[i]
		if slices.Contains(roles[w.fold], "idle") {
			continue
		}
		if len(out) > 0 && r.dates(i, c.b) {
			break
		}
		out = append(out, term{w, roles[w.fold]})
	}
	if last := len(out) - 1; last > 0 && r.lang.name == "de" && (out[last].has("move") || out[last].has("switch")) {
		out = slices.Insert(out[:last], 0, out[last]) // "Ich bin von Celle nach Hamburg umgezogen"
	}
	return out
}

// dates reports whether the rest of a clause says when, or why, and nothing else.
func (r *reading) dates(i, end int) bool {
	is := func(at int, role string) bool {
		return slices.Contains(r.lang.roles[r.words[at].fold], role)
	}
	if is(i, "why") {
		return true
	}
	at := i
	if r.words[at].class&prep != 0 || is(at, "when") && !articles()[r.words[at].fold] {
		at++
	}
	if at == i || at >= end {
		return false
	}
	for ; at < end; at++ {
		w := &r.words[at]
		year := w.number && len(w.stem) == 4 && (strings.HasPrefix(w.stem, "19") || strings.HasPrefix(w.stem, "20"))
		if !year && !is(at, "when") && len(r.lang.months[w.fold]) == 0 && w.class&day == 0 {
			return false
		}
	}
	return true
}

// stems are the words of a clause behind its subject, as claims compare them; "" without one.
func (r *reading) stems(c *clause) string {
	if len(c.subject) == 0 {
		return ""
	}
	return joinTerms(r.terms(c, r.lang.roles))
}

func joinTerms(terms []term) string {
	var out []string
	for _, t := range terms {
		out = append(out, t.stem)
	}
	return strings.Join(out, " ")
}

// named reports whether words are one name, identifier or thing of a known kind.
func named(terms []term) bool {
	if len(terms) == 0 || len(terms) > 4 {
		return false
	}
	if kindOf(joinTerms(terms)) != "" {
		return true
	}
	for _, t := range terms {
		if !t.name || t.comma && t.word != terms[len(terms)-1].word {
			return false
		}
	}
	return true
}

// kindOf is the kind of a thing in the table of kinds, "" for another.
func kindOf(value string) string {
	if k := kinds()[value]; k != "" {
		return k
	}
	name, version, ok := cutLast(value) // "postgresql 15"
	if ok && number(version) != "" {
		return kinds()[name]
	}
	return ""
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// kinds maps the stems of the names of things to their kind.
var kinds = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for name, heads := range lexicon.Groups("kind") {
		var stems []string
		for w := range strings.FieldsSeq(name) {
			stems = append(stems, Stem(w))
		}
		out[strings.Join(stems, " ")] = heads[0]
	}
	return out
})

// owner reads whom a clause is about, the writer or one name, and the other words of its
// subject.
func (r *reading) owner(c *clause) (owner string, what []string) {
	var names []string
	for _, i := range c.subject {
		w := &r.words[i]
		switch {
		case w.class&kin != 0 || w.class&third != 0 && !articles()[w.fold]:
			return "", nil
		case w.class&(self|userWord) != 0:
			names = append(names, w.who)
		case w.name, w.starts && len(c.subject) == 1 && w.weight == 1 && w.raw != w.fold && w.class&single == 0, w.owns && w.raw != w.fold, strings.Contains(w.fold, "-"):
			names = append(names, w.stem)
		case w.weight > 0:
			what = append(what, w.stem)
		case !articles()[w.fold] && w.fold != "of":
			return "", nil
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), what
}

// attribute reads "my phone number is V", "auth-api's port is V": an attribute that has
// one value at a time, and a value of one word that holds a digit, a name or an address.
func (r *reading) attribute(c *clause, cl *claim, what []string) bool {
	last := r.head(own(c), nil)
	if len(what) == 0 || last < 0 || r.words[last].class&single == 0 || r.words[c.verb].class&be == 0 {
		return false
	}
	var value []term
	for i := c.verb + 1; i < c.b; i++ {
		w := &r.words[i]
		if len(value) > 0 && r.dates(i, c.b) && !w.number && len(r.lang.months[w.fold]) == 0 {
			break
		}
		if w.class&lead != 0 {
			continue
		}
		if month := len(r.lang.months[w.fold]) > 0; !month && (w.class&(be|aux|deny|third|self) != 0 || w.weight == 0 && !w.number) {
			return false
		}
		value = append(value, term{word: w})
	}
	one := func(t term) bool { return t.number || t.name || len(r.lang.months[t.fold]) > 0 }
	if len(value) == 0 || len(value) > 4 || slices.ContainsFunc(value, func(t term) bool { return !one(t) }) {
		return false
	}
	slices.Sort(what)
	cl.form, cl.what, cl.value, cl.kind = "is", strings.Join(what, " "), joinTerms(value), shapeOf(value)
	return true
}

// shapeOf tells numbers, dates, addresses and names from each other.
func shapeOf(value []term) string {
	shape := "name"
	for _, t := range value {
		switch {
		case strings.Contains(t.fold, "@"):
			return "address"
		case t.number && shape == "name":
			shape = "number"
		case !t.number && !t.name:
			return "date"
		}
	}
	return shape
}

// moved reads "to B", "from A to B".
func (cl *claim) moved(head term, rest []term) bool {
	from, to := -1, -1
	for k, t := range rest {
		switch {
		case from < 0 && t.has("from"):
			from = k
		case to < 0 && t.has("to"):
			to = k
		}
	}
	var was, is []term
	switch {
	case to == 0 && from < 0:
		is = rest[1:]
	case from == 0 && to > 1:
		was, is = rest[1:to], rest[to+1:]
	case to == 0 && from > 1:
		is, was = rest[1:from], rest[from+1:]
	default:
		return false
	}
	if !named(is) || was != nil && !named(was) {
		return false
	}
	cl.form, cl.value, cl.from = "switch", joinTerms(is), joinTerms(was)
	if head.has("move") && kindOf(cl.value) == "" {
		cl.form = "move"
	}
	return true
}
