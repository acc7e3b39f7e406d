package encode

import (
	"slices"
	"strings"
	"sync"
)

// duplicate compares two texts as wholes: nil unless the new one says nothing that
// the stored one does not say.
func duplicate(n, o *reading) *Verdict {
	switch {
	case len(n.clauses) == 0 || len(o.clauses) == 0:
		if n.norm != "" && n.norm == o.norm {
			return &Verdict{Kind: Duplicate, Rule: ruleSame, Confidence: 1}
		}
		return nil
	case n.norm == o.norm:
		return &Verdict{Kind: Duplicate, Rule: ruleSame, Confidence: 1}
	case len(n.clauses) == len(o.clauses) && slices.EqualFunc(n.clauses, o.clauses, alike):
		return &Verdict{Kind: Duplicate, Rule: ruleNear, Confidence: 0.9}
	}
	if v := oneSaysMore(n, o); v != nil {
		return v
	}
	if paraphrased(n, o) {
		return &Verdict{Kind: Duplicate, Rule: ruleParaphrase, Confidence: 0.87}
	}
	for _, c := range n.clauses {
		if !c.asserted() || c.lent || c.place > 0 || bare(c) || !slices.ContainsFunc(o.clauses, func(d *clause) bool { return d.asserted() && sameSpot(c, d) && alike(c, d) }) {
			return nil
		}
	}
	return &Verdict{Kind: Duplicate, Rule: ruleContained, Confidence: Sure}
}

// oneSaysMore compares two texts of one sentence each that share nearly all words:
// the longer one says what the shorter says. Nothing may stand in the place of
// something else, for "a man sings" is not "a woman sings".
func oneSaysMore(n, o *reading) *Verdict {
	if len(n.clauses) != len(o.clauses) || !slices.EqualFunc(n.clauses, o.clauses, sameTurn) || qualified(n, o) {
		return nil
	}
	x, y := joined(n.clauses), joined(o.clauses)
	if len(x) > len(y) {
		x, y = y, x
	}
	// Specified in cognitive.md 6.3: Jaccard of at least 0.85.
	if len(x) < 2 || !subsequence(x, y) || float64(len(x)) < 0.85*float64(len(y)) && jaccard(n.clauses, o.clauses) < 0.85 {
		return nil
	}
	if len(joined(n.clauses)) > len(joined(o.clauses)) {
		return &Verdict{Kind: Supersede, Rule: ruleNear, Confidence: 0.9}
	}
	return &Verdict{Kind: Duplicate, Rule: ruleNear, Confidence: 0.9}
}

// sameTurn reports whether nothing turns one of two clauses round.
func sameTurn(a, b *clause) bool {
	return negations(a)+negations(b) == 0 && a.asserted() && b.asserted() && a.past() == b.past() && a.limited() == b.limited() && modal(a) == modal(b) && sameValues(a, b)
}

// qualified reports whether one of two texts has a word that narrows what it says:
// "only on weekdays" is not "on weekdays".
func qualified(n, o *reading) bool {
	count := func(clauses []*clause) int {
		n := 0
		for _, c := range clauses {
			for _, w := range c.words {
				if narrows()[w.fold] {
					n++
				}
			}
		}
		return n
	}
	return count(n.clauses) != count(o.clauses)
}

var narrows = sync.OnceValue(func() map[string]bool {
	return set(`only except unless until almost nearly former formerly fake half once some few most all every each other another first last new old no-one sometimes rarely often usually always
		nur außer fast seulement sauf presque solo excepto casi quasi`)
})

func joined(clauses []*clause) []string {
	var out []string
	for _, c := range clauses {
		out = append(out, sequence(c)...)
	}
	return out
}

func jaccard(a, b []*clause) float64 {
	all := func(clauses []*clause) map[string]bool {
		out := map[string]bool{}
		for _, c := range clauses {
			for _, w := range c.words {
				out[w.fold] = true
			}
		}
		return out
	}
	x, y := all(a), all(b)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return float64(both) / float64(max(len(x)+len(y)-both, 1))
}

func subsequence(x, y []string) bool {
	for _, w := range y {
		if len(x) > 0 && x[0] == w {
			x = x[1:]
		}
	}
	return len(x) == 0
}

// sameSpot keeps half of a sentence from being taken for the whole.
func sameSpot(c, d *clause) bool { return !d.lent && d.place == 0 }

// bare reports whether a clause is about a thing that another one names.
func bare(c *clause) bool {
	return len(c.subject) == 1 && slices.Contains([]string{"it", "this", "that", "they", "he", "she", "there", "these", "those", "es", "er", "sie", "il", "elle", "él", "ella", "esto", "lui", "lei"}, c.subject[0].fold)
}

// alike reports whether two clauses say the same: the same words of content in the
// same order, or with an adverbial at the other end, and nothing that turns one
// round. Order counts because "Ann manages Bob" is not "Bob manages Ann".
func alike(a, b *clause) bool {
	if negations(a) != negations(b) || a.question != b.question || a.asserted() != b.asserted() || a.past() != b.past() || modal(a) != modal(b) {
		return false
	}
	if !slices.Equal(values(a.words), values(b.words)) && !sameValues(a, b) {
		return false
	}
	x, y := sequence(a), sequence(b)
	if len(x) < 2 || len(x) != len(y) {
		return len(x) > 0 && slices.Equal(x, y) && ownerOf(a.subject) == ownerOf(b.subject) && folds(a.words) == folds(b.words)
	}
	return ownerOf(a.subject) == ownerOf(b.subject) && (slices.Equal(x, y) || rotated(x, y))
}

// negations counts them: two cancel each other, but what they are about may differ.
func negations(c *clause) int {
	n := 0
	for _, w := range c.words {
		if negator(w.fold) || againsts()[w.fold] {
			n++
		}
	}
	return n
}

func sameValues(a, b *clause) bool {
	x, y := values(a.words), values(b.words)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// sequence is what a clause says, word by word. The little words that place one
// thing to another count: "before" is not "after", "from" is not "to".
func sequence(c *clause) []string {
	if c.row == nil {
		c.row = c.readRow()
	}
	return c.row
}

func (c *clause) readRow() []string {
	out := []string{}
	for i := 0; i < len(c.words); i++ {
		w := c.words[i]
		if d, n := date(c.words[i:]); n > 0 {
			out, i = append(out, d), i+n-1
			continue
		}
		switch {
		case number(w.fold) != "":
			out = append(out, number(w.fold))
		case negator(w.fold), w.content():
			out = append(out, w.stem)
		case places(w.fold):
			out = append(out, w.fold)
		case owning(c.words, i):
			out = append(out, "have")
		}
	}
	return out
}

// owning reports whether words[i] says that somebody has something: "has a doctor"
// is not "is a doctor". In "has called" and "had been" it only makes a form.
func owning(words []word, i int) bool {
	switch words[i].fold {
	case "has", "have", "had":
		return i+1 < len(words) && !slices.ContainsFunc(words[i+1:min(i+4, len(words))], func(w word) bool { return participleOf(w) != "" || w.fold == "been" })
	}
	return false
}

// places knows the little words that cannot be exchanged for each other.
func places(w string) bool {
	switch w {
	case "from", "to", "over", "under", "into", "with", "by", "or", "if", "because", "while", "than", "without", "who", "which", "his", "her", "my", "your", "their", "our",
		"i", "you", "he", "she", "we", "they", "me", "him", "us", "them", "up", "down", "in", "on", "at", "mein", "dein", "mon", "mi", "nous", "je", "wir", "ich":
		return true
	}
	return false
}

// modal is the word that says how sure or how allowed a clause is.
func modal(c *clause) string {
	for _, w := range c.words {
		switch w.fold {
		case "will", "would", "can", "could", "shall", "should", "may", "might", "must", "need", "kann", "soll", "muss", "darf", "doit", "peut", "debe", "puede":
			return w.fold
		}
	}
	return ""
}

// rotated reports whether y is x with what stood at one end put to the other.
func rotated(x, y []string) bool {
	both := strings.Join(slices.Concat(x, x), "\x00") + "\x00"
	return strings.Contains("\x00"+both, "\x00"+strings.Join(y, "\x00")+"\x00")
}
