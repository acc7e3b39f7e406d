package store

import (
	"fmt"
	"slices"
	"strings"

	"stet/index/document"
	"stet/vault"
)

// A manifest is what the index knows of the vault: for every file its state on
// disk when it was read and where its documents are. A document that no record
// points at is deleted, so that there is no second account of deletions that
// could disagree.
type manifest struct {
	nextSeg uint64 // id of the next segment file
	segs    []segmentInfo
	recs    []document.Record // in path order, every path once
}

// A segmentInfo describes a segment file.
type segmentInfo struct {
	id    uint64
	bytes uint64
	docs  uint32
	crc   uint32 // CRC-32C of the file
	found uint64 // see foundAs: as what the file was verified last, 0 for never
}

// A delta is one step from a manifest to the next.
type delta struct {
	segs    []segmentInfo
	recs    []document.Record // new or changed, in path order
	removed []vault.Path
}

// apply returns the manifest after d. m is left alone: searches may be using
// it.
func (m *manifest) apply(d *delta) *manifest {
	out := &manifest{nextSeg: m.nextSeg, segs: slices.Concat(m.segs, d.segs)}
	for _, s := range d.segs {
		out.nextSeg = max(out.nextSeg, s.id+1)
	}
	type edit struct {
		path vault.Path
		rec  *document.Record // nil: removed
	}
	edits := make([]edit, 0, len(d.removed)+len(d.recs))
	for _, p := range d.removed {
		edits = append(edits, edit{path: p})
	}
	for i := range d.recs {
		edits = append(edits, edit{d.recs[i].Path, &d.recs[i]})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return strings.Compare(string(a.path), string(b.path)) })
	out.recs = make([]document.Record, 0, len(m.recs)+len(d.recs))
	rest := m.recs
	for _, e := range edits {
		i, known := search(rest, e.path)
		out.recs, rest = append(out.recs, rest[:i]...), rest[i:]
		if known {
			rest = rest[1:]
		}
		if e.rec != nil {
			out.recs = append(out.recs, *e.rec)
		}
	}
	out.recs = append(out.recs, rest...)
	return out
}

// search finds the place of a path among records.
func search(recs []document.Record, p vault.Path) (at int, known bool) {
	return slices.BinarySearchFunc(recs, p, func(r document.Record, p vault.Path) int {
		return strings.Compare(string(r.Path), string(p))
	})
}

// find looks a path up.
func (m *manifest) find(p vault.Path) (*document.Record, bool) {
	i, ok := search(m.recs, p)
	if !ok {
		return nil, false
	}
	return &m.recs[i], true
}

// check verifies what decoding alone does not: order, and that every record
// points into a segment, no two at the same document.
func (m *manifest) check() error {
	seen := make(map[uint64][]bool, len(m.segs))
	total := uint64(0)
	for _, s := range m.segs {
		total += uint64(s.docs)
		if _, twice := seen[s.id]; twice || s.id >= m.nextSeg || total > maxDocs {
			return fmt.Errorf("manifest: segment %d: %w", s.id, ErrDamaged)
		}
		seen[s.id] = make([]bool, s.docs)
	}
	var docs []bool // of the segment at hand
	for i := range m.recs {
		r := &m.recs[i]
		if i > 0 && m.recs[i-1].Path >= r.Path {
			return fmt.Errorf("manifest: order at %q: %w", r.Path, ErrDamaged)
		}
		if i == 0 || m.recs[i-1].Seg != r.Seg {
			docs = seen[r.Seg]
		}
		if r.Docs > 0 && uint64(r.Doc)+uint64(r.Docs) > uint64(len(docs)) {
			return fmt.Errorf("manifest: documents of %q: %w", r.Path, ErrDamaged)
		}
		for d := r.Doc; d < r.Doc+r.Docs; d++ {
			if docs[d] {
				return fmt.Errorf("manifest: documents of %q: %w", r.Path, ErrDamaged)
			}
			docs[d] = true
		}
	}
	return nil
}

// maxDocs bounds the documents of an index, deleted ones included: far above
// any vault, and small enough that a nonsensical manifest cannot ask for
// gigabytes.
const maxDocs = 1 << 25

// live counts the documents of each segment that a record points at.
func (m *manifest) live() map[uint64]uint32 {
	out := make(map[uint64]uint32, len(m.segs))
	for i := range m.recs {
		out[m.recs[i].Seg] += m.recs[i].Docs
	}
	return out
}
