package vault

import (
	"bytes"
	"context"
	"slices"

	"stet/markdown"
)

const mayOutdate = "may_outdate"

// unflag takes back the flags of other memories on what the transaction archives, removes
// or words anew: their reason is gone. Where the old text still stands, with more around
// it, they stay. A revert brings flags back with the bytes they stood in.
func (t *Tx) unflag(ctx context.Context) error {
	if find := t.v.o.Flagging; find == nil || !t.why.Op.known().unflags {
		return nil
	}
	var before, after []Memory
	for p := range t.tx.Staged() {
		if ClassOf(p) != ClassMemory {
			continue
		}
		if was := t.tx.Touched()[p].Disk; was.Exists {
			before = append(before, ReadMemory(p, was.Data))
		}
		if data, hash, err := t.Read(p); err != nil {
			return err
		} else if hash != "" {
			after = append(after, ReadMemory(p, data))
		}
	}
	for _, was := range before {
		if was.ID == "" || slices.ContainsFunc(after, func(m Memory) bool { return m.ID == was.ID && stands(was.Body, m.Body) }) {
			continue
		}
		for _, p := range t.v.o.Flagging(ctx, was.ID) {
			data, hash, err := t.Read(p)
			if err != nil {
				return err
			}
			if m := ReadMemory(p, data); hash != "" && slices.Contains(m.MayOutdate, was.ID) {
				if _, err := t.Link(m, mayOutdate, true, was.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// stands reports whether the old body is still in the new one, perhaps with more around it.
func stands(was, now []byte) bool { return bytes.Contains(now, bytes.TrimSpace(was)) }

// dropFlags takes the flags out of a document in which the text that raised them no longer
// stands.
func dropFlags(doc *markdown.Document, was []byte) error {
	if _, flagged := doc.Meta(mayOutdate); !flagged || stands(markdown.Parse(was).Body(), doc.Body()) {
		return nil
	}
	return doc.RemoveMeta(mayOutdate)
}
