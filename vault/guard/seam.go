package guard

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Seams lists the secrets that an edit completes: a part of each stands in the text before, the
// rest at the beginning or the end of what was added, with nothing but empty lines between. Lines
// and columns are those of the line that ends with the first part.
func Seams(name string, before, after []byte) (found []Finding) {
	if len(before) == 0 {
		return nil
	}
	const most = 100 // of seams: an edit of more is no part of a token
	old := map[string]bool{}
	for line := range strings.Lines(string(before)) {
		old[strings.TrimSpace(line)] = true
	}
	last, at, number, looked := "", 0, 0, 0
	for line := range strings.Lines(string(after)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if last != "" && old[last] != old[line] && looked < most {
			looked++
			for _, f := range seam(name, last, line) {
				f.Line = at
				found = append(found, f)
			}
		}
		last, at = line, number
	}
	return found
}

// seam finds what two lines make together and neither alone.
func seam(name, first, second string) []Finding {
	const most = 400 // bytes of a line
	first, second = first[max(0, len(first)-most):], second[:min(len(second), most)]
	head := len(first) - len(strings.TrimRightFunc(first, inRun))
	tail := len(second) - len(strings.TrimLeftFunc(second, inRun))
	if head == 0 || tail == 0 || wordLike(first[len(first)-head:]) || wordLike(second[:tail]) ||
		len(Secrets(name, []byte(first))) > 0 {
		return nil
	}
	alone := Secrets(name, []byte(second))
	return slices.DeleteFunc(Secrets(name, []byte(first+second)), func(f Finding) bool {
		return f.Column > utf8.RuneCountInString(first) ||
			slices.ContainsFunc(alone, func(a Finding) bool { return a.Fingerprint == f.Fingerprint })
	})
}

func inRun(r rune) bool { return r < utf8.RuneSelf && runByte()[r] }
