package scan

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// topKey finds a key of a front matter that stands in no other one.
var topKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["']?([A-Za-z][\w-]*)["']?\s*:`) })

// anyCommand finds in a list of tools one that runs any command: a shell that nothing bounds, or one that may start a
// shell, or a language, with any argument.
var anyCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s,\["'])(?:\*|(?:bash|shell|terminal|execute|run_?(?:shell_?)?command)` +
		`(?:\(\s*:?\*?\s*\)|\(\s*(?:(?:ba|z|da|k|fi)?sh|env|sudo|eval|exec|xargs|ssh|npx|uvx|python[\d.]*|perl|ruby|` +
		`node|php)\b[^)]*\*\s*\))?)(?:$|[\s,\]"'])`)
})

// front finds in the front matter of a SKILL.md what gives the skill rights: tools that run any command without a
// question, hooks, which clients run by themselves, and stet's own keys at the top, where stet never writes them. It
// reads lines, so that what YAML cannot read is looked at as well.
func (f File) front() (out []Finding) {
	if path.Base(f.Path) != "SKILL.md" {
		return nil
	}
	lines := strings.Split(strings.TrimPrefix(string(f.Data), "\ufeff"), "\n")
	if strings.TrimRight(lines[0], " \t\r") != "---" {
		return nil
	}
	key, granted := "", false
	for i, line := range lines[1:] {
		line = strings.TrimRight(line, " \t\r")
		if line == "---" || line == "..." {
			break
		}
		value := line
		if m := topKey().FindStringSubmatch(line); m != nil {
			key, value, granted = strings.ToLower(m[1]), line[len(m[0]):], false
			switch {
			case key == "hooks":
				out = append(out, Finding{f.Path, i + 2, "client-config", Look, oneLine(line), false})
			case strings.HasPrefix(key, "stet-"):
				out = append(out, Finding{f.Path, i + 2, "stet-key", Look, oneLine(line), false})
			}
		}
		if key == "allowed-tools" && !granted && anyCommand().MatchString(value) {
			granted = true
			out = append(out, Finding{f.Path, i + 2, "grants-shell", Look, oneLine(line), false})
		}
	}
	return out
}
