package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// SetMeta gives a top-level key a value. Only the bytes of that value change; a
// new key goes before the closing line; a file without front matter gets one.
// A value that already says the same is left as it is written. The result is
// read again before it counts: unless every other key and the body are what they
// were, the document stays as it was and the error says why. Front matter that
// cannot be read returns the *FrontMatterError, a form that cannot be edited
// ErrUnsupported, a value that YAML cannot hold ErrInvalidValue.
func (d *Document) SetMeta(key string, v Value) error {
	if err := d.setMeta(key, v); err != nil {
		return fmt.Errorf("set front matter key %q: %w", key, err)
	}
	return nil
}

func (d *Document) setMeta(key string, v Value) error {
	if err := d.FrontMatterError(); err != nil {
		return err
	}
	if key == "" || !utf8.ValidString(key) {
		return ErrInvalidValue
	}
	text, err := encodeFlow(v)
	if err != nil {
		return err
	}
	f := d.meta()
	i := f.find(key)
	if i >= 0 && valueOf(f.values[i]).Equal(v) {
		return nil
	}
	if f.flow {
		return ErrUnsupported
	}
	if i < 0 {
		return d.insertMeta(key, v, text)
	}
	next, err := f.withValue(i, v, text)
	if err != nil {
		return err
	}
	return d.adoptMeta(next, key, &v)
}

// insertMeta adds a key that is not there yet.
func (d *Document) insertMeta(key string, v Value, text string) error {
	name, err := encodeScalar(String(key), false)
	if err != nil {
		return err
	}
	eol, f := d.eol(), d.meta()
	line := name + ":" + separated(text) + eol
	if !d.split.has {
		head := d.src[:d.split.start]
		next := concat(head, []byte("---"+eol+line+"---"+eol), d.src[d.split.body:])
		return d.adopt(next, key, &v)
	}
	if len(f.keys) > 0 {
		line = strings.Repeat(" ", f.keys[0].Column-1) + line
	}
	return d.adoptMeta(concat(f.text, []byte(line)), key, &v)
}

func separated(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// RemoveMeta deletes a top-level key with its value. Comments above it stay: they
// may be about more than this key. A key that is not there is no error. The
// errors are those of SetMeta.
func (d *Document) RemoveMeta(key string) error {
	if err := d.removeMeta(key); err != nil {
		return fmt.Errorf("remove front matter key %q: %w", key, err)
	}
	return nil
}

func (d *Document) removeMeta(key string) error {
	if err := d.FrontMatterError(); err != nil {
		return err
	}
	f := d.meta()
	i := f.find(key)
	if i < 0 {
		return nil
	}
	if f.flow {
		return ErrUnsupported
	}
	e := f.layout()[i]
	return d.adoptMeta(concat(f.text[:e.start], f.text[e.end:]), key, nil)
}

// adoptMeta puts text between the fences.
func (d *Document) adoptMeta(text []byte, key string, v *Value) error {
	return d.adopt(concat(d.src[:d.split.yamlStart], text, d.src[d.split.yamlEnd:]), key, v)
}

// adopt makes src the document if only key differs: it reads as v, or is absent
// if v is nil, and everything else says what it said.
func (d *Document) adopt(src []byte, key string, v *Value) error {
	next := Parse(src)
	if err := next.FrontMatterError(); err != nil {
		return fmt.Errorf("%w: the result would not be readable: %w", ErrUnsupported, err)
	}
	got, ok := next.Meta(key)
	if ok != (v != nil) || ok && !got.Equal(*v) {
		return fmt.Errorf("%w: the value would not read back", ErrUnsupported)
	}
	if !bytes.Equal(next.Body(), d.Body()) || !sameExcept(d.meta(), next.meta(), key) {
		return fmt.Errorf("%w: other keys would change", ErrUnsupported)
	}
	*d = *next
	return nil
}

// sameExcept reports whether two front matters have the same keys in the same
// order with the same values, key aside.
func sameExcept(a, b *frontMatter, key string) bool {
	i, j := 0, 0
	for {
		if i < len(a.keys) && a.keys[i].Value == key {
			i++
			continue
		}
		if j < len(b.keys) && b.keys[j].Value == key {
			j++
			continue
		}
		if i == len(a.keys) || j == len(b.keys) {
			return i == len(a.keys) && j == len(b.keys)
		}
		if a.keys[i].Value != b.keys[j].Value || !sameNode(a.values[i], b.values[j]) {
			return false
		}
		i++
		j++
	}
}

// sameNode compares what two nodes say, not how they are written: text as text,
// so that 1.10 and 1.1 differ, and the type that a YAML reader would see.
func sameNode(a, b *yaml.Node) bool {
	a, b = follow(a), follow(b)
	if a.Kind != b.Kind || a.Value != b.Value || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// withValue returns the front matter text with the value of entry i replaced.
func (f *frontMatter) withValue(i int, v Value, text string) ([]byte, error) {
	e := f.layout()[i]
	s, err := f.slotOf(i)
	if err != nil {
		return nil, err
	}
	if v.kind == list && len(v.items) > 0 {
		if kept, ok, err := f.withItems(i, s, v.items); ok || err != nil {
			return kept, err
		}
	}
	if s.start == s.end { // beside the key there is at most a comment
		return concat(f.text[:s.colon], []byte(separated(text)), f.text[s.colon:s.below], f.text[e.end:]), nil
	}
	if text == "" { // an empty typed value: keep what stands behind it
		return concat(f.text[:s.colon], f.text[s.end:]), nil
	}
	return concat(f.text[:s.start], []byte(text), f.text[s.end:]), nil
}

// withItems edits an existing list item by item, so that the items that stay
// keep their quotes and comments. ok is false if the list has another form.
func (f *frontMatter) withItems(i int, s slot, items []string) (text []byte, ok bool, err error) {
	n := f.values[i]
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return nil, false, nil
	}
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode || c.Anchor != "" || c.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return nil, false, nil
		}
	}
	if n.Style&yaml.FlowStyle != 0 {
		return f.withFlowItems(i, s, items)
	}
	return f.withBlockItems(i, items)
}

// withFlowItems handles [a, "b"].
func (f *frontMatter) withFlowItems(i int, s slot, items []string) ([]byte, bool, error) {
	e := f.layout()[i]
	written := map[string]string{}
	last := s.start
	for _, c := range f.values[i].Content {
		at := f.position(c.Line, c.Column)
		end := at
		switch {
		case at >= e.end:
			return nil, false, nil
		case c.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
			end = quotedEnd(f.text, at, e.end)
		case bytes.HasPrefix(f.text[at:e.end], []byte(c.Value)):
			end = at + len(c.Value)
		default:
			return nil, false, nil
		}
		last = end
		written[c.Value] = string(f.text[at:end])
	}
	parts := make([]string, len(items))
	for k, item := range items {
		if w, found := written[item]; found {
			parts[k] = w
			continue
		}
		w, err := encodeScalar(String(item), true)
		if err != nil {
			return nil, false, err
		}
		parts[k] = w
	}
	if n := len(f.values[i].Content); n < len(items) && sameItems(f.values[i].Content, items[:n]) {
		added := ", " + strings.Join(parts[n:], ", ")
		return concat(f.text[:last], []byte(added), f.text[last:]), true, nil
	}
	return concat(f.text[:s.start], []byte("["+strings.Join(parts, ", ")+"]"), f.text[s.end:]), true, nil
}

func sameItems(nodes []*yaml.Node, items []string) bool {
	for i, n := range nodes {
		if n.Value != items[i] {
			return false
		}
	}
	return len(nodes) == len(items)
}

// withBlockItems handles one "- item" a line; each old item is its lines, with
// the comments and blank lines directly above it.
func (f *frontMatter) withBlockItems(i int, items []string) ([]byte, bool, error) {
	e := f.layout()[i]
	nodes := f.values[i].Content
	starts := make([]int, len(nodes)+1)
	starts[len(nodes)] = e.end
	indent := ""
	for k, c := range nodes {
		starts[k] = f.lineStart(c.Line)
		line := f.text[starts[k]:f.position(c.Line, c.Column)]
		dash := bytes.IndexByte(line, '-')
		if dash < 0 || strings.Trim(string(line[:dash]), " ") != "" || k > 0 && starts[k] <= starts[k-1] {
			return nil, false, nil
		}
		if k == 0 {
			indent = string(line[:dash+1]) + " "
		}
	}
	for k := len(nodes) - 1; k > 0; k-- { // comments above an item belong to it
		starts[k] = f.trimTrivia(starts[k-1], starts[k], int(^uint(0)>>1), nodes[k])
	}
	old := make(map[string][]byte, len(nodes))
	for k, c := range nodes {
		if _, twice := old[c.Value]; !twice {
			old[c.Value] = f.text[starts[k]:starts[k+1]]
		}
	}
	eol := "\n"
	if line, _ := cutLine(f.text); bytes.HasSuffix(line, []byte("\r\n")) {
		eol = "\r\n"
	}
	parts := [][]byte{f.text[:starts[0]]}
	for _, item := range items {
		if lines, found := old[item]; found {
			parts = append(parts, lines)
			continue
		}
		w, err := encodeScalar(String(item), false)
		if err != nil {
			return nil, false, err
		}
		parts = append(parts, []byte(indent+w+eol))
	}
	return concat(append(parts, f.text[e.end:])...), true, nil
}
