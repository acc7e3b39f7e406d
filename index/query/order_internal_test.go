package query

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"stet/index/document"
)

// A text that is shorter than a phrase is not searched for it word by word: 100,000 words took minutes.
func TestAPhraseLongerThanATextIsNotThere(t *testing.T) {
	t.Parallel()
	const words = 100_000
	toks := make([]document.Token, words)
	for i := range toks {
		toks[i] = document.Token{Term: "a", Pos: i}
	}
	c := &clause{exact: toks}
	began := time.Now()
	if c.inOrder(toks[:words-1]) {
		t.Error("a phrase stands in a text that is shorter")
	}
	if took := time.Since(began); took > 2*time.Second { // it takes no time
		t.Errorf("it took %v", took)
	}
	if !c.inOrder(toks) {
		t.Error("a phrase does not stand in itself")
	}
}

func TestForemostAreTheFirstInOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	order := func(a, b Match) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) }
	for range 2000 {
		list := make([]Match, r.IntN(60))
		for i := range list {
			list[i] = Match{Doc: int32(i), Score: float64(r.IntN(20))}
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		n := 1 + r.IntN(20)
		want := slices.SortedFunc(slices.Values(list), order)
		want = want[:min(n, len(want))]
		if got := foremost(list, n, order); !slices.Equal(got, want) {
			t.Fatalf("the first %d are %v, not %v", n, got, want)
		}
	}
}

func BenchmarkForemost(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	all := make([]Match, 60_000)
	for i := range all {
		all[i] = Match{Doc: int32(i), Score: r.Float64()}
	}
	for _, whole := range []bool{false, true} {
		b.Run(map[bool]string{false: "foremost", true: "sorted"}[whole], func(b *testing.B) {
			for b.Loop() {
				list := slices.Clone(all)
				if whole {
					slices.SortFunc(list, byScore)
				} else {
					foremost(list, messagePool, byScore)
				}
			}
		})
	}
}
