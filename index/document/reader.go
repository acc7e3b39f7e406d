package document

import (
	"encoding/binary"
	"unsafe"
)

// AppendString appends a string with its length in front.
func AppendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// A Reader takes numbers and strings from the front of s. After the first
// mistake it yields zeros, and whole reports it.
type Reader struct {
	s   string
	Bad bool
}

// NewReader returns a reader of data, which must not change any more: what is read shares its
// memory, for a copy of a manifest takes half as long as to read it.
func NewReader(data []byte) Reader {
	return Reader{s: unsafe.String(unsafe.SliceData(data), len(data))}
}

// Whole reports that all of s was read without a mistake.
func (r *Reader) Whole() bool { return !r.Bad && r.s == "" }

// Uvarint reads an unsigned varint.
func (r *Reader) Uvarint() (v uint64) {
	for shift := 0; shift < 64 && len(r.s) > 0; shift += 7 {
		c := r.s[0]
		r.s = r.s[1:]
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.Bad, r.s = true, ""
	return 0
}

// Varint reads a signed varint.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Uint32 reads a varint that must fit into 32 bits.
func (r *Reader) Uint32() uint32 {
	v := r.Uvarint()
	if v > 1<<32-1 {
		r.Bad, r.s = true, ""
		return 0
	}
	return uint32(v)
}

// Take reads n bytes.
func (r *Reader) Take(n uint64) string {
	if n > uint64(len(r.s)) {
		r.Bad, r.s = true, ""
		return ""
	}
	out := r.s[:n]
	r.s = r.s[n:]
	return out
}

// Text reads a string with its length in front.
func (r *Reader) Text() string { return r.Take(r.Uvarint()) }

// Count reads a number of items of at least size bytes each, so that a wrong
// one cannot ask for more memory than the file could describe.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.s)/size) {
		r.Bad, r.s = true, ""
		return 0
	}
	return int(n)
}
