package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/settings"
)

func initCommand() *console.Command {
	return &console.Command{
		Name: "init", Group: console.Start,
		Summary: "make a vault of a folder, new or full of notes",
		Args:    "[DIR]", MaxArgs: 1,
		Details: "In a folder without a git repository one is made, and the Markdown files in it become\n" +
			"its first commit, as yours. In a repository only stet's own files are added; what you\n" +
			"have staged or not committed stays as it is. Running it again changes nothing.",
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

// An initView is what init prints under --json.
type initView struct {
	Root              string          `json:"root"`
	CreatedRepository bool            `json:"created_repository"`
	AlreadyVault      bool            `json:"already_vault"`
	Files             []vault.Path    `json:"files"`          // written by stet
	Adopted           int             `json:"adopted"`        // the person's files, committed as they are
	Held              []vault.Problem `json:"held,omitempty"` // those the guard left uncommitted
	Commits           []agent.Commit  `json:"commits"`
	Diff              string          `json:"diff,omitempty"`
	DryRun            bool            `json:"dry_run,omitempty"`
	Plan              *agent.Plan     `json:"plan,omitempty"`
}

func runInit(ctx context.Context, e *console.Env, in *console.Input) error {
	dir := e.Start()
	if len(in.Words) == 1 {
		dir = e.Abs(in.Words[0])
	}
	options, err := e.VaultOptions(false)
	if err != nil {
		return err
	}
	res, err := vault.Init(ctx, dir, vault.InitOptions{DryRun: in.Bool("dry-run"), Unignore: in.Bool("unignore")}, options)
	if err != nil {
		return err
	}
	e.SetRoot(res.Root)
	for _, w := range res.Warnings {
		e.Warn("%s", w)
	}
	view := initView{
		Root: res.Root, CreatedRepository: res.CreatedRepository, AlreadyVault: res.AlreadyVault,
		Files: append([]vault.Path{}, res.Files...), Adopted: res.Adopted, Held: res.Held, Commits: agent.ViewCommits(res.Commits),
		Diff: res.Diff, DryRun: res.DryRun,
	}
	if res.DryRun {
		view.Plan = &agent.Plan{Ops: []vault.Change{}}
		for _, p := range res.Files {
			view.Plan.Ops = append(view.Plan.Ops, vault.Change{Status: vault.Added, Path: p})
		}
	}
	err = e.Answer(view, func(w io.Writer) error { return printInit(w, e, res) })
	if err != nil || res.AlreadyVault || res.DryRun || !e.CanAsk() {
		return err
	}
	return askTracking(ctx, e, res.Root, options)
}

// askTracking asks a person once whether git is to have what is said in
// conversations. No answer is yes, which is the default of sessions.track.
func askTracking(ctx context.Context, e *console.Env, root string, o vault.Options) (err error) {
	answer, err := e.Ask("Shall transcripts of conversations be committed, and go where you push? [Y/n]")
	if errors.Is(err, io.EOF) || err == nil && !strings.HasPrefix(strings.ToLower(answer), "n") {
		return nil
	}
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, root, o)
	if err != nil {
		return err
	}
	defer e.Close(v)
	value := "false"
	if _, err := v.Configure(ctx, string(settings.SessionsTrack), &value, vault.Write{Writer: vault.Writer{Door: console.Door}}); err != nil {
		return err
	}
	e.Note("transcripts stay out of git and in search; \"stet config set sessions.track true\" changes that")
	return nil
}

func printInit(w io.Writer, e *console.Env, res *vault.InitResult) error {
	if res.AlreadyVault {
		_, err := fmt.Fprintf(w, "already a vault: %s\n", res.Root)
		return err
	}
	made, committed := "made a vault", "committed"
	if res.DryRun {
		made, committed = "would make a vault", "would commit"
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", made, res.Root); err != nil {
		return err
	}
	// A file that stet adds is listed below; a change to one that was there is shown.
	if res.DryRun || strings.Contains(res.Diff, "\n--- a/") {
		if err := e.PrintDiff(w, res.Diff); err != nil {
			return err
		}
	}
	for _, p := range res.Files {
		if _, err := fmt.Fprintf(w, "  %s\n", console.Line1(string(p))); err != nil {
			return err
		}
	}
	for _, p := range res.Held {
		if _, err := fmt.Fprintln(w, "  left alone  "+console.ProblemLine(p)); err != nil {
			return err
		}
	}
	if res.Adopted > 0 {
		files := "Markdown files"
		if res.Adopted == 1 {
			files = "Markdown file"
		}
		_, err := fmt.Fprintf(w, "  %s %d %s of yours\n", committed, res.Adopted, files)
		return err
	}
	return nil
}
