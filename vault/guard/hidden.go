package guard

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden lists the characters that nobody sees, each code point once, unless
// they are where writing needs them.
func hidden(text string) []Finding {
	var found []Finding
	seen := map[rune]bool{}
	for at, r := range unseen(text) {
		if seen[r] {
			continue
		}
		seen[r] = true
		id := fmt.Sprintf("invisible_unicode_U+%04X", r)
		f := Finding{Rule: id, Fingerprint: fingerprint(id, string(r)), Excerpt: fmt.Sprintf("U+%04X, which nobody sees", r)}
		line := lineStart(text, at)
		f.Line, f.Column = strings.Count(text[:at], "\n")+1, utf8.RuneCountInString(text[line:at])+1
		found = append(found, f)
	}
	return found
}

// Seen returns text without the characters that nobody sees, as [Injections] finds
// them, for a place where a person reads it.
func Seen(text string) string {
	var b strings.Builder
	kept := 0
	for at, r := range unseen(text) {
		b.WriteString(text[kept:at])
		kept = at + utf8.RuneLen(r)
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

// unseen yields the characters that nobody sees, but those that writing needs,
// with their offsets.
func unseen(text string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		if ascii(text) {
			return
		}
		previous, flag := rune(0), 0 // flag: where the letters of one end
		for at, r := range text {
			if previous == blackFlag {
				flag = at + flagLetters(text[at:])
			}
			if at >= flag && invisible(r) {
				next, _ := utf8.DecodeRuneInString(text[at+utf8.RuneLen(r):])
				if !needed(r, previous, next, at) && !yield(at, r) {
					return
				}
			}
			previous = r
		}
	}
}

// invisible reports characters that change or hide what a person reads and not
// what a model does, as Unicode lists them: what is drawn as nothing (default
// ignorable: zero-width characters, marks of direction, invisible operators,
// fillers, selectors of variants, the tags that can spell out whole sentences),
// and what marks a note between lines.
func invisible(r rune) bool {
	switch {
	case r < 0xad || unicode.Is(unicode.Prepended_Concatenation_Mark, r) || r >= 0x13430 && r <= 0x1345f: // these are drawn
		return false
	case r >= 0xe0000 && r <= 0xe0fff || r == blankBraille:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// needed reports whether an invisible character does what it was made for: a
// byte order mark at the head of a file, the joint of an emoji of several, the
// letters of a flag, a joiner between letters of a script that has them, a mark
// of direction beside a letter written from the right, a blank of Braille, a hyphen within a word, a
// variant of a Chinese character or a symbol.
func needed(r, previous, next rune, at int) bool {
	switch {
	case r == 0xfeff:
		return at == 0
	case r == softHyphen:
		return unicode.IsLetter(previous) && unicode.IsLetter(next)
	case r == zwj && (emoji(previous) || previous == 0xfe0f) && emoji(next):
		return true
	case r == zwj || r == zwnj:
		return joins(previous) && (joins(next) || !unicode.IsLetter(next))
	case r == blankBraille:
		return unicode.Is(unicode.Braille, previous) || unicode.Is(unicode.Braille, next)
	case r == 0x200e || r == 0x200f || r == 0x61c:
		return leftward(previous) || leftward(next)
	case r >= 0xe0100 && r <= 0xe01ef || r >= 0xfe00 && r <= 0xfe0d:
		return unicode.In(previous, unicode.Han, unicode.Myanmar, unicode.Phags_Pa) || r == 0xfe00 && unicode.Is(unicode.Sm, previous)
	case r == 0xfe0e || r == 0xfe0f:
		return previous >= 0xa9 && unicode.In(previous, unicode.S, unicode.P) || next == 0x20e3
	case unicode.In(r, unicode.Mongolian, unicode.Khmer, unicode.Hangul) && r != 0x3164:
		return unicode.In(previous, unicode.Mongolian, unicode.Khmer, unicode.Hangul) || unicode.Is(unicode.Hangul, next)
	}
	return false
}

// leftward reports letters of scripts that are written from the right.
func leftward(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

const (
	softHyphen = 0xad
	zwnj       = 0x200c
	zwj        = 0x200d
	// blankBraille has no dots: it is a space that is none.
	blankBraille = 0x2800
	blackFlag    = 0x1f3f4
	tagEnd       = 0xe007f
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
