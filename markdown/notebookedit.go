package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// divider is what stands between two blocks that would otherwise be one: an empty
// comment, the way CommonMark itself recommends.
const divider = "<!-- -->"

// splice is one way to write an edit: text instead of the bytes at … end.
type splice struct {
	at, end int
	text    string
}

// AddEntry writes text as a new entry and returns it as it then stands. Below
// the heading under, case and surrounding decoration aside, it goes behind the
// last entry; a heading that the file does not have is made at the end. Without
// under it goes to a list that is all of its kind, else behind the last entry
// that stands below no heading but the page's title, so that no heading says of
// it what nobody said; never below a heading "Pinned". The file's marker, line ending, blank lines between
// entries and missing final newline stay what they are.
//
// It fails with [ErrInvalidEntry], and then nothing was changed, when no place
// makes an entry of the text: three hyphens alone are a line across the page.
func (d *Document) AddEntry(text, under string) (Entry, error) {
	text = EntryText(text)
	if text == "" {
		return Entry{}, fmt.Errorf("add: %w: it is empty", ErrInvalidEntry)
	}
	p := placer{d: d, entries: d.Entries(), text: text, under: strings.Join(strings.Fields(under), " ")}
	for place := range p.places {
		for _, s := range place.splices(d, text) {
			next := d.spliced(s)
			if e, ok := p.added(next, s.at); ok {
				*d = *next
				return e, nil
			}
		}
	}
	return Entry{}, fmt.Errorf("add: %w: it would not read back as one", ErrInvalidEntry)
}

// ReplaceEntry writes text in the place of e, which must come from Entries of
// this document as it is, and returns the entry as it then stands. The marker
// stays. It fails with [ErrInvalidEntry] and has then changed nothing.
func (d *Document) ReplaceEntry(e Entry, text string) (Entry, error) {
	text = EntryText(text)
	if text == "" {
		return Entry{}, fmt.Errorf("replace: %w: it is empty", ErrInvalidEntry)
	}
	before := d.Entries()
	i, err := position(before, e)
	if err != nil {
		return Entry{}, err
	}
	if text == e.Text {
		return e, nil
	}
	eol := d.eolAt(e.End)
	lines := itemLines(e.plainPrefix(), text)
	end := ""
	if bytes.HasSuffix(d.src[e.Start:e.End], []byte("\n")) {
		end = eol
	}
	body := strings.Join(lines, eol)
	for _, tail := range []string{end, end + eol} {
		next := d.spliced(splice{e.Start, e.End, body + tail})
		after := next.Entries()
		if len(after) == len(before) && after[i].Text == text && d.keeps(next, before[:i], after[:i]) && d.keeps(next, before[i+1:], after[i+1:]) {
			*d = *next
			return after[i], nil
		}
	}
	return Entry{}, fmt.Errorf("replace: %w: it would not read back as one", ErrInvalidEntry)
}

// RemoveEntry takes e out, which must come from Entries of this document as it
// is, together with the blank lines that would be left over. It fails with
// [ErrInvalidEntry], having changed nothing, when the rest would then mean
// something else.
func (d *Document) RemoveEntry(e Entry) error {
	before := d.Entries()
	i, err := position(before, e)
	if err != nil {
		return err
	}
	for _, s := range d.removals(e) {
		next := d.spliced(s)
		after := next.Entries()
		if len(after) == len(before)-1 && d.keeps(next, before[:i], after[:i]) && d.keeps(next, before[i+1:], after[i:]) {
			*d = *next
			return nil
		}
	}
	return fmt.Errorf("remove line %d: %w: what is around it would change its meaning", e.Line, ErrInvalidEntry)
}

// position finds e among the entries of the document as it is.
func position(entries []Entry, e Entry) (int, error) {
	i := slices.IndexFunc(entries, func(x Entry) bool { return x.Start == e.Start && x.End == e.End && x.Text == e.Text })
	if i < 0 {
		return 0, fmt.Errorf("line %d: %w: the document has changed since", e.Line, ErrInvalidEntry)
	}
	return i, nil
}

// keeps reports whether entries still say the same below the same headings, and
// whether no heading of d was lost or changed.
func (d *Document) keeps(next *Document, before, after []Entry) bool {
	same := slices.EqualFunc(before, after, func(a, b Entry) bool {
		return a.Text == b.Text && slices.Equal(a.Under, b.Under)
	})
	return same && slices.EqualFunc(d.outline().headings, next.outline().headings, func(a, b Heading) bool {
		return a.Level == b.Level && a.Text == b.Text
	})
}

func (d *Document) spliced(s splice) *Document {
	return Parse(concat(d.src[:s.at], []byte(s.text), d.src[s.end:]))
}

// removals are the ways to take e out, the one that leaves the fewest blank
// lines first.
func (d *Document) removals(e Entry) []splice {
	above, below := d.blanksAbove(e.Start), d.blanksBelow(e.End)
	last := below == len(d.src)
	behind := splice{at: e.Start, end: below}
	before := splice{at: above, end: e.End}
	var out []splice
	switch {
	case last && above > d.split.body:
		out = append(out, before, splice{at: e.Start, end: e.End})
	case below > e.End || above == d.split.body:
		out = append(out, behind, splice{at: e.Start, end: e.End})
	default:
		out = append(out, splice{at: e.Start, end: e.End}, before)
	}
	eol := d.eolAt(e.End)
	return append(out,
		splice{at: e.Start, end: e.End, text: eol},
		splice{at: e.Start, end: e.End, text: divider + eol}, // an indented line behind would join the item above
	)
}

// blanksAbove is the start of the blank lines that end at `at`, a line's start.
func (d *Document) blanksAbove(at int) int {
	for at > d.split.body {
		start := max(lineStart(d.src, at-1), d.split.body)
		if len(bytes.TrimSpace(d.src[start:at])) > 0 {
			return at
		}
		at = start
	}
	return at
}

// blanksBelow is the end of the blank lines that start at `at`.
func (d *Document) blanksBelow(at int) int {
	for at < len(d.src) {
		end := lineEnd(d.src, at)
		if len(bytes.TrimSpace(d.src[at:end])) > 0 {
			return at
		}
		at = end
	}
	return at
}

// eolAt is the line ending in use around an offset: that of the line before it,
// else of the line at it.
func (d *Document) eolAt(at int) string {
	i := bytes.LastIndexByte(d.src[:at], '\n')
	if i < 0 {
		i = bytes.IndexByte(d.src, '\n')
	}
	if i > 0 && d.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// itemLines are the lines of an item, without line endings.
func itemLines(prefix, text string) []string {
	lines := strings.Split(text, "\n")
	indent := strings.Repeat(" ", width(prefix))
	for i, l := range lines {
		switch {
		case i == 0:
			lines[i] = prefix + l
		case l != "":
			lines[i] = indent + l
		}
	}
	return lines
}

// width is the number of columns that a text at the start of a line takes.
func width(s string) int {
	n := 0
	for i := range len(s) {
		if s[i] == '\t' {
			n += tabWidth - n%tabWidth
		} else {
			n++
		}
	}
	return n
}

// plainPrefix is the item's own prefix when text behind it starts where the
// item's does; an empty item, or one that starts with code, gets one blank.
func (it item) plainPrefix() string {
	marker := strings.TrimRight(it.prefix, " \t")
	gap := width(it.prefix) - width(marker)
	if gap >= 1 && gap <= 4 && width(it.prefix) == it.columns {
		return it.prefix
	}
	return marker + " "
}

// nextPrefix is the prefix of an entry behind e, which follows prev in its list:
// the next number, unless the list repeats one number.
func nextPrefix(e Entry, prev *Entry) string {
	plain := e.plainPrefix()
	if e.bulleted() || prev != nil && prev.number == e.number {
		return plain
	}
	indent := plain[:len(plain)-len(strings.TrimLeft(plain, " "))]
	_, gap, _ := strings.Cut(plain, string(e.marker))
	return fmt.Sprintf("%s%d%c%s", indent, e.number+1, e.marker, gap)
}
