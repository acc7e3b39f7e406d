package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
)

// GlobalFlags returns new values of the flags every command takes. They may
// stand before or after the command.
func GlobalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "C", Usage: "use the vault that holds `DIR`, as if stet had been started there"},
		&cli.BoolFlag{Name: "json", Usage: "answer with one JSON object; errors are one JSON line on standard error"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no notes and no progress on standard error; errors stay"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colour, also when NO_COLOR is set or TERM is dumb"},
		&cli.BoolFlag{Name: "no-input", Usage: "never ask, never start an editor"},
		&cli.BoolFlag{Name: "no-pager", Usage: "never start a pager"},
		&cli.DurationFlag{Name: "lock-wait", Value: 10 * time.Second, Usage: "wait at most `TIME` for another writer, then exit 5"},
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show help and do nothing else"},
		&cli.BoolFlag{Name: "version", Usage: "show the version and do nothing else"},
	}
}

// WriteFlags returns new values of the flags every command that writes takes:
// who acts, and whether to act at all.
func WriteFlags() []cli.Flag {
	return append(ActorFlags(),
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be written, with the diff, and write nothing"})
}

// AgainFlag returns a new value of the flag by which an agent says that the person
// wants back what was rejected.
func AgainFlag() cli.Flag {
	return &cli.BoolFlag{Name: "again", Usage: "write it although it was rejected before: the person asked for it"}
}

// ActorFlags returns new values of the flags that say on whose behalf a command
// writes.
func ActorFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "as", Usage: "the agent `NAME` is acting, not a person (also: STET_AGENT)"},
		&cli.StringFlag{Name: "session", Usage: "note the session `ID` in the commit"},
	}
}

// CheckFlags refuses what no command can mean: a negative number, an agent or a
// commit subject without a name. The error is an [agent.ErrUsage].
func CheckFlags(c *Command, in *Input) error {
	for _, f := range c.Flags {
		name := f.Names()[0]
		_, number := f.(*cli.IntFlag)
		switch blank := in.IsSet(name) && strings.TrimSpace(in.String(name)) == ""; {
		case number && in.Int(name) < 0:
			return agent.Usagef("%s %d: a number cannot be negative here", dashed(name), in.Int(name)).Suggest("0 is no bound")
		case blank && name == "as":
			return agent.Usagef("--as needs the name of an agent").Suggest("leave --as out when you act yourself")
		case blank && name == "message":
			return agent.Usagef("--message needs text").Suggest("leave it out for a subject made from the content")
		}
	}
	return nil
}

// flagDoc is a flag in the words of the help page.
type flagDoc struct {
	names string // "--limit N, -n N"
	value string // "N"
	text  string
	deflt string
}

func document(f cli.Flag) flagDoc {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		panic(fmt.Sprintf("flag %v has no documentation", f.Names()))
	}
	value, text := placeholder(d.GetUsage(), d.TakesValue())
	var names []string
	for _, n := range f.Names() {
		names = append(names, dashed(n)+value)
	}
	doc := flagDoc{names: strings.Join(names, ", "), value: strings.TrimSpace(value), text: text}
	if _, repeats := f.(*cli.StringSliceFlag); repeats {
		doc.text += " (may be repeated)"
	}
	if def := d.GetValue(); d.TakesValue() && def != "" && def != "0" && def != "0s" && def != "[]" {
		doc.deflt = def
	}
	return doc
}

// placeholder takes the back-quoted word out of a usage text, as package flag
// does, and returns it with a leading space.
func placeholder(usage string, takesValue bool) (value, text string) {
	if before, rest, found := strings.Cut(usage, "`"); found {
		if name, after, closed := strings.Cut(rest, "`"); closed {
			return " " + name, before + name + after
		}
	}
	if takesValue {
		return " VALUE", usage
	}
	return "", usage
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
