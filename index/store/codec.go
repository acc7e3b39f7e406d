package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"stet/index/document"
	"stet/vault"
)

// The manifest file is a magic line and then blocks, each of them
//
//	length (4 bytes, little endian) · checksum (4 bytes) · payload · "\n"
//
// The first block is a whole manifest, each later one a delta. The checksum
// is CRC-32C over the payload, continued from the checksum before it, so that
// a block counts only behind the very blocks it was written behind. Appending
// a block is the commit point of an update; a block that is not whole is not
// there. Numbers are varints, strings have their length in front.

// schema names the layout, the analysis and the segment format. A change to
// any of them is a new number, and with it a new folder: Bluge panics when it
// meets segments of two versions in one.
const schema = 7

const magic = "stet search index 2\n"

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

func checksum(prev uint32, data []byte) uint32 { return crc32.Update(prev, castagnoli(), data) }

// encodeManifest is the whole file for m; sum is the checksum to continue from.
func encodeManifest(m *manifest) (file []byte, sum uint32) {
	file = make([]byte, 0, len(magic)+64+len(m.recs)*128)
	file = append(file, magic...)
	return appendBlock(file, 0, func(b []byte) []byte {
		b = binary.AppendUvarint(b, m.nextSeg)
		b = appendSegments(b, m.segs)
		return appendRecords(b, m.recs)
	})
}

// encodeDelta is one block for d behind a file whose last checksum is sum.
func encodeDelta(d *delta, sum uint32) ([]byte, uint32) {
	return appendBlock(nil, sum, func(b []byte) []byte {
		b = appendSegments(b, d.segs)
		b = appendRecords(b, d.recs)
		b = binary.AppendUvarint(b, uint64(len(d.removed)))
		for _, p := range d.removed {
			b = document.AppendString(b, string(p))
		}
		return b
	})
}

func appendBlock(b []byte, prev uint32, fill func([]byte) []byte) ([]byte, uint32) {
	start := len(b)
	b = fill(append(b, 0, 0, 0, 0, 0, 0, 0, 0))
	payload := b[start+8:]
	sum := checksum(prev, payload)
	binary.LittleEndian.PutUint32(b[start:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[start+4:], sum)
	return append(b, '\n'), sum
}

func appendSegments(b []byte, segs []segmentInfo) []byte {
	b = binary.AppendUvarint(b, uint64(len(segs)))
	for _, s := range segs {
		b = binary.AppendUvarint(b, s.id)
		b = binary.AppendUvarint(b, s.bytes)
		b = binary.AppendUvarint(b, uint64(s.docs))
		b = binary.LittleEndian.AppendUint32(b, s.crc)
	}
	return b
}

func appendRecords(b []byte, recs []document.Record) []byte {
	b = binary.AppendUvarint(b, uint64(len(recs)))
	for i := range recs {
		r := &recs[i]
		b = document.AppendString(b, string(r.Path))
		b = binary.AppendUvarint(b, uint64(r.Size))
		b = binary.AppendVarint(b, r.MTime)
		b = binary.AppendUvarint(b, r.Identity)
		b = append(b, r.Hash[:]...)
		b = append(b, r.Flags)
		b = binary.AppendUvarint(b, r.Seg)
		b = binary.AppendUvarint(b, uint64(r.Doc))
		b = binary.AppendUvarint(b, uint64(r.Docs))
		for _, n := range r.Lens {
			b = binary.AppendUvarint(b, uint64(n))
		}
		b = document.AppendString(b, r.Meta)
	}
	return b
}

// A tail is what a writer must know to add a block to a manifest file.
type tail struct {
	nextSeg uint64
	segs    []segmentInfo
	sum     uint32 // checksum to continue from
	blocks  int    // deltas behind the first block
	torn    bool   // bytes follow the last whole block: replace the file
}

// decodeTail reads only what a writer must know. It verifies every checksum
// but looks at no record: at 10,000 files that is a fifth of the cost.
func decodeTail(file []byte) (*tail, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("manifest: first line: %w", ErrDamaged)
	}
	t := &tail{}
	payload, rest, sum, ok := nextBlock(file[len(magic):], 0)
	if !ok {
		return nil, fmt.Errorf("manifest: %w", ErrDamaged)
	}
	t.sum = sum
	r := blockReader(payload)
	t.nextSeg = r.Uvarint()
	t.segs = readSegments(&r)
	for len(rest) > 0 && !r.Bad {
		if payload, rest, sum, ok = nextBlock(rest, t.sum); !ok {
			t.torn = true
			break
		}
		r = blockReader(payload)
		for _, s := range readSegments(&r) {
			t.segs = append(t.segs, s)
			t.nextSeg = max(t.nextSeg, s.id+1)
		}
		t.sum = sum
		t.blocks++
	}
	if r.Bad {
		return nil, errContents
	}
	return t, nil
}

var errContents = fmt.Errorf("manifest: contents: %w", ErrDamaged)

// blockReader reads the front of a payload, where the segments are, without a
// copy of all of it: there are some dozens of them, and room for thousands.
func blockReader(payload []byte) document.Reader {
	return document.NewReader(payload[:min(len(payload), 64<<10)])
}

// A decoded manifest file.
type decoded struct {
	man *manifest
	tail
}

// decodeManifest reads a manifest file. It fails with [ErrDamaged]; bytes
// behind the last whole block are only reported, since a writer may be at work
// on them.
func decodeManifest(file []byte) (*decoded, error) {
	if len(file) < len(magic) || string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("manifest: first line: %w", ErrDamaged)
	}
	base, rest, sum, ok := nextBlock(file[len(magic):], 0)
	if !ok {
		return nil, fmt.Errorf("manifest: %w", ErrDamaged)
	}
	out := &decoded{man: &manifest{}, tail: tail{sum: sum}}
	r := document.NewReader(base)
	out.man.nextSeg = r.Uvarint()
	out.man.segs = readSegments(&r)
	out.man.recs = readRecords(&r)
	if !r.Whole() {
		return nil, errContents
	}
	var all delta
	last := map[vault.Path]int{} // index into all.recs, or -1 when removed
	for len(rest) > 0 {
		payload, after, sum, ok := nextBlock(rest, out.sum)
		if !ok {
			out.torn = true
			break
		}
		r := document.NewReader(payload)
		all.segs = append(all.segs, readSegments(&r)...)
		for _, rec := range readRecords(&r) {
			last[rec.Path] = len(all.recs)
			all.recs = append(all.recs, rec)
		}
		for n := r.Count(1); n > 0; n-- {
			last[vault.Path(r.Text())] = -1
		}
		if !r.Whole() {
			return nil, errContents
		}
		rest, out.sum = after, sum
		out.blocks++
	}
	if out.blocks > 0 {
		out.man = out.man.apply(netDelta(&all, last))
	}
	out.nextSeg, out.segs = out.man.nextSeg, out.man.segs
	return out, out.man.check()
}

// netDelta keeps the last word on every path.
func netDelta(all *delta, last map[vault.Path]int) *delta {
	net := &delta{segs: all.segs}
	for p, i := range last {
		if i < 0 {
			net.removed = append(net.removed, p)
		} else {
			net.recs = append(net.recs, all.recs[i])
		}
	}
	net.recs = document.SortRecords(net.recs)
	return net
}

// nextBlock splits the first whole block off.
func nextBlock(b []byte, prev uint32) (payload, rest []byte, sum uint32, ok bool) {
	if len(b) < 9 {
		return nil, nil, 0, false
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	sum = binary.LittleEndian.Uint32(b[4:])
	if n > uint64(len(b)-9) || b[8+n] != '\n' {
		return nil, nil, 0, false
	}
	payload = b[8 : 8+n]
	if checksum(prev, payload) != sum {
		return nil, nil, 0, false
	}
	return payload, b[9+n:], sum, true
}

func readSegments(r *document.Reader) []segmentInfo {
	out := make([]segmentInfo, r.Count(7))
	for i := range out {
		s := &out[i]
		s.id, s.bytes, s.docs = r.Uvarint(), r.Uvarint(), r.Uint32()
		if crc := r.Take(4); crc != "" {
			s.crc = uint32(crc[0]) | uint32(crc[1])<<8 | uint32(crc[2])<<16 | uint32(crc[3])<<24
		}
	}
	return out
}

func readRecords(r *document.Reader) []document.Record {
	out := make([]document.Record, r.Count(document.HashSize+12))
	for i := range out {
		rec := &out[i]
		rec.Path = vault.Path(r.Text())
		rec.Size, rec.MTime, rec.Identity = int64(r.Uvarint()), r.Varint(), r.Uvarint()
		copy(rec.Hash[:], r.Take(document.HashSize))
		if f := r.Take(1); f != "" {
			rec.Flags = f[0]
		}
		rec.Seg, rec.Doc, rec.Docs = r.Uvarint(), r.Uint32(), r.Uint32()
		for j := range rec.Lens {
			rec.Lens[j] = r.Uint32()
		}
		rec.Meta = r.Text()
	}
	return out
}
