package merge

import (
	"cmp"
	"path"
	"strings"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault/skill"
)

// entry is, of a line that leads to sections or files of the umbrella, or for all names a skill, to which, and the
// words that it may have: names, and when to use what it leads to. near says that it leads to sections alone.
func (o *origin) entry(u fork.Skill, file string, one unit, owner string) (whom string, in []vocabulary, near bool) {
	in, near = []vocabulary{o.any, o.title, o.names}, true
	leads := false
	add := func(name string) {
		if uses := o.uses[name]; uses != nil {
			whom, in = name, append(in, uses)
		}
	}
	for _, l := range markdown.Parse([]byte(one.raw)).Links() {
		at := path.Join(path.Dir(file), l.Target)
		if f, ok := u.Files[at]; ok && l.Kind == markdown.RelativeLink && !toSection(l, at) {
			leads, near, whom = true, false, cmp.Or(whom, at)
			names := vocabulary{}.add(strings.Join(words(at), " "))
			for _, s := range markdown.Parse(f.Data).Sections() {
				if s.Heading.Level == 1 {
					names.add(s.Heading.Text)
				}
			}
			in = append(in, names)
			add(o.at.owner(at, 1))
		} else if toSection(l, at) {
			leads, whom = true, cmp.Or(whom, "#"+l.Fragment)
			in = append(in, vocabulary{}.add(strings.ReplaceAll(l.Fragment, "-", " ")))
			add(whose(l.Fragment, o.sources()))
		}
	}
	if named := whose(one.text, o.sources()); !leads && owner == "" && named != "" && file == skill.File {
		leads = true
		add(named)
	}
	if !leads {
		return "", nil, false
	}
	to := whom
	add(owner)
	return to, in, near
}

// toSection reports whether a link, of which that is the file, leads to a section of SKILL.md, or of its own file.
func toSection(l markdown.Link, file string) bool {
	return l.Fragment != "" && (l.Target == "" || file == skill.File)
}

// up is the way from a file of a skill to its folder.
func up(file string) string { return strings.Repeat("../", strings.Count(file, "/")) }
