package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/index/document"
)

func TestEveryLanguageFindsFormsOfAWord(t *testing.T) {
	t.Parallel()
	// Two forms of one word, and a question of stop words around the second.
	words := map[string][3]string{
		document.English: {"migrations", "migration", "what about the migration?"}, "danish": {"bøgerne", "bøger", "hvad er bøger?"},
		"dutch": {"huizen", "huize", "wat is huize?"}, "finnish": {"taloissa", "talossa", "mikä on talossa?"},
		"french": {"chevaux", "cheval", "où est le cheval?"}, "german": {"Häuser", "Häusern", "was ist mit den Häusern?"},
		"italian": {"abbandonata", "abbandonati", "chi sono gli abbandonati?"}, "norwegian": {"husene", "huset", "hva er huset?"},
		"portuguese": {"meninos", "menino", "quem é o menino?"}, "russian": {"книгами", "книги", "где книги?"},
		"spanish": {"caballos", "caballo", "dónde está el caballo?"}, "swedish": {"flickorna", "flickor", "vem är flickor?"},
		document.None: {"houses", "houses", "houses"},
	}
	for _, name := range document.Languages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, ok := words[name]
			if !ok {
				t.Fatal("the language has no words here")
			}
			src := newFolder(t, map[string]string{"a.md": "x " + w[0] + " y\n", "b.md": "something else\n"})
			x := open(t, src, func(o *Options) { o.Language = name })
			for _, q := range w[1:] {
				if got := paths(t, x, q); !slices.Equal(got, []string{"a.md"}) {
					t.Errorf("%q found %v", q, got)
				}
			}
		})
	}
}

func TestALanguageThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	if x, err := Open(newFolder(t, nil), Options{Now: new(sharedClock).Now, Language: "klingon"}); err == nil {
		x.Close()
		t.Fatal("a language nobody taught us was taken")
	}
}

func TestAnotherLanguageMakesTheIndexAnew(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{"a.md": "die Häuser\n"})
	german := func(o *Options) { o.Language = "german" }
	if got := paths(t, open(t, src), "+Häusern"); len(got) > 0 {
		t.Errorf("in English %v", got)
	}
	if got := paths(t, open(t, src, german), "+Häusern"); len(got) != 1 {
		t.Errorf("in German %v", got)
	}
	if _, err := open(t, src, german).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(src.state, "index"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "v") && !strings.Contains(e.Name(), "-") {
			t.Error("the index of the other language is still there")
		}
	}
}
