package links

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"stet/markdown"
)

// A card is a string of a canvas in which links stand: the text of a card, or the path of the file that one shows.
type card struct {
	start, end int // of the string in the canvas, without its quotes
	line       int // of it, from 1
	text       string
	file       bool
}

// cardsOf are the cards of a canvas (jsoncanvas.org) in their order. What is no canvas has none.
func cardsOf(data []byte) (out []card) {
	d := json.NewDecoder(bytes.NewReader(data))
	opens := func(want json.Delim) bool { t, err := d.Token(); return err == nil && t == want }
	if !opens('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if key != "nodes" {
			var skipped json.RawMessage
			if err != nil || d.Decode(&skipped) != nil {
				return nil
			}
			continue
		}
		if !opens('[') {
			return nil
		}
		for d.More() {
			if !opens('{') {
				return nil
			}
			c, ok := readCard(d, data)
			if !ok || !opens('}') {
				return nil
			}
			if c.end > 0 {
				out = append(out, c)
			}
		}
		if !opens(']') {
			return nil
		}
	}
	if !opens('}') || d.More() {
		return nil
	}
	line, at := 1, 0
	for i := range out {
		line += bytes.Count(data[at:out[i].start], []byte("\n"))
		out[i].line, at = line, out[i].start
	}
	return out
}

// readCard reads the keys of one node; a group, a link of the web and what is unknown have no card.
func readCard(d *json.Decoder, data []byte) (c card, ok bool) {
	found := map[string]card{}
	for d.More() {
		key, err := d.Token()
		name, is := key.(string)
		var raw json.RawMessage
		if err != nil || !is || d.Decode(&raw) != nil {
			return card{}, false
		}
		end := int(d.InputOffset())
		var text string
		if raw[0] == '"' && json.Unmarshal(raw, &text) == nil && bytes.HasSuffix(data[:end], raw) {
			found[name] = card{start: end - len(raw) + 1, end: end - 1, text: text, file: name == "file"}
		} else {
			delete(found, name)
		}
	}
	switch kind := found["type"].text; kind {
	case "file", "text":
		return found[kind], true
	}
	return card{}, true
}

// fileCard is the kind of a link that is a card which shows a file: its target is a path from the root.
const fileCard markdown.LinkKind = "card"

func (c card) links() []markdown.Link {
	if c.file {
		return []markdown.Link{{Kind: fileCard, Target: c.text, Line: c.line}}
	}
	found := markdown.Parse([]byte(c.text)).Links()
	for i := range found {
		found[i].Line = c.line
	}
	return found
}

// canvasLinks are the links of all cards of a canvas.
func canvasLinks(data []byte) (found []markdown.Link) {
	for _, c := range cardsOf(data) {
		found = append(found, c.links()...)
	}
	return found
}

// rewriteCanvas is [markdown.Document.RewriteLinks] for a canvas: no byte changes but those of targets.
func rewriteCanvas(data []byte, newTarget func(markdown.Link) (string, bool)) ([]byte, error) {
	var out []byte
	at := 0
	for _, c := range cardsOf(data) {
		raw := data[c.start:c.end]
		next, err := c.rewrite(raw, newTarget)
		if err != nil {
			return nil, err
		}
		out = append(append(out, data[at:c.start]...), next...)
		at = c.end
	}
	return append(out, data[at:]...), nil
}

func (c card) rewrite(raw []byte, newTarget func(markdown.Link) (string, bool)) ([]byte, error) {
	if c.file {
		if to, ok := newTarget(c.links()[0]); ok {
			return escaped(to), nil
		}
		return raw, nil
	}
	doc := markdown.Parse([]byte(c.text))
	before := byTarget(doc)
	err := doc.RewriteLinks(func(l markdown.Link) (string, bool) { l.Line = c.line; return newTarget(l) })
	after, text := byTarget(doc), doc.Bytes()
	if err != nil || string(text) == c.text {
		return raw, err
	}
	var out []byte
	at, offset := 0, offsets(raw)
	for i, l := range before {
		now := text[after[i].TargetStart:after[i].TargetEnd]
		if string(now) != c.text[l.TargetStart:l.TargetEnd] {
			out = append(append(out, raw[at:offset[l.TargetStart]]...), escaped(string(now))...)
			at = offset[l.TargetEnd]
		}
	}
	out = append(out, raw[at:]...)
	if decoded(out) != string(text) {
		return nil, fmt.Errorf("line %d: the card would not read back", c.line)
	}
	return out, nil
}

func byTarget(doc *markdown.Document) []markdown.Link {
	found := doc.Links()
	slices.SortStableFunc(found, func(a, b markdown.Link) int { return a.TargetStart - b.TargetStart })
	return found
}

// offsets are where each byte of a JSON string stands in what it is written as, and its end.
func offsets(raw []byte) []int {
	var out []int
	for at := 0; at < len(raw); {
		_, size := utf8.DecodeRune(raw[at:])
		if raw[at] == '\\' {
			size = 2
			if raw[at+1] == 'u' {
				size = 6
			}
		}
		text := decoded(raw[at : at+size])
		if pair := at + 2*size; size == 6 && pair <= len(raw) {
			if both := decoded(raw[at:pair]); utf8.RuneCountInString(both) == 1 { // two halves of one letter
				size, text = 2*size, both
			}
		}
		for range len(text) {
			out = append(out, at)
		}
		at += size
	}
	return append(out, len(raw))
}

// decoded is what a part of a JSON string says, "" where it ends within an escape.
func decoded(raw []byte) (text string) {
	if json.Unmarshal([]byte(`"`+string(raw)+`"`), &text) != nil {
		return ""
	}
	return text
}

// escaped is text as it stands between the quotes of JSON.
func escaped(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a buffer takes everything
	return bytes.TrimSpace(b.Bytes())[1 : b.Len()-2]
}
