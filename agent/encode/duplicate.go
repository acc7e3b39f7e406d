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
		case w.class&turn != 0:
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
	if hasCode(n.Text) || hasCode(o.Text) || strings.ContainsAny(n.Text+o.Text, "\"“”„«»") || len(n.clauses) == 0 || !within(n.Scope, o.Scope) || !o.knows(n) || !n.knows(o) {
		return nil
	}
	if !o.says(n) {
		return nil
	}
	return &Verdict{Kind: Duplicate, Rule: ruleWords, Confidence: 0.9}
}

// says reports whether a stored text says all that a new one says: those of its clauses
// that are half in the new one have the same stems, values and names as the new one, in
// phrases that say the same, and no other tense, mood, condition or denial.
func (r *reading) says(n *reading) bool {
	want := n.saying(n.body())
	var near []int
	var phrases []phraseOf
	questions := false
	for k, c := range r.clauses {
		ids := indices(c.a, c.b)
		if c.verb >= c.b && k+1 < len(r.clauses) && r.clauses[k+1].lent {
			continue // it is the subject of the next
		}
		if s := r.saying(ids); len(s.contents) > 0 && 2*missing(s.contents, want.contents) <= len(s.contents) {
			near, phrases = append(near, ids...), append(phrases, r.phrases(c)...)
			questions = questions || c.question
		}
	}
	have := r.saying(near)
	if len(want.contents) == 0 || missing(want.contents, have.contents)+missing(have.contents, want.contents) > 0 || !subsequence(want.fixed, have.fixed) ||
		want.turns != have.turns || want.denials != have.denials || questions != strings.Contains(n.Text, "?") {
		return false
	}
	var said []phraseOf
	for _, d := range n.clauses {
		said = append(said, n.phrases(d)...)
	}
	strict := leads(said, false) == leads(phrases, false)
	return leads(said, true) == leads(phrases, true) && !slices.ContainsFunc(said, func(p phraseOf) bool { return !p.in(phrases, strict) })
}

// in reports whether the words of a phrase stand in their order in one of some phrases
// that the same preposition leads. Where there is none with it, only a preposition that
// places one thing to another matters; unless it is strict, words that no preposition
// leads may stand behind one.
func (p phraseOf) in(all []phraseOf, strict bool) bool {
	same := false
	for _, q := range all {
		if p.lead != q.lead {
			continue
		}
		stems := p.stems
		if p.lead == "" && !strict {
			stems = slices.DeleteFunc(slices.Clone(stems), func(s string) bool { return !slices.Contains(q.stems, s) })
		}
		if subsequence(stems, q.stems) {
			return true
		}
		same = true
	}
	return !same && !p.binds && !strict
}

// leads are the prepositions of some phrases, all or those that bind.
func leads(all []phraseOf, binding bool) string {
	var out []string
	for _, p := range all {
		if p.binds || !binding {
			out = append(out, p.lead)
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// body are the words of the text without its title.
func (r *reading) body() []int {
	return r.filter(indices(0, len(r.words)), func(i int) bool { return !r.words[i].title })
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

// A phraseOf is what a preposition of a clause leads, or with an empty lead all that
// none does, without the finite verb.
type phraseOf struct {
	lead  string
	binds bool // the preposition places one thing to another
	stems []string
}

func (r *reading) phrases(c *clause) []phraseOf {
	bare := phraseOf{}
	var out []phraseOf
	at := &bare
	for i := c.a; i < c.b; i++ {
		w := &r.words[i]
		verb := i > c.a && r.isVerb(c.a, i)
		switch {
		case w.class&(prep|bind) != 0:
			out = append(out, phraseOf{lead: w.fold, binds: w.class&bind != 0})
			at = &out[len(out)-1]
			continue
		case verb, articles()[w.fold] && len(at.stems) > 0:
			at = &bare
		}
		timely := at == &bare && (w.class&day != 0 || w.number)
		if (w.weight > 0 || w.number) && !verb && !timely {
			at.stems = append(at.stems, w.stem)
		}
		if w.comma {
			at = &bare
		}
	}
	out = append(out, bare)
	if !slices.ContainsFunc(out, func(p phraseOf) bool { return len(p.stems) > 0 }) {
		return nil
	}
	return out
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
