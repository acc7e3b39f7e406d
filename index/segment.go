package index

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/RoaringBitmap/roaring"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// This file turns documents into Bluge segments in the calling goroutine.
// Bluge's own writer does it in background goroutines, where a panic (it has
// some, and bad data finds them) ends the process; here it is an error.

// guard runs f, which calls into Bluge or touches mapped files, and turns a
// panic into [ErrDamaged]. A mapped file that another process cuts short
// faults when it is touched; that is a panic here as well.
func guard(what string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %w: %v", what, ErrDamaged, r)
		}
	}()
	return f()
}

// segmentBytes builds a segment of docs, numbered in order.
func segmentBytes(docs []*document) (out []byte, err error) {
	err = guard("build segment", func() error {
		list := make([]segment.Document, len(docs))
		for i, d := range docs {
			list[i] = blugeDoc{d}
		}
		seg, _, err := ice.New(list, func(_ string, n int) float32 { return similarity{}.ComputeNorm(n) })
		if err != nil {
			return err
		}
		var buf bytes.Buffer
		if _, err := seg.WriteTo(&buf, nil); err != nil {
			return err
		}
		out = buf.Bytes()
		return nil
	})
	return out, err
}

// mergeSegments writes one segment out of several, without the documents in
// drops. It keeps the order of segments and documents.
func mergeSegments(w io.Writer, parts []*segmentFile, drops []*roaring.Bitmap) error {
	return guard("merge segments", func() error {
		segs := make([]segment.Segment, len(parts))
		for i, p := range parts {
			s, err := ice.Load(segment.NewDataBytes(p.data))
			if err != nil {
				return err
			}
			segs[i] = s
		}
		_, err := ice.Merge(segs, drops, 1<<20).WriteTo(w, make(chan struct{}))
		runtime.KeepAlive(parts) // their mappings go when they do
		return err
	})
}

// blugeDoc shows a document to Bluge as its segment.Document.
type blugeDoc struct{ *document }

// Analyze has nothing left to do.
func (blugeDoc) Analyze() {}

// EachField visits the fields that have terms.
func (d blugeDoc) EachField(visit segment.VisitField) {
	visit(idField(d.name))
	for f := range fieldCount {
		if len(d.bags[f].terms) > 0 {
			visit(bagField{name: fieldName(f), bag: &d.bags[f]})
		}
	}
}

// idField stores the name, so that a document can be told from its copy. It is
// not indexed: nothing looks documents up by it.
type idField string

// idName is what the segment format calls the field that comes first.
const idName = "_id"

func (f idField) Name() string               { return idName }
func (f idField) Length() int                { return 1 }
func (f idField) Value() []byte              { return []byte(f) }
func (f idField) Index() bool                { return false }
func (f idField) Store() bool                { return true }
func (f idField) IndexDocValues() bool       { return false }
func (f idField) EachTerm(segment.VisitTerm) {}

// bagField shows a termBag as Bluge's segment.Field.
type bagField struct {
	name string
	bag  *termBag
}

func (f bagField) Name() string         { return f.name }
func (f bagField) Length() int          { return f.bag.length }
func (f bagField) Value() []byte        { return nil }
func (f bagField) Index() bool          { return true }
func (f bagField) Store() bool          { return false }
func (f bagField) IndexDocValues() bool { return false }

func (f bagField) EachTerm(visit segment.VisitTerm) {
	for i := range f.bag.terms {
		visit(bagTerm{f.name, &f.bag.terms[i]})
	}
}

// bagTerm shows a termFreq as Bluge's segment.FieldTerm.
type bagTerm struct {
	field string
	*termFreq
}

func (t bagTerm) Term() []byte   { return []byte(t.term) }
func (t bagTerm) Frequency() int { return t.freq }

func (t bagTerm) EachLocation(visit segment.VisitLocation) {
	for _, p := range t.positions {
		visit(place{t.field, int(p)})
	}
}

// place is a position in a field. Byte offsets are not stored: snippets are
// cut from the file.
type place struct {
	field string
	pos   int
}

func (l place) Field() string { return l.field }
func (l place) Start() int    { return 0 }
func (l place) End() int      { return 0 }
func (l place) Pos() int      { return l.pos }
func (l place) Size() int     { return 8 }

// A segmentFile is a segment in memory or mapped into it, verified.
type segmentFile struct {
	info segmentInfo
	data []byte
}

// mapAbove is the size in bytes from which a segment is mapped rather than
// read: mapping costs page faults, reading costs memory that is ours alone.
const mapAbove = 1 << 20

// openSegment reads or maps a segment and verifies its checksum: Bluge
// computes garbage, or panics, from a single flipped bit.
func (s *store) openSegment(gen string, info segmentInfo) (*segmentFile, error) {
	f, fi, err := s.root.OpenRegular(s.segmentPath(gen, info.id))
	if err != nil {
		return nil, fmt.Errorf("segment %d: %w: %w", info.id, ErrDamaged, err)
	}
	if fi.Size() != int64(info.bytes) {
		return nil, errors.Join(fmt.Errorf("segment %d: size: %w", info.id, ErrDamaged), f.Close())
	}
	out := &segmentFile{info: info}
	if info.bytes >= mapAbove {
		data, unmap, err := mapFile(f, int(info.bytes))
		if err == nil {
			out.data = data
			// Searches keep the segmentFile alive for as long as they use data.
			runtime.AddCleanup(out, func(u func()) { u() }, unmap)
		}
	}
	if out.data == nil {
		out.data = make([]byte, info.bytes)
		if _, err := f.ReadAt(out.data, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("segment %d: %w: %w", info.id, ErrDamaged, err), f.Close())
		}
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("segment %d: %w", info.id, err)
	}
	return out, guard("verify segment", func() error {
		if checksum(0, out.data) != info.crc {
			return fmt.Errorf("segment %d: checksum: %w", info.id, ErrDamaged)
		}
		return nil
	})
}
