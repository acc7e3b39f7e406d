package main

import (
	"context"
	"path/filepath"
	"slices"

	"stet/agent"
	"stet/cmd/stet/console"
)

func manCommand() *console.Command {
	return &console.Command{
		Name: "man", Group: console.Other, Summary: "print a manual page, made from the definitions of the commands",
		Args: "[COMMAND]", MaxArgs: 1,
		Details: `The page is source for man(1). --output writes the pages of all commands.`,
		Examples: `stet man | man -l -  # the page of stet itself
			stet man move | man -l -  # the page of one command
			stet man --output ~/.local/share/man/man1  # every page, for "man stet-move"`,
		Flags: console.Flags(console.Text("output o", "write all pages into the folder `DIR`")),
		Run:   runMan,
	}
}

func runMan(_ context.Context, e *console.Env, in *console.Input) error {
	commands := Commands()
	if dir := in.String("output"); dir != "" {
		if len(in.Words) > 0 {
			return agent.Usagef("--output writes the pages of all commands")
		}
		return writeManual(e, in, commands, e.Abs(dir))
	}
	c := console.Find(commands, in.Word(0)) // nil without a word: stet itself
	if c == nil && len(in.Words) > 0 {
		return agent.Usagef("no command %q", in.Words[0]).Suggest(`"stet help all" lists the commands`)
	}
	page := console.Manual(commands, c)
	result := map[string]string{"name": console.ManualName(c), "page": page}
	return e.Show(result, func(p *console.Printer) { p.Printf("%s", page) })
}

func writeManual(e *console.Env, in *console.Input, commands []*console.Command, dir string) error {
	pages := []string{}
	for _, c := range slices.Concat([]*console.Command{nil}, commands) {
		name := console.ManualName(c) + ".1"
		if err := e.ReplaceFile(e.By(in), filepath.Join(dir, name), []byte(console.Manual(commands, c))); err != nil {
			return err
		}
		pages = append(pages, name)
	}
	return e.Show(map[string]any{"folder": dir, "pages": pages}, func(p *console.Printer) {
		p.Printf("wrote  %s  to %s\n", agent.Plural(len(pages), "page"), dir)
	})
}
