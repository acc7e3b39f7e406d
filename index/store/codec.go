package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"stet/index/document"
	"stet/vault"
)

// The manifest file is a magic line, the CRC-32C of what follows (4 bytes, little
// endian), how many records are flagged (4 bytes), and then segments and records. Numbers
// are varints, strings have their length in front.

// schema names the layout, the analysis and the segment format. A change to
// any of them is a new number, and with it a new folder: Bluge panics when it
// meets segments of two versions in one.
const schema = 20

const (
	magic     = "stet search index 5\n"
	headBytes = len(magic) + 8
)

// flagged is what a head says of how many records wait for a model or a person, by which who
// asks for them alone is spared the records. The checksum of the file covers it.
func flagged(head []byte) uint32 { return binary.LittleEndian.Uint32(head[headBytes-4:]) }

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func checksum(data []byte) uint32 { return crc32.Checksum(data, castagnoli()) }

func encodeManifest(m *manifest) []byte {
	b := make([]byte, headBytes, headBytes+64+len(m.recs)*128)
	copy(b, magic)
	numbers := func(list ...uint64) {
		for _, n := range list {
			b = binary.AppendUvarint(b, n)
		}
	}
	numbers(m.nextSeg, uint64(len(m.segs)))
	for _, s := range m.segs {
		numbers(s.id, s.bytes, uint64(s.docs), uint64(s.crc), s.found)
	}
	numbers(uint64(len(m.recs)))
	waiting := uint32(0)
	for i := range m.recs {
		r := &m.recs[i]
		if r.Flags&(document.FlagPending|document.FlagDoubts) != 0 {
			waiting++
		}
		b = document.AppendString(b, string(r.Path))
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(r.Size)), r.MTime)
		b = append(binary.AppendUvarint(b, r.Identity), r.Hash[:]...)
		numbers(uint64(r.Flags), r.Seg, uint64(r.Doc), uint64(r.Docs))
		for _, n := range r.Lens {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = document.AppendString(b, r.Meta)
	}
	binary.LittleEndian.PutUint32(b[headBytes-4:], waiting)
	binary.LittleEndian.PutUint32(b[len(magic):], checksum(b[len(magic)+4:]))
	return b
}

// decodeManifest reads a manifest file. It fails with [ErrDamaged].
func decodeManifest(file []byte) (*manifest, error) {
	if len(file) < headBytes || string(file[:len(magic)]) != magic ||
		checksum(file[len(magic)+4:]) != binary.LittleEndian.Uint32(file[len(magic):]) {
		return nil, fmt.Errorf("manifest: %w", ErrDamaged)
	}
	r := document.NewReader(file[headBytes:])
	m := &manifest{nextSeg: r.Uvarint(), segs: make([]segmentInfo, r.Count(5))}
	for i := range m.segs {
		m.segs[i] = segmentInfo{r.Uvarint(), r.Uvarint(), r.Uint32(), r.Uint32(), r.Uvarint()}
	}
	m.recs = make([]document.Record, r.Count(document.HashSize+12))
	for i := range m.recs {
		rec := &m.recs[i]
		rec.Path = vault.Path(r.Text())
		rec.Size, rec.MTime, rec.Identity = int64(r.Uvarint()), r.Varint(), r.Uvarint()
		copy(rec.Hash[:], r.Take(document.HashSize))
		rec.Flags, rec.Seg, rec.Doc, rec.Docs = uint8(r.Uvarint()), r.Uvarint(), r.Uint32(), r.Uint32()
		for j := range rec.Lens {
			rec.Lens[j] = r.Uint32()
		}
		rec.Meta = r.Text()
	}
	if !r.Whole() {
		return nil, fmt.Errorf("manifest: contents: %w", ErrDamaged)
	}
	return m, m.check()
}
