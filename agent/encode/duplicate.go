package encode

import (
	"slices"
	"strings"
)

// A saying is what some words of a text say, apart from the order of their phrases.
type saying struct {
	contents []string // different stems of the words that say something
	fixed    []string // numbers and names, in order
	turns    string   // tense, mood, condition, and whose it is
	denials  int
}

// saying reads some words, those of a clause or of sentences.
func (r *reading) saying(ids []int) saying {
	var s saying
	named := map[string]bool{}
	for _, i := range ids {
		named[r.words[i].stem] = named[r.words[i].stem] || r.words[i].name
	}
	var turns []string
	for k, i := range ids {
		w := &r.words[i]
		participle := k > 0 && r.words[ids[k-1]].class&(be|aux) != 0 || k > 1 && r.words[ids[k-2]].class&(be|aux) != 0
		switch {
		case w.class&deny != 0 || w.fold == "not":
			s.denials++
		case w.class&(self|userWord) != 0:
			turns = append(turns, w.who)
		case w.class&turn != 0, w.class&third != 0 && !articles()[w.fold]:
			turns = append(turns, w.fold)
		case slices.Contains([]string{"was", "were", "war", "waren", "était", "étaient", "era", "eran", "did"}, w.fold), !participle && pastForm(w):
			turns = append(turns, "past")
		}
		if w.number || named[w.stem] {
			s.fixed = append(s.fixed, w.stem)
		}
		if w.weight > 0 || w.number {
			if f := w.form(); !slices.Contains(s.contents, f) {
				s.contents = append(s.contents, f)
			}
		}
	}
	slices.Sort(turns)
	s.turns = strings.Join(slices.Compact(turns), " ")
	return s
}

// plain is a text without the difference of capital letters, spaces, list marks and the
// signs at its end; code counts letter by letter.
func plain(text string) string {
	if hasCode(text) {
		return strings.Join(strings.Fields(text), " ")
	}
	var out []string
	for _, s := range sentences(text) {
		for _, w := range wordsOf(text, s.From, s.To) {
			out = append(out, w.fold)
		}
		if strings.ContainsAny(text[s.From:s.To], "?？") {
			out = append(out, "?")
		}
	}
	if len(out) == 0 {
		return strings.TrimSpace(text)
	}
	return strings.Join(out, " ")
}

func hasCode(text string) bool { return strings.Contains(text, "```") || strings.Contains(text, "~~~") }

// duplicate reports a stored memory that says all that a new one says: word for word,
// or clause by clause with the same values, names and stems.
func duplicate(n, o *reading) *Verdict {
	if plain(n.Text) == plain(o.Text) && o.knows(n) {
		return &Verdict{Kind: Duplicate, Rule: ruleSame, Confidence: 1}
	}
	if hasCode(n.Text) || hasCode(o.Text) || strings.ContainsAny(n.Text+o.Text, "\"“”„«»") || len(n.clauses) == 0 ||
		!within(n.Scope, o.Scope) || !o.knows(n) || !n.knows(o) {
		return nil
	}
	if !o.says(n) {
		return nil
	}
	return &Verdict{Kind: Duplicate, Rule: ruleWords, Confidence: 0.9}
}

// says reports whether a stored text says all that a new one says: for each clause of the
// new one it has a clause with the same stems, values, names and verb, the same tense,
// mood, condition and denials, whose phrases differ in nothing but their order. What else
// the stored text says must not limit it.
func (r *reading) says(n *reading) bool {
	used, last, ordered := make([]bool, len(r.clauses)), -1, true
	for _, d := range n.clauses {
		k := slices.IndexFunc(r.clauses, func(c *clause) bool { return r.restates(c, n, d) })
		if k < 0 {
			return false
		}
		ordered, last = ordered && k > last, k
		used[k] = true
	}
	joint := r.joints(func(c *clause) bool { return used[slices.Index(r.clauses, c)] })
	if all := n.joints(func(*clause) bool { return true }); joint != all || joint != "" && !ordered {
		return false
	}
	for k, c := range r.clauses {
		shared := slices.ContainsFunc(r.clauses, func(x *clause) bool {
			return x.sentence == c.sentence && used[slices.Index(r.clauses, x)]
		})
		if used[k] {
			continue
		}
		if limits := r.has(indices(c.a, c.b), func(w *word) bool { return w.class&(deny|turn) != 0 }); shared && limits ||
			c.cues&(strongCues|cuePast|cueOnce|cueMaybe|cueExcept) != 0 || strings.HasPrefix(r.Text[c.to:], ":") {
			return false
		}
	}
	return len(n.clauses) > 0
}

// joints are the words between the clauses of the sentences that hold some clauses:
// "because", "while", but not "and".
func (r *reading) joints(of func(*clause) bool) string {
	var out []string
	for k, c := range r.clauses {
		if k == 0 || r.clauses[k-1].sentence != c.sentence || !of(c) && !of(r.clauses[k-1]) {
			continue
		}
		for i := r.clauses[k-1].b; i < c.a; i++ {
			if f := r.words[i].fold; !slices.Contains([]string{"and", "und", "et", "y", "e", "en"}, f) {
				out = append(out, f)
			}
		}
	}
	return strings.Join(out, " ")
}

// restates reports whether clause c says what a clause d of another text says.
func (r *reading) restates(c *clause, n *reading, d *clause) bool {
	if c.question != d.question {
		return false
	}
	a, b := r.saying(r.whole(c)), n.saying(n.whole(d))
	if len(a.contents) < 2 || len(a.contents) != len(b.contents) || missing(a.contents, b.contents) > 0 ||
		a.turns != b.turns || a.denials != b.denials {
		return false
	}
	for _, i := range r.verbs(c) {
		for _, j := range n.verbs(d) {
			if p, q := r.phrases(c, i), n.phrases(d, j); p.verb == q.verb && p.matches(q) {
				return true
			}
		}
	}
	return false
}

// verbs are the words that may be the finite verb of a clause: the known one, else each
// one in small letters in front of a preposition or an article; -1 for none.
func (r *reading) verbs(c *clause) []int {
	if c.verb < c.b && (c.verb > c.a && r.isVerb(c.a, c.verb) || r.words[c.verb].class&(be|aux|verb) != 0) {
		return []int{c.verb}
	}
	out := []int{-1}
	for i := c.a + 1; i < c.b-1; i++ {
		w, next := &r.words[i], &r.words[i+1]
		if w.weight > 0 && !w.number && !w.name && w.raw == w.fold && next.class&(prep|bind|det) != 0 {
			out = append(out, i)
		}
	}
	return out
}

// whole are the words of a clause with those of its subject that it borrows.
func (r *reading) whole(c *clause) []int {
	return union(r.filter(c.subject, func(i int) bool { return i < c.a }), indices(c.a, c.b))
}

// form is a stem with the ending that makes another word of it: a rope is not roped.
func (w *word) form() string {
	for _, end := range []string{"ing", "ed"} {
		if strings.HasSuffix(w.fold, end) && w.stem != w.fold {
			return w.stem + end
		}
	}
	return w.stem
}

// A phrase of a clause is what one preposition leads, or with an empty lead what none does.
type leadPhrase struct {
	lead  string
	binds bool // the preposition places one thing to another
	stems []string
}

// phrased is a clause as its finite verb and its phrases in order.
type phrased struct {
	verb string
	is   bool // the verb is one of being: what it joins may change places
	all  []leadPhrase
}

// phrases cuts a clause at its prepositions, a word that may be its verb, and its commas. "The backup of the
// shop" is "the shop backup".
func (r *reading) phrases(c *clause, verb int) phrased {
	var out phrased
	at, when, named := leadPhrase{}, true, false // at says when, and nothing else; it names a day
	end := func() {
		if len(at.stems) > 0 || at.lead != "" {
			if at.lead == "" && when && named {
				at.lead = "on" // "every Sunday"
			}
			out.all = append(out.all, at)
		}
		at, when, named = leadPhrase{}, true, false
	}
	of := -1 // where the words stand that "of" puts behind
	for _, i := range r.whole(c) {
		w := &r.words[i]
		timely := w.class&day != 0 || w.number || len(r.lang.months[w.fold]) > 0
		switch {
		case i == verb:
			end()
			out.verb, out.is = w.form(), w.class&be != 0
			of = -1
			continue
		case w.fold == "of" && len(at.stems) > 0:
			of = 0
			continue
		case w.class&(prep|bind) != 0:
			end()
			at.lead, at.binds, of = w.fold, w.class&bind != 0, -1
			continue
		case w.class&det != 0 && len(at.stems) > 0 && of != 0,
			len(at.stems) > 0 && at.lead != "" && when && w.name && !timely && of < 0:
			end() // "on Sundays the backup", "at four Nell"
			of = -1
		}
		if w.weight > 0 || w.number {
			when, named = when && timely, named || timely && !w.number
			if of >= 0 {
				at.stems, of = slices.Insert(at.stems, of, w.form()), of+1
			} else {
				at.stems = append(at.stems, w.form())
			}
		}
		if w.comma {
			end()
			of = -1
		}
	}
	end()
	return out
}

// matches reports whether two clauses have the same phrases in an order that gives each
// word the same part: those without a preposition keep their order, and one with a
// preposition stays behind the one that it follows, unless it opens or ends the clause.
func (p phrased) matches(q phrased) bool {
	if len(p.all) != len(q.all) {
		return false
	}
	after, last, bare := p.places(), -1, 0
	for _, x := range p.all {
		if x.lead == "" {
			bare++
		}
	}
	for k, place := range q.places() {
		at := slices.IndexFunc(p.all, func(x leadPhrase) bool { return x.same(q.all[k]) })
		switch {
		case at < 0:
			return false
		case p.all[at].lead == "" && q.all[k].lead == "":
			if at < last && !(p.is && q.is && bare == 2) {
				return false
			}
			last = at
		case after[at] != place && !(p.is && bare == 1):
			return false
		}
	}
	return true
}

// places says of each phrase how many without a preposition stand in front of it, 0
// where they all do or none.
func (p phrased) places() []int {
	var out []int
	bare := 0
	for _, x := range p.all {
		if x.lead == "" {
			bare++
		}
		out = append(out, bare)
	}
	for k := range out {
		if out[k] == bare {
			out[k] = 0
		}
	}
	return out
}

func (x leadPhrase) same(y leadPhrase) bool {
	return slices.Equal(x.stems, y.stems) && (x.lead == y.lead || x.lead == "" && !y.binds || y.lead == "" && !x.binds)
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
