package index

import (
	"bytes"
	"slices"

	"stet/vault"
)

// The fields of a document. Each is a Bluge field of its own.
const (
	fieldBody  = iota // stemmed words of front matter values and body, camel parts
	fieldTitle        // stemmed words of the title, or of the file's name
	fieldHead         // stemmed words of the headings
	fieldPath         // stemmed words of the folder, the categories and the kind
	fieldIdent        // composite names, untokenised
	fieldExact        // unstemmed words with positions, for phrases and prefixes
	fieldCount
)

// fieldNames are the names on disk: short, since every segment repeats them.
func fieldName(f int) string { return "bthpix"[f : f+1] }

// lengthFields lists the fields whose length the score looks at; their totals
// are kept in the manifest.
const lengthFields = 4

// lengthSlot maps a field to its slot in [record.lens], or -1 where length
// says nothing about relevance (a long path is not a worse path).
func lengthSlot(f int) int {
	switch f {
	case fieldBody:
		return 0
	case fieldTitle:
		return 1
	case fieldHead:
		return 2
	case fieldExact:
		return 3
	}
	return -1
}

// A termFreq is one term of one field of one document.
type termFreq struct {
	term      string
	freq      int
	positions []int32 // fieldExact only
}

// A termBag gathers the terms of one field.
type termBag struct {
	index  map[string]int // borrowed from the analyzer; nil once the bag is full
	terms  []termFreq
	length int
}

func (b *termBag) add(term string, n int) *termFreq {
	i, ok := b.index[term]
	if !ok {
		i = len(b.terms)
		b.index[term] = i
		b.terms = append(b.terms, termFreq{term: term})
	}
	b.terms[i].freq += n
	b.length += n
	return &b.terms[i]
}

func (b *termBag) find(term string) *termFreq {
	for i := range b.terms {
		if b.terms[i].term == term {
			return &b.terms[i]
		}
	}
	return nil
}

// A document is a file, or a message of a transcript, taken apart for the
// index.
type document struct {
	name  string // stored with it, see state.nameOf
	bags  [fieldCount]termBag
	dated bool // see messageFacts
}

// lens are the lengths that go into the manifest.
func (d *document) lens() (out [lengthFields]uint32) {
	for f := range fieldCount {
		if s := lengthSlot(f); s >= 0 {
			out[s] = uint32(d.bags[f].length)
		}
	}
	return out
}

// An analyzer takes files apart. It is not safe for concurrent use; several
// may run side by side.
type analyzer struct {
	stems *stemmer
	known map[string]string
	pos   int
	// places are of terms yet to come: most have one, and room for each by
	// itself costs more than the place.
	places []int32
	// indexes and lists are lent to the document at hand, so that they grow once
	// and not for every file.
	indexes [fieldCount]map[string]int
	lists   [fieldCount][]termFreq
}

func newAnalyzer(lang *language) *analyzer {
	a := &analyzer{stems: newStemmer(lang), known: map[string]string{}}
	for f := range a.indexes {
		a.indexes[f] = map[string]int{}
	}
	return a
}

// begin starts a document; no other may be under way.
func (a *analyzer) begin(name string) *document {
	d := &document{name: name}
	for f := range d.bags {
		d.bags[f].index, d.bags[f].terms = a.indexes[f], a.lists[f]
	}
	return d
}

// maxLent bounds the terms of what is kept to be lent again: emptying a map
// takes as long as its room is large.
const maxLent = 1 << 12

// end takes back what begin lent.
func (a *analyzer) end(d *document) {
	for f := range d.bags {
		b := &d.bags[f]
		lent := b.terms
		b.index, b.terms = nil, slices.Clone(lent)
		switch {
		case len(lent) > maxLent:
			a.indexes[f], a.lists[f] = map[string]int{}, nil
		case len(lent) > 0:
			clear(a.indexes[f])
			clear(lent)
			a.lists[f] = lent[:0]
		}
	}
}

// place adds a place to a term.
func (a *analyzer) place(t *termFreq, at int) {
	if t.positions == nil {
		if len(a.places) == 0 {
			a.places = make([]int32, 512)
		}
		t.positions, a.places = a.places[:0:1], a.places[1:]
	}
	t.positions = append(t.positions, int32(at))
}

// gap separates texts that are not neighbours, so that no phrase spans them.
const gap = 64

// file makes one document of a file, and the record for it. It never fails:
// bytes that are no text simply yield no words.
func (a *analyzer) file(data []byte, f vault.File) ([]*document, record) {
	m := vault.ReadMemory(f.Path, data)
	d := a.begin(string(f.Path))
	defer a.end(d)
	a.pos = 0
	front, body := splitFront(data, m.Body)
	for line := range bytes.Lines(front) {
		a.text(d, frontValue(line))
	}
	a.text(d, body)
	a.words(&d.bags[fieldTitle], []byte(m.Name()))
	headings(body, func(h []byte) { a.words(&d.bags[fieldHead], h) })
	a.words(&d.bags[fieldPath], []byte(f.Path.Dir()))
	for _, c := range m.Categories {
		a.words(&d.bags[fieldPath], []byte(c))
	}
	a.words(&d.bags[fieldPath], []byte(m.Kind))
	return []*document{d}, newRecord(m, data, f, d.lens())
}

// text indexes running text into the body, exact and identifier fields.
func (a *analyzer) text(d *document, text []byte) {
	body, exact := &d.bags[fieldBody], &d.bags[fieldExact]
	last := a.pos
	tokenizeKnown(text, a.known, func(t token) {
		body.add(a.stems.stem(t.term), 1)
		a.place(exact.add(t.term, 1), a.pos+t.pos)
		last = a.pos + t.pos + 1
		camelParts(text[t.start:t.end], func(part []byte) {
			body.add(a.stems.stem(string(bytes.ToLower(part))), 1)
		})
	})
	a.pos = last + gap
	identifiers(text, func(name string, _, _ int) { d.bags[fieldIdent].add(name, 1) })
}

// words indexes stemmed words only.
func (a *analyzer) words(b *termBag, text []byte) {
	tokenize(text, func(t token) { b.add(a.stems.stem(t.term), 1) })
}

// splitFront returns what stands before body and body itself. A body that is
// no suffix of data was converted by the reader; then there is no front.
func splitFront(data, body []byte) (front, rest []byte) {
	if len(body) <= len(data) && bytes.HasSuffix(data, body) {
		return data[:len(data)-len(body)], body
	}
	return nil, data
}

// frontValue is a line of front matter without its key, so that a search for
// "title" does not find every file.
func frontValue(line []byte) []byte {
	key, value, ok := bytes.Cut(line, []byte(":"))
	if ok && len(key) > 0 && !bytes.ContainsAny(key, " \t\"'") {
		return value
	}
	return line
}

// headings calls f with the text of every ATX heading outside code fences.
func headings(body []byte, f func([]byte)) {
	var fence []byte
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, "\r\n")
		trimmed := bytes.TrimLeft(line, " ")
		if len(line)-len(trimmed) > 3 {
			continue
		}
		if mark := fenceMark(trimmed); mark != nil {
			switch {
			case fence == nil:
				fence = mark
			case mark[0] == fence[0] && len(mark) >= len(fence) && len(bytes.TrimSpace(trimmed[len(mark):])) == 0:
				fence = nil
			}
			continue
		}
		if fence != nil || len(trimmed) == 0 || trimmed[0] != '#' {
			continue
		}
		text := bytes.TrimLeft(trimmed, "#")
		if level := len(trimmed) - len(text); level <= 6 && (len(text) == 0 || text[0] == ' ' || text[0] == '\t') {
			f(bytes.TrimSpace(bytes.TrimRight(bytes.TrimSpace(text), "#")))
		}
	}
}

// fenceMark is the run of backticks or tildes that opens or closes a fence, or
// nil.
func fenceMark(line []byte) []byte {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return nil
	}
	n := 0
	for n < len(line) && line[n] == line[0] {
		n++
	}
	if n < 3 {
		return nil
	}
	return line[:n]
}
