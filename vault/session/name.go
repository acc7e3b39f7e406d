package session

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
)

// About reports whether a session is about a project: by its name or folder, or by the last part of that.
func (k Known) About(project string) bool {
	base := func(s string) string { return path.Base(strings.ReplaceAll(s, `\`, "/")) }
	return strings.EqualFold(k.Project, project) ||
		project != "" && strings.EqualFold(base(k.Project), strings.TrimRight(project, "/"))
}

// mostInFolder is how many transcripts a folder holds before new ones stand in folders of their days: each may have a
// folder beside it.
const mostInFolder = 240

// Spread is where a new transcript at p goes whose folder has so many: into a folder of its day, once that is full.
func Spread(p vault.Path, have int) vault.Path {
	month := strings.ReplaceAll(strings.TrimPrefix(p.Dir(), "sessions/"), "/", "-") + "-"
	day, ok := strings.CutPrefix(p.Base(), month)
	if have < mostInFolder || !ok || len(day) < 3 || day[2] != '-' {
		return p
	}
	return vault.Path(p.Dir() + "/" + day[:2] + "/" + p.Base())
}

// nameNew is the path of a new transcript beside those that there are.
func nameNew(t *markdown.Transcript, have []vault.Path) vault.Path {
	p := vault.NameTranscript(t)
	n := 0
	for _, h := range have {
		if h.Dir() == p.Dir() {
			n++
		}
	}
	return Spread(p, n)
}

// FirstSentence is the first sentence of a line; one of fewer than three words goes on with the next.
func FirstSentence(line string) string {
	for i, r := range line {
		end := i + utf8.RuneLen(r)
		if end >= len(line) || !strings.ContainsRune(".?!。？！", r) {
			continue
		}
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(line[end:], " "))
		wide := strings.ContainsRune("。？！", r)
		if wide || line[end] == ' ' && !unicode.IsLower(next) && len(strings.Fields(line[:i])) >= 3 {
			return line[:end]
		}
	}
	return line
}
