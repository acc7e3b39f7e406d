package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/vault"
)

// fromFiles answers q from the files alone, with the same filters as Search.
func fromFiles(t testing.TB, src Source, q Query) *Result {
	t.Helper()
	res, err := readFiles(t.Context(), src, q)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func readFiles(ctx context.Context, src Source, q Query) (*Result, error) {
	files, err := src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return nil, err
	}
	x, err := Open(src, Options{Now: time.Now})
	if err != nil {
		return nil, err
	}
	defer x.Close()
	s := newSearching(ctx, x, q, time.Now())
	mem, talk := divide(files)
	wantsMem, wantsTalk := s.wants()
	s.apart = wantsMem && wantsTalk
	answer := func(files []vault.File, byMessage bool) error {
		from, err := newMapSource(src, x.lang, files, s.readings, byMessage)
		if err != nil {
			return err
		}
		return s.on(from)
	}
	if wantsTalk {
		err = answer(talk, true)
	}
	if wantsMem && err == nil {
		err = answer(mem, false)
	}
	return s.res, err
}

// sameAnswer compares hits, order, scores and totals to the last bit.
func sameAnswer(t testing.TB, what string, got, want *Result) {
	t.Helper()
	if !alike(got, want) {
		t.Fatalf("%s:\ngot  %d %v\nwant %d %v", what, got.Total, brief(got), want.Total, brief(want))
	}
}

func alike(got, want *Result) bool {
	same := func(a, b Hit) bool {
		return a.Path == b.Path && a.Message == b.Message && a.Score == b.Score && a.Line == b.Line && a.Snippet == b.Snippet && a.Tier == b.Tier
	}
	return got.Total == want.Total && slices.EqualFunc(got.Hits, want.Hits, same) && slices.EqualFunc(got.Sessions, want.Sessions, same)
}

func brief(r *Result) []string {
	out := []string{}
	for _, h := range slices.Concat(r.Hits, r.Sessions) {
		out = append(out, fmt.Sprintf("%s#%d=%.17g", h.Path, h.Message, h.Score))
	}
	return out
}

func vocabulary() []string {
	return strings.Fields(`alpha beta gamma delta running runner runs run database databases café naïve foo_bar.baz
		getUserName max-open-conns v1.2.3 数据库 データ 🎉 The the of and C++ PostgreSQL postgres it's user@example.com`)
}

func drawText(t *rapid.T, label string) string {
	words := rapid.SliceOfN(rapid.SampledFrom(vocabulary()), 0, 25).Draw(t, label)
	head := rapid.SampledFrom([]string{"", "# Heading gamma\n", "- alpha run\n- [fact] ", "---\nkind: fact\ncategories: [alpha]\n---\n", "---\ntitle: delta run\n---\n"}).Draw(t, "head")
	return head + strings.Join(words, " ") + "\n"
}

func drawQuery(t *rapid.T) string {
	var parts []string
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		w := rapid.SampledFrom(vocabulary()).Draw(t, "word")
		switch rapid.IntRange(0, 7).Draw(t, "form") {
		case 0:
			w = "+" + w
		case 1:
			w = rapid.SampledFrom([]string{"-" + w, `-"` + w + `"`, `NOT "` + w + `"`}).Draw(t, "not")
		case 2:
			w = `"` + w + " " + rapid.SampledFrom(vocabulary()).Draw(t, "second") + `"`
		case 3:
			w = string([]rune(w)[:min(2, len([]rune(w)))]) + "*"
		case 5:
			w += "x"
		case 4:
			w = rapid.SampledFrom([]string{"kind:fact", "tag:alpha", "scope:/a", "-scope:/b"}).Draw(t, "filter")
		}
		parts = append(parts, w)
	}
	return strings.Join(parts, " ")
}

// The index, however it came about, answers like a reader of the files.
func TestIncrementalEqualsRebuiltEqualsFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		dir := filepath.Join(root, fmt.Sprint(n))
		src := &folder{dir: filepath.Join(dir, "v"), state: filepath.Join(dir, "s")}
		if err := os.MkdirAll(src.dir, 0o755); err != nil {
			rt.Fatal(err)
		}
		x, err := Open(src, Options{Now: time.Now})
		if err != nil {
			rt.Fatal(err)
		}
		defer x.Close()
		names := []string{"a/one.md", "a/two.md", "b/three.md", "b/c/four.md", "five.md", "archive/six.md", "USER.md"}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			p := rapid.SampledFrom(names).Draw(rt, "file")
			full := filepath.Join(src.dir, filepath.FromSlash(p))
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				os.Remove(full)
			default:
				src.write(t, p, drawText(rt, p))
			}
			if rapid.Bool().Draw(rt, "touch") {
				if _, err := x.Touch(t.Context(), []vault.Path{vault.Path(p)}); err != nil {
					rt.Fatal(err)
				}
			}
			q := Query{Text: drawQuery(rt), Limit: -1, Archived: rapid.Bool().Draw(rt, "archived")}
			got, err := x.Search(t.Context(), q)
			if err != nil || got.Degraded != "" {
				rt.Fatalf("search %q: %v %s", q.Text, err, got.Degraded)
			}
			sameAnswer(t, fmt.Sprintf("%q against the files", q.Text), got, fromFiles(t, src, q))
		}
		q := Query{Text: drawQuery(rt), Limit: -1}
		before, err := x.Search(t.Context(), q)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := x.Rebuild(t.Context()); err != nil {
			rt.Fatal(err)
		}
		after, err := x.Search(t.Context(), q)
		if err != nil {
			rt.Fatal(err)
		}
		sameAnswer(t, fmt.Sprintf("%q rebuilt", q.Text), after, before)
		if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
			rt.Fatalf("check: %v %v", bad, err)
		}
	})
}

// Any word of a note finds the note, and an unrelated note takes no hit away.
func TestEveryWordOfANoteFindsIt(t *testing.T) {
	t.Parallel()
	src := newFolder(t, smallVault())
	x := open(t, src)
	files, err := src.Files(t.Context(), vault.WalkOptions{Archive: true})
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		for _, f := range files {
			data, _, err := src.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range strings.Fields(string(data)) {
				key := strings.HasSuffix(w, ":") // keys of front matter are no text
				w = strings.Trim(w, `#-.,;:?![]"`)
				if w == "" || key {
					continue
				}
				res := ask(t, x, Query{Text: strings.ReplaceAll(w, ":", " "), Limit: -1, Archived: true})
				if !slices.Contains(hitPaths(res), string(f.Path)) {
					t.Errorf("%s: %q does not find %s, which holds it", when, w, f.Path)
				}
			}
		}
	}
	check("before")
	src.write(t, "unrelated.md", "Entirely different matters of gardening.\n")
	check("after an unrelated note")
}

// Ten thousand single updates in miniature: segments do not pile up, and the
// answer stays that of the files.
func TestSingleUpdatesAnswerLikeTheFiles(t *testing.T) {
	t.Parallel()
	src := newFolder(t, smallVault())
	x := open(t, src)
	ask(t, x, Query{Text: "warm up"})
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary()
	for i := range rounds {
		p := fmt.Sprintf("n/%d.md", r.IntN(40))
		src.write(t, p, fmt.Sprintf("%s %s number%d\n", words[r.IntN(len(words))], words[r.IntN(len(words))], i))
		if _, err := x.Touch(t.Context(), []vault.Path{vault.Path(p)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"database", "run* -alpha", `"the of"`, "number1*"} {
		sameAnswer(t, q, ask(t, x, Query{Text: q, Limit: -1}), fromFiles(t, src, Query{Text: q, Limit: -1}))
	}
}
