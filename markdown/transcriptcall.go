package markdown

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// A CallView is a call of a tool as a person reads it.
type CallView struct {
	Given string // what it was given beside Text, on one line of at most [maxGiven] characters
	Text  string // the argument that matters: a command, a file's contents, an edit as a diff; else all of them
	Lang  string // what Text is, as a block of code names it: sh, diff, json, text, or the ending of a file's name
	note  callNote
}

// Line is what was called, on one line: the command, the file, or what else it was given.
func (v *CallView) Line() string {
	if v.Given != "" && v.Lang != "sh" {
		return v.Given
	}
	text := v.Text
	if isPatch(text) && strings.HasPrefix(text, "***") {
		text = text[strings.IndexByte(text+"\n", '\n'):] // the first file that it is about
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first += " …"
	}
	return oneLine(first)
}

// Whole is all that the call was given.
func (v *CallView) Whole() string {
	if v.Given == "" || len(v.note.At) == 0 {
		return v.Text
	}
	return v.Given + "\n" + v.Text
}

// The forms in which arguments stand in a transcript; "" is as they were given.
const (
	formText   = "text"   // the text that belongs into args at one place
	formDiff   = "diff"   // the texts before and after an edit, which belong into args at two places
	formIndent = "indent" // JSON with line ends and indents, which it had not
)

// maxGiven bounds the line of a call's other arguments, maxDiff the bytes of an edit that is shown as a diff.
const (
	maxGiven = 160
	maxDiff  = 256 << 10
)

// View says how a call reads.
func (c *ToolCall) View() CallView {
	plain := CallView{Text: string(c.Arguments), Lang: "text"}
	if !isText(c.Arguments) {
		plain.Text = ""
		return plain
	}
	fields := stringFields(c.Arguments)
	for _, view := range []func([]byte, []argument) (CallView, bool){viewEdit, viewEdits, viewText, viewJSON} {
		if v, ok := view(c.Arguments, fields); ok {
			if back, ok := v.note.arguments([]byte(v.Text)); ok && bytes.Equal(back, c.Arguments) {
				return v
			}
		}
	}
	if json.Valid(c.Arguments) {
		plain.Lang = "json"
	} else if isPatch(plain.Text) {
		plain.Lang = "diff"
	}
	return plain
}

// An argument is one key of the arguments of a call.
type argument struct {
	key        string
	raw        json.RawMessage
	text       string
	start, end int  // of the text as JSON writes it: the value, or the script of a shell's arguments; 0, 0 of any other
	listed     bool // it is the last of a list
}

// stringFields are the keys of an object, in order; nil for anything else.
func stringFields(args []byte) (out []argument) {
	d := json.NewDecoder(bytes.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		a := argument{}
		a.key, _ = key.(string)
		if err != nil || d.Decode(&a.raw) != nil {
			return nil
		}
		end := int(d.InputOffset())
		var list []json.RawMessage
		last := a.raw
		if a.raw[0] == '[' && json.Unmarshal(a.raw, &list) == nil && len(list) == 3 && runsScript(string(list[1])) {
			last, a.listed = list[2], true
		}
		if last[0] == '"' && json.Unmarshal(last, &a.text) == nil && bytes.Equal(quoted(a.text), last) {
			at := bytes.LastIndex(a.raw, last)
			a.start = end - len(a.raw) + at
			a.end = a.start + len(last)
		}
		out = append(out, a)
	}
	return out
}

// runsScript reports the flag of a shell, in JSON, behind which a script stands.
func runsScript(flag string) bool {
	return flag == `"-c"` || flag == `"-lc"` || strings.EqualFold(flag, `"-command"`)
}

// quoted is a text as the programs that call tools write it in JSON.
func quoted(s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be written
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// field is the first argument that is a text and has one of the keys, in their order; "" is any.
func field(fields []argument, keys ...string) *argument {
	for _, key := range keys {
		i := slices.IndexFunc(fields, func(a argument) bool { return (a.key == key || key == "") && a.end > 0 })
		if i >= 0 {
			return &fields[i]
		}
	}
	return nil
}

// A call's texts of these keys are shown by themselves where they have several lines, commands always.
const (
	longTexts = "patch input file_text content contents code new_source plan prompt message body text query"
	commands  = "command cmd script"
)

func viewText(args []byte, fields []argument) (CallView, bool) {
	var a *argument
	for _, key := range strings.Fields(longTexts) {
		if f := field(fields, key); f != nil && !f.listed && strings.Contains(f.text, "\n") {
			a = f
			break
		}
	}
	if a == nil {
		if a = field(fields, strings.Fields(commands)...); a == nil || a.text == "" {
			return CallView{}, false
		}
	}
	v := CallView{Lang: "text", Text: a.text, Given: given(fields, a), note: callNote{Form: formText}}
	switch file := field(fields, "file_path", "path", "notebook_path", "filename"); {
	case slices.Contains(strings.Fields(commands), a.key):
		v.Lang = "sh"
	case isPatch(a.text) || a.key == "patch":
		v.Lang = "diff"
	case file != nil && !slices.Contains([]string{"prompt", "message", "query"}, a.key):
		v.Lang = ending(file.text)
	}
	v.note.cut(args, a)
	return v, true
}

func viewJSON(args []byte, fields []argument) (CallView, bool) {
	var out bytes.Buffer
	if len(args) == 0 || args[0] != '{' && args[0] != '[' || json.Indent(&out, args, "", "  ") != nil {
		return CallView{}, false
	}
	v := CallView{Lang: "json", Text: string(args), Given: given(fields)}
	if len(args) > 80 {
		v.Text, v.note.Form = out.String(), formIndent
	}
	return v, true
}

// isPatch reports a text in one of the forms of differences.
func isPatch(s string) bool {
	for _, head := range []string{"*** Begin Patch", "diff --git ", "--- a/", "--- /dev/null", "Index: "} {
		if strings.HasPrefix(s, head) {
			return true
		}
	}
	return false
}

// ending is the ending of a file's name, by which programs know languages.
func ending(name string) string {
	_, end, ok := strings.Cut(name[strings.LastIndexAny(name, `/\`)+1:], ".")
	end = strings.ToLower(end[strings.LastIndexByte(end, '.')+1:])
	if !ok || len(end) > 10 || strings.ContainsFunc(end, func(r rune) bool { return !isAlnum(r) }) {
		return "text"
	}
	return end
}

// given puts arguments on one line, but those that are shown by themselves: of files the names alone.
func given(fields []argument, shown ...*argument) string {
	var parts []string
	for i := range fields {
		a := &fields[i]
		if slices.ContainsFunc(shown, func(s *argument) bool { return s.key == a.key }) {
			continue
		}
		value := listed(a.raw)
		if a.end > 0 && !a.listed {
			value = a.text
		}
		if value = oneLine(value); value == "" || value == "null" || value == "false" {
			continue
		}
		if len(parts) > 0 || !strings.Contains(a.key, "path") && a.key != "file" {
			value = oneLine(a.key) + ": " + value
		}
		parts = append(parts, value)
	}
	line := []rune(strings.Join(parts, ", "))
	if len(line) > maxGiven {
		line = append(line[:maxGiven-1], '…')
	}
	return string(line)
}

// listed is a value as it is, or of a list its texts as words, and of its objects the first text of each.
func listed(raw json.RawMessage) string {
	var words []string
	if json.Unmarshal(raw, &words) == nil {
		return strings.Join(words, " ")
	}
	var objects []json.RawMessage
	if json.Unmarshal(raw, &objects) != nil {
		return string(raw)
	}
	words = nil
	for _, one := range objects {
		text := field(stringFields(one), "")
		if text == nil {
			return string(raw)
		}
		words = append(words, text.text)
	}
	return strings.Join(words, "; ")
}

func oneLine(s string) string {
	gap := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(s, gap), " ")
}

type callNote struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"`
	Base64 bool   `json:"base64,omitempty"` // arguments that no text file can hold
	Form   string `json:"form,omitempty"`
	Args   string `json:"args,omitempty"` // the arguments without what stands in the block
	At     []int  `json:"at,omitempty"`   // where in Args that belongs
}

// cut takes arguments out and notes where they stood.
func (n *callNote) cut(args []byte, out ...*argument) {
	order := slices.SortedFunc(slices.Values(out), func(a, b *argument) int { return a.start - b.start })
	var left []byte
	at := 0
	n.At = make([]int, len(out))
	for _, a := range order {
		left = append(left, args[at:a.start]...)
		n.At[slices.Index(out, a)], at = len(left), a.end
	}
	n.Args = string(append(left, args[at:]...))
}

// arguments are those of which text stands in the block.
func (n *callNote) arguments(text []byte) ([]byte, bool) {
	texts := []string{string(text)}
	switch {
	case n.Base64:
		raw, err := base64.StdEncoding.DecodeString(string(text))
		return raw, err == nil
	case n.Form == "":
		return text, true
	case n.Form == formIndent:
		var out bytes.Buffer
		err := json.Compact(&out, text)
		return out.Bytes(), err == nil
	case n.Form == formDiff:
		texts = nil
		for hunk := range strings.SplitSeq(string(text), hunkMark) {
			old, now, ok := undiff(hunk)
			if texts = append(texts, old, now); !ok {
				return nil, false
			}
		}
	case n.Form != formText:
		return nil, false
	}
	if len(n.At) != len(texts) {
		return nil, false
	}
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return n.At[a] - n.At[b] })
	var out []byte
	at := 0
	for _, i := range order {
		if n.At[i] < at || n.At[i] > len(n.Args) {
			return nil, false
		}
		out = append(append(out, n.Args[at:n.At[i]]...), quoted(texts[i])...)
		at = n.At[i]
	}
	return append(out, n.Args[at:]...), true
}

// label is the beginning of the line above a call by which a person reads what was called.
func (n *callNote) label() string {
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("*`[]<>&\\!~$", r) || !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, oneLine(n.Name)))
	return "**" + cmp.Or(name, "tool") + "**"
}

// labelled is the line above a call of which something stands in the block.
func (v *CallView) labelled() string {
	if given := strings.ReplaceAll(v.Given, "`", "'"); given != "" && len(v.note.At) > 0 {
		return v.note.label() + " `" + given + "`"
	}
	return v.note.label()
}
