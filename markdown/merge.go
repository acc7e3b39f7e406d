package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A Conflict is one place that two sides changed in different ways.
type Conflict struct {
	Where              string // `front matter key "kind"`, or lines of ours: `lines 12-14`
	Base, Ours, Theirs string // what stands there; empty where there is nothing
}

// A KeyMerge says how a front-matter key is merged that both sides changed in different ways.
type KeyMerge int

const (
	Refuse KeyMerge = iota // a Conflict
	Union                  // a list without order: with what either side added, without what one removed
	Later                  // the later of two times
)

// Merge applies to ours what changed from base to theirs.
//
// Front matter is merged by key: the side that changed a key wins, both may make
// the same change, and for the rest rule says how. The body is merged by lines. What
// both sides changed in different ways is a Conflict; with any, merged is nil: there
// are never conflict markers. If one of the three has front matter that cannot be
// read, whole files are merged by lines.
//
// The form of the front matter (order, quoting, line endings) is that of ours
// with the entries of theirs spliced in as written. An unchanged side gives the
// other byte for byte. Line endings and a missing final newline count as
// properties of the whole body, so one side may convert them while the other
// edits text.
func Merge(
	base, ours, theirs []byte, rule func(key string) KeyMerge,
) (merged []byte, conflicts []Conflict) {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return ours, nil
	case bytes.Equal(base, ours):
		return theirs, nil
	}
	b, o, t := Parse(base), Parse(ours), Parse(theirs)
	if b.meta().err != nil || o.meta().err != nil || t.meta().err != nil {
		return mergeText(base, ours, theirs, 1)
	}
	front, conflicts := mergeFront(b, o, t, rule)
	body, more := mergeText(b.Body(), o.Body(), t.Body(), o.BodyLine())
	if conflicts = append(conflicts, more...); len(conflicts) > 0 {
		return nil, conflicts
	}
	merged = append(append([]byte{}, front...), body...)
	if got := Parse(merged); !bytes.Equal(got.Body(), body) || got.meta().err != nil {
		// Text of one side and a fence of the other would read as something
		// that neither wrote.
		return nil, []Conflict{{"front matter", string(b.head()), string(o.head()), string(t.head())}}
	}
	return merged, nil
}

// head is everything before the body.
func (d *Document) head() []byte { return d.src[:d.split.body] }

// A textForm is a text as lines without their endings.
type textForm struct {
	lines [][]byte
	eol   string // "" if the text has no line ending to tell
	final int    // 1: ends with a line ending, -1: does not, 0: empty
}

// formOf takes text apart; ok is false if its line endings are mixed, since then
// they belong to the lines.
func formOf(b []byte) (f textForm, ok bool) {
	if len(b) == 0 {
		return f, true
	}
	lf, crlf, cr := bytes.Count(b, []byte("\n")), bytes.Count(b, []byte("\r\n")), bytes.Count(b, []byte("\r"))
	switch {
	case cr != crlf || crlf != 0 && crlf != lf:
		return f, false
	case crlf > 0:
		f.eol = "\r\n"
	case lf > 0:
		f.eol = "\n"
	}
	f.final = -1
	if b[len(b)-1] == '\n' {
		f.final = 1
	}
	for _, l := range splitLines(b) {
		f.lines = append(f.lines, trimEOL(l))
	}
	return f, true
}

// mergeText merges by lines; firstLine is the line of the file at which ours
// starts.
func mergeText(base, ours, theirs []byte, firstLine int) ([]byte, []Conflict) {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return ours, nil
	case bytes.Equal(base, ours):
		return theirs, nil
	}
	b, okB := formOf(base)
	o, okO := formOf(ours)
	t, okT := formOf(theirs)
	if !okB || !okO || !okT {
		lines, conflicts := mergeLines(splitLines(base), splitLines(ours), splitLines(theirs), firstLine)
		if len(conflicts) > 0 {
			return nil, conflicts
		}
		return joinRaw(lines), nil
	}
	lines, conflicts := mergeLines(b.lines, o.lines, t.lines, firstLine)
	if len(conflicts) > 0 {
		return nil, conflicts
	}
	eol := choose(b.eol, o.eol, t.eol)
	if eol == "" {
		eol = "\n"
	}
	return joinLines(lines, eol, choose(b.final, o.final, t.final) >= 0), nil
}

// choose is the three-way merge of a property: a side that has none does not
// count, else the side that differs from base wins, and ours if both do.
func choose[T comparable](base, ours, theirs T) T {
	var none T
	switch {
	case ours == none:
		return theirs
	case theirs == none || ours != base:
		return ours
	}
	return theirs
}

func joinLines(lines [][]byte, eol string, final bool) []byte {
	if len(lines) == 0 {
		return []byte{}
	}
	out := bytes.Join(lines, []byte(eol))
	if final || len(lines[len(lines)-1]) == 0 {
		out = append(out, eol...)
	}
	return out
}

// joinRaw joins lines that carry their endings; one that lacks its own, having
// been the last of its side, gets that of the line before.
func joinRaw(lines [][]byte) []byte {
	out := []byte{}
	for i, l := range lines {
		if i > 0 && !bytes.HasSuffix(lines[i-1], []byte("\n")) {
			out = append(out, '\n')
		}
		out = append(out, l...)
	}
	return out
}

// mergeLines is the three-way merge of lists of lines.
func mergeLines(base, ours, theirs [][]byte, firstLine int) (out [][]byte, conflicts []Conflict) {
	left, right := diffLines(base, ours), diffLines(base, theirs)
	at, shiftO, shiftT := 0, 0, 0 // a base line i is ours i+shiftO, theirs i+shiftT
	for len(left) > 0 || len(right) > 0 {
		nl, nr := nextGroup(left, right)
		g := groupRange(left[:nl], right[:nr])
		out = append(out, base[at:g.a0]...)
		growO, growT := growth(left[:nl]), growth(right[:nr])
		b := base[g.a0:g.a1]
		o := ours[g.a0+shiftO : g.a1+shiftO+growO]
		t := theirs[g.a0+shiftT : g.a1+shiftT+growT]
		switch {
		case nr == 0 || equalLines(o, t):
			out = append(out, o...)
		case nl == 0:
			out = append(out, t...)
		default:
			conflicts = append(conflicts, Conflict{
				Where: whereLines(firstLine+g.a0+shiftO, len(o)),
				Base:  showLines(b), Ours: showLines(o), Theirs: showLines(t),
			})
		}
		at, shiftO, shiftT = g.a1, shiftO+growO, shiftT+growT
		left, right = left[nl:], right[nr:]
	}
	return append(out, base[at:]...), conflicts
}

// nextGroup returns how many hunks of each side form the next place: the first
// one, and all that overlap it, directly or through others.
func nextGroup(left, right []hunk) (nl, nr int) {
	if len(right) == 0 || len(left) > 0 && before(left[0], right[0]) {
		nl = 1
	} else {
		nr = 1
	}
	for {
		g := groupRange(left[:nl], right[:nr])
		switch {
		case nl < len(left) && slices.ContainsFunc(right[:nr], func(h hunk) bool { return clash(h, left[nl]) }),
			nl < len(left) && nl > 0 && left[nl].a0 < g.a1:
			nl++
		case nr < len(right) && slices.ContainsFunc(left[:nl], func(h hunk) bool { return clash(h, right[nr]) }),
			nr < len(right) && nr > 0 && right[nr].a0 < g.a1:
			nr++
		default:
			return nl, nr
		}
	}
}

// before orders hunks by place; what is inserted stands before what is replaced
// at the same line.
func before(x, y hunk) bool {
	if x.a0 != y.a0 {
		return x.a0 < y.a0
	}
	return x.a1 <= y.a1
}

// clash reports whether hunks of two sides are about the same place: they share
// a line of base, or both add lines at the same point. Edits of neighbouring
// lines do not clash, and neither does a line added beside one that was edited
// or removed.
func clash(x, y hunk) bool {
	if x.a0 < y.a1 && y.a0 < x.a1 {
		return true
	}
	if x.a0 == x.a1 && y.a0 == y.a1 {
		return x.a0 == y.a0
	}
	touch := x.a1 == y.a0 || y.a1 == x.a0
	return touch && grows(x) && grows(y)
}

func grows(h hunk) bool { return h.b1-h.b0 > h.a1-h.a0 }

func groupRange(left, right []hunk) hunk {
	g := hunk{a0: -1}
	for _, hunks := range [][]hunk{left, right} {
		for _, h := range hunks {
			if g.a0 < 0 {
				g.a0, g.a1 = h.a0, h.a1
			}
			g.a0, g.a1 = min(g.a0, h.a0), max(g.a1, h.a1)
		}
	}
	return g
}

// growth is how many lines the hunks add in all.
func growth(hunks []hunk) int {
	n := 0
	for _, h := range hunks {
		n += h.b1 - h.b0 - (h.a1 - h.a0)
	}
	return n
}

func equalLines(a, b [][]byte) bool {
	return slices.EqualFunc(a, b, bytes.Equal)
}

func whereLines(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("before line %d", first)
	case 1:
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d-%d", first, first+n-1)
}

func showLines(lines [][]byte) string {
	var b strings.Builder
	for _, l := range lines {
		b.Write(trimEOL(l))
		b.WriteByte('\n')
	}
	return b.String()
}
