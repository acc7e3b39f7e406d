package markdown

import (
	"slices"
	"strings"
)

// A place is where and how a new entry may be written.
type place struct {
	at      int
	prefix  string
	heading string // a heading line to be made above it, "" = none
	blank   bool   // a blank line goes before
	closed  bool   // a blank line goes behind when something follows
	divided bool   // as does a comment: the one thing that keeps code out of an item above it
}

// splices writes text at the place: as it is, then with a blank line behind,
// which keeps a following paragraph from being taken for a continuation, then
// with one before.
func (p place) splices(d *Document, text string) []splice {
	eol := d.eolAt(p.at)
	open := p.at > d.split.start && d.src[p.at-1] != '\n' // the last line has no ending
	var head string
	if open {
		head = eol
	}
	block := strings.Join(itemLines(p.prefix, text), eol)
	if p.heading != "" {
		block = p.heading + eol + eol + block
	}
	if !open {
		block += eol
	}
	gap := ""
	if p.blank {
		gap = eol
	}
	follows := p.at < len(d.src)
	tail := ""
	if p.closed && follows && d.blanksBelow(p.at) == p.at {
		tail = eol
	}
	if p.divided {
		tail = eol + divider + eol + eol
	}
	out := []splice{{p.at, p.at, head + gap + block + tail}}
	if follows && tail == "" {
		out = append(out, splice{p.at, p.at, head + gap + block + eol})
	}
	if gap == "" {
		out = append(out, splice{p.at, p.at, head + eol + block + eol})
	}
	return out
}

// A placer looks for the place of a new entry.
type placer struct {
	d       *Document
	entries []Entry
	text    string
	under   string
}

// places yields where the entry may go, best first. What only a strange file
// needs comes last: behind any entry, at the top.
func (p *placer) places(yield func(place) bool) {
	if p.under != "" {
		list := p.makeHeading
		if h, ok := p.findHeading(); ok {
			list = func() []place { return p.below(h) }
		}
		for _, x := range list() {
			if !yield(x) {
				return
			}
		}
		return
	}
	free := slices.DeleteFunc(slices.Clone(p.entries), Entry.Pinned)
	top := place{at: p.d.split.body, prefix: p.bullet(), closed: true}
	if !p.generalPlaces(free, yield) || !yield(top) {
		return
	}
	for _, e := range slices.Backward(free) {
		if !yield(p.behind(e)) {
			return
		}
	}
	for _, x := range twice(top) {
		if !yield(x) {
			return
		}
	}
}

// generalPlaces yields the places of which no heading says what the entry is not
// about: a list of nothing but its kind, and what stands below the page's title.
func (p *placer) generalPlaces(free []Entry, yield func(place) bool) bool {
	own := ReadEntry(p.text)
	general := slices.DeleteFunc(slices.Clone(free), func(e Entry) bool { return !p.general(e.Under) })
	if own.Kind != "" {
		mixed := p.mixed(own.Kind, own.Task)
		if i := lastIndex(free, func(e Entry) bool { return !mixed[e.list] }); i >= 0 && !yield(p.behind(free[i])) {
			return false
		}
	}
	for _, fits := range []func(Entry) bool{
		func(e Entry) bool { return e.bulleted() && e.Task == own.Task },
		func(e Entry) bool { return e.Task == own.Task },
		func(Entry) bool { return true },
	} {
		if i := lastIndex(general, fits); i >= 0 && !yield(p.behind(general[i])) {
			return false
		}
	}
	for _, s := range slices.Backward(p.d.Sections()) {
		if p.general(p.d.under(s.Start+1)) && !yield(p.endOf(s.Start, s.End)) {
			return false
		}
	}
	return true
}

// mixed are the lists that hold entries of another kind.
func (p *placer) mixed(kind string, task bool) map[int]bool {
	out := map[int]bool{}
	for _, e := range p.entries {
		if e.Kind != kind || e.Task != task {
			out[e.list] = true
		}
	}
	return out
}

func lastIndex(entries []Entry, ok func(Entry) bool) int {
	for i := len(entries) - 1; i >= 0; i-- {
		if ok(entries[i]) {
			return i
		}
	}
	return -1
}

// general reports whether headings say nothing about what stands below them:
// there are none, or only the title of the page, which is its first heading and
// the only one of its level.
func (p *placer) general(under []string) bool {
	if len(under) == 0 {
		return true
	}
	headings := p.d.outline().headings
	title := headings[0]
	for _, h := range headings[1:] {
		if h.Level <= title.Level {
			return false
		}
	}
	return len(under) == 1 && under[0] == title.Text && !isPinned(title.Text)
}

// twice is a place, and the same with a divider.
func twice(p place) []place {
	q := p
	q.divided = true
	return []place{p, q}
}

// behind is the place after the last entry of e's list, as that list is written.
func (p *placer) behind(e Entry) place {
	var prev *Entry
	for i := range p.entries {
		if x := &p.entries[i]; x.list == e.list && x.Start >= e.Start {
			if i > 0 && p.entries[i-1].list == e.list {
				prev = &p.entries[i-1]
			}
			e = *x
		}
	}
	loose := prev != nil && p.d.blanksBelow(prev.End) > prev.End
	return place{at: e.End, prefix: nextPrefix(e, prev), blank: loose}
}

// endOf is a place for a new list at the end of a section.
func (p *placer) endOf(start, end int) place {
	at := p.d.blanksAbove(end)
	if at <= start && start == p.d.split.body {
		return place{at: start, prefix: p.bullet(), closed: true}
	}
	return place{at: at, prefix: p.bullet(), blank: true, closed: true}
}

// bullet is the marker of the file's first bulleted entry, else "- ".
func (p *placer) bullet() string {
	for _, e := range p.entries {
		if e.bulleted() {
			return string(e.marker) + " "
		}
	}
	return "- "
}

// findHeading looks for the heading by its exact text, then by its slug.
func (p *placer) findHeading() (int, bool) {
	headings := p.d.outline().headings
	i := slices.IndexFunc(headings, func(h Heading) bool { return h.Text == p.under })
	if want := Slug(p.under, 0); i < 0 && want != "" {
		i = slices.IndexFunc(headings, func(h Heading) bool { return Slug(h.Text, 0) == want })
	}
	return i, i >= 0
}

// below lists the places in the section of heading i, sub-sections left out.
func (p *placer) below(i int) []place {
	headings := p.d.outline().headings
	start, end := headings[i].End, len(p.d.src)
	if i+1 < len(headings) {
		end = headings[i+1].Start
	}
	var out []place
	inside := slices.DeleteFunc(slices.Clone(p.entries), func(e Entry) bool { return e.Start < start || e.Start >= end })
	for _, fits := range []func(Entry) bool{
		func(e Entry) bool { return e.bulleted() && !e.Task },
		func(Entry) bool { return true },
	} {
		if at := lastIndex(inside, fits); at >= 0 {
			out = append(out, p.behind(inside[at]))
		}
	}
	out = append(out, p.endOf(start, end))
	return append(out, twice(place{at: start, prefix: p.bullet(), blank: true, closed: true})...)
}

// makeHeading lists the places for a heading that the file does not have: at its
// end, one level below a title, beside the other headings when they are of the
// first level.
func (p *placer) makeHeading() []place {
	level := 2
	titles := 0
	for _, h := range p.d.outline().headings {
		if h.Level == 1 {
			titles++
		}
		if h.Level == 1 && (titles > 1 || isPinned(h.Text)) {
			level = 1
		}
	}
	hashes := strings.Repeat("#", level) + " "
	end := p.d.blanksAbove(len(p.d.src))
	var out []place
	for _, text := range []string{p.under, escapeInline(p.under)} {
		if end > p.d.split.body {
			out = append(out, place{at: end, prefix: p.bullet(), heading: hashes + text, blank: true, closed: true})
		}
		out = append(out, twice(place{at: p.d.split.body, prefix: p.bullet(), heading: hashes + text, closed: true})...)
		for _, e := range slices.Backward(p.entries) { // what is behind may be open to its end
			out = append(out, place{at: e.End, prefix: p.bullet(), heading: hashes + text, blank: true, closed: true})
		}
	}
	return out
}

// escapeInline keeps punctuation from being read as markup.
func escapeInline(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>()#+-.!~|&:@/", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// added finds the new entry in what the splice at `at` made, and reports whether
// it is what was asked for while everything else is as it was.
func (p *placer) added(next *Document, at int) (Entry, bool) {
	after := next.Entries()
	i := 0
	for i < len(p.entries) && p.entries[i].Start < at {
		i++
	}
	if len(after) != len(p.entries)+1 || after[i].Text != p.text {
		return Entry{}, false
	}
	same := func(a, b Entry) bool { return a.Text == b.Text && slices.Equal(a.Under, b.Under) }
	if !slices.EqualFunc(p.entries[:i], after[:i], same) || !slices.EqualFunc(p.entries[i:], after[i+1:], same) {
		return Entry{}, false
	}
	e := after[i]
	if p.under == "" {
		return e, !e.Pinned() && p.sameHeadings(next, 0)
	}
	if len(e.Under) == 0 {
		return e, false
	}
	innermost := e.Under[len(e.Under)-1]
	if found, ok := p.findHeading(); ok {
		return e, innermost == p.d.outline().headings[found].Text && p.sameHeadings(next, 0)
	}
	return e, innermost == p.under && p.sameHeadings(next, 1)
}

// sameHeadings reports whether next has the headings of the document and, at any
// place, so many more.
func (p *placer) sameHeadings(next *Document, more int) bool {
	old, now := p.d.outline().headings, next.outline().headings
	if len(now) != len(old)+more {
		return false
	}
	for _, h := range now {
		if len(old) > 0 && old[0].Level == h.Level && old[0].Text == h.Text {
			old = old[1:]
		}
	}
	return len(old) == 0
}
