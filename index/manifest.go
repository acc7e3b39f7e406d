package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/vault"
)

// A manifest is what the index knows of the vault: for every file its state on
// disk when it was read and where its documents are. A document that no record
// points at is deleted, so that there is no second account of deletions that
// could disagree.
type manifest struct {
	nextSeg uint64 // id of the next segment file
	segs    []segmentInfo
	recs    []record // in path order, every path once
}

// A segmentInfo describes a segment file.
type segmentInfo struct {
	id    uint64
	bytes uint64
	docs  uint32
	crc   uint32 // CRC-32C of the file
}

// A record describes one file of the vault.
type record struct {
	path     vault.Path
	size     int64
	mtime    int64 // nanoseconds since 1970
	identity uint64
	hash     [hashSize]byte
	flags    uint8
	seg      uint64 // segment id of its documents
	doc      uint32 // number of the first of them
	docs     uint32 // how many there are; 0 for a file whose text cannot be had
	lens     [lengthFields]uint32
	meta     string // see encodeMeta
}

// hashSize is the length of the stored prefix of a file's SHA-256: 128 bits
// tell any two files apart that nobody forged.
const hashSize = 16

// The flags of a record.
const (
	// flagRacy marks a file changed so shortly before it was read that a later
	// change could have left size and time alike. It is read again next time.
	flagRacy = 1 << iota
	// flagSupersedes marks a meta with supersedes.
	flagSupersedes
	// flagSuperseded marks a file that names its successor itself.
	flagSuperseded
	// flagPrivate marks private: true.
	flagPrivate
	// flagPinned marks pinned: true.
	flagPinned
	// flagTimed marks a file with valid_from or valid_until.
	flagTimed
	// flagDoubts marks a meta with mayOutdate.
	flagDoubts
	// flagPending marks encoding: pending.
	flagPending
)

// sameFile reports whether f is, as far as the system tells, the file that r
// describes.
func (r *record) sameFile(f vault.File) bool {
	return r.size == f.Size && r.mtime == f.ModTime.UnixNano() && r.identity == f.Identity
}

// A delta is one step from a manifest to the next.
type delta struct {
	segs    []segmentInfo
	recs    []record // new or changed, in path order
	removed []vault.Path
}

func (d *delta) empty() bool { return len(d.segs) == 0 && len(d.recs) == 0 && len(d.removed) == 0 }

// apply returns the manifest after d. m is left alone: searches may be using
// it.
func (m *manifest) apply(d *delta) *manifest {
	out := &manifest{nextSeg: m.nextSeg, segs: slices.Concat(m.segs, d.segs)}
	for _, s := range d.segs {
		out.nextSeg = max(out.nextSeg, s.id+1)
	}
	gone := make(map[vault.Path]bool, len(d.removed))
	for _, p := range d.removed {
		gone[p] = true
	}
	out.recs = make([]record, 0, len(m.recs)+len(d.recs))
	old := m.recs
	for _, r := range d.recs {
		for len(old) > 0 && old[0].path < r.path {
			if !gone[old[0].path] {
				out.recs = append(out.recs, old[0])
			}
			old = old[1:]
		}
		if len(old) > 0 && old[0].path == r.path {
			old = old[1:]
		}
		out.recs = append(out.recs, r)
	}
	if len(gone) == 0 {
		out.recs = append(out.recs, old...)
		return out
	}
	for i := range old {
		if !gone[old[i].path] {
			out.recs = append(out.recs, old[i])
		}
	}
	return out
}

// find looks a path up.
func (m *manifest) find(p vault.Path) (*record, bool) {
	i, ok := slices.BinarySearchFunc(m.recs, p, func(r record, p vault.Path) int {
		return strings.Compare(string(r.path), string(p))
	})
	if !ok {
		return nil, false
	}
	return &m.recs[i], true
}

// sortRecords orders records by path and keeps the last of equal paths.
func sortRecords(recs []record) []record {
	slices.SortStableFunc(recs, func(a, b record) int { return cmp.Compare(a.path, b.path) })
	out := recs[:0]
	for i := range recs {
		if i+1 < len(recs) && recs[i+1].path == recs[i].path {
			continue
		}
		out = append(out, recs[i])
	}
	return out
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
	for i := range m.recs {
		r := &m.recs[i]
		if i > 0 && m.recs[i-1].path >= r.path {
			return fmt.Errorf("manifest: order at %q: %w", r.path, ErrDamaged)
		}
		docs := seen[r.seg]
		if r.docs > 0 && uint64(r.doc)+uint64(r.docs) > uint64(len(docs)) {
			return fmt.Errorf("manifest: documents of %q: %w", r.path, ErrDamaged)
		}
		for d := r.doc; d < r.doc+r.docs; d++ {
			if docs[d] {
				return fmt.Errorf("manifest: documents of %q: %w", r.path, ErrDamaged)
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
		out[m.recs[i].seg] += m.recs[i].docs
	}
	return out
}

// The meta of a record holds what filters and supersession need, so that no
// file has to be read to decide that it is no hit. Texts are in lower case.
type meta struct {
	id, kind   string
	updated    int64 // seconds since 1970; 0 when the file does not say
	categories []string
	supersedes []string
	mayOutdate []string
	// source is what of a conversation a memory came from ("session:ID#14"), of a
	// transcript its foreign id; "" for anything else.
	source string
}

func encodeMeta(m vault.Memory) string {
	b := appendString(nil, strings.ToLower(m.ID))
	b = appendString(b, strings.ToLower(m.Kind))
	b = binary.AppendVarint(b, updatedOf(m))
	for _, list := range [][]string{m.Categories, m.Supersedes, m.MayOutdate} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, s := range list {
			b = appendString(b, strings.ToLower(s))
		}
	}
	if m.Class != vault.ClassSession && !strings.HasPrefix(m.Source, sessionSource) {
		m.Source = ""
	}
	return string(appendString(b, strings.ToLower(m.Source)))
}

// sessionSource is how the source of a memory that came from a conversation begins.
const sessionSource = "session:"

// updatedOf is when the memory says it last changed, or was made.
func updatedOf(m vault.Memory) int64 {
	for _, t := range []time.Time{m.Updated, m.Created} {
		if !t.IsZero() {
			return t.Unix()
		}
	}
	return 0
}

func decodeMeta(s string) meta {
	r := reader{s: s}
	return r.meta()
}

// meta reads what encodeMeta wrote; a transcript has more behind it.
func (r *reader) meta() meta {
	m := meta{id: r.string(), kind: r.string(), updated: r.varint()}
	for _, list := range []*[]string{&m.categories, &m.supersedes, &m.mayOutdate} {
		for n := r.count(1); n > 0; n-- {
			*list = append(*list, r.string())
		}
	}
	m.source = r.string()
	return m
}
