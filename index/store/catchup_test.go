package store

import (
	"reflect"
	"testing"
	"time"

	"stet/index/document"
	"stet/vault"
)

// What a listing shows and what a record says are told apart by the file itself: one that could have changed unseen is
// read again, one that went in between is gone, and one that was read soon after a change stays to be looked at.
func TestWhatChangedIsToldByTheFileItself(t *testing.T) {
	t.Parallel()
	src := texts{"racy.md": "new words", "same.md": "same words"}
	record := func(p vault.Path, text string, flags uint8) document.Record {
		f := src.file(p)
		return document.Record{Path: p, Size: f.Size, MTime: f.ModTime.UnixNano(), Hash: document.HashOf([]byte(text)),
			Flags: flags, Docs: 1}
	}
	went := record("went.md", "gone words", document.FlagRacy)
	listed := append(src.files(), vault.File{Path: "went.md", Size: went.Size, ModTime: time.Unix(0, went.MTime)})
	m := &manifest{recs: []document.Record{
		record("racy.md", "old words", document.FlagRacy), record("same.md", "same words", document.FlagRacy), went}}
	for name, at := range map[string]time.Time{"soon": src.file("same.md").ModTime, "later": time.Now()} {
		got, err := compare(t.Context(), src, func() time.Time { return at }, m, listed)
		if err != nil {
			t.Fatal(err)
		}
		want := &changes{read: []vault.File{src.file("racy.md")}, removed: []vault.Path{"went.md"}}
		if name == "later" {
			want.restat = []document.Record{record("same.md", "same words", 0)}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
