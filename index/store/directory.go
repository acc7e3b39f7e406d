package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/RoaringBitmap/roaring"
	blugeindex "github.com/blugelabs/bluge/index"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"

	"stet/index/document"
)

// A directory shows one state of the index to Bluge as its index.Directory: a
// single snapshot, composed in memory from the manifest, and verified
// segments. Bluge's stock directory maps snapshots and locks every file it
// opens: a torn snapshot ends the process at every later open, and readers
// fail beside a writer. Nothing is written through it; see store.
type directory struct {
	snapshot []byte
	segments map[uint64][]byte
}

var _ blugeindex.Directory = (*directory)(nil)

// snapshotEpoch is the number of the one snapshot: the one that a reader takes
// for current. Iterators over any other are not used again once they are closed.
const snapshotEpoch = 0

// Setup has nothing to do.
func (d *directory) Setup(bool) error { return nil }

// List names the one snapshot, or the segments.
func (d *directory) List(kind string) ([]uint64, error) {
	if kind == blugeindex.ItemKindSnapshot {
		return []uint64{snapshotEpoch}, nil
	}
	ids := make([]uint64, 0, len(d.segments))
	for id := range d.segments {
		ids = append(ids, id)
	}
	return ids, nil
}

// Load hands out verified bytes.
func (d *directory) Load(kind string, id uint64) (*segment.Data, io.Closer, error) {
	if kind == blugeindex.ItemKindSnapshot {
		return segment.NewDataBytes(d.snapshot), nil, nil
	}
	data, ok := d.segments[id]
	if !ok {
		return nil, nil, fmt.Errorf("segment %d: %w", id, ErrDamaged)
	}
	return segment.NewDataBytes(data), nil, nil
}

// Persist is refused: segments are published by the store.
func (d *directory) Persist(string, uint64, blugeindex.WriterTo, chan struct{}) error {
	return errors.ErrUnsupported
}

// Remove is refused like Persist.
func (d *directory) Remove(string, uint64) error { return errors.ErrUnsupported }

// Stats counts the items.
func (d *directory) Stats() (items, size uint64) {
	for _, s := range d.segments {
		size += uint64(len(s))
	}
	return uint64(len(d.segments)) + 1, size + uint64(len(d.snapshot))
}

// Sync has nothing to do.
func (d *directory) Sync() error { return nil }

// Lock is refused: no Bluge writer may work here.
func (d *directory) Lock() error { return errors.ErrUnsupported }

// Unlock has nothing to do.
func (d *directory) Unlock() error { return nil }

// snapshotBytes composes a Bluge snapshot file, format version 1: the segments
// in order with the documents to leave out.
func snapshotBytes(segs []*segmentFile, deleted []*roaring.Bitmap) ([]byte, error) {
	b := binary.AppendUvarint(nil, 1)
	b = binary.AppendUvarint(b, uint64(len(segs)))
	for i, s := range segs {
		b = document.AppendString(b, ice.Type)
		b = binary.BigEndian.AppendUint32(b, ice.Version)
		b = binary.AppendUvarint(b, s.info.id)
		if deleted[i].IsEmpty() {
			b = binary.AppendUvarint(b, 0)
			continue
		}
		var bits bytes.Buffer
		if _, err := deleted[i].WriteTo(&bits); err != nil {
			return nil, err
		}
		b = binary.AppendUvarint(b, uint64(bits.Len()))
		b = append(b, bits.Bytes()...)
	}
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)), nil
}

// openBluge opens Bluge's reader over the segments. Everything Bluge will read
// is in memory and verified before, so that it has nothing to log.
func openBluge(segs []*segmentFile, deleted []*roaring.Bitmap) (snap *blugeindex.Snapshot, err error) {
	defer Guarded("open search index", &err)()
	d := &directory{segments: make(map[uint64][]byte, len(segs))}
	for _, s := range segs {
		d.segments[s.info.id] = s.data
	}
	if d.snapshot, err = snapshotBytes(segs, deleted); err == nil {
		snap, err = blugeindex.OpenReader(blugeindex.DefaultConfigWithDirectory(func() blugeindex.Directory { return d }))
	}
	return snap, err
}
