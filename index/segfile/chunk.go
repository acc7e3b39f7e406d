package segfile

import (
	"encoding/binary"
	"slices"
)

// A chunks cuts the numbers of a term's postings into chunks of documents, so
// that a reader can skip. Nearly all terms have one.
type chunks struct {
	data []byte
	ends []int // chunk → where it ends in data
	size int   // documents of a chunk
	at   int   // the chunk that numbers go to
}

// begin starts the chunks of a term that so many of all documents have.
func (c *chunks) begin(having, docs int) {
	c.data = c.data[:0]
	c.size = docs / (having/chunkDocs + 1)
	n := (docs-1)/c.size + 1
	c.ends = slices.Grow(c.ends[:0], n)[:n]
	c.at = 0
}

// in says which document the numbers that follow are about. Documents ascend.
func (c *chunks) in(doc uint32) {
	for to := int(doc) / c.size; c.at < to; c.at++ {
		c.ends[c.at] = len(c.data)
	}
}

func (c *chunks) number(n uint64) { c.data = binary.AppendUvarint(c.data, n) }

// finish returns the ends of all chunks.
func (c *chunks) finish() []int {
	for ; c.at < len(c.ends); c.at++ {
		c.ends[c.at] = len(c.data)
	}
	return c.ends
}
