package pipeline

import (
	"slices"
	"strings"

	"stet/agent/encode"
)

// A Ruling is what may be done of what a model wants for one stored memory.
type Ruling struct {
	Kind Kind
	Text string   // what the stored memory says afterwards, of a Supersede ("" = nothing) or an Update
	Gone []string // of a Supersede: the clauses that go, each as it stands there
	// Refused says why less is done than the model wants, "" when it is done.
	Refused string
}

// Weigh says of each action about a note what may be done, from the words of both alone:
// a model that is confused, or that obeys what a note says, can spoil nothing.
//
// A removal needs a confidence of at least [encode.Sure], and in the words of the note a
// sign of change beside something that both name, or the same statement with another
// value; nothing may show that they are about different things. It takes whole clauses
// that the model quoted, and what remains must be able to stand without them. A text
// that says both, or that mends a slip, must be made of the words of the two in their
// order. Whatever is not borne out becomes a conflict, or nothing.
func Weigh(n Note, actions []Action) []Ruling {
	out := make([]Ruling, len(actions))
	removals := 0
	for i, a := range actions {
		out[i] = weigh(n, n.Near[i], a)
		if out[i].Kind == Supersede {
			removals++
		}
	}
	if most := max(maxRemovals, len(encode.Clauses(n.Text))); removals > most {
		for i := range out {
			if out[i].Kind == Supersede {
				out[i] = Ruling{Kind: Conflict, Refused: "the model takes too many memories for untrue at once"}
			}
		}
	}
	return out
}

// maxRemovals is from how many stored memories one short note may take something.
const maxRemovals = 2

func weigh(n Note, s Stored, a Action) Ruling {
	sure := a.Confidence >= encode.Sure
	switch a.Kind {
	case Duplicate:
		if !differs(n, s, n.Text, s.Text) && encode.SaysSame(s.Text, n.Text) {
			return Ruling{Kind: Duplicate}
		}
		return Ruling{Kind: Keep, Refused: "the stored words do not say all of the new ones"}
	case Update:
		switch {
		case !sure:
			return Ruling{Kind: Keep, Refused: "the model is not sure"}
		case strings.Contains(s.Text+a.Text, "\n") || !merges(a.Text, s.Text, n.Text):
			return Ruling{Kind: Keep, Refused: "its text does not say what the two say, clause by clause"}
		}
		return Ruling{Kind: Update, Text: a.Text}
	case Correct:
		if text := corrected(n, s, a); sure && text != "" {
			return Ruling{Kind: Update, Text: text}
		}
		return supersede(n, s, a, sure)
	case Supersede:
		return supersede(n, s, a, sure)
	}
	return Ruling{Kind: a.Kind}
}

func supersede(n Note, s Stored, a Action, sure bool) Ruling {
	refuse := func(why string) Ruling { return Ruling{Kind: Conflict, Refused: why} }
	if !sure {
		return refuse("the model is not sure")
	}
	gone, rest, why := trim(s.Text, a.Quote)
	if why != "" {
		return refuse(why)
	}
	for _, c := range partsOf(s.Text) {
		if slices.Contains(gone, c.said) && !grounded(n, s, c) {
			return refuse("the new words do not show that it changed")
		}
	}
	return Ruling{Kind: Supersede, Text: rest, Gone: gone}
}

// merges reports whether a text is made of the clauses of two others, whole and in their
// own words, so that no value and no "not" can have changed its place. Of a clause that
// follows another one, what both begin with may be left out.
func merges(merged, a, b string) bool {
	var parts [][]word
	for _, text := range []string{a, b} {
		for _, c := range encode.Clauses(text) {
			parts = append(parts, content(wordsOf(text[c.From:c.To])))
		}
	}
	return len(parts) <= maxParts && len(parts) > 1 && laid(content(wordsOf(merged)), parts, nil)
}

const maxParts = 8 // clauses that are tried in every order

func laid(words []word, parts [][]word, before []word) bool {
	if len(parts) == 0 {
		return len(words) == 0
	}
	for i, p := range parts {
		rest := slices.Delete(slices.Clone(parts), i, i+1)
		for skip := range p {
			if skip > 0 && (p[skip-1].value && number(p[skip-1]) || turning()[p[skip-1].fold] || !holds(before, p[skip-1].stem)) {
				break
			}
			if left := len(p) - skip; left <= len(words) && sameWords(words[:left], p[skip:]) && laid(words[left:], rest, p) {
				return true
			}
		}
	}
	return false
}

// corrected is a stored memory with the words that a model quoted put right, "" unless
// the note says that they are wrong and says nothing else that the memory does not.
func corrected(n Note, s Stored, a Action) string {
	at, ok := find(s.Text, a.Quote)
	put := strings.Trim(a.Text, " \t\r\n.\"")
	from, said := find(n.Text, put)
	if !ok || !said || strings.Contains(put, "\n") || has(wordsOf(a.Quote+" "+put), turning()) || differs(n, s, n.Text, s.Text) {
		return ""
	}
	was, now := content(wordsOf(a.Quote)), content(wordsOf(put))
	if len(was) == 0 || len(was) > maxSlip || len(now) == 0 || len(now) > maxSlip {
		return ""
	}
	words := wordsOf(n.Text)
	if has(words, hedging()) || !has(words, changing()) {
		return ""
	}
	there, kept := wordsOf(s.Text), 0
	for _, w := range telling(n.Text[:from.From] + " " + n.Text[from.To:]) {
		if birth := []string{"born", "birthday"}; slices.Contains(birth, w.fold) && has(there, set(birth)) {
			continue
		}
		if !holds(there, w.stem) {
			return ""
		}
		if !holds(was, w.stem) {
			kept++
		}
	}
	if kept == 0 {
		return ""
	}
	return s.Text[:at.From] + put + s.Text[at.To:]
}

const maxSlip = 4 // words of a slip
