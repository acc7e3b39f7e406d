package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/durable"
)

func manCommand() *console.Command {
	return &console.Command{
		Name: "man", Group: console.Other, Summary: "print a manual page, made from the definitions of the commands",
		Args: "[COMMAND]", MaxArgs: 1,
		Details: "The page is source for man(1). --output writes the pages of all commands.",
		Examples: []console.Example{
			{Line: "stet man | man -l -", Says: "the page of stet itself"},
			{Line: "stet man move | man -l -", Says: "the page of one command"},
			{Line: "stet man --output ~/.local/share/man/man1", Says: "every page, for \"man stet-move\""},
		},
		Flags: []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write all pages into the folder `DIR`"}},
		Run:   runMan,
	}
}

func runMan(_ context.Context, e *console.Env, in *console.Input) error {
	commands := Commands()
	if dir := in.String("output"); dir != "" {
		if len(in.Words) > 0 {
			return agent.Usagef("--output writes the pages of all commands")
		}
		return writeManual(e, commands, e.Abs(dir))
	}
	var c *console.Command // nil: stet itself
	if len(in.Words) > 0 {
		if c = console.Find(commands, in.Words[0]); c == nil {
			return agent.Usagef("no command %q", in.Words[0]).Suggest(`"stet help" lists the commands`)
		}
	}
	var page strings.Builder
	if err := console.Manual(&page, commands, c); err != nil {
		return err
	}
	result := struct {
		Name string `json:"name"`
		Page string `json:"page"` // roff
	}{console.ManualName(c), page.String()}
	return e.Show(result, func(p *console.Printer) { p.Printf("%s", page.String()) })
}

func writeManual(e *console.Env, commands []*console.Command, dir string) (err error) {
	if err := durable.MakeFolder("man", dir, 0o777, e.Hook); err != nil {
		return err
	}
	root, err := durable.OpenRoot(dir, e.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	pages := []string{}
	for _, c := range slices.Concat([]*console.Command{nil}, commands) {
		var b strings.Builder
		if err := console.Manual(&b, commands, c); err != nil {
			return err
		}
		name := console.ManualName(c) + ".1"
		if err := root.Overwrite("man", name, []byte(b.String()), 0o666, false); err != nil {
			return err
		}
		pages = append(pages, name)
	}
	result := struct {
		Folder string   `json:"folder"`
		Pages  []string `json:"pages"`
	}{dir, pages}
	return e.Show(result, func(p *console.Printer) { p.Printf("wrote  %d pages  to %s\n", len(pages), dir) })
}
