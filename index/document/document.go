package document

import (
	"bytes"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// The fields of a document. Each is a Bluge field of its own.
const (
	FieldBody  = iota // stemmed words of front matter values and body, camel parts
	FieldTitle        // stemmed words of the title, or of the file's name
	FieldHead         // stemmed words of the headings
	FieldPath         // stemmed words of the folder, the categories and the kind
	FieldIdent        // composite names, untokenised
	FieldExact        // unstemmed words with positions, for phrases and prefixes
	FieldCount
)

// fieldNames are the names on disk: short, since every segment repeats them.
func FieldName(f int) string { return "bthpix"[f : f+1] }

// lengthFields lists the fields whose length the score looks at; their totals
// are noted in the manifest.
const lengthFields = 4

// lengthSlot maps a field to its slot in [Record], or -1 where length
// says nothing about relevance (a long path is not a worse path).
func lengthSlot(f int) int {
	switch f {
	case FieldBody:
		return 0
	case FieldTitle:
		return 1
	case FieldHead:
		return 2
	case FieldExact:
		return 3
	}
	return -1
}

// A TermFreq is one term of one field of one document.
type TermFreq struct {
	Term      string
	Freq      int
	Positions []int32 // fieldExact only
}

// A termBag gathers the terms of one field.
type termBag struct {
	index  map[string]int // place in Terms; nil once the bag is full
	Terms  []TermFreq
	Length int
}

func (b *termBag) add(term string, n int) *TermFreq {
	i, ok := b.index[term]
	if !ok {
		i = len(b.Terms)
		b.index[term] = i
		b.Terms = append(b.Terms, TermFreq{Term: term})
	}
	b.Terms[i].Freq += n
	b.Length += n
	return &b.Terms[i]
}

// Find is a term of a field of the document, nil where it has none.
func (d *Document) Find(field int, term string) *TermFreq { return d.Bags[field].find(term) }

// Terms lists the terms of a field that begin with prefix and that keep accepts; nil accepts all.
func (d *Document) Terms(field int, prefix string, keep func(string) bool) (out []string) {
	for _, t := range d.Bags[field].Terms {
		if strings.HasPrefix(t.Term, prefix) && (keep == nil || keep(t.Term)) {
			out = append(out, t.Term)
		}
	}
	return out
}

func (b *termBag) find(term string) *TermFreq {
	for i := range b.Terms {
		if b.Terms[i].Term == term {
			return &b.Terms[i]
		}
	}
	return nil
}

// A FileReader reads the files of a vault.
type FileReader interface {
	// ReadFile reads a whole file and describes it from the same open handle.
	// It must be safe for concurrent use.
	ReadFile(p vault.Path) ([]byte, vault.File, error)
}

// A Document is a file, or a message of a transcript, taken apart for the
// index.
type Document struct {
	Name  string // stored with it, see state.nameOf
	Bags  [FieldCount]termBag
	dated bool // see messageFacts
}

// lens are the lengths that go into the manifest.
func (d *Document) lens() (out [lengthFields]uint32) {
	for f := range FieldCount {
		if s := lengthSlot(f); s >= 0 {
			out[s] = uint32(d.Bags[f].Length)
		}
	}
	return out
}

// An Analyzer takes files apart. It is not safe for concurrent use; several
// may run side by side.
type Analyzer struct {
	Files FileReader // of texts of a transcript that stand beside it; nil reads none
	stems *Stemmer
	pos   int
	room  []int32 // for places of terms to come
}

// NewAnalyzer returns an analyzer for texts of a language.
func NewAnalyzer(lang *Language) *Analyzer { return &Analyzer{stems: NewStemmer(lang)} }

// begin starts a document of so many bytes.
func (a *Analyzer) begin(name string, size int) *Document {
	d := &Document{Name: name}
	for f := range d.Bags {
		terms := 0
		if f == FieldBody || f == FieldExact {
			terms = min(size/bytesPerTerm, mostTerms)
		}
		d.Bags[f].index, d.Bags[f].Terms = make(map[string]int, terms), make([]TermFreq, 0, terms)
	}
	return d
}

// Room is made for a term in so many bytes of a text, and for so many terms.
const (
	bytesPerTerm = 8
	mostTerms    = 1 << 10
)

// end lets go of what only the making of a document needs.
func (a *Analyzer) end(d *Document) {
	for f := range d.Bags {
		d.Bags[f].index = nil
	}
}

// gap separates texts that are not neighbours, so that no phrase spans them.
const Gap = 64

// File makes one document of a file, and the record for it. It never fails:
// bytes that are no text simply yield no words.
func (a *Analyzer) File(data []byte, f vault.File) ([]*Document, Record) {
	m := vault.ReadMemory(f.Path, data)
	d := a.begin(string(f.Path), len(data))
	defer a.end(d)
	a.pos = 0
	front, body := SplitFront(data, m.Body)
	body = own(f.Path, body)
	for line := range bytes.Lines(blankNoted(front)) {
		a.text(d, frontValue(line))
	}
	a.text(d, body)
	a.words(&d.Bags[FieldTitle], []byte(m.Name()))
	headings(body, func(h []byte) { a.words(&d.Bags[FieldHead], h) })
	a.words(&d.Bags[FieldPath], []byte(f.Path.Dir()))
	for _, c := range m.Categories {
		a.words(&d.Bags[FieldPath], []byte(c))
	}
	a.words(&d.Bags[FieldPath], []byte(m.Kind))
	return []*Document{d}, newRecord(m, data, f, d.lens())
}

// Entries makes a document of each entry of a notebook, and the record for it.
func (a *Analyzer) Entries(data []byte, f vault.File) (docs []*Document, recs []Record) {
	doc := markdown.Parse(data)
	for _, e := range doc.Entries() {
		if e.Text == "" {
			continue
		}
		d := a.begin("", len(e.Text))
		a.pos = 0
		a.text(d, []byte(e.Text))
		a.words(&d.Bags[FieldTitle], []byte(EntryTitle(e)))
		for _, h := range e.Under {
			a.words(&d.Bags[FieldHead], []byte(h))
		}
		a.words(&d.Bags[FieldPath], []byte(e.Kind))
		a.end(d)
		m := vault.Memory{Path: f.Path, Kind: e.Kind, Pinned: e.Pinned(), Private: doc.Private()}
		r := newRecord(m, []byte(e.Text), f, d.lens())
		r.Docs, r.Entry = 1, &e
		docs, recs = append(docs, d), append(recs, r)
	}
	return docs, recs
}

// entryTitle is how many characters of an entry stand for its title: as many as name a memory.
const entryTitle = 60

// EntryTitle is the beginning of what an entry says.
func EntryTitle(e markdown.Entry) string {
	text := []rune(strings.Join(strings.Fields(e.Body()), " "))
	return strings.TrimSpace(string(text[:min(len(text), entryTitle)]))
}

// text indexes running text into the body, exact and identifier fields.
func (a *Analyzer) text(d *Document, text []byte) {
	body, exact := &d.Bags[FieldBody], &d.Bags[FieldExact]
	last := a.pos
	Tokenize(text, func(t Token) {
		body.add(a.stems.Stem(t.Term), 1)
		e := exact.add(t.Term, 1)
		if e.Positions == nil { // most terms have one place
			if len(a.room) == 0 {
				a.room = make([]int32, mostTerms)
			}
			e.Positions, a.room = a.room[:0:1], a.room[1:]
		}
		e.Positions = append(e.Positions, int32(a.pos+t.Pos))
		last = a.pos + t.Pos + 1
		CamelParts(text[t.Start:t.End], func(part []byte) {
			body.add(a.stems.Stem(string(bytes.ToLower(part))), 1)
		})
	})
	a.pos = last + Gap
	Identifiers(text, func(name string, _, _ int) { d.Bags[FieldIdent].add(name, 1) })
}

// words indexes stemmed words only.
func (a *Analyzer) words(b *termBag, text []byte) {
	Tokenize(text, func(t Token) { b.add(a.stems.Stem(t.Term), 1) })
}

// Own is the text of a file of which front is the length of the front matter, without the keys that only stet reads,
// and without what "stet context --into" keeps in a note, which stands in other files; lines and places stay.
func Own(p vault.Path, data []byte, front int) []byte {
	noted := blankNoted(data[:front])
	if body := own(p, data[front:]); !bytes.Equal(noted, data[:front]) || !bytes.Equal(body, data[front:]) {
		return slices.Concat(noted, body)
	}
	return data
}

func own(p vault.Path, body []byte) []byte {
	if vault.ClassOf(p) != vault.ClassNote {
		return body
	}
	return markdown.BlankInjected(body)
}

// blankNoted is front matter with spaces in the place of the keys that only stet reads, and of their values.
func blankNoted(front []byte) []byte {
	var out []byte
	noted, at := false, 0
	for line := range bytes.Lines(front) {
		text := bytes.TrimRight(line, "\r\n")
		if key, _, ok := bytes.Cut(text, []byte(":")); ok && len(key) > 0 && !bytes.ContainsAny(key[:1], " \t-#") {
			noted = isNoted(string(bytes.TrimSpace(key)))
		} else if bytes.HasPrefix(text, []byte("---")) {
			noted = false
		}
		if noted {
			if out == nil {
				out = bytes.Clone(front)
			}
			for i := range text {
				out[at+i] = ' '
			}
		}
		at += len(line)
	}
	if out == nil {
		return front
	}
	return out
}

// isNoted reports a front-matter key that only says how stet stored a memory: nobody searches for its words.
func isNoted(key string) bool { return key == "classified_by" || key == "encoding" }

// SplitFront returns what stands before body and body itself. A body that is
// no suffix of data was converted by the reader; then there is no front.
func SplitFront(data, body []byte) (front, rest []byte) {
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
