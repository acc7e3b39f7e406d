package scan

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
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
// question, hooks, which clients run by themselves, and stet's own keys at the top, where stet never writes them. YAML
// says which of these there are, in whatever form; lines say where, and which where YAML cannot be read.
func (f File) front() (out []Finding) {
	out = f.frontLines()
	doc := markdown.Parse(f.Data)
	if path.Base(f.Path) != "SKILL.md" || !doc.HasFrontMatter() || doc.FrontMatterError() != nil {
		return out
	}
	given := map[string]string{} // the key by the rule
	for _, key := range doc.Keys() {
		value, _ := doc.Meta(key)
		tools := append(value.List(), value.Text())
		tools = append(tools, slices.Collect(maps.Keys(value.Texts()))...)
		switch lower := strings.ToLower(key); {
		case lower == "hooks":
			given["client-config"] = key
		case strings.HasPrefix(lower, "stet-"):
			given["stet-key"] = key
		case lower == "allowed-tools" && slices.ContainsFunc(tools, anyCommand().MatchString):
			given["grants-shell"] = key
		}
	}
	out = slices.DeleteFunc(out, func(found Finding) bool { return given[found.Rule] == "" })
	for _, rule := range slices.Sorted(maps.Keys(given)) {
		if slices.ContainsFunc(out, func(found Finding) bool { return found.Rule == rule }) {
			continue
		}
		before, rest, _ := strings.Cut(string(f.Data), given[rule]) // at the end where it is written with escapes
		line, _, _ := strings.Cut(rest, "\n")
		at := 1 + strings.Count(before, "\n")
		out = append(out, Finding{f.Path, at, rule, Look, oneLine(given[rule] + line), false})
	}
	return out
}

// frontLines finds it in lines.
func (f File) frontLines() (out []Finding) {
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
