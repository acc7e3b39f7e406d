package merge

import (
	"maps"
	"regexp"
	"slices"
	"sync"

	"stet/curator/fork"
	"stet/vault/skill"
)

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s>]*\d+[.)]\s`) })

// steps are the numbered items and the blocks of code of a Markdown text, in order, by the heading above them.
func steps(data []byte) [][]string {
	out := [][]string{nil}
	for _, p := range partsOf(data) {
		switch last := len(out) - 1; {
		case p.kind == coded:
			out[last] = append(out[last], p.text)
		case p.kind == shown && heading().MatchString(p.text):
			out = append(out, nil)
		case p.kind == shown && numbered().MatchString(p.text):
			out[last] = append(out[last], p.plain())
		}
	}
	return out
}

// disorder is the first step of SKILL.md of a skill that stands before one that it follows there, "" for none. One that
// stands twice is not looked at.
func (s stand) disorder(gone fork.Skill) string {
	at, n := map[string]int{}, 0 // -1 stands twice
	files := []string{skill.File}
	for _, p := range slices.Sorted(maps.Keys(s.at.owners)) {
		if p != skill.File {
			files = append(files, p)
		}
	}
	for _, p := range files {
		for _, one := range partsOf(s.into.Files[p].Data) {
			text := one.text
			if one.kind == shown {
				text = one.plain()
			}
			if one.kind == hidden || text == "" || s.at.owner(p, one.line) != gone.Name {
				continue
			}
			if n++; at[text] != 0 {
				at[text] = -1
			} else {
				at[text] = n
			}
		}
	}
	for _, list := range steps(moved(gone.Files[skill.File].Data, Rehomed(gone, s.into))) {
		last := 0
		for _, step := range list {
			if at[step] > 0 && at[step] < last {
				return step
			}
			last = max(last, at[step])
		}
	}
	return ""
}
