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

// What is told of a name by its ends alone is what all rules together say.
func TestTheEndsOfNamesMissNothing(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"*", "?", "[ab]", "[!a]", `\*`, `\ `, `\#`, "a", "b", "md", ".", "~", "#", "!", "/", "**", " ", "é"})
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		var rules strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			rules.WriteString(strings.Join(rapid.SliceOfN(piece, 1, 5).Draw(t, "line"), "") + "\n")
		}
		name := rapid.StringMatching(`[ab*.~md !#é]{1,6}`).Draw(t, "name")
		isDir := rapid.Bool().Draw(t, "dir")
		below := (&Ignore{}).In("", []byte(rules.String())).Below("a/b")
		rule, hidden := below.Match(name, isDir)
		for i := range below.above {
			if !below.above[i] {
				quick++
			}
			below.above[i] = true
		}
		if want, wanted := below.Match(name, isDir); hidden != wanted || rule != want {
			t.Fatalf("%q in %q: %v, %+v; without a glance at its ends %v, %+v", name, rules.String(), hidden, rule, wanted, want)
		}
	})
	if quick == 0 {
		t.Error("no set of rules was told by the ends of names")
	}
}
