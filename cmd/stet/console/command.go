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
	Session Group = "sessions"
	Upkeep  Group = "index"
	Other   Group = "other"
)

// Groups returns every group in listing order.
func Groups() []Group { return []Group{Start, Memory, History, Session, Upkeep, Other} }

// An Example is one line a person can type, and what it does.
type Example struct{ Line, Says string }

// A Command is everything stet knows about one of its commands.
type Command struct {
	Name    string
	Aliases []string
	Group   Group
	Hidden  bool   // in no overview: for those who work on stet
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

// A CommandView is a command as JSON shows it.
type CommandView struct {
	Name     string        `json:"name"`
	Aliases  []string      `json:"aliases"`
	Group    Group         `json:"group"`
	Summary  string        `json:"summary"`
	Usage    string        `json:"usage"`
	Details  string        `json:"details,omitempty"`
	Examples []ExampleView `json:"examples"`
	Flags    []FlagView    `json:"flags"`
}

// An ExampleView is an [Example] as JSON shows it.
type ExampleView struct {
	Line string `json:"line"`
	Says string `json:"says"`
}

// A FlagView is a flag as JSON shows it.
type FlagView struct {
	Names   []string `json:"names"`
	Value   string   `json:"value,omitempty"` // what the value is called; "" for none
	Meaning string   `json:"meaning"`
	Default string   `json:"default,omitempty"`
}

// ViewCommand renders c; the flags of every command are not repeated.
func ViewCommand(c *Command) CommandView {
	view := CommandView{Name: c.Name, Aliases: append([]string{}, c.Aliases...), Group: c.Group, Summary: c.Summary, Usage: Usage(c),
		Details: c.Details, Examples: []ExampleView{}, Flags: viewFlags(c.Flags)}
	for _, x := range c.Examples {
		view.Examples = append(view.Examples, ExampleView(x))
	}
	return view
}

func viewFlags(flags []cli.Flag) []FlagView {
	out := []FlagView{}
	for _, f := range flags {
		d := document(f)
		view := FlagView{Meaning: d.text, Default: d.deflt, Value: d.value}
		for _, n := range f.Names() {
			view.Names = append(view.Names, dashed(n))
		}
		out = append(out, view)
	}
	return out
}

// An AllView is every command as JSON shows it, and the flags that all take.
type AllView struct {
	Commands []CommandView `json:"commands"`
	Flags    []FlagView    `json:"flags"`
}

// ViewAll renders the overview.
func ViewAll(commands []*Command) AllView {
	view := AllView{Flags: viewFlags(GlobalFlags())}
	for _, c := range commands {
		if !c.Hidden {
			view.Commands = append(view.Commands, ViewCommand(c))
		}
	}
	return view
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
