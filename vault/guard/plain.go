package guard

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainText is text as a reader takes it: compatibility forms of letters as
// the letters (NFKC), and without the characters that nobody sees. Lines stay
// lines. NUL is one of those: without it UTF-16 that no mark announces reads as
// the letters it spells.
func plainText(text string) string {
	if ascii(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	if norm.NFKC.IsNormalString(text) && !strings.ContainsFunc(text, unseen) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// utf16Text is the text of a file that begins with the byte order mark of UTF-16,
// as editors on Windows save; ok is false for any other. Bytes behind a mark may be
// UTF-8 all the same, so they are looked at as they are as well.
func utf16Text(data []byte) (text string, ok bool) {
	if len(data) < 2 {
		return "", false
	}
	var order binary.ByteOrder
	switch {
	case data[0] == 0xff && data[1] == 0xfe:
		order = binary.LittleEndian
	case data[0] == 0xfe && data[1] == 0xff:
		order = binary.BigEndian
	default:
		return "", false
	}
	units := make([]uint16, 0, len(data)/2)
	for rest := data[2:]; len(rest) > 1; rest = rest[2:] {
		units = append(units, order.Uint16(rest))
	}
	return string(utf16.Decode(units)), true
}

// join adds to found what more knows beyond it, in the order of lines.
func join(found, more []Finding) []Finding {
	for _, f := range more {
		if !slices.ContainsFunc(found, func(g Finding) bool { return g.Fingerprint == f.Fingerprint }) {
			found = append(found, f)
		}
	}
	sortFindings(found)
	return found
}

func unseen(r rune) bool { return r == 0 || r == softHyphen || invisible(r) }

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
