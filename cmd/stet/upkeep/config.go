package upkeep

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/settings"
)

func configCommand() *console.Command {
	return &console.Command{
		Name: "config", Group: console.Start,
		Summary: "show or change settings, yours and the vault's",
		Args:    "[get KEY | set KEY VALUE | add KEY ITEM | unset KEY]", MaxArgs: 3,
		Verbs: []string{"get", "set", "add", "unset"},
		Details: "A flag outweighs the environment, that the vault's .stet/config.yaml, that your own\n" +
			"file, that the default. set and unset write to the vault's file, as a commit, when the\n" +
			"key is one that a vault may set and there is a vault; else to your own. Only the bytes\n" +
			"of that key change. A vault's file is shared with everyone who clones it: it cannot set\n" +
			"what belongs to the person, and a key that this stet does not know is passed over.",
		Examples: []console.Example{
			{Line: "stet config", Says: "every key with its value"},
			{Line: "stet config --show-origin", Says: "and who said so"},
			{Line: "stet config get lock_wait", Says: "one value"},
			{Line: "stet config set default_vault ~/notes", Says: "in your own file"},
			{Line: "stet config set watch.commit true --vault", Says: "for everyone who shares the vault"},
			{Line: "stet config add guard.allow RULE:SHA256", Says: "one more item of a list; commas part several"},
			{Line: "stet config unset display.color", Says: "back to what holds without it"},
		},
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "show-origin", Usage: "with the file and line, or the variable, that decides"},
			&cli.BoolFlag{Name: "user", Usage: "change your own file"},
			&cli.BoolFlag{Name: "vault", Usage: "change the vault's file"},
		}, console.WriteFlags()...),
		Run: config,
	}
}

func config(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("user") && in.Bool("vault") {
		return agent.Usagef("--user and --vault exclude each other")
	}
	if place, err := e.Locate(); err == nil { // a reply names the vault that it is about
		e.SetRoot(place.Root)
	}
	verb, words := "", in.Words
	if len(words) > 0 {
		verb, words = words[0], words[1:]
	}
	if _, isKey := settings.Find(verb); isKey && len(words) == 0 {
		verb, words = "get", in.Words // as git config does
	}
	want, known := map[string]int{"": 0, "get": 1, "set": 2, "add": 2, "unset": 1}[verb]
	switch {
	case !known:
		return agent.Usagef("config cannot %q", verb).Suggest("one of get, set, add, unset; \"stet config\" alone lists the keys")
	case len(words) != want:
		return agent.Usagef("config %s takes %d arguments", verb, want).Suggest("%q has examples", "stet config --help")
	case verb == "" || verb == "get":
		if in.IsSet("user") || in.IsSet("vault") || in.Bool("dry-run") {
			return agent.Usagef("--user, --vault and --dry-run go with set and unset")
		}
		return showConfig(ctx, e, in, words)
	}
	o := agent.ConfigureOptions{Write: e.ByInSession(in), Key: words[0], Add: verb == "add", User: in.Bool("user"), Vault: in.Bool("vault")}
	if want == 2 {
		o.Value = &words[1]
	}
	return runConfigure(ctx, e, o)
}

func runConfigure(ctx context.Context, e *console.Env, o agent.ConfigureOptions) error {
	verb := "set"
	if o.Value == nil {
		verb = "unset"
	}
	written, own, err := e.Configure(ctx, o)
	switch {
	case err != nil:
		return err
	case written != nil:
		return e.Print(written, console.More{Verb: verb})
	}
	return e.Show(own, func(p *console.Printer) {
		line := verb + "  " + own.Key
		switch {
		case own.Unchanged:
			line = "unchanged"
		case own.DryRun:
			line = "would be " + line
		}
		p.Printf("%s  in %s\n", line, own.File)
	})
}

func showConfig(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	line := func(s agent.Setting) string {
		if !in.Bool("show-origin") {
			return s.Value
		}
		return s.Value + "\t" + origin(s)
	}
	if len(words) == 1 {
		s, err := e.Setting(ctx, words[0])
		if err != nil {
			return err
		}
		return e.Show(s, func(p *console.Printer) { p.Printf("%s\n", p.Stored(line(*s))) })
	}
	all, err := e.Configuration(ctx)
	if err != nil {
		return err
	}
	result := struct {
		Settings []agent.Setting `json:"settings"`
		UserFile string          `json:"user_file"`
	}{all, e.UserFile()}
	return e.Show(result, func(p *console.Printer) {
		table := tabwriter.NewWriter(p, 0, 0, 2, ' ', 0)
		for _, s := range all {
			fmt.Fprintln(table, console.Clean(strings.TrimRight(string(s.Key)+"\t"+line(s), "\t")))
		}
		p.Fail(table.Flush())
	})
}

func origin(s agent.Setting) string {
	text := string(s.Source)
	if s.Origin != "" && s.Source != settings.Default {
		text += " " + s.Origin
	}
	return "(" + text + ")"
}
