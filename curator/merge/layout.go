package merge

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

// A layout says which of the absorbed skills the lines of an umbrella belong to: those of the section with its name,
// and those of the files that this section alone leads to. What belongs to none is for all of them.
type layout struct {
	owners map[string][]string // by Markdown file and line, from 0; "" is none
}

func layoutOf(u fork.Skill, absorbed []string) layout {
	l := layout{map[string][]string{}}
	l.divide(skill.File, u.Files[skill.File].Data, "", absorbed)
	leads := map[string][]string{} // the skills whose sections lead to a file
	var follow func(file, owner string)
	follow = func(file, owner string) {
		for _, link := range markdown.Parse(u.Files[file].Data).Links() {
			at := path.Join(path.Dir(file), link.Target)
			if _, ok := u.Files[at]; !ok || at == skill.File || !vault.Path(at).IsMarkdown() {
				continue
			}
			by := cmp.Or(owner, l.owner(file, link.Line))
			if by != "" && !slices.Contains(leads[at], by) {
				leads[at] = append(leads[at], by)
				follow(at, by)
			}
		}
	}
	follow(skill.File, "")
	for p, f := range u.Files {
		if owner := ""; p != skill.File && vault.Path(p).IsMarkdown() {
			if len(leads[p]) == 1 {
				owner = leads[p][0]
			}
			l.divide(p, f.Data, owner, absorbed)
		}
	}
	return l
}

// divide notes the owners of the lines of a file, or owner of all of them. In the section of one skill others may be
// named.
func (l layout) divide(file string, data []byte, owner string, absorbed []string) {
	all := markdown.Parse(data).Sections()
	titles, deeper := 0, 0
	for _, s := range all {
		switch s.Heading.Level {
		case 0:
		case 1:
			titles++
		default:
			deeper++
		}
	}
	of, level := owner, 0 // of the section that goes on
	for i, s := range all {
		title := titles == 1 && s.Heading.Level == 1 && deeper > 0
		if s.Heading.Level > 0 && s.Heading.Level <= level {
			of, level = owner, 0
		}
		if name := whose(s.Heading.Text, absorbed); s.Heading.Level > 0 && !title && of == "" && name != "" {
			of, level = name, s.Heading.Level
		}
		last := s.Line + bytes.Count(data[s.Start:s.End], []byte("\n"))
		if i+1 < len(all) {
			last = all[i+1].Line - 1
		}
		for len(l.owners[file]) < last {
			l.owners[file] = append(l.owners[file], of)
		}
	}
}

func (l layout) owner(file string, line int) string {
	if all := l.owners[file]; line > 0 && line <= len(all) {
		return all[line-1]
	}
	return ""
}

// whose is which of the skills a heading names: the one whose name stands in it, of two the one of which the other is a
// part, else none.
func whose(heading string, skills []string) (name string) {
	slug := func(s string) string { return "-" + markdown.Slug(s, 0) + "-" }
	text := slug(heading)
	for _, s := range skills {
		switch {
		case !strings.Contains(text, slug(s)) || name != "" && strings.Contains(slug(name), slug(s)):
		case name == "" || strings.Contains(slug(s), slug(name)):
			name = s
		default:
			return ""
		}
	}
	return name
}

// SectionOf is the line of an umbrella at which the section of a skill that went into it begins, 0 for none.
func SectionOf(m Merge, name string) int {
	var names []string
	for _, s := range m.Absorbed {
		names = append(names, s.Name)
	}
	for _, s := range markdown.Parse(m.Umbrella.Files[skill.File].Data).Sections() {
		if s.Heading.Level > 0 && whose(s.Heading.Text, names) == name {
			return s.Line
		}
	}
	return 0
}

// section is what an umbrella lacks of the section of a skill: a heading with its name, and below it when to use it.
func section(u, gone fork.Skill, at layout) string {
	was, _ := skill.Parse(gone.Folder, gone.Files[skill.File].Data)
	var text strings.Builder
	for i, line := range strings.Split(string(u.Files[skill.File].Data), "\n") {
		if at.owner(skill.File, i+1) == gone.Name {
			text.WriteString(line + "\n")
		}
	}
	switch {
	case text.Len() == 0:
		return fmt.Sprintf("there is no section with its name: a heading with %q and no other of the names", gone.Name)
	case !says(text.String(), was.Description):
		return "its section does not say when to use it, as the description did"
	}
	return ""
}

// says reports whether a text has the words of another, but for a few.
func says(text, other string) bool {
	have := map[string]bool{}
	for _, w := range words(text) {
		have[w] = true
	}
	all, n := words(other), 0
	for _, w := range all {
		if have[w] {
			n++
		}
	}
	return share(n, len(all)) >= triggers
}
