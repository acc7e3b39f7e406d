// Package cells lays text out on a terminal, whose columns are cells: how many of them a text takes, its beginning in
// so many, and lists in columns. It is pure: width and time come in.
package cells

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Width is how many columns of a terminal a line takes: two for a wide letter, none for a mark that is drawn onto the
// letter before it, and none for a colour. Where terminals differ, as with emoji that are joined to one picture, it is
// the most that any takes.
func Width(line string) int {
	n, colour := 0, false
	for _, r := range line {
		if r == '\x1b' || colour {
			colour = r != 'm'
			continue
		}
		n += Of(r)
	}
	return n
}

// emojiForm follows a letter that is to be drawn as an emoji, and so wide.
const emojiForm = '\uFE0F'

// Of is how many cells a letter takes, as [Width] counts them.
func Of(r rune) int {
	switch {
	case ' ' <= r && r <= '~' || r == emojiForm:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf), unicode.IsControl(r):
		return 0
	case '\u1160' <= r && r <= '\u11FF': // the later parts of a Korean syllable
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Cut is the beginning of a line without colours in at most that many columns, with an ellipsis where something is
// left out. No letter loses its marks.
func Cut(line string, most int) string {
	if Width(line) <= most {
		return line
	}
	if most < 1 {
		return ""
	}
	n, end := 0, 0
	for i, r := range line {
		c := Of(r)
		if c > 0 && r != emojiForm {
			end = i // what stands before is whole
		}
		if n += c; n >= most {
			break
		}
	}
	return strings.TrimRight(line[:end], " \u200d") + "…"
}

// Pad fills a line up with blanks to that many columns.
func Pad(line string, columns int) string {
	return line + strings.Repeat(" ", max(0, columns-Width(line)))
}
