package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"stet/vault"
)

// benchFiles is the size of the vaults that benchmarks search.
const benchFiles = 10000

// syntheticNote is about 1 KB of words with the frequencies of a language.
func syntheticNote(r *rand.Rand, z *rand.Zipf) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Note on word%d\n\n", z.Uint64())
	for b.Len() < 1000 {
		fmt.Fprintf(&b, "word%d", z.Uint64())
		b.WriteByte(" \n"[min(1, r.IntN(12)/11)])
	}
	return b.String()
}

func syntheticVault(b *testing.B, files int) *folder {
	b.Helper()
	src := newFolder(b, nil)
	r := rand.New(rand.NewPCG(7, 8))
	z := rand.NewZipf(r, 1.1, 2, 50000)
	for i := range files {
		src.write(b, fmt.Sprintf("n/%02d/%05d.md", i%50, i), syntheticNote(r, z))
	}
	return src
}

func benchIndex(b *testing.B) (*folder, *Index) {
	b.Helper()
	src := syntheticVault(b, benchFiles)
	x, err := Open(src, Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	if _, err := x.Rebuild(b.Context()); err != nil {
		b.Fatal(err)
	}
	return src, x
}

// still is a Source whose list of files is frozen, to measure the index
// without the walk of the test's own Source.
type still struct {
	*folder
	files []vault.File
}

func (s *still) Files(context.Context, vault.WalkOptions) ([]vault.File, error) { return s.files, nil }

func freeze(b *testing.B, src *folder) *still {
	b.Helper()
	files, err := src.Files(b.Context(), vault.WalkOptions{Archive: true})
	if err != nil {
		b.Fatal(err)
	}
	return &still{src, files}
}

func BenchmarkSearch(b *testing.B) {
	src, built := benchIndex(b)
	ask(b, built, Query{Text: "x"})
	x := open(b, freeze(b, src))
	for name, text := range map[string]string{
		"sentence": "what did word17 say about word2503 and the word9 of word411?",
		"word":     "word40", "phrase": `"word1 word2"`, "prefix": "word12*",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask(b, x, Query{Text: text})
			}
		})
	}
}

// BenchmarkSearchOnce opens the index anew for every search, as a process
// does, and compares with rg where that is installed.
func BenchmarkSearchOnce(b *testing.B) {
	src, built := benchIndex(b)
	ask(b, built, Query{Text: "x"})
	from := freeze(b, src)
	for b.Loop() {
		x := open(b, from)
		ask(b, x, Query{Text: "what about word2503 and word411?"})
	}
	if rg, err := exec.LookPath("rg"); err == nil {
		began := time.Now()
		for range 5 {
			exec.Command(rg, "-i", "-l", "word2503", src.dir).Run() // exit 1 = no match
		}
		per := time.Since(began) / 5
		b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/float64(per), "x-rg")
	}
}

func BenchmarkCatchUpNothing(b *testing.B) {
	src, built := benchIndex(b)
	ask(b, built, Query{Text: "x"})
	x := open(b, freeze(b, src))
	for b.Loop() {
		if stats, err := x.CatchUp(b.Context()); err != nil || stats.Changed > 0 {
			b.Fatalf("%+v %v", stats, err)
		}
	}
}

// BenchmarkTouch is the index's share of a one-shot write.
func BenchmarkTouch(b *testing.B) {
	src, built := benchIndex(b)
	ask(b, built, Query{Text: "x"})
	i := 0
	for b.Loop() {
		i++
		p := fmt.Sprintf("new/%d.md", i)
		b.StopTimer()
		src.write(b, p, "We moved the build machine to the cellar.\n")
		x := open(b, src)
		b.StartTimer()
		if _, err := x.Touch(b.Context(), []vault.Path{vault.Path(p)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRebuild(b *testing.B) {
	_, x := benchIndex(b)
	for b.Loop() {
		if _, err := x.Rebuild(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(benchFiles*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkScan is the answer without an index.
func BenchmarkScan(b *testing.B) {
	src := syntheticVault(b, benchFiles)
	for b.Loop() {
		x := open(b, src, func(o *Options) { o.ReadOnly = true })
		if res := ask(b, x, Query{Text: "word2503"}); res.Degraded == "" {
			b.Fatal("there is an index")
		}
	}
}

// BenchmarkVocabulary is what a new memory costs beside the search for what
// resembles it: two topics of forty words each.
func BenchmarkVocabulary(b *testing.B) {
	src := newFolder(b, nil)
	r := rand.New(rand.NewPCG(9, 10))
	z := rand.NewZipf(r, 1.1, 2, 50000)
	for i := range benchFiles {
		text := fmt.Sprintf("---\nid: 01jd7q8r5t9v3x6y2z4a%06d\ncategories: [c%d, c%d]\nimportance: 0.6\n---\n%s\n", i, r.IntN(80), r.IntN(80), syntheticNote(r, z)[:300])
		src.write(b, fmt.Sprintf("memories/a%d/b%d/%05d.md", i%20, i%200, i), text)
	}
	x, err := Open(src, Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	if _, err := x.Rebuild(b.Context()); err != nil {
		b.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(syntheticNote(r, z), "\n", " "))
	text, groups := strings.Join(words[:20], " "), []string{strings.Join(words[20:60], " "), strings.Join(words[60:100], " ")}
	b.ResetTimer()
	for range b.N {
		v, err := x.Vocabulary(b.Context(), []string{text}, groups, true)
		if err != nil || v.All.Memories != benchFiles {
			b.Fatalf("%+v, %v", v.All, err)
		}
	}
}
