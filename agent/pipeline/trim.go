package pipeline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/agent/encode"
)

// trim takes the clauses that a quote covers out of a text. It says why it cannot.
func trim(text, quote string) (gone []string, rest, why string) {
	all := encode.Clauses(text)
	at, ok := find(text, quote)
	if quote == "" && len(all) == 1 {
		at, ok = all[0], true
	}
	switch {
	case strings.TrimSpace(quote) == "" && !ok:
		return nil, "", "it names no words that are no longer true"
	case !ok:
		return nil, "", "the words that it names do not stand there"
	}
	var spans []encode.Span
	for _, c := range all {
		if c.From >= at.To || c.To <= at.From {
			continue
		}
		// What of the clause was not quoted must say nothing of its own.
		tail := text[min(c.To, at.To):c.To]
		if postal(tail) && at.From <= c.From {
			tail = ""
		}
		left := content(wordsOf(text[c.From:max(c.From, at.From)] + " " + tail))
		for i, w := range left {
			if has(wordsOf(quote), turning()) || w.value && i > 0 || turning()[w.fold] || i > maxLeft {
				return nil, "", "the words that it names are only a part of what is said"
			}
		}
		spans = append(spans, c)
		gone = append(gone, text[c.From:c.To])
	}
	if len(spans) == 0 {
		return nil, "", "the words that it names say nothing"
	}
	if len(spans) == len(all) {
		return gone, "", ""
	}
	rest, ok = encode.Without(text, spans)
	if !ok || rest == "" || !stands(text, rest, all, spans) {
		return nil, "", "what remains would mean something else"
	}
	return gone, rest, ""
}

// maxLeft is how many words of a clause may go although they were not quoted, beside its
// first one: its subject and its verb.
const maxLeft = 2

// postal reports the rest of an address: ", 50667 Köln".
func postal(tail string) bool {
	words := wordsOf(tail)
	return strings.HasPrefix(tail, ", ") && len(words) == 2 && len(words[0].fold) > 3 && number(words[0]) && words[1].value && !number(words[1])
}

// find is where a quote stands in a text, once; white space, case and the punctuation
// around it do not count.
func find(text, quote string) (encode.Span, bool) {
	fold := func(s string) (string, []int) {
		var b strings.Builder
		var at []int
		space := true
		for i, r := range s {
			if unicode.IsSpace(r) {
				if !space {
					b.WriteByte(' ')
					at = append(at, i)
				}
				space = true
				continue
			}
			space = false
			low := string(unicode.ToLower(r))
			b.WriteString(low)
			for range len(low) {
				at = append(at, i)
			}
		}
		return b.String(), at
	}
	in, at := fold(text)
	want, _ := fold(strings.Trim(quote, " \t\r\n.,;:!?\"'“”„…"))
	if want == "" || strings.Count(in, want) != 1 {
		return encode.Span{}, false
	}
	from := strings.Index(in, want)
	last := at[from+len(want)-1]
	_, size := utf8.DecodeRuneInString(text[last:])
	span := encode.Span{From: at[from], To: last + size}
	before, _ := utf8.DecodeLastRuneInString(text[:span.From])
	after, _ := utf8.DecodeRuneInString(text[span.To:])
	letter := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return span, !letter(before) && !letter(after)
}

// stands reports whether what remains of a text says what it said before: every other
// clause is there, and none of them, nor what went, limits the other.
func stands(text, rest string, all, gone []encode.Span) bool {
	cut := func(c encode.Span) bool { return slices.Contains(gone, c) }
	for i, c := range all {
		said := text[c.From:c.To]
		if cut(c) {
			continue
		}
		_, first := utf8.DecodeRuneInString(said)
		if !strings.Contains(rest, said[first:]) {
			return false
		}
		for _, j := range []int{i - 1, i + 1} { // neighbours that go
			if j < 0 || j >= len(all) || !cut(all[j]) {
				continue
			}
			a, b := min(c.To, all[j].To), max(c.From, all[j].From)
			between := text[a:b]
			joined := !strings.ContainsAny(between, ".!?\n。！？")
			near := wordsOf(said + " " + between + " " + text[all[j].From:all[j].To])
			if joined && has(near, turning()) {
				return false // one sentence with "but", "not", "only" in it
			}
			if words := wordsOf(said); j < i && len(words) > 0 && (turning()[words[0].fold] || refers(words[0].fold)) {
				return false // "But on Fridays …", "Her phone number …"
			}
		}
	}
	return true
}

// refers reports a word that takes up what was said before.
func refers(fold string) bool {
	return slices.Contains([]string{"it", "its", "he", "his", "she", "her", "they", "their", "them", "this", "that", "these", "those", "there",
		"then", "so", "also", "both", "er", "sie", "es", "ihr", "ihre", "sein", "seine", "dies", "das", "il", "elle", "ils", "ella", "él"}, fold)
}
