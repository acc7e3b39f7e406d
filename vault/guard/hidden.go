package guard

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// hidden lists the characters that nobody sees, each code point once, unless
// they are where writing needs them.
func hidden(text string) []Finding {
	if ascii(text) {
		return nil
	}
	var found []Finding
	seen := map[rune]bool{}
	previous, flag := rune(0), 0 // flag: where the letters of one end
	for at, r := range text {
		if previous == blackFlag {
			flag = at + flagLetters(text[at:])
		}
		if at >= flag && invisible(r) && !seen[r] {
			next, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(r):])
			if !needed(r, previous, next, at) {
				seen[r] = true
				id := fmt.Sprintf("invisible_unicode_U+%04X", r)
				f := Finding{Rule: id, Fingerprint: fingerprint(id, string(r)), Excerpt: fmt.Sprintf("U+%04X, which nobody sees", r)}
				f.Line, f.Column = place(text, at)
				found = append(found, f)
			}
		}
		previous = r
	}
	return found
}

// needed reports whether an invisible character does what it was made for: a
// byte order mark at the head of a file, the joint of an emoji of several, the
// letters of a flag, a joiner between letters of a script that has them, a
// variant of a Chinese character.
func needed(r, previous, next rune, at int) bool {
	switch {
	case r == 0xfeff:
		return at == 0
	case r == zwj && (emoji(previous) || previous == 0xfe0f) && emoji(next):
		return true
	case r == zwj || r == zwnj:
		return joins(previous) && (joins(next) || !unicode.IsLetter(next))
	case r >= 0xe0100 && r <= 0xe01ef:
		return unicode.Is(unicode.Han, previous)
	}
	return false
}

const (
	zwnj      = 0x200c
	zwj       = 0x200d
	blackFlag = 0x1f3f4
	tagEnd    = 0xe007f
)

func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0xfe0f
}

// flagLetters is the length of what spells a flag: up to six letters and the
// end mark. Anything longer is a sentence.
func flagLetters(text string) int {
	n := 0
	for at, r := range text {
		if r == tagEnd {
			return at + utf8.RuneLen(r)
		}
		if n++; n > 6 || r < 0xe0020 || r > tagEnd {
			break
		}
	}
	return 0
}

// joins reports letters of scripts whose spelling uses joiners.
func joins(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
