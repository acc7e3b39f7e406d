package query

import (
	"slices"
	"strings"

	"stet/index/document"
)

// reads takes down what a text says of times: whether it asks for one, and whether it names May. "may" in a
// sentence is one beside a number or behind a word that stands before times, else the verb.
func (q *Query) reads(text string) {
	var words []string
	document.Tokenize([]byte(text), func(t document.Token) { words = append(words, t.Term) })
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return words[i]
	}
	for i, w := range words {
		switch w {
		case "when":
			q.when = true
		case "long":
			q.when = q.when || at(i-1) == "how"
		case "date", "day", "month", "year", "time":
			q.when = q.when || at(i-1) == "what" || at(i-1) == "which"
		case "may":
			q.may = q.may || !q.sentence || isNumber(at(i-1)) || isNumber(at(i+1)) ||
				slices.Contains(beforeTimes(), at(i-1))
		}
	}
}

// beforeTimes are words that stand before a month, and seldom before a verb.
func beforeTimes() []string {
	return strings.Fields("in of on by since until till from to before after during last this next early mid late")
}

func isNumber(w string) bool { return w != "" && w[0] >= '0' && w[0] <= '9' }

// undated reports a word that stands in the date of a message and does not mean it: the verb "may", and the 8 of utf-8.
func (q *Query) undated(c *clause, w string) bool {
	named := func(t document.Token) bool { return !isNumber(t.Term) }
	return w == "may" && !q.may || isNumber(w) && slices.ContainsFunc(c.exact, named)
}
