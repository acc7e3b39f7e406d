package merge

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

const (
	maxMain  = 500 // lines of a SKILL.md
	triggers = 0.9 // of the words of a description
	twice    = 5   // from how many words on a line must not stand twice
)

// form is what is wrong with an umbrella as such: sources are the skills that its text may come from, itself as it was
// before among them.
func form(u fork.Skill, sources []fork.Skill) string {
	main := u.Files[skill.File].Data
	if n := bytes.Count(main, []byte("\n")); n >= maxMain {
		return fmt.Sprintf("its SKILL.md has %d lines, %d and more are too many", n, maxMain)
	}
	tools, blobs, code := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var was body
	most := map[string]int{} // how often a line stands in one source
	for _, s := range sources {
		before, _ := skill.Parse(s.Folder, s.Files[skill.File].Data)
		for _, t := range strings.Fields(before.AllowedTools) {
			tools[t] = true
		}
		for p, f := range s.Files {
			blobs[fmt.Sprint(f.Exec, string(f.Data))] = true
			if vault.Path(p).IsMarkdown() {
				was.read(moved(f.Data, Rehomed(s, u)))
			}
		}
		for l, n := range counted(s.Files[skill.File].Data) {
			most[l] = max(most[l], n)
		}
	}
	for _, c := range was.code {
		code[c] = true
	}
	now, _ := skill.Parse(u.Folder, main)
	for _, t := range strings.Fields(now.AllowedTools) {
		if !tools[t] {
			return fmt.Sprintf("it allows the tool %s, which no skill in it did", t)
		}
	}
	if why := invented(u, blobs, code, strings.Join(was.lines, "\n")); why != "" {
		return why
	}
	for l, n := range counted(main) {
		if n > max(most[l], 1) {
			return fmt.Sprintf("a line stands in it %d times: %s", n, l)
		}
	}
	return ""
}

// invented is what of an umbrella none of its sources has: these are their files, their code and what they say.
func invented(u fork.Skill, blobs, code map[string]bool, said string) string {
	for _, p := range slices.Sorted(maps.Keys(u.Files)) {
		f := u.Files[p]
		if blobs[fmt.Sprint(f.Exec, string(f.Data))] {
			continue
		}
		if !vault.Path(p).IsMarkdown() {
			return fmt.Sprintf("its file %s is of none of the skills in it", p)
		}
		var b body
		b.read(f.Data)
		for _, c := range b.code {
			if !code[c] && c != "" {
				return fmt.Sprintf("%s has code that none of the skills in it has: %s", p, first(c))
			}
		}
		for _, l := range b.lines {
			for _, v := range values(l) {
				if strings.Contains(v, "://") && !strings.Contains(said, v) {
					return fmt.Sprintf("%s leads to %s, and none of the skills in it does", p, v)
				}
			}
		}
	}
	return ""
}

// first is the first line of a text.
func first(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// counted is how often lines stand in a text that are long enough to count.
func counted(data []byte) map[string]int {
	var b body
	b.read(data)
	out := map[string]int{}
	for _, l := range b.said {
		if strings.Count(l, " ") >= twice-1 {
			out[l]++
		}
	}
	return out
}

// section is what an umbrella lacks of the section of a skill: a heading with its name, and below it when to use it.
func section(u, gone fork.Skill) string {
	was, _ := skill.Parse(gone.Folder, gone.Files[skill.File].Data)
	name := "-" + markdown.Slug(gone.Name, len(gone.Name)) + "-"
	data := u.Files[skill.File].Data
	all := markdown.Parse(data).Sections()
	for i, s := range all {
		if s.Heading.Level == 0 ||
			!strings.Contains("-"+markdown.Slug(s.Heading.Text, len(s.Heading.Text)+1)+"-", name) {
			continue
		}
		end := s.End
		for _, below := range all[i+1:] {
			if below.Heading.Level <= s.Heading.Level {
				break
			}
			end = below.End
		}
		if says(string(data[s.Start:end]), was.Description) {
			return ""
		}
		return "its section does not say when to use it, as the description did"
	}
	return "there is no section with its name"
}

// says reports whether a text has the words of another, but for a few.
func says(text, other string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(markdown.Fold(s), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
	}
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

// dangling are the relative links of a skill that lead nowhere: what they show, by where they lead. exists knows the
// files and folders of the vault beside those of the skill.
func dangling(s fork.Skill, exists func(vault.Path) bool) map[string]string {
	out := map[string]string{}
	for at, l := range relative(s) {
		if !leads(s, path.Dir(at), l.Target, exists) {
			out[l.Target] = l.Text
		}
	}
	return out
}

// relative yields the links of a skill that name a place and no title, with the files that they stand in.
func relative(s fork.Skill) func(func(string, markdown.Link) bool) {
	return func(yield func(string, markdown.Link) bool) {
		for _, p := range slices.Sorted(maps.Keys(s.Files)) {
			if !vault.Path(p).IsMarkdown() {
				continue
			}
			for _, l := range markdown.Parse(s.Files[p].Data).Links() {
				named := l.Kind == markdown.WikiLink || l.Kind == markdown.WikiEmbed
				if !named && l.Target != "" && !yield(p, l) {
					return
				}
			}
		}
	}
}

func leads(s fork.Skill, from, target string, exists func(vault.Path) bool) bool {
	at := path.Join(from, target)
	for p := range s.Files {
		if !strings.HasPrefix(target, "/") && (p == at || at == "." || strings.HasPrefix(p, at+"/")) {
			return true
		}
	}
	near, whole := path.Join(string(s.Folder), at), strings.TrimPrefix(path.Clean("/"+target), "/")
	return !strings.HasPrefix(near, "..") && exists(vault.Path(near)) || exists(vault.Path(whole))
}

// broken says which of the sources lost a link in the umbrella that led somewhere in them, and which link, known by
// where it leads or by what it shows; a link that leads nowhere and is of none of them is under "".
func broken(u fork.Skill, sources []fork.Skill, before, after func(vault.Path) bool) map[string]string {
	out := map[string]string{}
	was := map[string]map[string]string{}
	for _, s := range sources {
		was[s.Name] = dangling(s, before)
	}
	now := dangling(u, after)
	for _, target := range slices.Sorted(maps.Keys(now)) {
		blamed, excused := false, false
		for _, s := range sources {
			if _, excused = was[s.Name][target]; excused {
				break
			}
			for _, l := range relative(s) {
				if l.Target == target || l.Text != "" && l.Text == now[target] {
					blamed, out[s.Name] = true, target
				}
			}
		}
		if !blamed && !excused {
			out[""] = target
		}
	}
	return out
}
