package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// The bytes of packs, as gitformat-pack(5) describes them. stet writes packs
// without deltas, so that a part of one can be copied into another as it is, but for
// those of a transaction that changes large folders in thousands of commits.

// packDir is where git looks for packs.
const packDir = "objects/pack"

const (
	// packHead is the length of what stands before the first object.
	packHead = 12
	// packTrailer is the length of the SHA-1 at the end of a pack.
	packTrailer = sha1.Size
)

// A packBuilder puts objects into one pack and its index, in memory.
type packBuilder struct {
	buf   bytes.Buffer
	index idxfile.Writer
	known map[ID]bool
	zip   *compressor
}

// newPackBuilder begins a pack of exactly count objects. zip may be shared by
// builders that do not overlap.
func newPackBuilder(count int, zip *compressor) *packBuilder {
	b := &packBuilder{known: make(map[ID]bool, count), zip: zip}
	b.buf.WriteString("PACK")
	b.buf.Write(binary.BigEndian.AppendUint32(nil, 2)) // the version
	b.buf.Write(binary.BigEndian.AppendUint32(nil, uint32(count)))
	return b
}

// add compresses one object into the pack.
func (b *packBuilder) add(kind plumbing.ObjectType, id ID, data []byte) error {
	at := b.buf.Len()
	b.head(kind, len(data))
	if err := b.zip.append(&b.buf, data); err != nil {
		return err
	}
	b.note(id, at)
	return nil
}

// addDelta adds an object as what makes it of another one of the pack.
func (b *packBuilder) addDelta(id, base ID, delta []byte) error {
	at := b.buf.Len()
	b.head(plumbing.REFDeltaObject, len(delta))
	b.buf.Write(base[:])
	if err := b.zip.append(&b.buf, delta); err != nil {
		return err
	}
	b.note(id, at)
	return nil
}

// head writes an object's type and the low four bits of its size, then seven bits a byte.
func (b *packBuilder) head(kind plumbing.ObjectType, n int) {
	size := uint64(n)
	head := byte(kind)<<4 | byte(size&0x0f)
	for size >>= 4; size > 0; size >>= 7 {
		b.buf.WriteByte(head | 0x80)
		head = byte(size & 0x7f)
	}
	b.buf.WriteByte(head)
}

// deltaOf is a delta that copies what two texts begin and end with alike.
func deltaOf(base, data []byte) []byte {
	const block = 512 // compared at once: most of two large trees is alike
	begin, end, short := 0, 0, min(len(base), len(data))
	for begin+block <= short && bytes.Equal(base[begin:begin+block], data[begin:begin+block]) {
		begin += block
	}
	for begin < short && base[begin] == data[begin] {
		begin++
	}
	tail := func(of []byte, n int) []byte { return of[len(of)-end-n : len(of)-end] }
	for end+block <= short-begin && bytes.Equal(tail(base, block), tail(data, block)) {
		end += block
	}
	for end < short-begin && base[len(base)-1-end] == data[len(data)-1-end] {
		end++
	}
	out := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(len(data)))
	out = appendCopy(out, 0, begin)
	for rest := data[begin : len(data)-end]; len(rest) > 0; {
		n := min(len(rest), 127)
		out = append(append(out, byte(n)), rest[:n]...)
		rest = rest[n:]
	}
	return appendCopy(out, len(base)-end, end)
}

// appendCopy adds the instruction to copy size bytes of the base at an offset.
func appendCopy(out []byte, offset, size int) []byte {
	const most = 1<<24 - 1
	for ; size > 0; offset, size = offset+most, size-most {
		at, op := len(out), byte(0x80)
		out = append(out, 0)
		for i, n := range []int{offset, min(size, most)} {
			for bit := range 4 - i {
				if b := byte(n >> (8 * bit)); b != 0 {
					out, op = append(out, b), op|1<<(4*i+bit)
				}
			}
		}
		out[at] = op
	}
	return out
}

// A compressor writes objects as zlib streams. Speed counts more than size here:
// git compresses anew when it collects.
type compressor struct{ fast, stored *zlib.Writer }

// tiny is the size in bytes below which an object is stored as it is: a code
// table costs more time than the writing of such a pack, and saves some 50 bytes.
const tiny = 512

func newCompressor() *compressor {
	fast, _ := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)       // both levels
	stored, _ := zlib.NewWriterLevel(io.Discard, zlib.NoCompression) // are valid
	return &compressor{fast: fast, stored: stored}
}

func (c *compressor) append(buf *bytes.Buffer, data []byte) error {
	zip := c.fast
	if len(data) < tiny {
		zip = c.stored
	}
	zip.Reset(buf)
	if _, err := zip.Write(data); err != nil {
		return err
	}
	return zip.Close()
}

// addRaw copies one object as it stands in another pack.
func (b *packBuilder) addRaw(id ID, raw []byte) {
	at := b.buf.Len()
	b.buf.Write(raw)
	b.note(id, at)
}

func (b *packBuilder) note(id ID, at int) {
	b.known[id] = true
	b.index.Add(plumbing.Hash(id), uint64(at), crc32.ChecksumIEEE(b.buf.Bytes()[at:]))
}

// A packImage is a finished pack.
type packImage struct {
	name        string // "pack-<40 hex>"
	pack, index []byte
}

func (b *packBuilder) finish() (packImage, error) {
	sum := sha1.Sum(b.buf.Bytes())
	b.buf.Write(sum[:])
	if err := b.index.OnFooter(plumbing.Hash(sum)); err != nil {
		return packImage{}, err
	}
	index, err := b.index.Index()
	if err != nil {
		return packImage{}, err
	}
	var out bytes.Buffer
	if _, err := idxfile.NewEncoder(&out).Encode(index); err != nil {
		return packImage{}, err
	}
	return packImage{name: "pack-" + hex.EncodeToString(sum[:]), pack: b.buf.Bytes(), index: out.Bytes()}, nil
}

// A packEntry is one object of a pack, as its index has it.
type packEntry struct {
	id     ID
	crc    uint32
	offset uint64
}

// Layout of a version 2 pack index: a magic number and the version, 256 running
// counts by first byte, then n ids, n checksums, n offsets, large offsets, and
// the two trailers.
const (
	idxMagic  = "\xfftOc\x00\x00\x00\x02"
	idxFanout = len(idxMagic)
	idxIDs    = idxFanout + 256*4
	idxEntry  = sha1.Size + 4 + 4
)

// indexLen counts the objects of a whole pack index.
func indexLen(index []byte) (int, error) {
	if len(index) < idxIDs+2*sha1.Size || string(index[:idxFanout]) != idxMagic {
		return 0, errDamagedPack
	}
	n := int(binary.BigEndian.Uint32(index[idxIDs-4:]))
	if len(index) < idxIDs+n*idxEntry+2*sha1.Size {
		return 0, errDamagedPack
	}
	return n, nil
}

// entriesOf lists a pack's objects in the order in which they stand, out of its
// whole index.
func entriesOf(index []byte) ([]packEntry, error) {
	n, err := indexLen(index)
	if err != nil || len(index) != idxIDs+n*idxEntry+2*sha1.Size {
		return nil, errDamagedPack
	}
	ids, crcs := index[idxIDs:], index[idxIDs+n*sha1.Size:]
	offsets := crcs[n*4:]
	entries := make([]packEntry, n)
	for i := range entries {
		entries[i] = packEntry{
			id:     ID(ids[i*sha1.Size:][:sha1.Size]),
			crc:    binary.BigEndian.Uint32(crcs[i*4:]),
			offset: uint64(binary.BigEndian.Uint32(offsets[i*4:])),
		}
	}
	slices.SortFunc(entries, func(a, b packEntry) int { return int(int64(a.offset) - int64(b.offset)) })
	return entries, nil
}
