package merge

import (
	"maps"
	"path"
	"slices"
	"strings"

	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
)

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
		for p, data := range texts(s) {
			for _, l := range markdown.Parse(data).Links() {
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
