package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetMetaText gives a key of a top-level mapping a text, or with "" takes it away; a mapping that is
// not there is made, and one that is left empty goes. No other byte changes. The errors are those of
// [Document.SetMeta]: a mapping in braces cannot be edited.
func (d *Document) SetMetaText(mapping, key, text string) error {
	if err := d.setMetaText(mapping, key, text); err != nil {
		return fmt.Errorf("set %q of front matter key %q: %w", key, mapping, err)
	}
	return nil
}

func (d *Document) setMetaText(mapping, key, text string) error {
	if err := d.FrontMatterError(); err != nil {
		return err
	}
	f, eol := d.meta(), d.eol()
	if f.flow {
		return ErrUnsupported
	}
	i, indent := f.find(mapping), "  "
	start, end, block := len(f.text), len(f.text), []byte(nil)
	if i >= 0 {
		n := f.values[i]
		end = f.layout()[i].end
		start = end
		switch {
		case n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && n.Anchor == "":
			indent = strings.Repeat(" ", n.Content[0].Column-1)
			start = f.lineStart(n.Content[0].Line)
			block = f.text[start:end]
		case n.ShortTag() != "!!null" || n.Value != "":
			return ErrUnsupported
		}
	}
	inner, err := shifted(block, indent, "")
	if err != nil {
		return err
	}
	part := Parse(concat([]byte("---"+eol), inner, []byte("---"+eol)))
	if text == "" {
		err = part.removeMeta(key)
	} else {
		err = part.setMeta(key, String(text))
	}
	if err != nil || bytes.Equal(part.meta().text, inner) {
		return err
	}
	if inner, err = shifted(part.meta().text, "", indent); err != nil {
		return err
	}
	switch {
	case len(part.Keys()) == 0 && i >= 0:
		start, inner = f.layout()[i].start, nil
	case i < 0:
		inner = concat([]byte(mapping+":"+eol), inner)
	}
	return d.adoptMapping(concat(f.text[:start], inner, f.text[end:]), mapping, key, text)
}

// shifted is text with one indent in place of another in each line that is not blank.
func shifted(text []byte, from, to string) ([]byte, error) {
	var out []byte
	for _, line := range Lines(text) {
		rest, has := bytes.CutPrefix(line, []byte(from))
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			out = append(out, line...)
		case !has:
			return nil, ErrUnsupported
		default:
			out = append(append(out, to...), rest...)
		}
	}
	return out, nil
}

// adoptMapping puts text between the fences if it reads as it should: one text of a mapping differs.
func (d *Document) adoptMapping(text []byte, mapping, key, want string) error {
	next := Parse(concat(d.src[:d.split.yamlStart], text, d.src[d.split.yamlEnd:]))
	if !d.split.has {
		fence := []byte("---" + d.eol())
		next = Parse(concat(d.src[:d.split.start], fence, text, fence, d.src[d.split.body:]))
	}
	before, _ := d.Meta(mapping)
	after, _ := next.Meta(mapping)
	was, now := before.Texts(), after.Texts()
	same := now[key] == want
	delete(was, key)
	for k, v := range was {
		same = same && now[k] == v
	}
	if err := next.FrontMatterError(); err != nil || !same || !bytes.Equal(next.Body(), d.Body()) ||
		!sameExcept(d.meta(), next.meta(), mapping) {
		return fmt.Errorf("%w: other keys would change", ErrUnsupported)
	}
	*d = *next
	return nil
}
