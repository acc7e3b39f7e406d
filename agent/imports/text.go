package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"stet/templates"
)

func itoa(n int) string { return strconv.Itoa(n) }

// valid is s as UTF-8 without control characters.
func valid(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// oneLine folds white space.
func oneLine(s string) string {
	return strings.Join(strings.Fields(valid(strings.Join(strings.Fields(s), " "))), " ")
}

// ansi matches the sequences by which programs colour and move on a terminal.
var ansi = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\x1b\\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)?|\x1b[@-_]?")
})

// clean drops terminal sequences and control characters, which output of
// programs is full of: stored they would act on the terminal of whoever reads it,
// and a Markdown file cannot hold them.
func clean(b []byte) []byte {
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\ufffd"))
	}
	dirty := bytes.ContainsFunc(b, func(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' || r == 0x7f })
	if !dirty {
		return b
	}
	if bytes.IndexByte(b, 0x1b) >= 0 {
		b = ansi().ReplaceAll(b, nil)
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r < 0x20 && r != '\t' && r != '\n', r == 0x7f:
			return -1
		}
		return r
	}, b)
}

// timeOf reads a time however a program wrote it: RFC 3339, a day, seconds or
// milliseconds since 1970. What it cannot read, or no file can hold, is no time.
func timeOf(raw json.RawMessage) time.Time {
	text := strings.Trim(strings.TrimSpace(string(raw)), `"`)
	if text == "" || text == "null" {
		return time.Time{}
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return bounded(t)
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e15 {
		return time.Time{}
	}
	const latest = 1e11 // seconds; above it a number counts milliseconds
	if f > latest {
		f /= 1000
	}
	whole, part := math.Modf(f)
	return bounded(time.Unix(int64(whole), int64(math.Round(part*1e6))*1000))
}

func bounded(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1970 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// text is a JSON string, or "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// compactJSON is a value as arguments of a call stand in a transcript: a string
// that holds JSON is that JSON.
func compactJSON(raw json.RawMessage) []byte {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if s := text(raw); s != "" || raw[0] == '"' {
		return []byte(strings.ToValidUTF8(s, "\ufffd"))
	}
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	return bytes.ToValidUTF8(out.Bytes(), []byte("\ufffd"))
}

// cut keeps the beginning of what no file can hold, and says so.
func cut(b []byte, most int) ([]byte, bool) {
	if len(b) <= most {
		return b, false
	}
	n := most
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return fmt.Appendf(bytes.Clone(b[:n]), "\n\n[%s left out]", templates.Plural(len(b)-n, "more byte")), true
}

// injected matches the elements by which programs, stet among them, put text into what a
// person said. Stored, they would be found as if it had been said.
var injected = sync.OnceValue(func() (out []*regexp.Regexp) {
	for _, tag := range []string{"system-reminder", "stet-context", "stet-memory", "memory-context", "local-command-caveat"} {
		out = append(out, regexp.MustCompile("(?s)<"+tag+"[ >].*?</"+tag+">")) // never closed, it is text about the tag
	}
	return out
})

// withoutInjected drops those elements.
func withoutInjected(s string) string {
	for _, element := range injected() {
		s = element.ReplaceAllString(s, "")
	}
	return s
}

// between is the text of the first element of that name.
func between(s, tag string) string {
	_, after, ok := strings.Cut(s, "<"+tag+">")
	if !ok {
		return ""
	}
	inner, _, _ := strings.Cut(after, "</"+tag+">")
	return strings.TrimSpace(inner)
}
