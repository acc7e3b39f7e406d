package store

import (
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"stet/index/document"
	"stet/vault"
)

// texts are the files of a vault, in memory.
type texts map[vault.Path]string

func (x texts) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	text, ok := x[p]
	if !ok {
		return nil, vault.File{}, fs.ErrNotExist
	}
	return []byte(text), x.file(p), nil
}

func (x texts) file(p vault.Path) vault.File {
	return vault.File{Path: p, Size: int64(len(x[p])), ModTime: time.Unix(1700000000, int64(len(x[p]))+1)}
}

func (x texts) files() (out []vault.File) {
	for p := range x {
		out = append(out, x.file(p))
	}
	return InOrder(out)
}

func english(t testing.TB) *document.Language {
	t.Helper()
	lang, err := document.LanguageOf("")
	if err != nil {
		t.Fatal(err)
	}
	return lang
}

// indexOf is the index of src in dir.
func indexOf(t testing.TB, src texts, dir string) *Index {
	t.Helper()
	x := New(src, Options{Now: time.Now, Logger: slog.New(slog.DiscardHandler)}, english(t), dir, false)
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// having lists the files with a word.
func having(t testing.TB, st *State, word string) (out []vault.Path) {
	t.Helper()
	list, err := st.Term(document.FieldExact, word, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		out = append(out, st.Records()[p.Doc].Path)
	}
	return out
}

func healthy(t testing.TB, x *Index) {
	t.Helper()
	if bad, err := x.Check(); err != nil || len(bad) > 0 {
		t.Errorf("check: %v %v", bad, err)
	}
}
