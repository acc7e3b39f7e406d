package markdown

import (
	"fmt"
	"slices"
	"strings"
)

// Fill puts values in the place of their names in double braces, {{title}}, in
// the body and in the texts of the front matter. A name without a value stays as
// it is, and what was filled in is not looked at again. The errors are those of
// [Document.SetMeta].
func (d *Document) Fill(values map[string]string) error {
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{{"+name+"}}", value)
	}
	r := strings.NewReplacer(pairs...)
	for _, key := range d.Keys() {
		v, ok := d.Meta(key)
		if !ok || v.IsMapping() {
			continue
		}
		next := v
		if v.IsList() {
			items := slices.Clone(v.List())
			for i := range items {
				items[i] = r.Replace(items[i])
			}
			next = Strings(items)
		} else if text := r.Replace(v.Text()); text != v.Text() {
			next = String(text)
		}
		if next.Equal(v) {
			continue
		}
		if err := d.SetMeta(key, next); err != nil {
			return fmt.Errorf("fill in: %w", err)
		}
	}
	if body := r.Replace(string(d.Body())); body != string(d.Body()) {
		d.SetBody([]byte(body))
	}
	return nil
}
