package templates

import (
	"strings"
	"unicode"
)

// Quote writes words, a program and its arguments or some of these, as a line that a POSIX shell reads as these words.
// Ordinary words stay as they are.
func Quote[S ~string](words ...S) string {
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
