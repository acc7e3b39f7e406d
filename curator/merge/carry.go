package merge

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/skill"
)

// carried is an umbrella with the fields of front matter that all of its sources have alike and it has not, as the
// first of them writes these: for which systems they are, what they need. Not so what each has its own rules for:
// name, description, version, licence and metadata. What differs is told of each skill.
func carried(u fork.Skill, sources []fork.Skill) fork.Skill {
	main := u.Files[skill.File]
	have, err := fields(main.Data)
	if err != nil || len(sources) == 0 {
		return u // that it cannot be read is told elsewhere
	}
	all, _ := fields(sources[0].Files[skill.File].Data)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		_, has := have[key]
		own := key == license || key == "metadata" || key == "version" || key == "#"
		differs := func(s fork.Skill) bool {
			theirs, _ := fields(s.Files[skill.File].Data)
			return !slices.Equal(theirs[key], all[key])
		}
		if has || own || slices.ContainsFunc(sources, differs) {
			continue
		}
		next := withField(main.Data, fieldText(sources[0].Files[skill.File].Data, key))
		if now, err := fields(next); err == nil && slices.Equal(now[key], all[key]) && len(now) == len(have)+1 {
			main.Data, have = next, now
		}
	}
	u.Files = maps.Clone(u.Files)
	u.Files[skill.File] = main
	return u
}

// fieldText is a field of front matter as it is written, with its last line ended.
func fieldText(main []byte, key string) string {
	front := string(main[:len(main)-len(markdown.Parse(main).Body())])
	var doc yaml.Node
	if yaml.Unmarshal([]byte(front), &doc) != nil || len(doc.Content) != 1 {
		return ""
	}
	lines, pairs := strings.SplitAfter(front, "\n"), doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value != key {
			continue
		}
		from, end := pairs[i].Line, len(lines)
		if i+2 < len(pairs) {
			end = pairs[i+2].Line - 1
		}
		for n, line := range lines[from:end] {
			if strings.HasPrefix(line, "---") {
				end = from + n
				break
			}
		}
		return strings.TrimRight(strings.Join(lines[from-1:end], ""), "\r\n") + "\n"
	}
	return ""
}

// withField is a SKILL.md with one more field at the end of its front matter.
func withField(main []byte, field string) []byte {
	body := len(main) - len(markdown.Parse(main).Body())
	at := bytes.LastIndex(main[:body], []byte("\n---"))
	if at < 0 || field == "" {
		return main
	}
	return slices.Concat(main[:at+1], []byte(field), main[at+1:])
}
