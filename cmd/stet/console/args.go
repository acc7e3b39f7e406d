package console

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
)

// A Line is a command line taken apart: which command, and its arguments in the
// one order that urfave/cli understands (it takes every flag after the first
// argument for text).
type Line struct {
	Command *Command // nil: none was named
	Argv    []string // program, global flags, command, its flags, "--", words
	Words   []string
	Literal int // words before "--"
	Help    bool
	Version bool
	JSON    bool
}

// Parse takes args (the program name first) apart. Flags may stand anywhere
// before "--". The error is an [agent.ErrUsage]; Line.JSON is right even then.
func Parse(commands []*Command, args []string) (Line, error) {
	p := parser{commands: commands, global: GlobalFlags()}
	p.line.JSON = wantsJSON(args)
	err := p.run(args[1:])
	if p.literal < 0 {
		p.literal = len(p.line.Words)
	}
	p.line.Literal = p.literal
	p.line.Argv = slices.Concat(args[:1], p.globals)
	if p.line.Command != nil {
		p.line.Argv = slices.Concat(p.line.Argv, []string{p.line.Command.Name}, p.locals, []string{"--"}, p.line.Words)
	}
	return p.line, err
}

// wantsJSON looks for --json alone, so that an error in the rest of the line is
// still reported in the form that was asked for.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

type parser struct {
	commands []*Command
	global   []cli.Flag
	line     Line
	globals  []string
	locals   []string
	met      bool // the word that names the command is behind us
	literal  int
}

func (p *parser) run(args []string) error {
	p.literal = -1
	p.line.Command = p.findCommand(args)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			p.literal = len(p.line.Words)
			return p.words(args[i+1:])
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			if err := p.words(args[i : i+1]); err != nil {
				return err
			}
		default:
			used, err := p.flag(args[i:])
			if err != nil {
				return err
			}
			i += used - 1
		}
	}
	return nil
}

// findCommand returns the command that the first word names, nil when there is
// no word or no such command.
func (p *parser) findCommand(args []string) *Command {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return nil
		}
		if arg == "-" || !strings.HasPrefix(arg, "-") {
			return Find(p.commands, arg)
		}
		name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if f := lookup(p.global, name); f != nil && takesValue(f) && !inline {
			i++
		}
	}
	return nil
}

// words appends arguments; the first of all is the command's name.
func (p *parser) words(args []string) error {
	for _, arg := range args {
		switch {
		case p.met:
			p.line.Words = append(p.line.Words, arg)
		case p.line.Command == nil:
			return p.unknownCommand(arg)
		default:
			p.met = true
		}
	}
	return nil
}

// flag reads the flag args[0] and returns how many arguments it took.
func (p *parser) flag(args []string) (int, error) {
	arg := args[0]
	name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	f, target := lookup(p.global, name), &p.globals
	if p.line.Command != nil {
		// A command's own flag wins: revert --session selects, it does not note.
		if own := lookup(p.line.Command.Flags, name); own != nil {
			f, target = own, &p.locals
		}
	}
	if f == nil {
		if rest := p.splitShort(arg); rest != nil {
			return 1, p.flags(append(rest, args[1:]...), len(rest))
		}
		return 0, p.unknownFlag(arg, name)
	}
	switch name {
	case "help", "h":
		p.line.Help = true
		return 1, nil
	case "version":
		p.line.Version = true
		return 1, nil
	}
	if !takesValue(f) || inline {
		*target = append(*target, arg)
		return 1, nil
	}
	if len(args) < 2 {
		return 0, agent.Usagef("flag %s needs a value", dashed(name))
	}
	*target = append(*target, arg, args[1])
	return 2, nil
}

func (p *parser) flags(args []string, n int) error {
	for i := 0; i < n; {
		used, err := p.flag(args[i:n])
		if err != nil {
			return err
		}
		i += used
	}
	return nil
}

// splitShort turns "-n5" into "-n 5" and "-ip" into "-i -p"; nil when it is
// neither.
func (p *parser) splitShort(arg string) []string {
	if strings.HasPrefix(arg, "--") || len(arg) < 3 {
		return nil
	}
	var out []string
	for i := 1; i < len(arg); i++ {
		f := lookup(p.global, arg[i:i+1])
		if own := p.ownFlag(arg[i : i+1]); own != nil {
			f = own
		}
		if f == nil {
			return nil
		}
		out = append(out, "-"+arg[i:i+1])
		if takesValue(f) {
			if i+1 == len(arg) {
				return nil
			}
			return append(out, arg[i+1:])
		}
	}
	return out
}

func (p *parser) ownFlag(name string) cli.Flag {
	if p.line.Command == nil {
		return nil
	}
	return lookup(p.line.Command.Flags, name)
}

func (p *parser) unknownCommand(word string) error {
	err := agent.Usagef("unknown command %q", word)
	if near := agent.Nearest(word, CommandNames(p.commands)); near != "" {
		return err.Suggest("did you mean \"stet %s\"?", near)
	}
	return err.Suggest(`"stet help" lists the commands`)
}

func (p *parser) unknownFlag(arg, name string) error {
	flags := p.global
	where, ask := "stet", "stet --help"
	if c := p.line.Command; c != nil {
		flags = slices.Concat(c.Flags, p.global)
		where, ask = "stet "+c.Name, "stet "+c.Name+" --help"
	}
	var names []string
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	err := agent.Usagef("%s has no flag %q", where, arg)
	if near := agent.Nearest(name, names); near != "" && len(name) > 1 {
		return err.Suggest("did you mean %s?", dashed(near))
	}
	return err.Suggest(`text that begins with "-" goes after "--"; %q lists the flags`, ask)
}

func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

func takesValue(f cli.Flag) bool {
	d, ok := f.(cli.DocGenerationFlag)
	return ok && d.TakesValue()
}
