package templates

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

//go:embed report.md
var report string

// Report renders a report of the curator's, whose fields the template names. Names and reasons, which others wrote, are
// one line each and end no code and no fence.
func Report(r any) ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{"line": line, "code": code, "fence": fence,
		"cell": cell, "short": Short, "plural": Plural}).Parse(report)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, r)
	return out.Bytes(), err
}

// line is a text on one line, in which nothing is Markdown.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var out strings.Builder
	for _, r := range text {
		if unicode.In(r, unicode.Cc, unicode.Cf) { // neither a terminal's nor unseen
			continue
		}
		if strings.ContainsRune("\\`*_[]<>#|!~", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// maxShort is how many characters of a text a cell shows.
const maxShort = 80

// Short is a text on one line, cut at a word where it is too long for a cell.
func Short(text string) string {
	words := strings.Fields(text)
	out := ""
	for i, word := range words {
		if i > 0 && utf8.RuneCountInString(out+" "+word) > maxShort {
			return out + " …"
		}
		out = strings.TrimPrefix(out+" "+word, " ")
	}
	if all := []rune(out); len(all) > maxShort { // a single word
		return string(all[:maxShort]) + "…"
	}
	return out
}

// code is a text in a code span.
func code(text any) string {
	s := strings.Join(strings.Fields(fmt.Sprint(text)), " ")
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := strings.Repeat("`", longest(s)+1)
	return ticks + " " + s + " " + ticks
}

// cell is a text in a code span in a table, where a bar ends a cell even in code.
func cell(text any) string { return strings.ReplaceAll(code(text), "|", `\|`) }

// fence is a difference in a fenced block that nothing in it ends.
func fence(s string) string {
	ticks := strings.Repeat("`", max(3, longest(s)+1))
	return ticks + "diff\n" + strings.TrimSuffix(s, "\n") + "\n" + ticks
}

// longest is the longest run of backquotes.
func longest(s string) (n int) {
	run := 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		n = max(n, run)
	}
	return n
}
