package templates

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

//go:embed report.md
var report string

// Report renders a report of the curator's, whose fields the template names. Names and reasons, which others wrote, are
// one line each and end no code and no fence.
func Report(r any) ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{"line": line, "code": code, "fence": fence,
		"reversed": reversed}).Parse(report)
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

// code is a text in a code span.
func code(text any) string {
	s := strings.Join(strings.Fields(fmt.Sprint(text)), " ")
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := strings.Repeat("`", longest(s)+1)
	return ticks + " " + s + " " + ticks
}

// fence is a difference in a fenced block that nothing in it ends; "" says where to see one that is too long.
func fence(diff, rev any) string {
	s := fmt.Sprint(diff)
	if s == "" {
		return fmt.Sprintf("It is long: `git show %v`.", rev)
	}
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

// reversed is a list, its last element first.
func reversed(list any) []any {
	var out []any
	for _, v := range reflect.ValueOf(list).Seq2() {
		out = append(out, v.Interface())
	}
	slices.Reverse(out)
	return out
}
