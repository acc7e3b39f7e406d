package store

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"stet/index/document"
	"stet/vault"
)

func sampleManifest(t testing.TB) *manifest {
	m := &manifest{nextSeg: 9, segs: []segmentInfo{{id: 2, bytes: 100, docs: 3, crc: 7}, {id: 5, bytes: 50, docs: 1, crc: 8}}}
	text := "---\nid: X1\nkind: fact\ncategories: [A, b]\nsupersedes: [y]\n---\n"
	_, rec := document.NewAnalyzer(english(t)).File([]byte(text), vault.File{Path: "x.md"})
	m.recs = []document.Record{
		{Path: "a.md", Size: 1, MTime: -5, Identity: 3, Hash: [document.HashSize]byte{1}, Seg: 2, Doc: 0, Docs: 1, Lens: [4]uint32{4, 3, 2, 1}, Meta: rec.Meta},
		{Path: "b.md", Size: 2, MTime: 1 << 60, Flags: document.FlagRacy | document.FlagSupersedes, Seg: 2, Doc: 2, Docs: 1},
		{Path: "c/d.md", Seg: 5, Docs: 1},
		{Path: "e.md", Flags: document.FlagRacy},
	}
	return m
}

func TestManifestSurvivesTheRoundTrip(t *testing.T) {
	t.Parallel()
	m := sampleManifest(t)
	file, sum := encodeManifest(m)
	dec, err := decodeManifest(file)
	if err != nil || dec.sum != sum || dec.torn || !reflect.DeepEqual(dec.man, m) {
		t.Fatalf("decoded %+v, %v", dec, err)
	}
	got := document.DecodeMeta(dec.man.recs[0].Meta)
	if want := (document.Meta{ID: "x1", Kind: "fact", Categories: []string{"a", "b"}, Supersedes: []string{"y"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("meta %+v, want %+v", got, want)
	}
	d := &delta{segs: []segmentInfo{{id: 9, bytes: 9, docs: 1}}, recs: []document.Record{{Path: "b.md", Seg: 9, Docs: 1}}, removed: []vault.Path{"a.md", "none.md"}}
	block, sum := encodeDelta(d, sum)
	d2 := &delta{recs: []document.Record{{Path: "a.md"}}, removed: []vault.Path{"c/d.md"}}
	block2, _ := encodeDelta(d2, sum)
	whole := append(append(file, block...), block2...)
	dec, err = decodeManifest(whole)
	want := m.apply(d).apply(d2)
	if err != nil || dec.blocks != 2 || !reflect.DeepEqual(dec.man, want) {
		t.Fatalf("with deltas %+v, %v\nwant %+v", dec.man, err, want)
	}
	if want.nextSeg != 10 || len(want.recs) != 3 {
		t.Errorf("applied: %+v", want)
	}
	// A block counts only behind the blocks it was written behind.
	dec, err = decodeManifest(append(append([]byte{}, file...), block2...))
	if err != nil || dec.blocks != 0 || !dec.torn {
		t.Errorf("a block out of place: %+v, %v", dec, err)
	}
	for n := len(file); n <= len(whole); n++ {
		dec, err := decodeManifest(whole[:n])
		if err != nil || dec.torn != (n != len(file) && n != len(file)+len(block) && n != len(whole)) {
			t.Fatalf("cut to %d bytes: %+v, %v", n, dec, err)
		}
		if tail, err := decodeTail(whole[:n]); err != nil || !reflect.DeepEqual(*tail, dec.tail) {
			t.Fatalf("cut to %d bytes: tail %+v, %v, want %+v", n, tail, err, dec.tail)
		}
	}
	for n := range len(file) {
		if _, err := decodeManifest(whole[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

func TestManifestsThatContradictThemselvesAreDamaged(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*manifest){
		"order":              func(m *manifest) { m.recs[0].Path = "z" },
		"twice":              func(m *manifest) { m.recs[1].Path = "a.md" },
		"no segment":         func(m *manifest) { m.recs[2].Seg = 4 },
		"no document":        func(m *manifest) { m.recs[1].Doc = 3 },
		"shared document":    func(m *manifest) { m.recs[1].Doc = 0 },
		"overflow":           func(m *manifest) { m.recs[1].Doc = 1<<32 - 1 },
		"segment twice":      func(m *manifest) { m.segs[1].id = 2 },
		"segment to come":    func(m *manifest) { m.nextSeg = 5 },
		"too many documents": func(m *manifest) { m.segs[0].docs = 1<<32 - 1 },
	} {
		m := sampleManifest(t)
		spoil(m)
		file, _ := encodeManifest(m)
		if _, err := decodeManifest(file); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzManifest gives arbitrary payloads valid checksums, so that the decoder
// behind them is what is tested.
func FuzzManifest(f *testing.F) {
	file, sum := encodeManifest(sampleManifest(f))
	block, _ := encodeDelta(&delta{recs: sampleManifest(f).recs[:1], removed: []vault.Path{"b.md"}}, sum)
	f.Add(file[len(magic)+8:len(file)-1], block[8:len(block)-1])
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, base, second []byte) {
		b, sum := appendBlock([]byte(magic), 0, func(b []byte) []byte { return append(b, base...) })
		tail, _ := appendBlock(nil, sum, func(b []byte) []byte { return append(b, second...) })
		dec, err := decodeManifest(append(b, tail...))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error %v is not ErrDamaged", err)
			}
			return
		}
		if tail, err := decodeTail(append(b, tail...)); err != nil || tail.sum != dec.sum || tail.nextSeg != dec.nextSeg {
			t.Fatalf("the tail is %+v, %v, want %+v", tail, err, dec.tail)
		}
		again, _ := encodeManifest(dec.man)
		back, err := decodeManifest(again)
		if err != nil || len(back.man.recs) != len(dec.man.recs) {
			t.Fatalf("what was decoded does not encode: %v", err)
		}
		for i := range dec.man.recs {
			document.DecodeMeta(dec.man.recs[i].Meta)
		}
		// Raw bytes must not panic either.
		if _, err := decodeManifest(base); err == nil && binary.Size(base) < len(magic) {
			t.Fatal("a file without its first line was read")
		}
	})
}
