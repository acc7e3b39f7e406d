// Package remind says which stored memories a prompt of a person's needs: those without which the answer
// would be wrong, and not those that merely share words with it.
//
// Search ranks, it does not say when nothing fits: nearly every prompt shares a word with some memory. What
// decides here is how rare the shared words are in the vault, how specific (names, identifiers, numbers), how
// much of the memory and of the prompt they cover, whether they stand together, and whether the prompt asks
// for something of the writer's own. A linear model weighs these features; weights.txt says how it was fitted.
//
// The functions are pure: the caller searches, reads the memories and counts words.
package remind

import "math"

// Counts are how many of a vault's files have each of some words, by stem.
type Counts struct {
	Files  int
	Having map[string]int
}

// fewFiles is the size below which a vault is taken for larger: among a few files every word is rare.
const fewFiles = 100

// rarity is 0 for a word that all files have and nearly 1 for one that a single file has; 0 for one that none has.
func (c Counts) rarity(stem string) float64 {
	n := c.Having[stem]
	if n == 0 {
		return 0
	}
	files := float64(max(c.Files, n, fewFiles)) + 1
	return math.Log(files/(float64(n)+0.5)) / math.Log(files)
}
