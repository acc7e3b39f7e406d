package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonFile is a file of JSON, which may have comments and trailing commas.
//
// Whether a map or list was made by us shows in its first byte: what we make begins with white space behind
// its bracket, and what we put into an empty one of others stands directly behind it. So taking entries out
// takes out what was made for them, and leaves what was empty before.
type jsonFile struct {
	data []byte
	head Map
}

// A holder is an object or an array.
type holder struct {
	open, shut int // offsets of its brackets
	items      []jsonItem
	rest       int // where the text begins that stands behind the last item, and its comma, if it has one
}

// A jsonItem is a member of an object, with its name, or an element of an array.
type jsonItem struct {
	name       string
	start, end int
	comma      int // offset of the comma behind it, -1 of none
	value      *hujson.Value
}

func (f jsonFile) parse() (*hujson.Value, error) {
	v, err := hujson.Parse(f.data)
	if err == nil {
		return &v, nil
	}
	what := strings.Replace(err.Error(), "unexpected EOF", "the file ends too early", 1)
	out := &PositionError{Line: 1, Column: 1, What: strings.TrimPrefix(what, "hujson: ")}
	if m := regexp.MustCompile(`^hujson: line (\d+), column (\d+): `).FindStringSubmatch(what); m != nil {
		_, _ = fmt.Sscan(m[1]+" "+m[2], &out.Line, &out.Column) // two numbers by the pattern
		out.What = strings.TrimPrefix(what, m[0])
	}
	return nil, out
}

// holderOf is what v holds, false of a value that holds nothing.
func holderOf(v *hujson.Value) (holder, bool) {
	h := holder{open: v.StartOffset, shut: v.EndOffset - 1}
	h.rest = h.open + 1
	add := func(name string, start int, value *hujson.Value, last bool) {
		it := jsonItem{name, start, value.EndOffset, -1, value}
		if h.rest = it.end; !last || value.AfterExtra != nil {
			it.comma = it.end + len(value.AfterExtra)
			h.rest = it.comma + 1
		}
		h.items = append(h.items, it)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			m := &c.Members[i]
			add(m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, &m.Value, i == len(c.Members)-1)
		}
	case *hujson.Array:
		for i := range c.Elements {
			add("", c.Elements[i].StartOffset, &c.Elements[i], i == len(c.Elements)-1)
		}
	default:
		return h, false
	}
	return h, true
}

func (f jsonFile) decode(v *hujson.Value) any {
	plain := v.Clone()
	plain.Standardize()
	var out any
	if json.Unmarshal(plain.Pack(), &out) != nil {
		return nil
	}
	return out
}

// child is the last member of that name: of two, programs read the last.
func (h holder) child(name string) *hujson.Value {
	for i := len(h.items) - 1; i >= 0; i-- {
		if h.items[i].name == name {
			return h.items[i].value
		}
	}
	return nil
}

// A jsonSpot is an item with all that it stands in, from the top.
type jsonSpot struct {
	holders []holder
	at      []int // index of the item in each
}

// find calls use with each item of the holders that keys lead to; "*" is every key and index.
func (f jsonFile) find(v *hujson.Value, keys []string, use func([]string, jsonSpot, jsonItem)) {
	var walk func(v *hujson.Value, path, keys []string, above jsonSpot)
	walk = func(v *hujson.Value, path, keys []string, above jsonSpot) {
		h, ok := holderOf(v)
		if !ok {
			return
		}
		for i, it := range h.items {
			spot := jsonSpot{append(above.holders[:len(above.holders):len(above.holders)], h),
				append(above.at[:len(above.at):len(above.at)], i)}
			switch {
			case len(keys) == 0:
				use(path, spot, it)
			case keys[0] == "*" || keys[0] == it.name:
				walk(it.value, append(path[:len(path):len(path)], it.name), keys[1:], spot)
			}
		}
	}
	walk(v, nil, keys, jsonSpot{})
}

func (f jsonFile) ours(selectors []Selector) (found []hit, err error) {
	if len(bytes.TrimSpace(f.data)) == 0 {
		return nil, nil
	}
	root, err := f.parse()
	if err != nil {
		return nil, err
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, positionError(f.data, root.StartOffset, "the file is no object")
	}
	for _, p := range selectors {
		f.find(root, p.Keys, func(path []string, s jsonSpot, it jsonItem) {
			value := f.decode(it.value)
			if !p.Owns(it.name, value) {
				return
			}
			h := hit{Entry: Entry{path, it.name, value, idOf(it.name, value)}, start: it.start,
				remove: func() ([]byte, error) { return f.remove(s), nil }}
			if inner, ok := holderOf(it.value); ok && startOf(value) != nil {
				command := inner.child("command")
				h.command = []int{command.StartOffset, command.EndOffset}
			}
			found = append(found, h)
		})
	}
	return found, nil
}

// remove takes out an item, and what was made for it alone.
func (f jsonFile) remove(s jsonSpot) []byte {
	for i := len(s.holders) - 1; i >= 0; i-- {
		if !f.madeFor(s.holders[i]) {
			return f.withoutHead(f.cut(s.holders[i], s.at[i]))
		}
	}
	return f.without(s.holders[0].open, s.holders[0].shut+1)
}

// begin puts the head into the text of a new file, on the line of its bracket, where nobody else puts it.
func (f jsonFile) begin(text string) string {
	head := ""
	for _, m := range f.head {
		head += " " + jsonString(m.Key) + ": " + jsonString(m.Value) + ","
	}
	return text[:1] + head + text[1:]
}

// withoutHead takes out the object as well when nothing is left of it but the head that we began it with.
func (f jsonFile) withoutHead(data []byte) []byte {
	ours := strings.TrimSuffix(strings.TrimSuffix(f.begin("{\n}"), "\n}"), ",") + "\n}"
	at := bytes.Index(data, []byte(ours))
	if len(f.head) == 0 || at < 0 || len(bytes.TrimSpace(data)) != len(ours) {
		return data
	}
	return jsonFile{data, nil}.without(at, at+len(ours))
}

// without is the file without its one object, nil of a file as we make it.
func (f jsonFile) without(from, to int) []byte {
	next := append(bytes.Clone(f.data[:from]), f.data[to:]...)
	if from == 0 && bytes.Equal(next, []byte("\n")) {
		return nil
	}
	return next
}

// madeFor reports whether a holder was made for the one item that is in it.
func (f jsonFile) madeFor(h holder) bool {
	if len(h.items) != 1 || !isSpace(f.data[h.open+1]) {
		return false
	}
	around := append(bytes.Clone(f.data[h.open+1:h.items[0].start]), f.data[h.items[0].end:h.shut]...)
	return len(bytes.Trim(around, " \t\r\n,")) == 0
}

// cut takes an item out with the white space before it, and one comma: its own, else the one before it.
func (f jsonFile) cut(h holder, i int) []byte {
	it := h.items[i]
	from := it.start
	for isSpace(f.data[from-1]) {
		from--
	}
	after := it.end
	if it.comma >= 0 {
		after = it.comma + 1
	}
	before := h.open + 1
	if i > 0 {
		before = h.items[i-1].comma + 1
	}
	if inLineComment(f.data[before:from]) && f.data[after] != '\n' && f.data[after] != '\r' {
		from = it.start // what follows must not become a part of the comment
	}
	next := bytes.Clone(f.data[:from])
	if it.comma >= 0 {
		next = append(next, f.data[it.end:it.comma]...)
	} else if i > 0 {
		comma := h.items[i-1].comma
		next = append(next[:comma], next[comma+1:]...)
	}
	return append(next, f.data[after:]...)
}

func (f jsonFile) add(e Entry) ([]byte, error) {
	if len(bytes.TrimSpace(f.data)) == 0 {
		text := f.begin(jsonText(e.nested(nil), "", jsonStyle{"  ", "\n", true, ""}))
		if f.data == nil {
			text += "\n"
		}
		return append(bytes.Clone(f.data), text...), nil
	}
	root, err := f.parse()
	if err != nil {
		return nil, err
	}
	at, value := root, e.Keys
	for {
		h, ok := holderOf(at)
		_, object := at.Value.(*hujson.Object)
		if wantObject := len(value) > 0 || e.Name != ""; !ok || object != wantObject {
			kind := map[bool]string{true: "an object", false: "a list"}[wantObject]
			return nil, positionError(f.data, at.StartOffset, "%s is not %s",
				quoteKeys(e.Keys[:len(e.Keys)-len(value)]), kind)
		}
		if len(value) > 0 {
			if next := h.child(value[0]); next != nil {
				at, value = next, value[1:]
				continue
			}
		}
		if there := h.child(e.Name); len(value) == 0 && e.Name != "" && there != nil {
			return nil, positionError(f.data, there.StartOffset, "%q is there already and starts something else",
				e.Name)
		}
		if len(value) > 0 {
			return f.put(h, value[0], e.nested(e.Keys[:len(e.Keys)-len(value)+1])), nil
		}
		return f.put(h, e.Name, e.Value), nil
	}
}

// put adds an item behind all others of a holder, and behind what is said about the last of them.
func (f jsonFile) put(h holder, name string, value any) []byte {
	style := f.style()
	own := f.indentAt(h.open)
	inner := own + style.unit
	text := func() string {
		t := jsonText(value, inner, style)
		if name != "" {
			t = jsonString(name) + ": " + t
		}
		return t
	}
	if len(h.items) == 0 {
		inner = own
		return insert(f.data, h.open+1, text())
	}
	last := h.items[len(h.items)-1]
	if start := f.lineStart(last.start); len(bytes.TrimSpace(f.data[start:last.start])) == 0 {
		inner = string(f.data[start:last.start])
	}
	behind := f.data[h.rest:h.shut]
	at := h.rest + len(bytes.TrimRight(behind, " \t\r\n"))
	before := " "
	if bytes.Contains(f.data[h.open:h.shut], []byte("\n")) || inLineComment(f.data[h.rest:at]) {
		before = style.eol + inner
	}
	out := before + text()
	if last.comma >= 0 {
		return insert(f.data, at, out+",")
	}
	return insert(insert(f.data, at, out), last.end, ",")
}

// inLineComment reports whether white space and comments end in a comment that lasts to the end of the line.
func inLineComment(extra []byte) bool {
	for {
		i := bytes.IndexByte(extra, '/')
		if i < 0 || i+1 == len(extra) {
			return false
		}
		end := "*/"
		if extra[i+1] == '/' {
			end = "\n"
		}
		_, rest, ended := bytes.Cut(extra[i+2:], []byte(end))
		if !ended {
			return true
		}
		extra = rest
	}
}

func (f jsonFile) lineStart(at int) int { return bytes.LastIndexByte(f.data[:at], '\n') + 1 }

// indentAt is what the line of an offset begins with.
func (f jsonFile) indentAt(at int) string {
	line := f.data[f.lineStart(at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// jsonStyle is how a file is laid out: a level of indent, the end of a line, and whether it has several.
type jsonStyle struct {
	unit, eol string
	lines     bool
	pad       string // behind and before brackets on one line
}

func (f jsonFile) style() jsonStyle {
	s := jsonStyle{"  ", eolOf(f.data), true, " "}
	m := regexp.MustCompile(`^[^\n]*\{[^\n]*\n([ \t]+)"`).FindSubmatch(f.data)
	switch {
	case m != nil:
		s.unit = string(m[1])
	case !bytes.Contains(bytes.TrimSpace(f.data), []byte("\n")) && len(bytes.TrimSpace(f.data)) > len("{}"):
		s.lines = false
	}
	return s
}

// jsonText writes a value; what holds something begins with white space behind its bracket.
func jsonText(v any, indent string, s jsonStyle) string {
	var parts []string
	brackets := "{}"
	inner := indent + s.unit
	switch v := v.(type) {
	case Map:
		for _, m := range v {
			parts = append(parts, jsonString(m.Key)+": "+jsonText(m.Value, inner, s))
		}
	case []any:
		brackets = "[]"
		for _, item := range v {
			parts = append(parts, jsonText(item, inner, s))
		}
	default:
		return jsonString(v)
	}
	if len(parts) == 0 {
		return brackets
	}
	if !s.lines {
		return brackets[:1] + s.pad + strings.Join(parts, ", ") + s.pad + brackets[1:]
	}
	return brackets[:1] + s.eol + inner + strings.Join(parts, ","+s.eol+inner) + s.eol + indent + brackets[1:]
}

// jsonString writes a string or a number as people do, without escapes for HTML.
func jsonString(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
