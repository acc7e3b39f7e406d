package merge

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/skill"
)

// ofNote is the coverage of a memory in the one that it became. Two that say the same seldom do in the same lines: of
// words the same share is enough, but what forbids or bounds something stays word for word. A word with a capital that
// begins no sentence is a value, for it may be a name.
func ofNote(c Coverage, gone, into fork.Skill) Coverage {
	said := map[string]bool{}
	for word := range noteWords(into) {
		said[word] = true
	}
	var all, stand, names, named int
	for word, name := range noteWords(gone) {
		all++
		if said[word] {
			stand++
		} else if name {
			c.first[1] = cmp.Or(c.first[1], "name "+word)
			c.Missing = append(c.Missing, "name "+word)
		}
		if name {
			if names++; said[word] {
				named++
			}
		}
	}
	c.Lines, c.Values = max(c.Lines, share(stand, all)), min(c.Values, share(named, names))
	c.Missing, c.lost = c.Missing[:min(len(c.Missing), maxMissing)], 0
	return c
}

// noteWords yields the words of a memory, folded, and whether each may be a name.
func noteWords(s fork.Skill) func(yield func(word string, name bool) bool) {
	return func(yield func(string, bool) bool) {
		begins := true
		for word := range strings.FieldsSeq(string(markdown.Parse(s.Files[skill.File].Data).Body())) {
			bare := strings.Trim(word, wordMarks)
			name := !begins && slices.ContainsFunc([]rune(bare), unicode.IsUpper)
			begins = strings.HasSuffix(word, ".") || strings.HasSuffix(word, ":") || bare == ""
			if bare != "" && !yield(markdown.Fold(bare), name) {
				return
			}
		}
	}
}
