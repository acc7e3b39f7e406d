// Package spoken tells what of a turn its author says: not what is code, quoted or handed over, nor what stet
// itself put there. Where it cannot tell it takes nothing.
//
//	for _, line := range spoken.Lines(turn) {
//		for _, s := range spoken.Sentences(spoken.Unquoted(line, "…")) {
package spoken

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/markdown"
	"stet/templates/lexicon"
)

// Lines are the lines of a turn that its author speaks, trimmed, "" between paragraphs. None are those of code,
// fenced or indented, of quotations marked by ">" or that go over several lines, what stands behind a line that
// ends in a colon, and the blocks of stet's.
func Lines(turn string) []string {
	turn = strings.ReplaceAll(string(markdown.StripInjected([]byte(turn))), "\r\n", "\n")
	turn, _, _ = strings.Cut(turn, markdown.InjectedOpen) // a block that is not closed
	var out []string
	fence, quoted := "", false
	for line := range strings.SplitSeq(turn, "\n") {
		text := strings.TrimSpace(line)
		switch mark := markdown.FenceOf(line); {
		case fence != "":
			if strings.HasPrefix(mark, fence) && text == mark {
				fence = ""
			}
			continue
		case mark != "":
			fence, quoted = mark, false
			out = append(out, "")
			continue
		}
		quoted = text != "" && (quoted || text[0] == '>')
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if !quoted && len(indent) < 4 && !strings.Contains(indent, "\t") {
			out = append(out, text)
		}
		if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "*_` ")); strings.ContainsRune(colons, last) {
			break
		}
	}
	return withoutLong(out)
}

// colons are those of all scripts, wide, small and upright ones as well.
const colons = ":：﹕︓∶꞉፥፦᠄"

// withoutLong leaves out the lines of quotations that end on another line than they begin: up to the next mark
// that closes one, and before a mark that closes none those of its paragraph. A quotation that nothing closes
// goes to the end of its line, see [Unquoted].
func withoutLong(lines []string) []string {
	drop := make([]bool, len(lines))
	open := map[string]bool{} // what nothing closes from here on, an apostrophe up to the end of the paragraph
	from := 0                 // the first line of the paragraph that is not dropped
	for i, at := 0, 0; i < len(lines); {
		if lines[i] == "" {
			from = i
			delete(open, apostrophes)
		}
		line := []rune(lines[i])
		q := quotationIn(line, at)
		if q.stray {
			for ; from <= i; from++ {
				drop[from] = lines[from] != ""
			}
		}
		if q.closers != "" && q.end > 0 {
			at = q.end
			continue
		}
		end, next := i+1, 0
		if q.closers != "" && !open[q.closers] {
			for end < len(lines) && next == 0 && (lines[end] != "" || q.closers != apostrophes) {
				if next = closing([]rune(lines[end]), 0, q.closers); next == 0 {
					end++
				}
			}
			if next == 0 {
				open[q.closers], end = true, i+1
			} else {
				for n := i; n <= end; n++ {
					drop[n] = lines[n] != ""
				}
			}
		}
		i, at = end, next
	}
	n := -1
	return slices.DeleteFunc(lines, func(string) bool { n++; return drop[n] })
}

// Unquoted is a line with a mark in the place of each quotation and each piece of code: the words there are
// another's. One that is not closed goes to the end of the line; an apostrophe and the mark of an inch open none.
func Unquoted(line, mark string) string {
	var out strings.Builder
	all, at := []rune(line), 0
	for {
		q := quotationIn(all, at)
		if q.closers == "" {
			return out.String() + string(all[at:])
		}
		out.WriteString(string(all[at:q.start]) + " " + mark + " ")
		if at = q.end; at == 0 {
			return out.String()
		}
	}
}

// A quotation in a line: all of it is [start:end], end 0 where nothing closes it.
type quotation struct {
	start, end int
	closers    string // marks that close it, "" where there is none
	stray      bool   // before it, or where there is none, a mark closes what nothing opened
}

func quotationIn(line []rune, from int) (q quotation) {
	for i := from; i < len(line); i++ {
		if q.closers = closersOf(line, i); q.closers != "" {
			q.start, q.end = i, closing(line, i+1, q.closers)
			return q
		}
		q.stray = q.stray || line[i] == '”' || line[i] == '"' && i > 0 && !unicode.IsDigit(line[i-1])
	}
	return q
}

const apostrophes = "'’"

// closersOf are the marks that close what the mark at i opens, "" where it opens nothing.
func closersOf(line []rune, i int) string {
	switch line[i] {
	case '“', '„':
		return "”“"
	case '«':
		return "»"
	case '»':
		return "«"
	case '‹':
		return "›"
	case '「':
		return "」"
	case '『':
		return "』"
	case '`':
		return "`"
	case '"':
		if opens(line, i) {
			return `"`
		}
	case '\'', '‘', '‚':
		if opens(line, i) && !elided(line[i+1:]) {
			return apostrophes
		}
	}
	return ""
}

// opens reports whether a mark that may do both opens.
func opens(line []rune, i int) bool {
	return (i == 0 || unicode.IsSpace(line[i-1]) || strings.ContainsRune("([{,:;=-–—/", line[i-1])) &&
		i+1 < len(line) && !unicode.IsSpace(line[i+1])
}

// elided reports a word, or a year, that an apostrophe before it shortens.
func elided(rest []rune) bool {
	end := slices.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(rest)
	}
	word := strings.ToLower(string(rest[:end]))
	return word != "" && word[0] >= '0' && word[0] <= '9' && strings.HasSuffix(word, "0s") ||
		slices.Contains(strings.Fields("bout cause cuz em ne nem n round s n't til tis twas"), word)
}

// closing is behind the first mark from there on that closes a quotation, 0 for none.
func closing(line []rune, from int, closers string) int {
	for i := from; i < len(line); i++ {
		inWord := i+1 < len(line) && (unicode.IsLetter(line[i+1]) || unicode.IsDigit(line[i+1]))
		spaced := i > 0 && unicode.IsSpace(line[i-1])
		switch {
		case !strings.ContainsRune(closers, line[i]):
		case closers == `"` && opens(line, i), closers == apostrophes && (inWord || spaced):
		default:
			return i + 1
		}
	}
	return 0
}

// Sentences cuts a text where sentences end: at a full stop, a question or exclamation mark before a space, at the
// marks of Chinese and Japanese, and at the end of a line. A mark or a face belongs to what stands before it.
func Sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		start, from, had := 0, 0, len(out) // of the last sentence, and of what comes behind it
		letter := false                    // there was one
		add := func(end int) {
			if strings.ContainsFunc(line[from:end], unicode.IsLetter) {
				start, out = from, append(out, strings.TrimSpace(line[from:end]))
			} else if len(out) > had {
				out[len(out)-1] = strings.TrimSpace(line[start:end])
			}
			from = end
		}
		for i, r := range line {
			letter = letter || unicode.IsLetter(r)
			switch end := i + utf8.RuneLen(r); {
			case strings.ContainsRune("。！？", r):
				add(end)
			case !strings.ContainsRune(".!?…", r), !letter, r == '.' && short(line[from:i], line[end:]):
			default:
				if n, ok := closed(line[end:]); ok {
					add(end + n)
				}
			}
		}
		if add(len(line)); len(out) == had && strings.TrimSpace(line) != "" {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

// closed reports whether a sentence ends before a text, and how much of that closes it.
func closed(text string) (n int, ok bool) {
	rest := strings.TrimLeft(text, `)]"'”’»`)
	r, _ := utf8.DecodeRuneInString(rest)
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	n = len(text) - len(rest)
	return n, unicode.IsSpace(r) && (n == 0 || !unicode.IsLower(next))
}

// shortMost is how much stands before a full stop that is looked at for an abbreviation, in bytes: a line may have
// many full stops that end no sentence.
const shortMost = 80

// short reports whether the full stop behind a text ends an abbreviation and no sentence.
func short(before, after string) bool {
	fields := strings.Fields(before[max(0, len(before)-shortMost):])
	if len(fields) == 0 {
		return true
	}
	last := strings.ToLower(strings.Trim(fields[len(fields)-1], "(\"'"))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, unicode.IsSpace))
	return titles()[last] ||
		utf8.RuneCountInString(last) == 1 && last != "i" && !unicode.IsDigit(rune(last[0])) ||
		strings.Contains(last, ".") && !unicode.IsUpper(next)
}

var titles = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "titles") })
