package main

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"stet/cmd/stet/console"
)

// On a terminal no line is longer than it, nor broken within a word; what goes on is indented, and titles are cut.
func TestNoLineIsBrokenWithinAWord(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	title := "The long title of a decision about the port that production runs on since last winter"
	s.run(0, "", "remember", "Production runs on port 5433 since the last winter, when the other port was taken by "+
		"somebody else's database, and nobody has moved it since then.", "--title", title, "--as", "robo")
	for _, args := range []string{"list", "search production", "log", "review",
		"remember Sticks. --title gate", "remember [it](gate.md) --title overview",
		"move gate /house/doors/of-the-old-house-by-the-lake", "links overview"} {
		out, talk := s.run(0, "q\n", strings.Fields(args)...)
		out, _, _ = strings.Cut(out, "diff --git")
		plain := strings.NewReplacer(console.Cyan, "", console.Bold, "", "\x1b[0m", "", "[q]uit: ", "\n")
		text := plain.Replace(out + talk)
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("stet %s: %d columns in %q", args, n, line)
			}
		}
		joined := strings.Join(strings.Fields(text), " ")
		want := map[string]string{
			"list": "The long title of", "search production": "when the other port",
			"log":                           "remember: The long title of",
			"remember Sticks. --title gate": "gate", "remember [it](gate.md) --title overview": "overview",
			"move gate /house/doors/of-the-old-house-by-the-lake": "-> memories/house",
			"links overview": "-> memories/house",
		}[args]
		if !strings.Contains(joined, cmp.Or(want, "the port that production r…")) ||
			slices.Contains([]string{"list", "log", "review"}, args) && !strings.Contains(joined, "…") {
			t.Errorf("stet %s: %q", args, out)
		}
	}
}
