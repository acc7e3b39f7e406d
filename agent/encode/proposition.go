package encode

import (
	"slices"
	"strings"
)

// A token is a word that says something, with what stands in front of it.
type token struct {
	*word
	form        string // the stem, with the ending that makes another word of it: a rope is not roped
	preposition string // in front of it; "of" for a possessive
	modifiers   string // what limits it or makes another statement of it: "only", "if", "my", what sets it apart: "off"
	denied      bool
	bound       bool // the preposition places it, as "from" does
	the         bool // it is one certain thing
	gap         gap
	clause      int
}

// A gap is how far a token is apart from the one before it.
type gap int

const (
	joined gap = iota // side by side
	apart             // by a preposition, an article, a form of "to be"
	broken            // by a comma, "and", or the end of a clause
)

// A proposition is the tokens of a text in their order.
type proposition struct {
	tokens   []token
	tenses   []string // auxiliaries and times, sorted
	pronouns []string // sorted
	denials  int      // tokens that are denied
	foreign  bool     // it is not English
}

// single are the propositions of its clauses, one by one.
func (r *reading) single() []proposition {
	if r.singles == nil {
		r.singles = make([]proposition, len(r.clauses))
		for k := range r.clauses {
			r.singles[k] = r.proposition(r.clauses[k : k+1])
		}
	}
	return r.singles
}

// proposition reads some clauses of a text, but for some words.
func (r *reading) proposition(clauses []*clause, but ...int) proposition {
	l := proposition{foreign: r.lang.name != "en"}
	for k, c := range clauses {
		first := len(l.tokens)
		passive := -1
		next := token{gap: apart, clause: k}
		if c.question {
			next.modifiers = "?"
		}
		if k == 0 || c.a > 0 && (r.words[c.a].starts || r.words[c.a-1].comma || c.a > clauses[k-1].b) {
			next.gap = broken
		}
		for i := r.joint(c); i < c.b; i++ {
			w := &r.words[i]
			if slices.Contains(but, i) {
				continue
			}
			content := w.weight > 0 || w.number || w.who != "" && w.class&det == 0
			if content && i > c.a && r.participle(i) && passive < 0 {
				passive = len(l.tokens)
			}
			if content {
				next = r.content(&l, next, w, first)
			} else {
				r.function(&l, &next, i, c.b, first)
			}
			if w.comma && next.gap < broken {
				next.gap = broken
				if i+1 < c.b && strings.Contains(r.Text[w.to:max(w.to, r.words[i+1].from)], ":") {
					next.gap = apart
				}
			}
		}
		if next.modifiers != "" && len(l.tokens) > first {
			l.tokens[len(l.tokens)-1].modifiers += " ~" + next.modifiers
		}
		if next.denied && len(l.tokens) > first {
			l.tokens[len(l.tokens)-1].denied = true
		}
		if passive >= 0 { // what is done to it, it does not do
			l.tokens[passive].form = l.tokens[passive].stem + "en"
		}
	}
	slices.Sort(l.tenses)
	slices.Sort(l.pronouns)
	for i := range l.tokens {
		if l.tokens[i].denied {
			l.denials++
		}
	}
	return l
}

// content takes in a word that says something, and begins the next token.
func (r *reading) content(l *proposition, t token, w *word, first int) token {
	next := token{gap: joined, clause: t.clause}
	t.word, t.form, t.the = w, w.form(), t.the || w.who != ""
	if w.who != "" {
		t.form = w.who
	}
	if marks, ok := strings.CutSuffix(t.modifiers, "only"); ok && w.class&verb != 0 { // "takes only cash"
		t.modifiers, next.modifiers = strings.TrimSpace(marks), "only"
	}
	l.tokens = append(l.tokens, t)
	if w.owns {
		l.own(first)
	}
	return next
}

// own gives the last token and those it belongs with the preposition of a possessive.
func (l *proposition) own(first int) {
	k := len(l.tokens) - 1
	for k > first && l.tokens[k].gap == joined && (!l.tokens[k].name || l.tokens[k-1].name) {
		k--
	}
	if l.tokens[k].preposition == "" {
		l.tokens[k].preposition = "of"
	}
}

// joint is the first word of a clause, or of what ties it to the one before.
func (r *reading) joint(c *clause) int {
	k := c.number
	if k > 0 && r.clauses[k-1].sentence == c.sentence {
		return r.clauses[k-1].b
	}
	return c.a
}

// participle reports a word that a form of "to be" makes a passive of.
func (r *reading) participle(i int) bool {
	if !strings.HasSuffix(r.words[i].fold, "ed") || r.words[i].stem == r.words[i].fold {
		return false
	}
	isBe := func(w *word) bool {
		return w.class&be != 0 || w.comma || w.fold == "get" || w.fold == "gets" || w.fold == "got"
	}
	k := i - 1
	for k > 0 && (r.words[k].class&(deny|lead) != 0 || r.words[k].fold == "longer") && !r.words[k].comma {
		k--
	}
	return isBe(&r.words[k])
}

// function takes in a word that says nothing of its own.
func (r *reading) function(l *proposition, next *token, i, end, first int) {
	w := &r.words[i]
	next.gap = max(next.gap, apart)
	mark := func(to *token, sign string) { to.modifiers = strings.TrimSpace(to.modifiers + " " + sign) }
	switch {
	case w.class&deny != 0 || w.fold == "not":
		next.denied = !next.denied
	case w.class&(self|userWord) != 0:
		mark(next, w.who)
		next.the = true
	case w.class&join != 0 && w.class&det == 0:
		next.gap = broken
	case i > 0 && r.words[i-1].number && len(w.fold) == 1 && len(l.tokens) > first: // "340 g", "4 h"
		l.tokens[len(l.tokens)-1].form += w.fold
	case w.class&det != 0 && articles()[w.fold]:
		next.the = next.the || r.lang.name != "en" || w.fold == "the"
	case w.class&fill != 0, w.class&(be|past) == be:
	case w.class&past != 0:
		l.tenses = append(l.tenses, "past")
	case w.class&third != 0:
		l.pronouns = append(l.pronouns, w.fold)
	case w.class&(prep|bind) != 0:
		ends := w.comma || i+1 == end || r.words[i+1].class&(prep|bind|join) != 0
		switch {
		case ends && len(l.tokens) > first && r.words[i-1].weight > 0 && !r.words[i-1].comma:
			mark(&l.tokens[len(l.tokens)-1], "~"+w.fold)
		default:
			if next.preposition != "" {
				mark(next, next.preposition)
			}
			next.preposition, next.bound = w.fold, w.class&bind != 0
		}
	case w.class&aux != 0:
		l.tenses = append(l.tenses, w.fold)
	default:
		mark(next, w.fold)
	}
}

// form is a stem with the ending that makes another word of it.
func (w *word) form() string {
	for _, end := range []string{"ing", "ed"} {
		if strings.HasSuffix(w.fold, end) && w.stem != w.fold {
			return w.stem + end
		}
	}
	return w.stem
}
