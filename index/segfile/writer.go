package segfile

import "slices"

// A Writer gathers documents and makes a segment of them. It is not safe for
// concurrent use. After Finish it is empty and may be used again, with the room
// it has.
type Writer struct {
	names  []string
	fields []*field
	at     *field // the one that Term adds to
	out    encoder
}

// A field is an indexed field of all documents.
type field struct {
	name    string
	numbers map[string]uint32 // term → its place in terms
	terms   []term
	found   []occurrence // in order of documents
	runs    []run        // the documents that have the field, in order
	places  []int32      // of all occurrences, one after the other
	tokens  uint64
}

// A run is where the occurrences of a document begin in found.
type run struct {
	doc, length uint32 // the number of the document, and how long its field is
	found       uint32
}

type term struct {
	text   string
	docs   uint32
	places bool // has any
}

// An occurrence is a term in the document of a run. There are millions of them.
type occurrence struct {
	term, freq uint32
	places     uint32 // how many
}

// NewWriter returns an empty Writer.
func NewWriter() *Writer { return &Writer{} }

// Begin starts the next document. Documents are numbered from 0 in this order.
func (w *Writer) Begin(name string) {
	w.names = append(w.names, name)
	w.at = nil
}

// Len is the number of documents begun since the last Finish.
func (w *Writer) Len() int { return len(w.names) }

// Field starts a field of the document, once for each document. Fields without
// terms need not be named. length is how many words it has, which is stored as
// the norm of its postings.
func (w *Writer) Field(name string, length int) {
	i := slices.IndexFunc(w.fields, func(f *field) bool { return f.name == name })
	if i < 0 {
		i = len(w.fields)
		w.fields = append(w.fields, &field{name: name, numbers: map[string]uint32{}})
	}
	w.at = w.fields[i]
	w.at.runs = append(w.at.runs, run{doc: uint32(len(w.names) - 1), length: uint32(length), found: uint32(len(w.at.found))})
	w.at.tokens += uint64(length)
}

// Term adds a term to the field, once for each field of a document. places are
// ascending; they are copied.
func (w *Writer) Term(text string, freq int, places []int32) {
	f := w.at
	n, known := f.numbers[text]
	if !known {
		n = uint32(len(f.terms))
		f.numbers[text] = n
		f.terms = append(f.terms, term{text: text})
	}
	t := &f.terms[n]
	t.docs++
	t.places = t.places || len(places) > 0
	f.found = append(f.found, occurrence{term: n, freq: uint32(freq), places: uint32(len(places))})
	f.places = append(f.places, places...)
}

// reset empties the Writer. It keeps its room, but not for fields that the
// next documents may not have.
func (w *Writer) reset() {
	w.names, w.at = w.names[:0], nil
	for _, f := range w.fields {
		clear(f.numbers)
		clear(f.terms) // let go of their texts
		f.terms, f.found, f.runs, f.places = f.terms[:0], f.found[:0], f.runs[:0], f.places[:0]
		f.tokens = 0
	}
	w.fields = slices.DeleteFunc(w.fields, func(f *field) bool { return cap(f.found) == 0 })
}
