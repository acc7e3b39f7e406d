package match

import (
	"slices"
	"strings"

	"stet/agent/encode"
)

// Replace puts now in the place of what the description means in text: of the clauses
// of a text with several facts those that have to do with it, else the whole text. It
// reports whether anything of the old text is left.
func (q *Query) Replace(text, now string) (string, bool) {
	all := sentences(text, tokens(text))
	clauses, best := make([][]clause, len(all)), 0.0
	for i, s := range all {
		clauses[i] = q.clauses(text[s.from:s.to], s)
		for _, c := range clauses[i] {
			best = max(best, c.score)
		}
	}
	var b strings.Builder
	at, left, put := 0, false, false
	for i, s := range all {
		rest, cut := without(text[s.from:s.to], clauses[i], best)
		left = left || rest != ""
		if !cut {
			continue
		}
		b.WriteString(text[at:s.from])
		if rest == "" && !put {
			rest, put = now, true
		}
		b.WriteString(rest)
		at = s.to
	}
	if !left || best == 0 {
		return now, false
	}
	b.WriteString(text[at:])
	if put {
		return b.String(), true
	}
	body := strings.TrimRight(b.String(), "\n ")
	return body + " " + now + b.String()[len(body):], true
}

// A clause is a part of a sentence, and how much of the description it has.
type clause struct {
	encode.Span
	score  float64
	denies bool
}

func (q *Query) clauses(text string, s sentence) []clause {
	var out []clause
	spans := encode.Clauses(text)
	for _, span := range spans {
		words := tokens(text[span.From:span.To])
		c := clause{Span: span, denies: slices.ContainsFunc(words, denies)}
		for _, p := range q.any {
			ids, names := p.has(words)
			got := float64(ids + names)
			for _, n := range p.names {
				// Whoever a whole sentence is about tells no clause of it from another.
				if len(spans) > 1 && n.at(s.words) && n.in(words) {
					got--
				}
			}
			for _, t := range p.terms {
				if t.weight == weightTerm {
					got += t.match(words)
				}
			}
			c.score = max(c.score, got)
		}
		out = append(out, c)
	}
	return out
}

// without is a sentence without the clauses that are meant, "" where nothing is left that
// can be read alone; cut is false when none of them is.
func without(text string, clauses []clause, best float64) (rest string, cut bool) {
	isMeant := func(c clause) bool { return c.score > 0 && c.score >= 0.5*best }
	denial := slices.ContainsFunc(clauses, func(c clause) bool { return isMeant(c) && c.denies })
	var meant []encode.Span
	for _, c := range clauses {
		// "does not own a car and hasn't driven in years" is one denial.
		if isMeant(c) || denial && c.denies {
			meant = append(meant, c.Span)
		}
	}
	if len(meant) == 0 {
		return text, false
	}
	rest, ok := encode.Without(text, meant)
	if !ok {
		rest = ""
	}
	return rest, true
}
