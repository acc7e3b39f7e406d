package templates

import (
	"strings"
	"unicode"
)

// Quote writes words, a program and its arguments or some of these, as a line that a POSIX shell reads as these words.
// Ordinary words stay as they are. A note alone whose name begins with "-" is written "./-…", or it would be a flag.
func Quote[S ~string](words ...S) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+=:,./@%", r)
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
		if len(words) == 1 && strings.HasPrefix(out[i], "-") && strings.HasSuffix(out[i], ".md") {
			out[i] = "./" + out[i]
		}
		if w == "" || strings.ContainsFunc(out[i], special) {
			out[i] = "'" + strings.ReplaceAll(out[i], "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
