package index

import (
	"bytes"

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
	index  map[string]int
	terms  []termFreq
	length int
}

func (b *termBag) add(term string, n int) *termFreq {
	i, ok := b.index[term]
	if !ok {
		if b.index == nil {
			b.index = make(map[string]int)
		}
		i = len(b.terms)
		b.index[term] = i
		b.terms = append(b.terms, termFreq{term: term})
	}
	b.terms[i].freq += n
	b.length += n
	return &b.terms[i]
}

func (b *termBag) find(term string) *termFreq {
	if i, ok := b.index[term]; ok {
		return &b.terms[i]
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
}

func newAnalyzer(lang *language) *analyzer {
	return &analyzer{stems: newStemmer(lang), known: map[string]string{}}
}

// gap separates texts that are not neighbours, so that no phrase spans them.
const gap = 64

// file makes one document of a file, and the record for it. It never fails:
// bytes that are no text simply yield no words.
func (a *analyzer) file(data []byte, f vault.File) ([]*document, record) {
	m := vault.ReadMemory(f.Path, data)
	d := &document{name: string(f.Path)}
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
		x := exact.add(t.term, 1)
		x.positions = append(x.positions, int32(a.pos+t.pos))
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
