package query

import (
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
