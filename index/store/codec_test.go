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
	m := &manifest{nextSeg: 9, segs: []segmentInfo{{2, 100, 3, 7, 1 << 60}, {id: 5, bytes: 50, docs: 1, crc: 8}}}
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
	file := encodeManifest(m)
	dec, err := decodeManifest(file)
	if err != nil || !reflect.DeepEqual(dec, m) {
		t.Fatalf("decoded %+v, %v", dec, err)
	}
	got := document.DecodeMeta(dec.recs[0].Meta)
	if want := (document.Meta{ID: "x1", Kind: "fact", Categories: []string{"a", "b"}, Supersedes: []string{"y"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("meta %+v, want %+v", got, want)
	}
	for n := range len(file) {
		if _, err := decodeManifest(file[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := decodeManifest(append(file, 0)); !errors.Is(err, ErrDamaged) {
		t.Fatalf("with a byte too many: %v", err)
	}
}

func TestADeltaLeavesTheManifestAlone(t *testing.T) {
	t.Parallel()
	m := sampleManifest(t)
	d := &delta{
		segs: []segmentInfo{{id: 9, bytes: 9, docs: 1}}, removed: []vault.Path{"a.md", "none.md"},
		recs: []document.Record{{Path: "a0.md"}, {Path: "b.md", Seg: 9, Docs: 1}, {Path: "z.md"}},
	}
	got := m.apply(d).apply(&delta{recs: []document.Record{{Path: "a.md"}}, removed: []vault.Path{"c/d.md"}})
	want := &manifest{nextSeg: 10, segs: append(m.segs[:2:2], d.segs[0]), recs: []document.Record{
		{Path: "a.md"}, {Path: "a0.md"}, {Path: "b.md", Seg: 9, Docs: 1}, {Path: "e.md", Flags: document.FlagRacy}, {Path: "z.md"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("applied: %+v\nwant %+v", got, want)
	}
	if !reflect.DeepEqual(m, sampleManifest(t)) {
		t.Errorf("the manifest before is %+v", m)
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
		file := encodeManifest(m)
		if _, err := decodeManifest(file); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzManifest gives arbitrary payloads valid checksums, so that the decoder
// behind them is what is tested.
func FuzzManifest(f *testing.F) {
	f.Add(encodeManifest(sampleManifest(f))[len(magic)+4:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		file := binary.LittleEndian.AppendUint32([]byte(magic), checksum(payload))
		dec, err := decodeManifest(append(file, payload...))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("error %v is not ErrDamaged", err)
			}
			return
		}
		back, err := decodeManifest(encodeManifest(dec))
		if err != nil || len(back.recs) != len(dec.recs) {
			t.Fatalf("what was decoded does not encode: %v", err)
		}
		for i := range dec.recs {
			document.DecodeMeta(dec.recs[i].Meta)
		}
		// Raw bytes must not panic either.
		if _, err := decodeManifest(payload); err == nil && len(payload) < len(magic) {
			t.Fatal("a file without its first line was read")
		}
	})
}
