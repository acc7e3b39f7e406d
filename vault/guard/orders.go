package guard

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Injections lists what in data reads like orders to a model, in the order of
// lines, and the characters that hide text from a person. The text is looked
// at as a model takes it: compatibility forms of letters and characters that
// nobody sees do not get words past the rules. Letters of one script that look
// like another's are not resolved.
func Injections(data []byte) []Finding {
	found := injections(string(data))
	if text, ok := utf16Text(data); ok {
		found = append(found, injections(text)...)
	}
	return distinct(found)
}

func injections(text string) []Finding {
	set, read := orderRules(), plain(text)
	w := newWindows(set.rules, &read)
	set.index.find(read.text, w.add)
	var found []match
	for i := range set.rules {
		for _, in := range w.of[i] {
			found = append(found, set.rules[i].orders(&read, in)...)
		}
	}
	inOrder := func(a, b match) int { return cmp.Compare(a.start, b.start) }
	slices.SortStableFunc(found, inOrder)
	found = append(found, unheard(spoken(&read), found)...)
	slices.SortStableFunc(found, inOrder)
	return append(hidden(text), findings(text, found, func(m match) string { return oneLine(m.lead, 2*excerptWidth) })...)
}

// unheard is what of more shares no byte with what was found; both are in order. A rule that
// knows the very words is believed rather than one for what they mean.
func unheard(more, found []match) []match {
	i, last := 0, 0
	return slices.DeleteFunc(more, func(m match) bool {
		for ; i < len(found) && found[i].start < m.end; i++ {
			last = max(last, found[i].end)
		}
		return last > m.start
	})
}

// NameInjections is Injections for a path, where characters that nobody sees
// make one file pass for another.
func NameInjections(name string) []Finding {
	found := Injections([]byte(name))
	for i := range found {
		found[i].Line, found[i].Column = 0, 0
	}
	return found
}

func (r *rule) orders(v *view, in window) (found []match) {
	part := v.text[in.start:in.end]
	if !r.worth(v, in) {
		return nil
	}
	for _, at := range r.expr().FindAllStringIndex(part, -1) {
		said := part[at[0]:at[1]]
		start, end := v.origin(in.start+at[0], in.start+at[1])
		found = append(found, match{r, start, end, strings.Join(strings.Fields(strings.ToLower(said)), " "), said})
	}
	return found
}

// gap is what may stand between two words of an order: white space, with the
// marks of emphasis, quotes, lists and clauses, but no end of a sentence.
const gap = `[,;:*_"'\x60()-]{0,3}\s+(?:[,;:*_"'\x60()>-]{1,3}\s*)?`

// orderLines is how many line ends a match can hold: words wrapped by an
// editor, not sections.
const orderLines = 3

//go:embed rules/orders.txt
var ordersText string

var orderRules = sync.OnceValue(func() *ruleSet {
	pairs := []string{"expr ", "expr (?i)", "~", gap}
	for n := range 9 {
		pairs = append(pairs, fmt.Sprintf("§%d", n), fmt.Sprintf(`(?:\S{1,40}\s+){0,%d}?[*_"'\x60(]{0,3}`, n))
	}
	shapes := sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer(pairs...) })
	set := mustParse(source{ordersText, shapes})
	for i := range set.rules {
		set.rules[i].span = orderLines
	}
	return set
})
