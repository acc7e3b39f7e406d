package guard

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainText is text as a reader takes it: compatibility forms of letters as
// the letters (NFKC), and without the characters that nobody sees. Lines stay
// lines.
func plainText(text string) string {
	if ascii(text) || norm.NFKC.IsNormalString(text) && !strings.ContainsFunc(text, unseen) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

func unseen(r rune) bool { return r == softHyphen || invisible(r) }

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const softHyphen = '\u00ad'

// invisible reports characters that change or hide what a person reads and not
// what a model does: zero-width ones, marks of direction, invisible operators,
// and the tags that can spell out whole sentences unseen.
func invisible(r rune) bool {
	switch {
	case r < 0x200b:
		return false
	case r <= 0x200d, r >= 0x202a && r <= 0x202e, r == 0x2060, r >= 0x2061 && r <= 0x2064, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f || r >= 0xe0100 && r <= 0xe01ef
}
