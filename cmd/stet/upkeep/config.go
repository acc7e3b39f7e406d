package upkeep

import (
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/settings"
)

func configCommand() *console.Command {
	const writes = "user vault as session dry-run"
	return &console.Command{
		Name: "config", Group: console.Start,
		Summary: "show or change settings, yours and the vault's",
		Args:    "[list | get KEY | set KEY VALUE | add KEY ITEM | unset KEY]", MaxArgs: 3,
		Verbs: []console.Verb{
			{Name: "list", Flags: "show-origin", Run: listConfig},
			{Name: "get", Args: "KEY", Min: 1, Max: 1, Flags: "show-origin", Run: getConfig},
			{Name: "set", Args: "KEY VALUE", Min: 2, Max: 2, Flags: writes, Run: changeConfig},
			{Name: "add", Args: "KEY ITEM", Min: 2, Max: 2, Flags: writes, Run: changeConfig},
			{Name: "unset", Args: "KEY", Min: 1, Max: 1, Flags: writes, Run: changeConfig},
		},
		Details: `A flag outweighs the environment, that the vault's .stet/config.yaml, that your own file, that
			the default. set and unset write to the vault's file, as a commit, when the key is one that a vault may
			set and there is a vault; else to your own. Only the bytes of that key change. A vault's file is shared
			with everyone who clones it: it cannot set what belongs to the user, and a key that this stet does not
			know is passed over.`,
		Examples: `stet config  # every key with its value
			stet config --show-origin  # and who said so
			stet config get lock_wait  # one value
			stet config set default_vault ~/notes  # in your own file
			stet config set watch.commit true --vault  # for everyone who shares the vault
			stet config add guard.allow RULE:SHA256  # one more item of a list; commas part several
			stet config unset display.color  # back to what holds without it`,
		Flags: console.WriteFlags(
			console.Bool("show-origin", "with the file and line, or the variable, that decides"),
			console.Bool("user", "change your own file"),
			console.Bool("vault", "change the vault's file"),
		),
		Run: config,
	}
}

func config(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("user") && in.Bool("vault") {
		return agent.Usagef("--user and --vault cannot be used together")
	}
	e.SetRoot("") // a reply names the vault that it is about
	if _, isKey := settings.Find(in.Word(0)); isKey && len(in.Words) == 1 {
		in.Words = []string{"get", in.Words[0]} // as git config does
	}
	return console.RunVerb(ctx, e, in)
}

func changeConfig(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	o := agent.ConfigureOptions{
		Write: e.ByInSession(in), Key: words[0], Add: in.Word(0) == "add", User: in.Bool("user"),
		Vault: in.Bool("vault"),
	}
	verb := "unset"
	if len(words) == 2 {
		o.Value, verb = &words[1], "set"
	}
	written, own, err := e.Configure(ctx, o)
	switch {
	case err != nil:
		return err
	case written != nil:
		return e.Print(ctx, written, console.More{Verb: verb})
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

func getConfig(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	s, err := e.Setting(ctx, words[0])
	if err != nil {
		return err
	}
	return e.Show(s, func(p *console.Printer) { p.Printf("%s\n", p.Stored(settingLine(in, *s))) })
}

func listConfig(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	all, err := e.Configuration(ctx)
	if err != nil {
		return err
	}
	return e.Show(all, func(p *console.Printer) {
		var keys, values int
		for _, s := range all.Settings {
			keys, values = max(keys, len(s.Key)), max(values, p.Cells(console.Line1(s.Value)))
		}
		for _, s := range all.Settings {
			value, from, _ := strings.Cut(settingLine(in, s), "\t")
			value = console.Line1(value)
			blank := strings.Repeat(" ", values-p.Cells(value))
			line := fmt.Sprintf("%-*s  %s%s  %s", keys, s.Key, value, blank, console.Line1(from))
			p.Printf("%s\n", strings.TrimRight(line, " "))
		}
	})
}

// settingLine is the value of a setting, and with --show-origin where it comes from.
func settingLine(in *console.Input, s agent.Setting) string {
	if !in.Bool("show-origin") {
		return s.Value
	}
	from := string(s.Source)
	if s.Origin != "" && s.Source != settings.Default {
		from += " " + s.Origin
	}
	return s.Value + "\t(" + from + ")"
}
