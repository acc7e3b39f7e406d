package encode

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// without is the text of a memory without the clauses that are no longer true: ""
// when they were all it said. Every other byte of it stays, but for a capital letter
// where a sentence now begins. It says no when what is left could not be read.
func without(o *reading, dead []*clause) (string, bool) {
	isDead := func(c *clause) bool { return slices.Contains(dead, c) }
	var edits []edit
	alive, after := 0, false
	for i := 0; i < len(o.clauses); {
		j := i + 1
		for j < len(o.clauses) && o.clauses[j].sentence == o.clauses[i].sentence {
			j++
		}
		in := o.clauses[i:j]
		i = j
		killed := len(in) - len(slices.DeleteFunc(slices.Clone(in), isDead))
		if after && o.dependent(in[0]) {
			return "", false // "It is fast." is about what is gone
		}
		if killed == len(in) {
			edits, after = append(edits, line(o.Text, o.spans[in[0].sentence])), true
			continue
		}
		after = false
		alive += len(in) - killed
		if killed == 0 {
			continue
		}
		more, ok := o.inSentence(in, isDead)
		if !ok {
			return "", false
		}
		edits = append(edits, more...)
	}
	if alive == 0 {
		return "", true
	}
	return strings.TrimSpace(apply(o.Text, edits)), true
}

// An edit puts text in the place of some bytes.
type edit struct {
	from, to int
	text     string
}

// line cuts a sentence out: with its list mark and its line, when it is all that
// stands there.
func line(text string, s Span) edit {
	from, to := s.From, s.To
	start := strings.LastIndexByte(text[:from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[to:], '\n'); i >= 0 {
		end = to + i + 1
	}
	if to > from && text[to-1] == '\n' {
		end = to
	}
	lead := strings.TrimLeft(text[start:from], " \t>")
	if listMark(lead+" ") >= len(strings.TrimRight(lead, " ")) && strings.TrimSpace(text[to:end]) == "" {
		return edit{start, end, ""}
	}
	return edit{from, to, ""}
}

// dependent reports whether a clause cannot be read without the one before it.
func (r *reading) dependent(c *clause) bool {
	w := &r.words[c.a]
	return c.lent || c.verb >= c.b || w.class&(deny|prep|and) != 0 && w.class&det == 0 || w.class&third != 0 && !articles()[w.fold] ||
		c.cues&(cueExcept|cueAlso|cueInstead) != 0 || len(own(c)) == 0
}

func (r *reading) inSentence(in []*clause, dead func(*clause) bool) ([]edit, bool) {
	if !dead(in[0]) {
		var out []edit
		for k := 1; k < len(in); k++ {
			switch {
			case dead(in[k]):
				out = append(out, edit{in[k-1].to, in[k].to, ""})
			case dead(in[k-1]) && r.dependent(in[k]):
				return nil, false
			}
		}
		return out, true
	}
	k := slices.IndexFunc(in, func(c *clause) bool { return !dead(c) })
	first := in[k]
	if slices.ContainsFunc(in[k:], dead) {
		return nil, false
	}
	if first.lent && first.verb == first.a && len(own(in[0])) > 0 && k == 1 {
		return []edit{{r.words[in[0].verb].from, first.from, ""}}, true // "Ann lives in Bern and works at Acme"
	}
	if r.dependent(first) {
		return nil, false
	}
	c, n := utf8.DecodeRuneInString(r.Text[first.from:])
	return []edit{{in[0].from, first.from + n, string(unicode.ToUpper(c))}}, true
}

// apply makes edits that are in order and do not overlap.
func apply(text string, edits []edit) string {
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(text[at:])
	return b.String()
}
