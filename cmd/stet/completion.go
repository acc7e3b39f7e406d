package main

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/names"
	"stet/vault/settings"
)

//go:embed completion/stet.bash
var bashScript string

//go:embed completion/stet.zsh
var zshScript string

//go:embed completion/stet.fish
var fishScript string

func completionCommand() *console.Command {
	return &console.Command{
		Name: "completion", Group: console.Other, Summary: "print a completion script for your shell",
		Args: "bash | zsh | fish | words -- WORD... | described -- WORD...", MinArgs: 1, MaxArgs: -1,
		Details: `The scripts call "stet completion described" with the words typed so far, the last of them
			unfinished; it prints what that one could become, and behind a tab what each is: commands, flags,
			memories and notes, scopes, tags, sessions. Names that begin as the word does stand first, in letters of
			either case, and behind them those in which it stands as a whole word, as "stet show" takes it. Of very
			many it names the newest. "words" prints the words alone.

			The line in the shell's own file counts for terminals that you open from then on. In one that is open
			type the line as well, or "source ~/.bashrc", "source ~/.zshrc", "source ~/.config/fish/config.fish".`,
		Examples: `source <(stet completion bash)  # in ~/.bashrc
			source <(stet completion zsh)  # in ~/.zshrc, after compinit
			stet completion fish | source  # in ~/.config/fish/config.fish`,
		Run: completion,
	}
}

func completion(ctx context.Context, e *console.Env, in *console.Input) error {
	if verb := in.Words[0]; verb == "words" || verb == "described" {
		found := offered(ctx, e, in.Words[1:])
		words := make([]string, len(found))
		for i, o := range found {
			words[i] = o.word
		}
		return e.Show(map[string]any{"words": words}, func(p *console.Printer) {
			for _, o := range found {
				if verb == "described" {
					o.word += "\t" + o.says
				}
				p.Printf("%s\n", o.word)
			}
		})
	}
	script, ok := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[in.Words[0]]
	if !ok || len(in.Words) > 1 {
		return agent.Usagef("no completion for %q", strings.Join(in.Words, " ")).Suggest("one of bash, zsh, fish")
	}
	result := map[string]string{"shell": in.Words[0], "script": script}
	return e.Show(result, func(p *console.Printer) { p.Printf("%s", script) })
}

// An offer is what a word could become, and what that is.
type offer struct {
	word, says string
	meant      bool // although it does not begin as the word does
}

// saysWidth is how many columns of a description a shell shows.
const saysWidth = 50

// offered are what the last of the words could become, in order, as a shell may show it.
func offered(ctx context.Context, e *console.Env, words []string) []offer {
	if len(words) == 0 {
		words = []string{""}
	}
	last := names.Parse(words[len(words)-1])
	found := slices.DeleteFunc(complete(ctx, e, Commands(), words), func(o offer) bool {
		return !o.meant && !last.Begins(o.word) || console.Line1(o.word) != o.word || o.word == ""
	})
	slices.SortStableFunc(found, func(a, b offer) int {
		if a.meant != b.meant {
			return map[bool]int{true: 1, false: -1}[a.meant]
		}
		return strings.Compare(a.word, b.word)
	})
	found = slices.CompactFunc(found, func(a, b offer) bool { return a.word == b.word })
	for i := range found {
		found[i].says = cells.Cut(console.Line1(found[i].says), saysWidth)
	}
	return found
}

// complete lists what the last of the words could become, and may list more.
func complete(ctx context.Context, e *console.Env, commands []*console.Command, words []string) []offer {
	last, before := words[len(words)-1], words[:len(words)-1]
	var command *console.Command
	first := false // nothing stands behind the command yet
	for i, w := range before {
		if command = console.Find(commands, w); command != nil {
			first = i == len(before)-1
			break
		}
	}
	if value := valueOf(command, before); value != "" && !strings.HasPrefix(last, "-") {
		return valuesOf(ctx, e, value)
	}
	switch {
	case slices.Contains(before, "--"):
		return nil
	case strings.HasPrefix(last, "-"):
		all := flagNames(console.GlobalFlags())
		if command != nil {
			all = append(all, flagNames(command.Flags)...)
		}
		return all
	case command == nil:
		return commandNames(commands)
	case command.Name == "help":
		return append(commandNames(commands), plain("exit-codes", "agents")...)
	case command.Name == "completion":
		return plain("bash", "zsh", "fish")
	case first && len(command.Verbs)+len(command.Words) > 0:
		return plain(append(command.VerbNames(), command.Words...)...)
	case command.Name == "man":
		return commandNames(commands)
	case command.Name == "config":
		return plain(settings.Names()...)
	case command.Name == "new":
		return plain(templates.NoteKinds()...)
	case command.Name == "tags":
		return tagNames(ctx, e)
	case command.Name == "session":
		return sessionNames(ctx, e)
	case strings.HasPrefix(last, "/") && slices.Contains([]string{"move", "scopes", "list", "export"}, command.Name):
		return scopeNames(ctx, e)
	case command.Name == "skill", command.Name == "curate" && strings.HasSuffix(strings.Join(before, " "), "own"):
		return skillNames(ctx, e, slices.Contains(before, "restore"))
	case takesMemory(command):
		return memoryNames(ctx, e, last, command.Name == "restore")
	}
	return nil
}

// plain are words that need no description.
func plain(words ...string) (out []offer) {
	for _, w := range words {
		out = append(out, offer{word: w})
	}
	return out
}

func commandNames(commands []*console.Command) (out []offer) {
	for _, c := range commands {
		for _, name := range c.Names() {
			out = append(out, offer{word: name, says: c.Summary})
		}
	}
	return out
}

func flagNames(flags []cli.Flag) (out []offer) {
	for _, f := range flags {
		says := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			says = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		for _, n := range f.Names() {
			if len(n) > 1 {
				out = append(out, offer{word: "--" + n, says: says})
			}
		}
	}
	return out
}

// valueOf is the flag whose value the next word is, "" for none.
func valueOf(command *console.Command, before []string) string {
	if command == nil || len(before) == 0 || slices.Contains(before, "--") {
		return ""
	}
	name := strings.TrimLeft(before[len(before)-1], "-")
	if name == before[len(before)-1] {
		return ""
	}
	for _, f := range command.Flags {
		if _, yes := f.(*cli.BoolFlag); !yes && slices.Contains(f.Names(), name) {
			return f.Names()[0]
		}
	}
	return ""
}

// valuesOf are what a flag may have.
func valuesOf(ctx context.Context, e *console.Env, flag string) []offer {
	switch flag {
	case "scope":
		return scopeNames(ctx, e)
	case "category", "add-category", "remove-category", "tag":
		return tagNames(ctx, e)
	case "kind":
		return kindNames(ctx, e)
	case "session":
		return sessionNames(ctx, e)
	}
	return nil
}

// takesMemory reports whether the arguments of a command are memories.
func takesMemory(c *console.Command) bool {
	return strings.Contains(c.Args, "MEMORY") && c.Name != "remember"
}

// called lists the files of the vault. Whatever goes wrong is silence: a shell has no place for a message in the middle
// of a line.
func called(ctx context.Context, e *console.Env, o vault.WalkOptions) (out []agent.Called) {
	_ = e.With(ctx, true, func(a *agent.App) (err error) {
		out, err = a.Called(ctx, o)
		return err
	})
	return out
}

// counted are names with how many files have each.
func counted(names []string) (out []offer) {
	counts := map[string]int{}
	for _, n := range names {
		counts[n]++
	}
	for name, n := range counts {
		out = append(out, offer{word: name, says: agent.Plural(n, "file")})
	}
	return out
}

// scopeNames lists the scopes that hold something.
func scopeNames(ctx context.Context, e *console.Env) []offer {
	var names []string
	for _, c := range called(ctx, e, vault.WalkOptions{}) {
		if vault.ClassOf(c.Path) == vault.ClassMemory {
			names = append(names, vault.ScopeOf(c.Path))
		}
	}
	return counted(names)
}

func tagNames(ctx context.Context, e *console.Env) []offer {
	var names []string
	for _, c := range called(ctx, e, vault.WalkOptions{}) {
		names = append(names, c.Categories...)
	}
	return counted(names)
}

func kindNames(ctx context.Context, e *console.Env) []offer {
	names := templates.NoteKinds()
	for _, c := range called(ctx, e, vault.WalkOptions{}) {
		names = append(names, c.Kind)
	}
	return counted(names)
}

func sessionNames(ctx context.Context, e *console.Env) (out []offer) {
	for _, c := range newest(called(ctx, e, vault.WalkOptions{Under: "sessions"})) {
		out = append(out, offer{word: c.ID, says: says(e, c, "")})
	}
	return out
}

func skillNames(ctx context.Context, e *console.Env, archived bool) (out []offer) {
	_ = e.With(ctx, true, func(a *agent.App) error {
		found, err := a.Skills().List(ctx, archived)
		if err == nil {
			for _, s := range found.Skills {
				out = append(out, offer{word: s.Name, says: s.Description})
			}
		}
		return err
	})
	return out
}

// memoryNames lists memories and notes by the names of their files or, once a folder is typed and where two have one
// name, by their paths; with archive what lies there. Those of which it is whole words come behind those that begin
// with it, and where there are neither, those of which it is a part: as commands take it.
func memoryNames(ctx context.Context, e *console.Env, last string, archive bool) (out []offer) {
	byPath, ref := strings.Contains(last, "/"), names.Parse(last)
	all := slices.DeleteFunc(called(ctx, e, vault.WalkOptions{Archive: archive}), func(c agent.Called) bool {
		class := vault.ClassOf(c.Path)
		return !byPath && archive != (class == vault.ClassArchive) ||
			!byPath && !archive && class != vault.ClassMemory && class != vault.ClassNote
	})
	var begin, words, parts []agent.Called
	slugs := map[string]int{}
	for _, c := range all {
		degree := ref.Degree(c.Known)
		switch {
		case byPath && ref.Begins(string(c.Path)), !byPath && ref.Begins(c.Slug):
			begin = append(begin, c)
		case degree == names.Words, degree == names.Part && strings.Contains(last, " "): // it has no end yet
			words = append(words, c)
		case degree == names.Part:
			parts = append(parts, c)
		}
	}
	switch {
	case len(begin)+len(words) == 0:
		words = parts
	case len(begin) > mostOffered:
		words = nil
	}
	begin, words = newest(begin), newest(words)
	for _, c := range slices.Concat(begin, words) {
		slugs[c.Slug] = 0
	}
	for _, c := range all {
		if n, asked := slugs[c.Slug]; asked {
			slugs[c.Slug] = n + 1
		}
	}
	for i, c := range slices.Concat(begin, words) {
		name, folder := c.Slug, folderOf(c.Path)
		if byPath || slugs[name] > 1 {
			name, folder = string(c.Path), ""
		}
		out = append(out, offer{name, says(e, c, folder), i >= len(begin) || !ref.Begins(name)})
	}
	return out
}

// folderOf is where a file lies, as lists show it: the scope of a memory, "" for the first one, else the folder.
func folderOf(p vault.Path) string {
	if vault.ClassOf(p) == vault.ClassMemory {
		return strings.TrimSuffix(vault.ScopeOf(p), "/")
	}
	return strings.TrimSuffix(string(p.Dir()), ".")
}

// mostOffered bounds the memories that a shell is told of: more than a screen holds.
const mostOffered = 200

// newest are the files that changed last, where they are very many, in path order; the first and the last name stay, so
// that what all have in common is still what a shell completes.
func newest(all []agent.Called) []agent.Called {
	if len(all) <= mostOffered {
		return all
	}
	bySlug := func(a, b agent.Called) int { return strings.Compare(a.Slug, b.Slug) }
	first, last := slices.MinFunc(all, bySlug).Path, slices.MaxFunc(all, bySlug).Path
	times := make([]int64, len(all))
	for i, c := range all {
		times[i] = c.Updated.UnixNano()
	}
	slices.Sort(times)
	since, left := times[len(times)-mostOffered], mostOffered
	return slices.DeleteFunc(all, func(c agent.Called) bool {
		if c.Path == first || c.Path == last {
			return false
		}
		if left == 0 || c.Updated.UnixNano() < since {
			return true
		}
		left--
		return false
	})
}

// says describes a file: its title, unless the name that stands before it says the same, its folder and its age.
func says(e *console.Env, c agent.Called, folder string) string {
	age := cells.Age(c.Updated, e.Now())
	if age != "now" && !strings.Contains(age, "-") { // nor a month
		age += " ago"
	}
	rest := "changed " + age
	if folder != "" {
		rest = console.Line1(folder) + ", " + rest
	}
	title := console.Line1(c.Title)
	if title == "" || markdown.Slug(title, 0) == markdown.Slug(c.Slug, 0) {
		return rest
	}
	return cells.Cut(title, max(saysWidth-len(rest)-2, saysWidth/3)) + ", " + rest
}
