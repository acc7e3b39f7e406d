package console

import (
	"context"
	"slices"
	"strings"

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
	Curator Group = "curator"
	Doors   Group = "for agents"
	Other   Group = "other"
)

// groups returns every group in listing order.
func groups() []Group { return []Group{Start, Memory, History, Session, Upkeep, Curator, Doors, Other} }

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
	// Picks says that without an argument the user chooses a memory on a terminal.
	Picks bool
	// Verbs are what the first argument may be, for a command that runs [RunVerb].
	Verbs []Verb
	// Words are what the first argument may be otherwise, for completion.
	Words []string
	// Details are paragraphs for the help page; their lines may break anywhere.
	Details string
	// Examples are lines a user can type, each with what it does behind "  # ".
	Examples string
	Flags    []cli.Flag
	Actor    string // the agent that acts where nobody says who does; "" is the user
	Run      func(ctx context.Context, e *Env, in *Input) error
}

// Names returns the name and the aliases.
func (c *Command) Names() []string { return append([]string{c.Name}, c.Aliases...) }

// paragraphs are the details, each paragraph on one line.
func (c *Command) paragraphs() []string {
	var out []string
	for p := range strings.SplitSeq(c.Details, "\n\n") {
		if words := strings.Fields(p); len(words) > 0 {
			out = append(out, strings.Join(words, " "))
		}
	}
	if c.Picks {
		out = append(out, "Without a MEMORY you choose among all on a terminal: by arrow keys, number or typing.")
	}
	return out
}

// An example is one line a user can type, and what it does.
type example struct {
	Line string `json:"line"`
	Says string `json:"says"`
}

// ListExamples returns the examples in order.
func (c *Command) ListExamples() []example {
	out := []example{}
	for line := range strings.Lines(c.Examples) {
		command, says, _ := strings.Cut(strings.TrimSpace(line), "  # ")
		out = append(out, example{command, says})
	}
	return out
}

// An Input is what the user asked of one command.
type Input struct {
	*cli.Context
	Definition *Command
	// Words are the arguments without flags.
	Words []string
	// Literal is the number of words that stood before "--".
	Literal int
}

// Word is argument i, "" when there are fewer.
func (in *Input) Word(i int) string {
	if i < len(in.Words) {
		return in.Words[i]
	}
	return ""
}

// A commandView is a command as JSON shows it.
type commandView struct {
	Name     string     `json:"name"`
	Aliases  []string   `json:"aliases"`
	Group    Group      `json:"group"`
	Summary  string     `json:"summary"`
	Usage    string     `json:"usage"`
	Details  string     `json:"details,omitempty"`
	Examples []example  `json:"examples"`
	Flags    []flagView `json:"flags"`
}

// viewCommand renders c; the flags of every command are not repeated.
func viewCommand(c *Command) commandView {
	return commandView{c.Name, append([]string{}, c.Aliases...), c.Group, c.Summary, usageOf(c),
		strings.Join(c.paragraphs(), "\n\n"), c.ListExamples(), viewFlags(c.Flags)}
}

// An overviewView is every command as JSON shows it, and the flags that all take.
type overviewView struct {
	Commands []commandView `json:"commands"`
	Flags    []flagView    `json:"flags"`
}

// viewAll renders the overview.
func viewAll(commands []*Command) overviewView {
	view := overviewView{Flags: viewFlags(GlobalFlags())}
	for _, c := range commands {
		if !c.Hidden {
			view.Commands = append(view.Commands, viewCommand(c))
		}
	}
	return view
}

// CommandNames lists the names and aliases of commands.
func CommandNames(commands []*Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Names()...)
	}
	return out
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
