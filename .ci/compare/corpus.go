package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The shape of the corpus: words as frequent as those of a language, the first
// common of them in the part of "the" and "of", which no question is about.
const (
	vocabularySize = 50000
	common         = 50
	noteBytes      = 1000
)

// A corpus makes notes and questions from a fixed seed: two runs compare the
// same things.
type corpus struct {
	words []string
	known map[string]bool
	rand  *rand.Rand
	zipf  *rand.Zipf
}

func newCorpus(seed uint64) *corpus {
	c := &corpus{known: map[string]bool{}, rand: rand.New(rand.NewPCG(seed, 1))}
	c.zipf = rand.NewZipf(c.rand, 1.1, 2, vocabularySize-1)
	for len(c.words) < vocabularySize {
		if w := c.coin(); !c.known[w] {
			c.known[w] = true
			c.words = append(c.words, w)
		}
	}
	return c
}

// coin makes a word of two to five syllables.
func (c *corpus) coin() string {
	var b strings.Builder
	for range 2 + c.rand.IntN(4) {
		b.WriteByte("bdfgklmnprtvz"[c.rand.IntN(13)])
		b.WriteByte("aiou"[c.rand.IntN(4)])
	}
	return b.String()
}

// note is about 1 KB; numbers are the words of its text.
func (c *corpus) note() (text string, numbers []int) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\n", c.words[c.zipf.Uint64()], c.words[c.zipf.Uint64()])
	for b.Len() < noteBytes {
		n := int(c.zipf.Uint64())
		numbers = append(numbers, n)
		b.WriteString(c.words[n])
		b.WriteByte(" \n"[min(1, c.rand.IntN(12)/11)])
	}
	return b.String(), numbers
}

// A question is of one kind; its words are in the corpus, but for a fuzzy one.
type question struct {
	kind  string
	words []string
}

// kinds are the kinds of questions, in the order they are shown.
func kinds() []string { return []string{"sentence", "phrase", "prefix", "fuzzy"} }

// ask makes a question of each kind from the words of a note, fewer where the
// note has not the words for it.
func (c *corpus) ask(numbers []int) []question {
	var telling []int
	var out []question
	for i, n := range numbers {
		if n < common {
			continue
		}
		telling = append(telling, n)
		if i > 0 && numbers[i-1] >= common && len(out) == 0 {
			out = append(out, question{"phrase", []string{c.words[numbers[i-1]], c.words[n]}})
		}
	}
	if len(telling) < 6 {
		return nil
	}
	c.rand.Shuffle(len(telling), func(i, j int) { telling[i], telling[j] = telling[j], telling[i] })
	sentence := question{kind: "sentence"}
	for _, n := range telling[:6] {
		sentence.words = append(sentence.words, c.words[n])
	}
	out = append(out, sentence)
	for _, n := range telling {
		w := c.words[n]
		if len(w) < 6 {
			continue
		}
		// A consonant lost in the middle makes a word that nobody wrote.
		if slip := w[:2] + w[3:]; !c.known[slip] {
			return append(out, question{"prefix", []string{w[:5]}}, question{"fuzzy", []string{slip}})
		}
	}
	return out
}
