package merge

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/curator/fork"
	"stet/vault/skill"
)

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s>]*\d+[.)]\s`) })

// steps are the first sentences of the numbered items and the blocks of code of a Markdown text, in order, by the
// heading above them.
func steps(data []byte) [][]string {
	out := [][]string{nil}
	for _, u := range units(data) {
		if last := len(out) - 1; u.kind == heads {
			out = append(out, nil)
		} else if u.kind == coded || u.kind == shown && numbered().MatchString(u.raw) {
			out[last] = append(out[last], u.says()[0])
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
		for _, u := range units(s.into.Files[p].Data) {
			if s.at.owner(p, u.line) != gone.Name {
				continue
			}
			for _, said := range u.says() {
				if n++; at[said] != 0 {
					at[said] = -1
				} else {
					at[said] = n
				}
			}
		}
	}
	to, _ := rehomed(gone, s.into)
	now, _ := moved(gone.Files[skill.File].Data, to)
	for _, list := range steps(now) {
		last := 0
		for _, step := range list {
			if at[step] > 0 && at[step] < last {
				return strings.TrimPrefix(step, fenced)
			}
			last = max(last, at[step])
		}
	}
	return ""
}
