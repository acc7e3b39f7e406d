package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
)

// Flags is the flags of a command that writes nothing: its own, and who reads.
func Flags(own ...cli.Flag) []cli.Flag {
	if slices.ContainsFunc(own, func(f cli.Flag) bool { return f.Names()[0] == "as" }) {
		return own
	}
	return append(own, AgentFlag())
}

// Bool is a flag without a value. Of this and all other flags, names is the name and, behind a
// space, its short form; the back-quoted word of usage is what the value is called.
func Bool(names, usage string) cli.Flag {
	name, short := split(names)
	return &cli.BoolFlag{Name: name, Aliases: short, Usage: usage}
}

// Text is a flag with a text, which may have a default.
func Text(names, usage string, value ...string) cli.Flag {
	name, short := split(names)
	return &cli.StringFlag{Name: name, Aliases: short, Usage: usage, Value: strings.Join(value, "")}
}

// List is a flag with a text that may be repeated.
func List(names, usage string) cli.Flag {
	name, short := split(names)
	return &cli.StringSliceFlag{Name: name, Aliases: short, Usage: usage}
}

// Number is a flag with a whole number that is not negative; 0 is no bound.
func Number(names, usage string, value ...int) cli.Flag {
	name, short := split(names)
	f := &cli.IntFlag{Name: name, Aliases: short, Usage: usage}
	if len(value) > 0 {
		f.Value = value[0]
	}
	return f
}

// Fraction is a flag with a number.
func Fraction(names, usage string) cli.Flag {
	name, short := split(names)
	return &cli.Float64Flag{Name: name, Aliases: short, Usage: usage}
}

func split(names string) (name string, short []string) {
	all := strings.Fields(names)
	return all[0], all[1:]
}

// GlobalFlags returns new values of the flags every command takes. They may stand before or after
// the command.
func GlobalFlags() []cli.Flag {
	return []cli.Flag{
		Text("C", "use the vault that holds `DIR`, as if stet had been started there"),
		Bool("json", "answer with one JSON object; errors are one JSON line on standard error"),
		Bool("quiet q", "no notes and no progress on standard error; errors stay"),
		Bool("no-color", "no colour, also when NO_COLOR is set or TERM is dumb"),
		Bool("no-input", "never ask, never start an editor"),
		Bool("no-pager", "never start a pager"),
		&cli.DurationFlag{Name: "lock-wait", Value: 10 * time.Second,
			Usage: "wait at most `TIME` for another writer, then exit 5"},
		Bool("help h", "show help and do nothing else"),
		Bool("version", "show the version and do nothing else"),
	}
}

// WriteFlags returns the flags of a command that writes: its own, who acts, and whether to act at all.
func WriteFlags(own ...cli.Flag) []cli.Flag {
	return append(ActorFlags(own...), DryRunFlag())
}

// ActorFlags returns a command's own flags and those that say on whose behalf it writes.
func ActorFlags(own ...cli.Flag) []cli.Flag {
	return append(own, AgentFlag(), Text("session", "note the session `ID` in the commit (also: STET_SESSION)"))
}

// AgentFlag names the agent that acts.
func AgentFlag() cli.Flag {
	return Text("as", "the agent `NAME` is acting, not the user (also: STET_AGENT); "+
		"among an agent's tools \"me\" is the user")
}

// DryRunFlag asks what would be done.
func DryRunFlag() cli.Flag {
	return Bool("dry-run", "say what would be written, with the diff, and write nothing")
}

// MessageFlag sets the subject of the commit.
func MessageFlag() cli.Flag { return Text("message m", "the commit's subject, a line of `TEXT`") }

// AgainFlag says that the user wants back what was rejected.
func AgainFlag() cli.Flag {
	return Bool("again", "write it although it was rejected before: an agent's waits for the user, "+
		"the user's leaves it rejected for agents")
}

// BecauseFlag names the turns of the user's that ask an agent for a change of what a person wrote.
func BecauseFlag() cli.Flag {
	return Text("because", "an agent: the user asked for it in this `TURN`, session:ID#n[,m], or in a turn of "+
		"the session with these words")
}

// Check refuses what the command cannot mean: too few or too many arguments, a negative number, an
// agent or a commit subject without a name. Where the user can be asked a command that picks may have no argument. The
// error is an [agent.ErrUsage].
func (in *Input) Check(canAsk bool) error {
	c := in.Definition
	switch n := len(in.Words); {
	case n < c.MinArgs && !(n == 0 && c.Picks && canAsk):
		return agent.Usagef("%s needs %s", c.Name, strings.Trim(c.Args, "[]")).
			Suggest("usage: %s; \"stet %s --help\" has examples", usageOf(c), c.Name)
	case c.MaxArgs >= 0 && n > c.MaxArgs:
		err := agent.Usagef("%s: unexpected argument %q", c.Name, in.Words[c.MaxArgs])
		if slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return f.Names()[0] == "text" }) {
			return err.Suggest("text goes behind --text: stet %s %s --text %q", c.Name,
				strings.Join(in.Words[:c.MaxArgs], " "), strings.Join(in.Words[c.MaxArgs:], " "))
		}
		return err.Suggest("usage: %s; quote text that has spaces", usageOf(c))
	}
	for _, f := range c.Flags {
		name := f.Names()[0]
		_, number := f.(*cli.IntFlag)
		switch blank := in.IsSet(name) && strings.TrimSpace(in.String(name)) == ""; {
		case number && in.Int(name) < 0:
			return agent.Usagef("%s %d: a number cannot be negative here", dashed(name), in.Int(name)).
				Suggest("0 is no bound")
		case blank && name == "as":
			return agent.Usagef("--as needs the name of an agent").Suggest("leave --as out when you act yourself")
		case blank && name == "message":
			return agent.Usagef("--message needs text").Suggest("leave it out for a subject made from the content")
		}
	}
	return nil
}

// A flagView is a flag in the words of the help page, and as JSON shows it.
type flagView struct {
	Names   []string `json:"names"`
	Value   string   `json:"value,omitempty"` // what the value is called; "" for none
	Meaning string   `json:"meaning"`
	Default string   `json:"default,omitempty"`
}

// usage is how the flag is typed: "--limit N, -n N".
func (v flagView) usage() string {
	var out []string
	for _, n := range v.Names {
		out = append(out, strings.TrimSpace(n+" "+v.Value))
	}
	return strings.Join(out, ", ")
}

func viewFlags(flags []cli.Flag) []flagView {
	out := []flagView{}
	for _, f := range flags {
		out = append(out, viewFlag(f))
	}
	return out
}

func viewFlag(f cli.Flag) flagView {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		panic(fmt.Sprintf("flag %v has no documentation", f.Names()))
	}
	v := flagView{Meaning: d.GetUsage()}
	if parts := strings.SplitN(v.Meaning, "`", 3); len(parts) == 3 {
		v.Value, v.Meaning = parts[1], strings.Join(parts, "")
	} else if d.TakesValue() {
		v.Value = "VALUE"
	}
	for _, n := range f.Names() {
		v.Names = append(v.Names, dashed(n))
	}
	if _, repeats := f.(*cli.StringSliceFlag); repeats {
		v.Meaning += " (may be repeated)"
	}
	if def := d.GetValue(); d.TakesValue() && def != "" && def != "0" && def != "0s" && def != "[]" {
		v.Default = def
	}
	return v
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
