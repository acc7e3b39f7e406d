package merge

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/skill"
)

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

// comment begins a plain line that is hidden.
const comment = "<!-- "

// plain is a part as it is compared, "" where it says nothing. What is hidden is never equal to what is shown.
func (p part) plain() string {
	text := plain(strings.TrimPrefix(p.text, comment[:4]))
	if p.kind == hidden && text != "" {
		return comment + text
	}
	return text
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]|$)`) })

// A unit is a heading, a paragraph, an item, a row or a comment, without code.
type unit struct {
	text  string // plain
	raw   string
	heads bool
	line  int
}

// units are those of a Markdown file, in order.
func units(data []byte) (out []unit) {
	open := false // the last one goes on
	for _, p := range partsOf(data) {
		text := p.plain()
		begins := strings.TrimSpace(marks().FindString(p.text)) != "" || strings.HasPrefix(p.text, "|")
		switch {
		case text == "":
			open = false
		case open && !begins && p.kind == shown:
			last := &out[len(out)-1]
			last.text, last.raw = last.text+" "+text, last.raw+"\n"+p.text
		case p.kind != coded:
			out = append(out, unit{text, p.text, p.kind == shown && heading().MatchString(p.text), p.line})
			open = p.kind == shown && !out[len(out)-1].heads
		default:
			open = false
		}
	}
	return out
}

var sentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[.!?][\"')\\]*_`]* ") })

// sentences are those of a plain text, without the mark at the end.
func sentences(text string) (out []string) {
	for at := []int{0, 0}; at != nil; text = text[at[1]:] {
		if at = sentence().FindStringIndex(text); at == nil {
			return append(out, strings.TrimRight(text, ".!?:;, "))
		}
		out = append(out, strings.TrimRight(text[:at[1]], ".!?:;, "))
	}
	return out
}

// neutral are the stems of words by which an umbrella says that it has sections.
const neutral = "a about all an and any are at by can colle combi conta conte cover detai each every for from full " +
	"guide how in instr into is it its of on one or overv part parts read refer relat secti see skill step steps " +
	"task tasks that the their these this to topic trigg umbre use used uses using what when where " +
	"which with work workf you your"

// stems are the beginnings of the words of a text.
func stems(text string) (out []string) {
	for _, w := range words(text) {
		if r := []rune(w); len(r) > stem && !strings.ContainsFunc(w, unicode.IsDigit) {
			w = string(r[:stem])
		}
		out = append(out, w)
	}
	return out
}

func words(text string) []string {
	return strings.FieldsFunc(markdown.Fold(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

const (
	stem   = 5   // letters
	maxOwn = 200 // bytes of a line of the model's own, beside a description
)

// addLines notes what a Markdown file of a source says, with its links as they are and as they become.
func (o *origin) addLines(files ...[]byte) {
	for _, data := range files {
		for _, u := range units(data) {
			for _, one := range sentences(u.text) {
				o.said[one] = true
			}
			if u.heads {
				o.know(u.text)
			}
		}
	}
}

// know lets words be used in headings and where an umbrella leads to its sections.
func (o *origin) know(text string) {
	for _, w := range stems(text) {
		o.words[w] = true
	}
}

// ownLine is the first sentence of a file of an umbrella that stands in none of its sources. Besides theirs it may have
// headings, and in SKILL.md one sentence below the title, when to use a section, and links to its own files; and in all
// of those no words but of the names, the descriptions and the headings of the sources.
func (o *origin) ownLine(u fork.Skill, file string) string {
	main, titles, begins := file == skill.File, 0, true // the first unit below a heading
	room := 0                                           // what it may have to say when to use a section
	for _, one := range units(u.Files[file].Data) {
		said := sentences(one.text)
		free := len(one.text) <= maxOwn+room && (one.heads || main && (begins && room > 0 ||
			len(said) == 1 && (begins && titles <= 1 || leadsInto(u, one.raw))))
		if i := slices.IndexFunc(said, func(s string) bool {
			return !o.said[s] && (!free || slices.ContainsFunc(stems(s), func(w string) bool { return !o.words[w] }))
		}); i >= 0 {
			return fmt.Sprintf("line %d of %s stands in none of the skills in it: %s", one.line, file, first(said[i]))
		}
		if begins, room = one.heads, 0; begins {
			titles++
			for name, n := range o.rooms {
				if strings.Contains("-"+markdown.Slug(one.raw, 0)+"-", name) {
					room = max(room, n)
				}
			}
		}
	}
	return ""
}

// leadsInto reports whether a line links to a file of the umbrella.
func leadsInto(u fork.Skill, line string) bool {
	return slices.ContainsFunc(markdown.Parse([]byte(line)).Links(), func(l markdown.Link) bool {
		_, ok := u.Files[path.Clean(l.Target)]
		return ok && l.Kind == markdown.RelativeLink
	})
}

// section is what an umbrella lacks of the section of a skill: a heading with its name, and below it when to use it.
func section(u, gone fork.Skill) string {
	was, _ := skill.Parse(gone.Folder, gone.Files[skill.File].Data)
	name := "-" + markdown.Slug(gone.Name, 0) + "-"
	data := u.Files[skill.File].Data
	all := markdown.Parse(data).Sections()
	for i, s := range all {
		if s.Heading.Level == 0 ||
			!strings.Contains("-"+markdown.Slug(s.Heading.Text, 0)+"-", name) {
			continue
		}
		end := s.End
		for _, below := range all[i+1:] {
			if below.Heading.Level <= s.Heading.Level {
				break
			}
			end = below.End
		}
		if says(string(data[s.Start:end]), was.Description) {
			return ""
		}
		return "its section does not say when to use it, as the description did"
	}
	return "there is no section with its name"
}

// says reports whether a text has the words of another, but for a few.
func says(text, other string) bool {
	have := map[string]bool{}
	for _, w := range words(text) {
		have[w] = true
	}
	all, n := words(other), 0
	for _, w := range all {
		if have[w] {
			n++
		}
	}
	return share(n, len(all)) >= triggers
}
