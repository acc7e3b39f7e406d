package upkeep

import (
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

func initCommand() *console.Command {
	return &console.Command{
		Name: "init", Group: console.Start,
		Summary: "make a vault of a folder, new or full of notes",
		Args:    "[DIR]", MaxArgs: 1,
		Details: `In a folder without a git repository one is made, and the Markdown files in it become its first
			commit, as yours. In a repository only stet's own files are added; what you have staged or not committed
			stays as it is. Running it again changes nothing.

			Where you make it, and your own configuration says nothing else, it also sets sessions.track to false:
			transcripts of conversations stay out of git until "stet config set sessions.track true".`,
		Examples: `stet init  # the current folder
			stet init ~/notes  # another one, made if needed
			stet init ~/notes --dry-run  # see what would be written
			stet init --unignore  # where a .gitignore hides what a vault needs`,
		Flags: console.Flags(
			console.Bool("dry-run", "say what would be written and write nothing"),
			console.Bool("unignore",
				"add rules to .gitignore that undo those which hide the vault's files; the change is shown"),
			console.Bool("nested", "make it below another vault, which no longer sees what it holds"),
		),
		Run: runInit,
	}
}

func runInit(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.InitOptions{Dir: e.Start(), Write: e.By(in), Unignore: in.Bool("unignore")}
	if in.Word(0) != "" {
		o.Dir = e.Abs(in.Word(0))
	}
	if o.Nested = in.Bool("nested"); e.CanAsk() {
		o.Ask = func(outer string) (bool, error) {
			answer, err := console.Choose(e, true, "ynq", fmt.Sprintf(
				"this is below the vault %q, which would no longer see what it holds: "+
					"make a vault here? [y/N]", outer),
				"yes makes a vault of its own here; no, quit or an empty line makes none")
			return answer == 'y', err
		}
	}
	res, err := e.Init(ctx, o)
	if err != nil {
		return err
	}
	e.SetRoot(res.Root)
	return e.ShowPaged(ctx, res, func(p *console.Printer) { printInit(p, res) }, res.DryRun)
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
		p.Printf("  %s %s of yours\n", committed, agent.Plural(res.Adopted, "Markdown file"))
		p.Printf("  later edits: \"stet adopt\" commits them, \"stet watch\" does as you save\n")
	}
}
