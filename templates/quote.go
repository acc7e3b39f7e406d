package templates

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellLine writes words, a program and its arguments or some of these, as a line that a POSIX shell reads as these
// words. Ordinary words stay as they are.
func ShellLine[S ~string](words ...S) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+=:,./@%", r)
	}
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = string(w); w == "" || strings.ContainsFunc(out[i], special) {
			out[i] = "'" + strings.ReplaceAll(out[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// Quote is [ShellLine] for a person who may paste the line. A note alone whose name begins with "-" is written "./-…",
// or it would be a flag. Characters that nobody sees, and bytes that are no text, are written by number, since a screen
// drops them and what is pasted would name another file.
func Quote[S ~string](words ...S) string {
	out := make([]string, len(words))
	for i, w := range words {
		if len(words) == 1 && strings.HasPrefix(string(w), "-") && strings.HasSuffix(string(w), ".md") {
			w = "./" + w
		}
		if out[i] = ShellLine(w); strings.ContainsFunc(string(w), unseen) {
			out[i] = numbered(string(w))
		}
	}
	return strings.Join(out, " ")
}

// unseen reports what a screen drops, or shows as something else. [utf8.RuneError] is also what bytes that are no text
// are read as.
func unseen(r rune) bool {
	return r == utf8.RuneError || r == 0x2800 || !unicode.IsPrint(r) || // 0x2800: the blank of braille
		unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// numbered quotes a word as $'…', in which a backslash and three octal digits are a byte. POSIX has it since 2024; a
// shell that does not know it finds no file of such a name.
func numbered(word string) string {
	var b strings.Builder
	for at, r := range word {
		_, size := utf8.DecodeRuneInString(word[at:])
		switch {
		case unseen(r):
			for _, c := range []byte(word[at : at+size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return "$'" + b.String() + "'"
}
