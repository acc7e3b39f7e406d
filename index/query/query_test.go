package query

import (
	"strings"
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

// A long line that a word stands on everywhere is cut in one pass.
func TestALongLineIsCutInLinearTime(t *testing.T) {
	t.Parallel()
	cur := line{text: []byte(strings.Repeat("a* ", 1<<18))}
	for at := 0; at < len(cur.text); at += 3 {
		cur.ranges = append(cur.ranges, Range{at, at + 1})
	}
	began := time.Now()
	text, marks := cur.Snippet()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("%d highlights took %s", len(cur.ranges), took)
	}
	if len(text) == 0 || len(text) > snippetBytes || len(marks) < 60 {
		t.Errorf("%q with %d highlights", text, len(marks))
	}
}
