package merge

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/templates/lexicon"
	"stet/vault"
)

// texts yields the Markdown files of a skill, by name.
func texts(s fork.Skill) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, p := range slices.Sorted(maps.Keys(s.Files)) {
			if vault.Path(p).IsMarkdown() && !yield(p, s.Files[p].Data) {
				return
			}
		}
	}
}

// A part is a line of a text, or what of it stands inside or outside of a comment, or a whole block of code.
type part struct {
	text string
	kind kind
	line int // in the file, from 1
}

type kind int

const (
	shown kind = iota
	hidden
	coded
	heads // a heading
)

// partsOf takes a Markdown file apart. A comment that is not closed goes on to the end.
func partsOf(data []byte) (out []part) {
	doc := markdown.Parse(data)
	var fence, quote string // what a block of code that is not closed began with, and what stood before it
	var code []string
	is, n := shown, doc.BodyLine()-1
	for line := range strings.Lines(string(doc.Body())) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		text := strings.TrimPrefix(line, quote)
		if fence == "" {
			text = strings.TrimLeft(line, " \t>") // in a list or a quotation
		}
		mark := markdown.FenceOf(strings.TrimLeft(text, " \t"))
		switch {
		case is == hidden:
		case fence == "" && mark != "":
			fence, quote, code = mark, strings.TrimRight(line[:len(line)-len(text)], " \t"), nil
			continue
		case fence != "" && strings.HasPrefix(mark, fence):
			fence, out = "", append(out, part{block(code), coded, n})
			continue
		case fence != "":
			code = append(code, text)
			continue
		}
		for {
			end := strings.Index(line, "-->")
			if is == shown {
				end = commentAt(line)
			}
			if end < 0 {
				break
			}
			out = append(out, part{line[:end], is, n})
			line, is = strings.TrimPrefix(line[end:], "-->"), hidden-is
		}
		out = append(out, part{line, is, n})
	}
	if fence != "" {
		out = append(out, part{block(code), coded, n})
	}
	return out
}

// block is code without the indent that all of its lines have.
func block(lines []string) string {
	indent := -1
	for _, l := range lines {
		if n := len(l) - len(strings.TrimLeft(l, " \t")); l != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(max(indent, 0), len(l)):]
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// commentAt is where a comment begins in a line, outside of code; -1 where none does.
func commentAt(line string) int {
	for at := 0; ; at++ {
		next := strings.Index(line[at:], comment[:4])
		if next < 0 {
			return -1
		}
		if at += next; strings.Count(line[:at], "`")%2 == 0 || !strings.Contains(line[at:], "`") {
			return at
		}
	}
}

var (
	marks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\s>]*(?:[-*+]\s|\d+[.)]\s)?\s*(?:\[[ xX]\]\s)?#*\s*`)
	})
	target  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\(([^()\s]*)([^()]*)\)`) })
	heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]|$)`) })
)

// plain is a line as it is compared: without what makes it a heading or an item, and without where its relative links
// lead, which is looked at elsewhere. It is "" where nothing is said.
func plain(line string) string {
	line = target().ReplaceAllStringFunc(line, func(s string) string {
		if strings.Contains(s, "://") {
			return s
		}
		return "](" + strings.TrimSpace(target().FindStringSubmatch(s)[2]) + ")"
	})
	line = strings.Join(strings.Fields(markdown.Fold(marks().ReplaceAllString(line, ""))), " ")
	if !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return ""
	}
	return line
}

// wordMarks may stand around a word and are none of it.
const wordMarks = "`.,;:!?()[]{}\"'*<>|"

// A unit is what a reader takes for one thing, however its lines are broken: a heading, a paragraph, an item, a row, a
// comment or a block of code.
type unit struct {
	text string // plain, of code the block
	raw  string
	kind kind
	line int // where it begins, of code where it ends
}

// units are those of a Markdown file, in order.
func units(data []byte) (out []unit) {
	open := false // the last one goes on
	var texts, raws []string
	join := func() {
		if len(texts) > 1 {
			last := &out[len(out)-1]
			last.text, last.raw = strings.Join(texts, " "), strings.Join(raws, "\n")
		}
	}
	for _, p := range partsOf(data) {
		text := p.text
		if p.kind != coded {
			text = plain(strings.TrimPrefix(text, comment[:4]))
		}
		begins := strings.TrimSpace(marks().FindString(p.text)) != "" || strings.HasPrefix(p.text, "|")
		switch {
		case text == "":
			open = false
		case open && !begins && p.kind == shown:
			texts, raws = append(texts, text), append(raws, p.text)
		default:
			if open = p.kind == shown; open && heading().MatchString(p.text) {
				p.kind, open = heads, false
			}
			join()
			texts, raws = append(texts[:0], text), append(raws[:0], p.text)
			out = append(out, unit{text, p.text, p.kind, p.line})
		}
	}
	join()
	return out
}

const (
	comment = "<!-- " // begins a sentence that is hidden
	fenced  = "```\n" // begins code
)

// says are the sentences of a unit, or its code. What is hidden or code never equals what is shown.
func (u unit) says() []string {
	if u.kind == coded {
		return []string{fenced + u.text}
	}
	out := sentences(u.text)
	for i := range out {
		if u.kind == hidden {
			out[i] = comment + out[i]
		}
	}
	return out
}

// title reports whether a unit is the title of the file that it begins.
func (u unit) title(i int) bool { return i == 0 && strings.HasPrefix(u.raw, "# ") }

// leads reports whether a unit says nothing of its own, but what follows it does.
func (u unit) leads() bool {
	return u.kind == heads || strings.HasSuffix(strings.TrimRight(u.raw, "*_ "), ":")
}

// item reports whether a unit may belong to a line that leads to it.
func (u unit) item() bool {
	return u.kind != shown || strings.TrimSpace(marks().FindString(u.raw)) != "" || strings.HasPrefix(u.raw, "|")
}

// A place is what a unit stands below: headings, of which titles are those of files, and of an item the line that leads
// to its list.
type place struct{ all, titles []string }

// under yields the units of a Markdown text with where they stand.
func under(data []byte) iter.Seq2[unit, place] {
	return func(yield func(unit, place) bool) {
		var at place
		var levels []int
		lead := ""
		for i, u := range units(data) {
			says := u.says()
			last := says[len(says)-1] // of a numbered heading what follows the number
			switch {
			case u.kind == heads:
				level := len(u.raw) - len(strings.TrimLeft(u.raw, "# "))
				for len(levels) > 0 && levels[len(levels)-1] >= level {
					at.all, levels = at.all[:len(at.all)-1], levels[:len(levels)-1]
				}
				at.all, levels, lead = append(slices.Clone(at.all), last), append(levels, level), ""
				if u.title(i) {
					at.titles = []string{last}
				}
			case !u.item() && u.leads():
				lead = last
			case !u.item():
				lead = ""
			}
			now := at
			if u.item() && u.kind != heads && lead != "" {
				now.all = append(slices.Clone(at.all), lead)
			}
			if !yield(u, now) {
				return
			}
		}
	}
}

// ending finds the ends of sentences, and code, in which none is.
var ending = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`[^`]*`|[.!?][\"')\\]*_`]* ") })

// sentences are those of a plain text, without the mark at the end.
func sentences(text string) (out []string) {
	begin := 0
	for _, at := range ending().FindAllStringIndex(text, -1) {
		if text[at[0]] != '`' {
			out, begin = append(out, strings.TrimRight(text[begin:at[1]], ".!?:;, ")), at[1]
		}
	}
	return append(out, strings.TrimRight(text[begin:], ".!?:;, "))
}

// Lines is how many sentences, headings, items and rows a skill has, which the reports call its lines.
func Lines(s fork.Skill) (n int) {
	for _, data := range texts(s) {
		for _, u := range units(data) {
			if u.kind != coded {
				n += len(u.says())
			}
		}
	}
	return n
}

// bounding are words that forbid, order or limit something.
var bounding = sync.OnceValue(func() map[string]bool {
	out := lexicon.Words("bound")
	maps.Copy(out, turning())
	return out
})

// bounds reports whether a plain sentence has one of them.
func bounds(sentence string) bool {
	return slices.ContainsFunc(words(sentence), func(w string) bool { return bounding()[w] })
}
