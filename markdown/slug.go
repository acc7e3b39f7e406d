package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Slug makes a file name or anchor of any text: lower case, NFC, letters, digits
// and combining marks of every script kept, every other run one "-", none at the
// ends. It has at most max code points (no bound if max < 1), cut at a word if
// one ends in the second half, never between a letter and its mark. It is empty
// only if s has neither letter nor digit, and Slug(Slug(s)) is Slug(s).
func Slug(s string, max int) string {
	s = norm.NFC.String(strings.ToLower(norm.NFC.String(strings.ToValidUTF8(s, " "))))
	var out []rune
	gap := false
	for _, r := range s {
		mark := unicode.IsMark(r)
		if !mark && !unicode.IsLetter(r) && !unicode.IsDigit(r) || mark && (gap || len(out) == 0) {
			gap = true
			continue
		}
		if gap && len(out) > 0 {
			out = append(out, '-')
		}
		gap = false
		out = append(out, r)
	}
	if max >= 1 && len(out) > max {
		out = cutSlug(out, max)
	}
	return string(out)
}

func cutSlug(out []rune, max int) []rune {
	if out[max] == '-' {
		return out[:max]
	}
	for i := max - 1; i > 0 && 2*i >= max; i-- {
		if out[i] == '-' {
			return out[:i]
		}
	}
	end := max
	for end > 1 && unicode.IsMark(out[end]) {
		end--
	}
	if unicode.IsMark(out[end]) {
		end = max // one letter under more marks than fit
	}
	return []rune(strings.TrimRight(string(out[:end]), "-"))
}

// Fold is the form in which two names that some file system cannot tell
// apart are equal.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(norm.NFC.String(s))
		}
	}
	return strings.ToLower(s)
}
