package imports

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"stet/markdown"
	"stet/vault"
)

// Whatever stands in a file, reading it ends, and what it gives can be written
// and is found again as the same.
func FuzzRead(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	off, dir := &censor{off: true}, f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		at := filepath.Join(dir, "fuzz"+extension(data))
		if err := os.WriteFile(at, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if name, what := detect(at); (name == "") == (what == "") {
			t.Errorf("detected as %q and %q", name, what)
		}
		for _, s := range Sources() {
			if s.Memories {
				continue
			}
			r := &reading{ctx: context.Background()}
			r.emit = func(s *Session) error {
				s.settle()
				for _, p := range s.parts() {
					checkSession(t, p, off)
				}
				return nil
			}
			if err := s.read(r, file{path: at}); err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
		}
	})
}

func checkSession(t *testing.T, s *Session, off *censor) {
	at := vault.NameTranscript(&s.Transcript)
	if _, err := vault.ParsePath(string(at)); err != nil {
		t.Fatalf("%v of %q", err, s.Title)
	}
	made, err := render(s, at.Base())
	if err != nil {
		t.Fatal(err)
	}
	if back := markdown.ParseTranscript(made.text); back.ID != s.ID || len(back.Messages) != len(s.Messages) {
		t.Fatalf("%d messages of %q became %d of %q", len(s.Messages), s.ID, len(back.Messages), back.ID)
	}
	if g := compare(made.text, s, off); g.changed != 0 || g.more(s) {
		t.Fatalf("what was just written is another one: %+v\n%s", g, made.text)
	}
}

func extension(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("PK")):
		return ".zip"
	case bytes.HasPrefix(data, []byte("[")):
		return ".json"
	}
	return ".jsonl"
}
