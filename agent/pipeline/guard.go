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
// that the model quoted, and what remains must be able to stand without them. Where a
// memory is to say both, the note is put behind it as it stands; a slip is mended by words
// of the note. Whatever is not borne out becomes a conflict, or nothing.
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
		if !sure {
			return Ruling{Kind: Keep, Refused: "the model is not sure"}
		}
		text, why := merged(n, s, a.Text)
		if why != "" {
			return Ruling{Kind: Keep, Refused: why}
		}
		return Ruling{Kind: Update, Text: text}
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

// merged is a stored memory with what a note says behind it: both stand there as they were
// written, so that no word can have changed its place. Of the text that the model proposes
// only the words count: one that loses some or has others shows that it is confused.
func merged(n Note, s Stored, proposed string) (text, why string) {
	old, add := strings.TrimSpace(s.Text), strings.TrimSpace(n.Text)
	words, both := wordsOf(add), slices.Concat(wordsOf(old), wordsOf(add))
	lost := func(from, in []word) bool {
		return slices.ContainsFunc(content(from), func(w word) bool { return !holds(in, w.stem) })
	}
	said := wordsOf(proposed)
	named := slices.Concat(both, wordsOf(n.Title))
	shared, _ := common(telling(add), telling(old))
	switch {
	case strings.ContainsAny(old+add+proposed, "\n?？"):
		return "", "only statements in one paragraph can be joined"
	case proposed != "" && (lost(both, said) || lost(said, both)):
		return "", "its text does not say what the two say, in their words"
	case n.Title != "" && !strings.EqualFold(n.Title, s.Title), lost(telling(s.Title), named):
		return "", "their titles tell them apart"
	case shared < 0, n.Author != s.Author && (speaks(add) || speaks(old)):
		return "", "nothing shows that the two are about one thing"
	case len(words) == 0 || turning()[words[0].fold] || leans(add):
		return "", "the new words take up what was said before them"
	case slices.ContainsFunc(partsOf(old), func(c part) bool { return grounded(n, s, c) }):
		return "", "the new words change what is stored"
	}
	tail, extends := strings.CutPrefix(add, strings.TrimRight(old, "."))
	switch {
	case !extends || tail != "" && !strings.HasPrefix(tail, " ") && !strings.HasPrefix(tail, ","):
		if !strings.ContainsAny(old[len(old)-1:], ".!:;") {
			old += "."
		}
		return old + " " + add, ""
	case has(wordsOf(tail), turning()) || has(wordsOf(tail), hedging()):
		return "", "the new words limit what is stored"
	}
	return add, "" // it says what is stored, and more
}

// leans reports whether a clause of a text needs words in front of the text: "She …".
func leans(text string) bool {
	named := false
	for _, c := range encode.Clauses(text) {
		for _, w := range wordsOf(text[c.From:c.To]) {
			if refers(w.fold) && !named {
				return true
			}
			named = named || !w.stop
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
	if !ok || !said || strings.Contains(put, "\n") || has(wordsOf(a.Quote+" "+put), turning()) || differs(n, s, n.Text[:from.From]+n.Text[from.To:], s.Text[:at.From]+s.Text[at.To:]) {
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
