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

// Parse takes args (the program name first) apart. Flags may stand anywhere before "--". The error is
// an [agent.ErrUsage]; Line.JSON is right even then.
func Parse(commands []*Command, args []string) (Line, error) {
	p := parser{commands: commands, global: GlobalFlags(), line: Line{Literal: -1}}
	before := args
	if end := slices.Index(args, "--"); end >= 0 {
		before = args[:end]
	}
	p.line.JSON = slices.Contains(before, "--json") || slices.Contains(before, "--json=true")
	p.line.Command = p.findCommand(before[1:])
	err := p.run(args[1:])
	line := p.line
	if line.Literal < 0 {
		line.Literal = len(line.Words)
	}
	line.Argv = slices.Concat(args[:1], p.globals)
	if line.Command != nil {
		line.Words, line.Literal = line.Words[min(1, len(line.Words)):], max(line.Literal-1, 0) // without the command
		line.Argv = slices.Concat(line.Argv, []string{line.Command.Name}, p.locals, []string{"--"}, line.Words)
	}
	return line, err
}

type parser struct {
	commands []*Command
	global   []cli.Flag
	line     Line // the first of its words is the command's name
	globals  []string
	locals   []string
}

// run reads arguments in order.
func (p *parser) run(args []string) error {
	for len(args) > 0 {
		used := 1
		switch arg := args[0]; {
		case p.line.Command == nil && isWord(arg):
			return p.unknownCommand(arg)
		case arg == "--":
			p.line.Literal = len(p.line.Words)
			p.line.Words = append(p.line.Words, args[1:]...)
			if p.line.Command == nil && len(args) > 1 {
				return p.unknownCommand(args[1])
			}
			return nil
		case isWord(arg):
			p.line.Words = append(p.line.Words, arg)
		default:
			var err error
			if used, err = p.flag(args); err != nil {
				return err
			}
		}
		args = args[used:]
	}
	return nil
}

func isWord(arg string) bool { return arg == "-" || !strings.HasPrefix(arg, "-") }

// findCommand returns the command that the first word names, nil when there is
// no word or no such command.
func (p *parser) findCommand(args []string) *Command {
	for i := 0; i < len(args); i++ {
		if isWord(args[i]) {
			return Find(p.commands, args[i])
		}
		name, _, inline := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if f := lookup(p.global, name); f != nil && takesValue(f) && !inline {
			i++
		}
	}
	return nil
}

// find returns the flag of that name and whether it is the command's own, which wins: revert
// --session selects, it does not note.
func (p *parser) find(name string) (f cli.Flag, own bool) {
	if p.line.Command != nil {
		if f = lookup(p.line.Command.Flags, name); f != nil {
			return f, true
		}
	}
	return lookup(p.global, name), false
}

// flag reads the flag args[0] and returns how many arguments it took.
func (p *parser) flag(args []string) (int, error) {
	name, _, inline := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
	f, own := p.find(name)
	target, used := &p.globals, 1
	if own {
		target = &p.locals
	}
	switch {
	case f == nil:
		rest := p.splitShort(args[0])
		if rest == nil {
			return 0, p.unknownFlag(args[0], name)
		}
		return 1, p.run(rest)
	case name == "help" || name == "h":
		p.line.Help = true
		return 1, nil
	case name == "version":
		p.line.Version = true
		return 1, nil
	case takesValue(f) && !inline && len(args) < 2:
		return 0, agent.Usagef("flag %s needs a value", dashed(name))
	case takesValue(f) && !inline:
		used = 2
	}
	*target = append(*target, args[:used]...)
	return used, nil
}

// splitShort turns "-n5" into "-n 5" and "-ip" into "-i -p"; nil when it is
// neither.
func (p *parser) splitShort(arg string) []string {
	if strings.HasPrefix(arg, "--") || len(arg) < 3 {
		return nil
	}
	var out []string
	for i := 1; i < len(arg); i++ {
		f, _ := p.find(arg[i : i+1])
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

func (p *parser) unknownCommand(word string) error {
	err := agent.Usagef("unknown command %q", word)
	if near := agent.Nearest(word, CommandNames(p.commands)); near != "" {
		return err.Suggest("did you mean \"stet %s\"?", near)
	}
	return err.Suggest(`"stet help all" lists the commands`)
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
	has := func(c *Command) bool { return lookup(c.Flags, name) != nil }
	if p.line.Command == nil && slices.ContainsFunc(p.commands, has) {
		return err.Suggest("a flag of a command stands behind its name: stet COMMAND %s", arg)
	}
	var having []string
	for _, c := range p.commands {
		if len(name) > 1 && lookup(c.Flags, name) != nil {
			having = append(having, "stet "+c.Name)
		}
	}
	if len(having) > 0 && len(having) < 4 {
		return err.Suggest("%s has it; %q lists the flags of this one", strings.Join(having, ", "), ask)
	}
	return err.Suggest(`%q lists the flags; text that begins with "-" goes after "--"`, ask)
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
