package merge

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stet/curator/fork"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/scan"
	"stet/vault/skill"
)

const (
	maxMain  = 500 // lines of a SKILL.md
	triggers = 0.9 // of the words of a description
	twice    = 5   // from how many words on a line must not stand twice
)

// form is what is wrong with an umbrella as such: sources are the skills that its text may come from, itself as it was
// before among them. extra are lines below its title that are better left out.
func form(u fork.Skill, sources []fork.Skill, at layout) (extra []unit, faults []string) {
	main := u.Files[skill.File].Data
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if n := bytes.Count(main, []byte("\n")); n >= maxMain {
		add("its SKILL.md has %s, and %d are too many: move long parts to references/",
			templates.Plural(n, "line"), maxMain)
	}
	now, _ := skill.Parse(u.Folder, main)
	from := originOf(u, sources, at)
	faults = slices.Concat(faults, from.calls(u), from.newFields(main))
	about := strings.Join(strings.Fields(now.Description), " ")
	if n := utf8.RuneCountInString(about); n > skill.MaxDescription {
		add("its description has %d characters, at most %d are allowed", n, skill.MaxDescription)
	}
	faults = append(faults, from.alarms(skill.File, []byte(about))...)
	if words := append(from.foreign(about), brokenWord().FindAllString(about, -1)...); len(words) > 0 {
		add("its description says %q, which the names, descriptions and headings of the skills in it do not say",
			strings.Join(words, ", "))
	}
	for _, p := range slices.Sorted(maps.Keys(u.Files)) {
		more, why := from.newInFile(u, p)
		extra, faults = append(extra, more...), append(faults, why...)
	}
	most := map[string]int{} // how often a line stands in one source; of a table: in all, for each needs its head
	for _, s := range sources {
		for l, n := range counted(s.Files[skill.File].Data) {
			if strings.HasPrefix(l, "|") {
				n += most[l]
			}
			most[l] = max(most[l], n)
		}
	}
	stands := counted(main)
	for _, l := range slices.Sorted(maps.Keys(stands)) {
		if n := stands[l]; n > max(most[l], 1) {
			add("a line stands in it %s, and should once: %s", templates.Plural(n, "time"), quoted(l))
		}
	}
	return extra, faults
}

// newInFile are what a file of an umbrella has and none of the sources, and which of its lines are left out.
func (o *origin) newInFile(u fork.Skill, file string) (extra []unit, faults []string) {
	f := u.Files[file]
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if o.has[blob(f)] {
		return nil, nil
	}
	if !vault.Path(file).IsMarkdown() {
		add("its file %s is of none of the skills in it", file)
		return nil, faults
	}
	for _, one := range traces(f.Data) {
		if !o.has[one] {
			add("%s has %s, and none of the skills in it does", file, first(one))
		}
	}
	if _, why := markdown.Parse(f.Data).Unread(); why != "" {
		add("%s cannot be read to its end: %s", file, why)
	}
	extra, why := o.ownLines(u, file)
	return extra, slices.Concat(faults, o.alarms(file, f.Data), o.anchors(u, file), o.strays(u, file), why)
}

// alarms are what a scan finds in a text of a file and in none of the sources. Where it stands in a line that a source
// has as well, and only what is near it is new, it is not.
func (o *origin) alarms(file string, data []byte) (faults []string) {
	for _, f := range scan.Fresh(file, o.text.Bytes(), data) {
		same := func(was scan.Finding) bool { return was.Rule == f.Rule }
		if !o.hasLine(data, f.Line) || !slices.ContainsFunc(scan.Fresh(file, nil, o.text.Bytes()), same) {
			faults = append(faults, fmt.Sprintf("%s has what a person should look at and none of the skills in it has "+
				"(%s): %s", file, f.Rule, f.Excerpt))
		}
	}
	return faults
}

// hasLine reports whether what stands at a line of a text is said by the sources.
func (o *origin) hasLine(data []byte, line int) bool {
	return slices.ContainsFunc(units(data), func(u unit) bool {
		from, end := u.line, u.line+strings.Count(u.raw, "\n")
		if u.kind == coded { // empty lines and fences aside
			from, end = u.line-strings.Count(u.text, "\n")-2, u.line
		}
		fresh := func(s string) bool { return len(o.said[s]) == 0 }
		return from <= line && line <= end && !slices.ContainsFunc(u.says(), fresh)
	})
}

var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:[a-z][a-z0-9+.-]*://|\\b(?:https?|ftp|file|data|javascript|mailto):|//|\\bwww\\.)" +
		"[^\\s<>()\"'`\\]]+")
})

// traces are what of a Markdown text does more than say something: its blocks of code, those in quotations and lists as
// well, what stands between backticks, and addresses, folded and whole.
func traces(data []byte) (out []string) {
	add := func(code string) {
		if code != "" {
			out = append(out, "code: "+code)
		}
	}
	for _, u := range units(data) {
		if u.kind == coded {
			add(u.text)
		}
	}
	blocks, spans := markdown.Code(data)
	for _, c := range blocks {
		lines := strings.Split(c, "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " \t\r")
		}
		add(block(lines))
	}
	for _, c := range spans {
		out = append(out, span(c))
	}
	for _, at := range address().FindAllString(markdown.Fold(string(data)), -1) {
		out = append(out, "the address "+strings.TrimRight(at, ".,;:!?*_|"))
	}
	return out
}

// span is what stands between backticks as it is compared.
func span(code string) string {
	return "`" + strings.Join(strings.Fields(markdown.Fold(code)), " ") + "`"
}

// blob is a file with its mode.
func blob(f fork.File) string { return fmt.Sprint(f.Exec, "\x00", string(f.Data)) }

// maxShown is how much of a text a verdict names, in bytes.
const maxShown = 200

// first is the first line of a text, or the beginning of it.
func first(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + " …"
	}
	return text
}

// emptied are links of a plain line, whose targets were taken out.
var emptied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\[\]]*)\]\(\)`) })

// quoted is a plain line as a person reads it.
func quoted(line string) string { return emptied().ReplaceAllString(first(line), "$1") }

// counted is how often lines stand in a text that are long enough to count.
func counted(data []byte) map[string]int {
	out := map[string]int{}
	for _, u := range units(data) {
		if u.kind != coded && !u.leads() && strings.Count(u.text, " ") >= twice-1 {
			out[u.text]++
		}
	}
	return out
}
