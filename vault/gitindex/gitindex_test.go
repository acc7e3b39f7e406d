package gitindex_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/vault/gitindex"
)

// build makes an index of n files in folders of 500.
func build(tb testing.TB, n int) []byte {
	tb.Helper()
	edits := make([]gitindex.Edit, n)
	for i := range edits {
		dir := fmt.Sprintf("memories/folder-%04d", i/500)
		edits[i] = gitindex.Edit{Path: fmt.Sprintf("%s/note-%06d.md", dir, i), Hash: [20]byte{9}, Mode: 0o100644,
			Stat: gitindex.Stat{MtimeSec: 5, Size: 6}}
	}
	b, err := gitindex.Empty().Apply(edits)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func parse(tb testing.TB, b []byte) *gitindex.File {
	tb.Helper()
	f, err := gitindex.Parse(b)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// seal puts the right checksum behind b.
func seal(b []byte) []byte {
	h := sha1.Sum(b)
	return append(slices.Clone(b), h[:]...)
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good := build(t, 3)
	body := good[:len(good)-20]
	with := func(i int, v byte) []byte { c := slices.Clone(body); c[i] = v; return seal(c) }
	ext := func(name string) []byte { return seal(append(slices.Clone(body), name+"\x00\x00\x00\x00"...)) }
	flipped := slices.Clone(good)
	flipped[40] ^= 1
	for name, c := range map[string]struct {
		b    []byte
		want error
		text string
	}{
		"empty":    {nil, gitindex.ErrCorrupt, "too short"},
		"checksum": {flipped, gitindex.ErrCorrupt, "checksum"},
		"v4":       {with(7, 4), gitindex.ErrUnsupported, "version 4"},
		"v9":       {with(7, 9), gitindex.ErrCorrupt, "version 9"},
		"link":     {ext("link"), gitindex.ErrUnsupported, "split index"},
		"sdir":     {ext("sdir"), gitindex.ErrUnsupported, "sparse index"},
		"unknown":  {ext("abcd"), gitindex.ErrUnsupported, "abcd"},
		"count":    {with(11, 200), gitindex.ErrCorrupt, "entries"},
		"order":    {with(12+62, 'z'), gitindex.ErrCorrupt, "after"},
		"cut":      {seal(body[:len(body)-3]), gitindex.ErrCorrupt, "cut short"},
	} {
		if _, err := gitindex.Parse(c.b); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.text)
		}
	}
	if _, err := gitindex.Parse(ext("ABCD")); err != nil {
		t.Errorf("optional extension: %v", err)
	}
}

func TestSkipHashStays(t *testing.T) {
	t.Parallel()
	b := build(t, 3)
	clear(b[len(b)-20:])
	out, err := parse(t, b).Apply(nil)
	if err != nil || !bytes.Equal(out, b) {
		t.Fatalf("an index without hash came back changed: %v", err)
	}
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	h := [20]byte{1}
	set := func(path string) gitindex.Edit { return gitindex.Edit{Path: path, Hash: h, Mode: 0o100644} }
	del := func(path string) gitindex.Edit { return gitindex.Edit{Path: path, Remove: true} }
	b, err := gitindex.Empty().Apply([]gitindex.Edit{set("a/b"), set("a-c"), set("f")})
	if err != nil {
		t.Fatal(err)
	}
	f := parse(t, b)
	for _, c := range []struct {
		edits []gitindex.Edit
		want  error
	}{
		{[]gitindex.Edit{set("a")}, gitindex.ErrDirFile},
		{[]gitindex.Edit{set("a"), del("a/b")}, nil},
		{[]gitindex.Edit{set("f/g")}, gitindex.ErrDirFile},
		{[]gitindex.Edit{set("f/g"), del("f")}, nil},
		{[]gitindex.Edit{set("n"), set("n/o")}, gitindex.ErrDirFile},
		{[]gitindex.Edit{set("n"), set("n")}, gitindex.ErrEdit},
		{[]gitindex.Edit{set("x/../y")}, gitindex.ErrEdit},
		{[]gitindex.Edit{set("x/.GIT/y")}, gitindex.ErrEdit},
		{[]gitindex.Edit{set("/x")}, gitindex.ErrEdit},
		{[]gitindex.Edit{{Path: "x", Mode: 0o100644}}, gitindex.ErrEdit},
		{[]gitindex.Edit{{Path: "x", Hash: h, Mode: 0o40000}}, gitindex.ErrEdit},
		{[]gitindex.Edit{del("absent")}, nil},
	} {
		if _, err := f.Apply(c.edits); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.edits, err, c.want)
		}
	}
}

// marked returns a version 3 index of one entry with the given flags.
func marked(stage, ext uint16) []byte {
	b := append([]byte("DIRC\x00\x00\x00\x03\x00\x00\x00\x01"), make([]byte, 40)...)
	b = append(b, bytes.Repeat([]byte{7}, 20)...)
	b = binary.BigEndian.AppendUint16(b, 0x8000|0x4000|stage<<12|1)
	b = binary.BigEndian.AppendUint16(b, ext)
	b = append(b, "p\x00\x00\x00\x00\x00\x00\x00"...)
	return seal(b[:12+72])
}

func TestApplyMarks(t *testing.T) {
	t.Parallel()
	edit := []gitindex.Edit{{Path: "p", Hash: [20]byte{1}, Mode: 0o100644}}
	if _, err := parse(t, marked(0, 0x4000)).Apply(edit); !errors.Is(err, gitindex.ErrSkipWorktree) {
		t.Errorf("skip-worktree: %v", err)
	}
	f := parse(t, marked(2, 0))
	if _, err := f.Apply(edit); !errors.Is(err, gitindex.ErrConflicted) {
		t.Errorf("conflict: %v", err)
	}
	if !f.Conflicted("p") {
		t.Error("conflict not reported")
	}
	out, err := parse(t, marked(0, 0x2000)).Apply(edit)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := parse(t, out).Entry("p")
	if !ok || e.IntentToAdd || !e.AssumeValid || e.Hash != edit[0].Hash {
		t.Errorf("touched entry: %+v", e)
	}
}

func TestLongPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5000)
	b, err := gitindex.Empty().Apply([]gitindex.Edit{{Path: long, Hash: [20]byte{1}, Mode: 0o100644}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := parse(t, b).Entry(long); !ok {
		t.Fatal("a path above the recorded length is lost")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(build(f, 3))
	f.Add(marked(0, 0x2000))
	f.Add(marked(1, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 32 {
			// Without a hash to match, the fuzzer gets past the checksum.
			b = slices.Clone(b)
			clear(b[len(b)-20:])
		}
		x, err := gitindex.Parse(b)
		if err != nil {
			if !errors.Is(err, gitindex.ErrCorrupt) && !errors.Is(err, gitindex.ErrUnsupported) {
				t.Fatalf("unnamed error %v", err)
			}
			return
		}
		want := slices.Collect(x.All())
		out, err := x.Apply(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > len(b) {
			t.Fatalf("grew from %d to %d bytes", len(b), len(out))
		}
		if got := slices.Collect(parse(t, out).All()); !slices.Equal(got, want) {
			t.Fatalf("entries changed from %+v to %+v", want, got)
		}
		edit := []gitindex.Edit{{Path: "d/new", Hash: [20]byte{1}, Mode: 0o100644}}
		if out, err = x.Apply(edit); err == nil {
			if _, ok := parse(t, out).Entry("d/new"); !ok {
				t.Fatal("the edit is not in the new index")
			}
		}
	})
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		src := build(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			path := fmt.Sprintf("memories/folder-%04d/note-%06d.md", n/1000, n/2)
			edit := []gitindex.Edit{{Path: path, Hash: [20]byte{8}, Mode: 0o100644}}
			for b.Loop() {
				if _, err := parse(b, src).Apply(edit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
