package main

import (
	"context"
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/templates"
	"stet/vault"
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
		Args: "bash | zsh | fish | words -- WORD...", MinArgs: 1, MaxArgs: -1,
		Details: `The scripts call "stet completion words" with the words typed so far, the last of them
			unfinished; it prints what that one could become: commands, flags, memories.`,
		Examples: `source <(stet completion bash)  # in ~/.bashrc
			source <(stet completion zsh)  # in ~/.zshrc, after compinit
			stet completion fish | source  # in ~/.config/fish/config.fish`,
		Run: completion,
	}
}

func completion(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Words[0] == "words" {
		found := slices.DeleteFunc(complete(ctx, e, Commands(), in.Words[1:]), func(word string) bool {
			return console.Line1(word) != word // the shell shows it as it is
		})
		return e.Show(map[string]any{"words": found}, func(p *console.Printer) {
			p.Printf("%s", strings.Join(append(found, ""), "\n"))
		})
	}
	script, ok := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[in.Words[0]]
	if !ok || len(in.Words) > 1 {
		return agent.Usagef("no completion for %q", strings.Join(in.Words, " ")).Suggest("one of bash, zsh, fish")
	}
	result := map[string]string{"shell": in.Words[0], "script": script}
	return e.Show(result, func(p *console.Printer) { p.Printf("%s", script) })
}

// complete lists what the last of the words could become.
func complete(ctx context.Context, e *console.Env, commands []*console.Command, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	var command *console.Command
	first := false // nothing stands behind the command yet
	for i, w := range before {
		if command = console.Find(commands, w); command != nil {
			first = i == len(before)-1
			break
		}
	}
	var all []string
	switch {
	case slices.Contains(before, "--"):
	case strings.HasPrefix(last, "-"):
		all = flagNames(console.GlobalFlags())
		if command != nil {
			all = append(all, flagNames(command.Flags)...)
		}
	case command == nil:
		all = console.CommandNames(commands)
	case command.Name == "help":
		all = append(console.CommandNames(commands), console.Topics()...)
	case command.Name == "completion":
		all = []string{"bash", "zsh", "fish"}
	case first && len(command.Verbs)+len(command.Words) > 0:
		all = append(command.VerbNames(), command.Words...)
	case command.Name == "man":
		all = console.CommandNames(commands)
	case command.Name == "config":
		all = settings.Names()
	case command.Name == "new":
		all = templates.NoteKinds()
	case strings.HasPrefix(last, "/") && slices.Contains([]string{"move", "scopes", "list", "export"}, command.Name):
		all = scopeNames(ctx, e)
	case command.Name == "skill", command.Name == "curate" && strings.HasSuffix(strings.Join(before, " "), "own"):
		all = skillNames(ctx, e, slices.Contains(before, "restore"))
	case takesMemory(command):
		all = memoryNames(ctx, e, last)
	}
	found := []string{}
	for _, w := range all {
		if strings.HasPrefix(w, last) && !strings.ContainsAny(w, "\n\r\x1b") {
			found = append(found, w)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func flagNames(flags []cli.Flag) []string {
	var out []string
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 1 {
				out = append(out, "--"+n)
			}
		}
	}
	return out
}

// takesMemory reports whether the arguments of a command are memories.
func takesMemory(c *console.Command) bool {
	return strings.Contains(c.Args, "MEMORY") && c.Name != "remember"
}

// scopeNames lists the scopes that hold something.
func scopeNames(ctx context.Context, e *console.Env) []string {
	var out []string
	for _, p := range memoryNames(ctx, e, "/") {
		if scope := vault.ScopeOf(vault.Path(p)); vault.ClassOf(vault.Path(p)) == vault.ClassMemory {
			out = append(out, scope)
		}
	}
	return out
}

func skillNames(ctx context.Context, e *console.Env, archived bool) []string {
	var out []string
	_ = e.With(ctx, true, func(a *agent.App) error {
		found, err := a.Skills().List(ctx, archived)
		if err == nil {
			for _, s := range found.Skills {
				out = append(out, s.Name)
			}
		}
		return err
	})
	return out
}

// memoryNames lists slugs or, once a folder is typed, paths. Whatever goes wrong
// is silence: a shell has no place for a message in the middle of a line.
func memoryNames(ctx context.Context, e *console.Env, last string) []string {
	var out []string
	_ = e.With(ctx, true, func(a *agent.App) error {
		paths, err := a.Vault().Files(ctx)
		for _, p := range paths {
			name := string(p)
			if !strings.Contains(last, "/") && vault.ClassOf(p) == vault.ClassMemory {
				name = strings.TrimSuffix(path.Base(name), ".md")
			}
			out = append(out, name)
		}
		return err
	})
	return out
}
