package query

import (
	"testing"
	"time"

	"stet/index/document"
)

func english(t testing.TB) *document.Language {
	t.Helper()
	lang, err := document.LanguageOf("")
	if err != nil {
		t.Fatal(err)
	}
	return lang
}

func FuzzParse(f *testing.F) {
	f.Add(`"a b" -c d* kind:fact since:2w ?!`)
	lang := english(f)
	f.Fuzz(func(t *testing.T, text string) {
		if q := Parse(text, time.Now(), lang); len(q.clauses) > maxClauses {
			t.Fatalf("%d clauses", len(q.clauses))
		}
	})
}

func TestStopWordsCountOnlyAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"what is the capital": 1, "what is the": 3, "+the capital": 2, "the the the": 1, "capital ?!": 1, "?!": 1,
	} {
		if q := Parse(text, time.Now(), english(t)); len(q.clauses) != want {
			t.Errorf("%q has %d clauses, want %d: %+v", text, len(q.clauses), want, q.clauses)
		}
	}
}
