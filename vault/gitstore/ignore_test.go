package gitstore

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
	"pgregory.net/rapid"
)

// The guess that saves most of the matching never changes its outcome.
func TestTheGuessOfAPatternMissesNothing(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"*", "?", "[ab]", "[!a]", `\*`, `\ `, "a", "b", "md", ".", "~", "#", "!", "/", "**", " ", "]", "["})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "line"), "")
		path := strings.Trim(rapid.StringMatching(`[ab*/.~md !#]{1,8}`).Draw(t, "path"), "/")
		if path == "" || strings.Contains(path, "//") {
			t.Skip()
		}
		isDir := rapid.Bool().Draw(t, "dir")
		got := gitignore.ParsePattern(line, nil).Match(strings.Split(path, "/"), isDir)
		if got != gitignore.NoMatch && !guessOf(line).possible(path) {
			t.Fatalf("%q matches %q, but the guess %+v says it cannot", line, path, guessOf(line))
		}
	})
}
