package segfile

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring"
	"github.com/blevesearch/vellum"
	"github.com/golang/snappy"
)

// The layout, offsets counted from the beginning of the file, numbers in
// varints unless said otherwise:
//
//	for each document       its stored field, see stored
//	stored index            an offset for each document, 8 bytes
//	for each field          for each term, ascending: its postings, see postings;
//	                        length, and the dictionary: a vellum automaton
//	doc values              two numbers for each field that say: none
//	for each field          offset of its dictionary, name, documents, tokens
//	field index             an offset for each field, 8 bytes
//	footer                  documents; offsets of stored index, field index and
//	                        doc values, 8 bytes each; chunk mode, version and the
//	                        CRC-32 of all before, 4 bytes each
const (
	version   = 1
	chunkMode = 1025 // chunks hold about chunkDocs postings
	chunkDocs = 1024
	noValues  = math.MaxUint64
	// nameField is the field that comes first and holds the names.
	nameField = "_id"
)

// An encoder is what the making of a segment needs.
type encoder struct {
	data   []byte
	dict   *vellum.Builder
	dictTo appender
	order  []keyed    // the terms of a field, sorted
	first  []uint32   // term → its first place in sorted
	sorted []standing // in order of term, then of document
	chunks chunks
	bits   *roaring.Bitmap
}

// A standing is a term in a document.
type standing struct {
	run, freq    uint32
	from, places uint32 // of its places: where they begin, and how many
}

// An appender is a slice that vellum writes to.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// Finish returns the segment of the documents and empties the Writer.
func (w *Writer) Finish() ([]byte, error) {
	defer w.reset()
	e := &w.out
	e.data = e.data[:0]
	storedIndex := e.stored(w.names)
	names := &field{name: nameField, runs: make([]run, len(w.names)), tokens: uint64(len(w.names))}
	fields := []*field{names}
	for _, f := range w.fields {
		if len(f.runs) > 0 {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields[1:], func(a, b *field) int { return cmp.Compare(a.name, b.name) })
	dicts := make([]int, len(fields))
	for i, f := range fields {
		var err error
		if dicts[i], err = e.field(f, i, len(w.names)); err != nil {
			return nil, err
		}
	}
	values := len(e.data)
	for range fields {
		e.number(noValues)
		e.number(noValues)
	}
	at := make([]int, len(fields))
	for i, f := range fields {
		at[i] = len(e.data)
		e.number(uint64(dicts[i]))
		e.number(uint64(len(f.name)))
		e.data = append(e.data, f.name...)
		e.number(uint64(len(f.runs)))
		e.number(f.tokens)
	}
	fieldIndex := e.offsets(at)
	e.offsets([]int{len(w.names), storedIndex, fieldIndex, values})
	e.data = binary.BigEndian.AppendUint32(e.data, chunkMode)
	e.data = binary.BigEndian.AppendUint32(e.data, version)
	e.data = binary.BigEndian.AppendUint32(e.data, crc32.ChecksumIEEE(e.data))
	return slices.Clone(e.data), nil
}

func (e *encoder) number(n uint64) { e.data = binary.AppendUvarint(e.data, n) }

// offsets appends numbers of 8 bytes and returns where they begin.
func (e *encoder) offsets(list []int) int {
	at := len(e.data)
	for _, n := range list {
		e.data = binary.BigEndian.AppendUint64(e.data, uint64(n))
	}
	return at
}

// stored appends the names: for each the length of what describes it and of
// what it is in snappy's format, then the description (field, offset and length
// of the value) and the value.
func (e *encoder) stored(names []string) (index int) {
	at := make([]int, len(names))
	var about, packed []byte
	for i, name := range names {
		at[i] = len(e.data)
		about = binary.AppendUvarint(append(about[:0], 0, 0), uint64(len(name)))
		packed = snappy.Encode(packed[:cap(packed)], []byte(name))
		e.number(uint64(len(about)))
		e.number(uint64(len(packed)))
		e.data = append(append(e.data, about...), packed...)
	}
	return e.offsets(at)
}

// A keyed is a term with its first eight bytes as a number, which tell most
// terms apart.
type keyed struct {
	key    uint64
	number uint32
}

func keyOf(text string) (key uint64) {
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

// field appends the postings and the dictionary of a field, the number of which
// is id, and returns where the dictionary begins.
func (e *encoder) field(f *field, id, docs int) (dict int, err error) {
	e.dictTo = e.dictTo[:0]
	if e.dict == nil {
		e.dict, err = vellum.New(&e.dictTo, nil)
	} else {
		err = e.dict.Reset(&e.dictTo)
	}
	if err != nil {
		return 0, err
	}
	e.sort(f)
	for _, k := range e.order {
		t := f.terms[k.number]
		from := e.first[k.number]
		at := e.postings(f, e.sorted[from:from+t.docs], id, docs)
		if err := e.dict.Insert([]byte(t.text), uint64(at)); err != nil {
			return 0, err
		}
	}
	if err := e.dict.Close(); err != nil {
		return 0, err
	}
	dict = len(e.data)
	e.number(uint64(len(e.dictTo)))
	e.data = append(e.data, e.dictTo...)
	return dict, nil
}

// sort puts the terms in order, and the occurrences by term. They come in order
// of documents and stay in it.
func (e *encoder) sort(f *field) {
	e.order = e.order[:0]
	e.first = slices.Grow(e.first[:0], len(f.terms))[:len(f.terms)]
	sum := uint32(0)
	for n := range f.terms {
		e.order = append(e.order, keyed{keyOf(f.terms[n].text), uint32(n)})
		e.first[n] = sum
		sum += f.terms[n].docs
	}
	slices.SortFunc(e.order, func(a, b keyed) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return strings.Compare(f.terms[a.number].text, f.terms[b.number].text)
	})
	e.sorted = slices.Grow(e.sorted[:0], len(f.found))[:len(f.found)]
	place := uint32(0)
	for n := range f.runs {
		end := len(f.found)
		if n+1 < len(f.runs) {
			end = int(f.runs[n+1].found)
		}
		for _, o := range f.found[f.runs[n].found:end] {
			e.sorted[e.first[o.term]] = standing{run: uint32(n), freq: o.freq, from: place, places: o.places}
			e.first[o.term]++
			place += o.places
		}
	}
	for n := range f.terms {
		e.first[n] -= f.terms[n].docs
	}
}

// postings appends where a term stands, and returns the offset that the
// dictionary has for it: that of the offset of its frequencies, the offset of
// its places, or 0, and the documents as a roaring bitmap.
func (e *encoder) postings(f *field, list []standing, id, docs int) int {
	c := &e.chunks
	c.begin(len(list), docs)
	places := false
	for _, o := range list {
		c.in(f.runs[o.run].doc)
		bit := uint64(0)
		if o.places > 0 {
			bit, places = 1, true
		}
		c.number(uint64(o.freq)<<1 | bit)
		c.number(uint64(f.runs[o.run].length))
	}
	freqAt := e.chunked()
	placeAt := 0
	if places {
		c.begin(len(list), docs)
		for _, o := range list {
			if o.places > 0 {
				c.in(f.runs[o.run].doc)
				e.places(f.places[o.from:o.from+o.places], uint64(id))
			}
		}
		placeAt = e.chunked()
	}
	at := len(e.data)
	e.number(uint64(freqAt))
	e.number(uint64(placeAt))
	e.bitmap(f, list)
	return at
}

// places appends to the chunk at hand the places of a term in a document: how
// many bytes they take, then for each its field, itself and two offsets into
// the text, which nobody asks for.
func (e *encoder) places(list []int32, id uint64) {
	size := 0
	for _, p := range list {
		size += uvarintLen(id) + uvarintLen(uint64(p)) + 2
	}
	e.chunks.number(uint64(size))
	for _, p := range list {
		e.chunks.number(id)
		e.chunks.number(uint64(p))
		e.chunks.data = append(e.chunks.data, 0, 0)
	}
}

func uvarintLen(n uint64) (size int) {
	for size = 1; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// chunked appends the chunks: how many there are, where each ends, counted from
// behind these numbers, and what is in them. It returns the offset.
func (e *encoder) chunked() int {
	at := len(e.data)
	ends := e.chunks.finish()
	e.number(uint64(len(ends)))
	for _, end := range ends {
		e.number(uint64(end))
	}
	e.data = append(e.data, e.chunks.data...)
	return at
}

// The numbers of the roaring format for a bitmap of one container of 16-bit
// numbers in an array, and the most that such an array holds.
const (
	roaringCookie = 12346
	roaringHeader = 16
	roaringArray  = 4096
)

// bitmap appends the documents of list with the length of that. Most terms are
// in few documents; those the library need not see.
func (e *encoder) bitmap(f *field, list []standing) {
	if len(list) <= roaringArray && f.runs[list[len(list)-1].run].doc < 1<<16 {
		e.number(uint64(roaringHeader + 2*len(list)))
		for _, n := range []uint32{roaringCookie, 1, uint32(len(list)-1) << 16, roaringHeader} {
			e.data = binary.LittleEndian.AppendUint32(e.data, n)
		}
		for _, o := range list {
			e.data = binary.LittleEndian.AppendUint16(e.data, uint16(f.runs[o.run].doc))
		}
		return
	}
	if e.bits == nil {
		e.bits = roaring.New()
	}
	e.bits.Clear()
	for _, o := range list {
		e.bits.Add(f.runs[o.run].doc)
	}
	e.number(e.bits.GetSerializedSizeInBytes())
	e.bits.WriteTo((*appender)(&e.data)) // fails only where writing does
}
