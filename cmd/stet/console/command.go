package console

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"
)

// A Group is a heading under which commands are listed.
type Group string

// The groups in the order they are listed.
const (
	Start   Group = "start"
	Memory  Group = "memory"
	History Group = "history"
	Upkeep  Group = "index"
	Other   Group = "other"
)

// Groups returns every group in listing order.
func Groups() []Group { return []Group{Start, Memory, History, Upkeep, Other} }

// An Example is one line a person can type, and what it does.
type Example struct{ Line, Says string }

// A Command is everything stet knows about one of its commands.
type Command struct {
	Name    string
	Aliases []string
	Group   Group
	Summary string // one line, lower case, no full stop
	Args    string // "TEXT... | -", "" when there are none
	MinArgs int
	MaxArgs int // negative = any number
	// Verbs are the words that the first argument may be, for completion.
	Verbs []string
	// Details are paragraphs for the help page, wrapped by hand.
	Details  string
	Examples []Example
	Flags    []cli.Flag
	Run      func(ctx context.Context, e *Env, in *Input) error
}

// Names returns the name and the aliases.
func (c *Command) Names() []string { return append([]string{c.Name}, c.Aliases...) }

// An Input is what the person asked of one command.
type Input struct {
	*cli.Context
	// Words are the arguments without flags.
	Words []string
	// Literal is the number of words that stood before "--".
	Literal int
}

// Find returns the command of that name or alias, nil when there is none.
func Find(commands []*Command, name string) *Command {
	for _, c := range commands {
		if slices.Contains(c.Names(), name) {
			return c
		}
	}
	return nil
}

// Nearest returns the name a person most likely meant, "" when none is close.
func Nearest(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		// Two slips in a short word leave nothing of it to recognise.
		if d := edits(word, name); d < distance && d*3 <= max(len(word), len(name)) {
			best, distance = name, d
		}
	}
	return best
}

// edits counts insertions, deletions, replacements and swaps of neighbours.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
