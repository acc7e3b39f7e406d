package segfile

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
	"pgregory.net/rapid"
)

// The referee: the same documents as Bluge takes them.
type (
	doc struct {
		name   string
		fields []docField
	}
	docField struct {
		name  string
		terms []docTerm
	}
	docTerm struct {
		text   string
		freq   int
		places []int32
	}
)

func (d doc) Analyze() {}

func (d doc) EachField(visit segment.VisitField) {
	visit(named(d.name))
	for _, f := range d.fields {
		visit(f)
	}
}

type named string

func (named) Name() string                 { return nameField }
func (named) Length() int                  { return 1 }
func (n named) Value() []byte              { return []byte(n) }
func (named) Index() bool                  { return false }
func (named) Store() bool                  { return true }
func (named) IndexDocValues() bool         { return false }
func (named) EachTerm(_ segment.VisitTerm) {}

func (f docField) Name() string { return f.name }

func (f docField) Length() (n int) {
	for _, t := range f.terms {
		n += t.freq
	}
	return n
}

func (docField) Value() []byte        { return nil }
func (docField) Index() bool          { return true }
func (docField) Store() bool          { return false }
func (docField) IndexDocValues() bool { return false }

func (f docField) EachTerm(visit segment.VisitTerm) {
	for _, t := range f.terms {
		visit(fieldTerm{t, f.name})
	}
}

type fieldTerm struct {
	docTerm
	field string
}

func (t fieldTerm) Term() []byte   { return []byte(t.text) }
func (t fieldTerm) Frequency() int { return t.freq }

func (t fieldTerm) EachLocation(visit segment.VisitLocation) {
	for _, p := range t.places {
		visit(location{t.field, int(p)})
	}
}

type location struct {
	field string
	pos   int
}

func (l location) Field() string { return l.field }
func (location) Start() int      { return 0 }
func (location) End() int        { return 0 }
func (l location) Pos() int      { return l.pos }
func (location) Size() int       { return 0 }

// A reporter is a test or a property.
type reporter interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func byIce(t reporter, docs []doc) []byte {
	t.Helper()
	list := make([]segment.Document, len(docs))
	for i := range docs {
		list[i] = docs[i]
	}
	seg, _, err := ice.New(list, func(_ string, n int) float32 { return math.Float32frombits(uint32(n)) })
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := seg.WriteTo(&out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func byUs(t reporter, w *Writer, docs []doc) []byte {
	t.Helper()
	for _, d := range docs {
		w.Begin(d.name)
		for _, f := range d.fields {
			w.Field(f.name, f.Length())
			for _, term := range f.terms {
				w.Term(term.text, term.freq, term.places)
			}
		}
	}
	data, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func same(t reporter, w *Writer, docs []doc) {
	t.Helper()
	got, want := byUs(t, w, docs), byIce(t, docs)
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Fatalf("%d documents: %d bytes, ice writes %d; they differ from byte %d on", len(docs), len(got), len(want), at)
}

// One Writer makes segment after segment; each is the one that ice makes.
func TestSegmentsAreThoseOfIce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := NewWriter()
		for range rapid.IntRange(1, 3).Draw(t, "segments") {
			docs := make([]doc, rapid.IntRange(1, 8).Draw(t, "documents"))
			for i := range docs {
				docs[i] = anyDoc(t)
			}
			same(t, w, docs)
		}
	})
}

func anyDoc(t *rapid.T) doc {
	d := doc{name: rapid.StringMatching(`(ab|/|ü){0,30}`).Draw(t, "name")}
	for _, name := range []string{"b", "x", "a", "t"} {
		if !rapid.Bool().Draw(t, "has "+name) {
			continue
		}
		f := docField{name: name}
		for _, text := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{1,9}|知[a-b]?|.`), 1, 12, rapid.ID).Draw(t, "terms") {
			term := docTerm{text: text, freq: rapid.IntRange(1, 300).Draw(t, "freq")}
			if name == "x" {
				at := int32(0)
				for range min(term.freq, 4) {
					at += rapid.Int32Range(1, 20000).Draw(t, "gap")
					term.places = append(term.places, at)
				}
			}
			f.terms = append(f.terms, term)
		}
		d.fields = append(d.fields, f)
	}
	return d
}

// Terms that many documents have come in several chunks, and in bitmaps of
// other kinds.
func TestSegmentsOfManyDocuments(t *testing.T) {
	t.Parallel()
	sizes := []int{1023, 1024, 1025, 2047, 2048, 5000}
	if !testing.Short() {
		sizes = append(sizes, 70000)
	}
	for _, n := range sizes {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		docs := make([]doc, n)
		for i := range docs {
			docs[i].name = fmt.Sprintf("memories/%d.md", i)
			f := docField{name: "b"}
			x := docField{name: "x"}
			for k, odds := range []int{1, 2, 10, 500, 3000} {
				if r.IntN(odds) == 0 {
					f.terms = append(f.terms, docTerm{text: fmt.Sprintf("t%d", k), freq: 1 + r.IntN(200)})
					x.terms = append(x.terms, docTerm{text: fmt.Sprintf("x%d", k), freq: 1, places: []int32{int32(r.IntN(9000))}})
				}
			}
			docs[i].fields = []docField{f, x}
		}
		same(t, NewWriter(), docs)
	}
}
