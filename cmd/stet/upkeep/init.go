package upkeep

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func initCommand() *console.Command {
	return &console.Command{
		Name: "init", Group: console.Start,
		Summary: "make a vault of a folder, new or full of notes",
		Args:    "[DIR]", MaxArgs: 1,
		Details: "In a folder without a git repository one is made, and the Markdown files in it become\n" +
			"its first commit, as yours. In a repository only stet's own files are added; what you\n" +
			"have staged or not committed stays as it is. Running it again changes nothing.\n\n" +
			"On a terminal it also sets sessions.track to false: transcripts of conversations stay\n" +
			"out of git until \"stet config set sessions.track true\".",
		Examples: []console.Example{
			{Line: "stet init", Says: "the current folder"},
			{Line: "stet init ~/notes", Says: "another one, made if needed"},
			{Line: "stet init ~/notes --dry-run", Says: "see what would be written"},
			{Line: "stet init --unignore", Says: "where a .gitignore hides what a vault needs"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be written and write nothing"},
			&cli.BoolFlag{Name: "unignore", Usage: "add rules to .gitignore that undo those which hide the vault's files; the change is shown"},
		},
		Run: runInit,
	}
}

func runInit(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.InitOptions{Dir: e.Start(), Write: e.By(in), Unignore: in.Bool("unignore")}
	if len(in.Words) == 1 {
		o.Dir = e.Abs(in.Words[0])
	}
	// Whoever makes a vault by hand has not been told yet that conversations would go where it is pushed.
	o.Private = e.InTerminal && e.ErrTerminal
	res, err := e.Init(ctx, o)
	if err != nil {
		return err
	}
	e.SetRoot(res.Root)
	if o.Private && !res.AlreadyVault && !o.DryRun {
		e.Note("transcripts of conversations stay out of git; \"stet config set sessions.track true\" commits them")
	}
	return e.Show(res, func(p *console.Printer) { printInit(p, res) })
}

func printInit(p *console.Printer, res *agent.Initialised) {
	if res.AlreadyVault {
		p.Printf("already a vault: %s\n", res.Root)
		return
	}
	made, committed := "made a vault", "committed"
	if res.DryRun {
		made, committed = "would make a vault", "would commit"
	}
	p.Printf("%s: %s\n", made, res.Root)
	// A file that stet adds is listed below; a change to one that was there is shown.
	if res.DryRun || strings.Contains(res.Diff, "\n--- a/") {
		p.Diff(res.Diff)
	}
	for _, file := range res.Files {
		p.Printf("  %s\n", console.Line1(string(file)))
	}
	for _, h := range res.Held {
		p.Printf("  left alone  %s\n", console.ProblemLine(h))
	}
	if res.Adopted > 0 {
		files := "Markdown files"
		if res.Adopted == 1 {
			files = "Markdown file"
		}
		p.Printf("  %s %d %s of yours\n", committed, res.Adopted, files)
	}
}
