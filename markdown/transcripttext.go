package markdown

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// body is the content of a message as a transcript shows it, and the info string of the fence that it stands in, "" for
// none. What tools and programs said stands in a fence of its kind; what people and models wrote reads as Markdown, but
// for headings, which would look like those of messages, and for marks that would swallow words.
func (m *Message) body() (text []byte, info string) {
	switch m.Role {
	case "tool", "system":
		return m.Content, kindOf(m.Content) + " " + textInfo
	}
	if escaped := escapeText(m.Content); !needsFence(escaped) && bytes.Equal(unescapeText(escaped), m.Content) {
		return escaped, ""
	}
	if !needsFence(m.Content) {
		return m.Content, ""
	}
	return m.Content, "text " + textInfo
}

// kindOf says what an output is, as a block of code names it.
func kindOf(text []byte) string {
	trimmed := bytes.TrimSpace(text)
	switch {
	case isPatch(string(trimmed[:min(len(trimmed), 64)])):
		return "diff"
	case len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed):
		return "json"
	}
	return "text"
}

const lineMarks = `(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|\[[^\]]+\]:)`

// textMarks matches what is escaped, and what is escaped already.
type textMarks struct{ line, escapedLine, tag, escapedTag, fence *regexp.Regexp }

var marksOfText = sync.OnceValue(func() textMarks {
	return textMarks{
		line: regexp.MustCompile(`^ {0,3}` + lineMarks), escapedLine: regexp.MustCompile(`^ {0,3}\\` + lineMarks),
		tag: regexp.MustCompile("`+|<[A-Za-z/!?]"), escapedTag: regexp.MustCompile("`+|\\\\<[A-Za-z/!?]"),
		fence: regexp.MustCompile("^ {0,3}(`{3,}|~{3,})"),
	}
})

// escapeText puts a backslash before the marks of headings, underlines, definitions and tags that stand outside of
// code, and behind a heading that a line follows, so that it stays a line. It is approximate: who uses it looks whether
// unescapeText gives the text back.
func escapeText(text []byte) []byte {
	return eachLine(text, func(line string, above, below bool) string {
		m := marksOfText().line.FindString(line)
		if underline := m != "" && !strings.ContainsAny(m, "#["); m != "" && (above || !underline) {
			at := len(line) - len(strings.TrimLeft(line, " "))
			if line = line[:at] + `\` + line[at:]; below && line[at+1] == '#' {
				line += `\`
			}
		}
		return outsideCode(line, marksOfText().tag, func(tag, rest string) string {
			if strings.HasPrefix(rest, "http://") || strings.HasPrefix(rest, "https://") {
				return tag
			}
			return `\` + tag
		})
	})
}

// unescapeText takes out what escapeText put in.
func unescapeText(text []byte) []byte {
	return eachLine(text, func(line string, _, _ bool) string {
		if marksOfText().escapedLine.MatchString(line) {
			if line = strings.Replace(line, `\`, "", 1); strings.TrimLeft(line, " ")[0] == '#' {
				line = strings.TrimSuffix(line, `\`)
			}
		}
		return outsideCode(line, marksOfText().escapedTag, func(tag, _ string) string { return tag[1:] })
	})
}

// eachLine changes the lines of a text outside of fenced code; above and below say whether a line that is not blank
// stands before or behind one.
func eachLine(text []byte, change func(line string, above, below bool) string) []byte {
	var out bytes.Buffer
	fence, above, at := "", false, 0
	for raw := range bytes.Lines(text) {
		line := string(trimEOL(raw))
		at += len(raw)
		mark := ""
		if m := marksOfText().fence.FindStringSubmatch(line); m != nil {
			mark = m[1]
		}
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.Trim(line, " `~") == "" {
				fence = ""
			}
			out.WriteString(line)
		case mark != "":
			fence = mark
			out.WriteString(line)
		case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"): // code, it may be
			out.WriteString(line)
		default:
			next, _ := cutLine(text[at:])
			out.WriteString(change(line, above, len(bytes.TrimSpace(next)) > 0))
		}
		above = fence == "" && mark == "" && strings.TrimSpace(line) != ""
		out.Write(raw[len(line):])
	}
	return out.Bytes()
}

// outsideCode replaces what re finds in a line, but for spans of code: runs of backticks that re finds too.
func outsideCode(line string, re *regexp.Regexp, change func(found, rest string) string) string {
	if strings.IndexByte(line, '<') < 0 {
		return line
	}
	var out strings.Builder
	at, code := 0, ""
	for _, m := range re.FindAllStringIndex(line, -1) {
		found := line[m[0]:m[1]]
		out.WriteString(line[at:m[0]])
		at = m[1]
		switch {
		case found[0] != '`':
			if code == "" {
				found = change(found, line[m[0]+1:])
			}
		case code == found:
			code = ""
		case code == "" && strings.Contains(line[m[1]:], found):
			code = found
		}
		out.WriteString(found)
	}
	return out.String() + line[at:]
}
