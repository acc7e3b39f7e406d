package query

import (
	"bytes"
	"context"
	"strings"

	"stet/index/document"
)

// literal marks the documents whose text holds s, ignoring case. No index holds such
// text: it reads every file.
func (e *Evaluation) literal(s string, found []bool) error {
	lower, lay := []byte(strings.ToLower(s)), e.src.Layout()
	for i, r := range e.src.Records() {
		if err := context.Cause(e.ctx); err != nil {
			return err
		}
		if r.Entry != nil {
			found[i] = strings.Contains(strings.ToLower(r.Entry.Text), string(lower))
			continue
		}
		data, _, err := e.files.ReadFile(r.Path)
		if err != nil {
			continue // vanished or unreadable: no text, as when indexed
		}
		first, end := int32(i), int32(i+1)
		if lay != nil {
			first, end = lay.Base[i], lay.Base[i+1]
		}
		for n, text := range document.TextsOf(data, lay != nil) {
			if doc := first + int32(n); doc < end && bytes.Contains(bytes.ToLower(text), lower) {
				found[doc] = true
			}
		}
	}
	return nil
}
