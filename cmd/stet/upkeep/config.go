package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
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

// A settingView is one key as JSON shows it.
type settingView struct {
	Key     settings.Name   `json:"key"`
	Value   string          `json:"value"`
	Source  settings.Source `json:"source"`
	Origin  string          `json:"origin,omitempty"`
	Type    string          `json:"type"`
	Unit    string          `json:"unit,omitempty"`
	Default string          `json:"default"`
	Meaning string          `json:"meaning"`
	SetIn   string          `json:"set_in"`
	Env     string          `json:"env"`
}

func viewSetting(e settings.Entry) settingView {
	return settingView{Key: e.Key.Name, Value: e.Value, Source: e.Source, Origin: e.Origin, Type: e.Key.Type.String(),
		Unit: e.Key.Unit, Default: e.Key.Default, Meaning: e.Key.Meaning, SetIn: e.Key.SetIn(), Env: e.Key.Env()}
}

func config(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("user") && in.Bool("vault") {
		return agent.Usagef("--user and --vault exclude each other")
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
	case verb == "set":
		return setConfig(ctx, e, in, words[0], &words[1])
	case verb == "add":
		return addConfig(ctx, e, in, words[0], words[1])
	case verb == "unset":
		return setConfig(ctx, e, in, words[0], nil)
	}
	if in.IsSet("user") || in.IsSet("vault") || in.Bool("dry-run") {
		return agent.Usagef("--user, --vault and --dry-run go with set and unset")
	}
	return showConfig(ctx, e, in, words)
}

func showConfig(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	all, err := effective(ctx, e)
	if err != nil {
		return err
	}
	if len(words) == 1 {
		k, ok := settings.Find(words[0])
		if !ok {
			return agent.UnknownKey(words[0])
		}
		entry := all.Entry(k)
		return e.Answer(viewSetting(entry), func(w io.Writer) error {
			line := entry.Value
			if in.Bool("show-origin") {
				line += "\t" + origin(entry)
			}
			_, err := fmt.Fprintln(w, e.Stored(line))
			return err
		})
	}
	views := struct {
		Settings []settingView `json:"settings"`
		UserFile string        `json:"user_file"`
	}{[]settingView{}, e.UserFile()}
	for _, entry := range all.Entries() {
		views.Settings = append(views.Settings, viewSetting(entry))
	}
	return e.Answer(views, func(w io.Writer) error {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, entry := range all.Entries() {
			line := string(entry.Key.Name) + "\t" + entry.Value
			if in.Bool("show-origin") {
				line += "\t" + origin(entry)
			}
			fmt.Fprintln(table, console.Clean(strings.TrimRight(line, "\t")))
		}
		return table.Flush()
	})
}

// effective is the configuration with the vault's file, where there is a vault.
func effective(ctx context.Context, e *console.Env) (settings.Settings, error) {
	v, err := e.Reader(ctx)
	if errors.Is(err, vault.ErrNotVault) {
		return e.Settings()
	}
	if err != nil {
		return settings.Settings{}, err
	}
	defer e.Close(v)
	return v.Settings(), nil
}

func origin(e settings.Entry) string {
	text := string(e.Source)
	if e.Origin != "" && e.Source != settings.Default {
		text += " " + e.Origin
	}
	return "(" + text + ")"
}

// setConfig sets a key, or with nil takes it out. A key that stet does not know
// can be taken out only: it may stand in the way of every other command.
func setConfig(ctx context.Context, e *console.Env, in *console.Input, key string, value *string) error {
	if err := e.Check(e.By(in), "config", key); err != nil {
		return err
	}
	k, known := settings.Find(key)
	switch {
	case !known && value != nil:
		return agent.UnknownKey(key)
	case value != nil:
		canonical, err := k.Parse(*value)
		if err != nil {
			return agent.Usagef("%s: %v", key, err).Suggest("%s", unitHint(k))
		}
		value = &canonical
	}
	toVault := in.Bool("vault")
	if !toVault && !in.Bool("user") && known && k.Vault {
		_, err := e.Locate()
		toVault = err == nil
	}
	switch {
	case toVault && known && !k.Vault && value != nil:
		return agent.Usagef("a vault may not set %q: whoever clones it must not get it", key).Suggest("--user writes it to your own file")
	case toVault:
		return setInVault(ctx, e, in, key, value)
	}
	return setForUser(ctx, e, in, key, value)
}

// addConfig appends items to a list. Every list belongs to the person.
func addConfig(ctx context.Context, e *console.Env, in *console.Input, key, item string) error {
	k, known := settings.Find(key)
	switch {
	case !known:
		return agent.UnknownKey(key)
	case !k.Type.IsList():
		return agent.Usagef("%s is no list", key).Suggest("stet config set %s %s", key, item)
	case in.Bool("vault"):
		return agent.Usagef("a vault may not set %q: whoever clones it must not get it", key)
	}
	canonical, err := k.Parse(item)
	switch {
	case err != nil:
		return agent.Usagef("%s: %v", key, err).Suggest("%s", unitHint(k))
	case canonical == "":
		return agent.Usagef("%q is no item", item).Suggest("%s", unitHint(k))
	}
	return editUserFile(ctx, e, in, key, &canonical, func(data []byte) ([]byte, error) {
		for item := range strings.SplitSeq(canonical, ",") {
			var err error
			if data, err = settings.Add(data, k, item); err != nil {
				return nil, err
			}
		}
		return data, nil
	})
}

func unitHint(k settings.Key) string {
	if k.Unit != "" {
		return "give a " + k.Unit
	}
	return k.Meaning
}

func setInVault(ctx context.Context, e *console.Env, in *console.Input, key string, value *string) error {
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	res, err := v.Configure(ctx, key, value, e.WriteInSession(in))
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, doneVerb(value), false)
}

func doneVerb(value *string) string {
	if value == nil {
		return "unset"
	}
	return "set"
}

// A userConfigView is what set and unset answer for the person's own file.
type userConfigView struct {
	File      string  `json:"file"`
	Key       string  `json:"key"`
	Value     *string `json:"value"`
	Unchanged bool    `json:"unchanged"`
	DryRun    bool    `json:"dry_run,omitempty"`
}

func setForUser(ctx context.Context, e *console.Env, in *console.Input, key string, value *string) error {
	return editUserFile(ctx, e, in, key, value, func(before []byte) ([]byte, error) { return editSetting(before, key, value) })
}

func editUserFile(ctx context.Context, e *console.Env, in *console.Input, key string, value *string, edit func([]byte) ([]byte, error)) error {
	dry := in.Bool("dry-run")
	change := func() (bool, error) { return e.EditUserFile(ctx, edit) }
	if dry {
		change = func() (bool, error) { return e.TryUserFile(edit) }
	}
	differs, err := change()
	if err != nil {
		return fmt.Errorf("%s: %w", e.UserFile(), err)
	}
	view := userConfigView{File: e.UserFile(), Key: key, Value: value, Unchanged: !differs, DryRun: dry}
	return e.Answer(view, func(w io.Writer) error {
		line := doneVerb(value) + "  " + key
		switch {
		case !differs:
			line = "unchanged"
		case dry:
			line = "would be " + line
		}
		_, err := fmt.Fprintf(w, "%s  in %s\n", line, view.File)
		return err
	})
}

func editSetting(data []byte, key string, value *string) ([]byte, error) {
	if value == nil {
		return settings.Unset(data, key)
	}
	k, _ := settings.Find(key)
	return settings.Set(data, k, *value)
}
