package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/vault"
	"stet/vault/doctor"
)

func doctorCommand() *console.Command {
	return &console.Command{
		Name: "doctor", Group: console.Start,
		Summary: "look for damage and mend what can be mended",
		Details: "Exit 0 when nothing is wrong or there is only advice, 6 when something is. --list names\n" +
			"every kind of finding and what --fix does about it: git's index and the search index are\n" +
			"made anew, a copied id is replaced in a commit of its own. Everything else is for you to\n" +
			"decide.",
		Examples: []console.Example{
			{Line: "stet doctor", Says: "look"},
			{Line: "stet doctor --fix", Says: "mend"},
			{Line: "stet doctor --list", Says: "what is looked for"},
			{Line: "stet doctor --model", Says: "ask each configured model once"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "mend what is marked as fixable"},
			&cli.BoolFlag{Name: "list", Usage: "list the kinds of findings and look for none"},
			&cli.BoolFlag{Name: "model", Usage: "make one real call to each configured model, and nothing else; exit 7 when one fails"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --fix: say what would be mended and write nothing"},
		},
		Run: runDoctor,
	}
}

// A doctorView is what doctor prints under --json.
type doctorView struct {
	Problems []vault.Problem `json:"problems"` // what is left
	Fixed    []vault.Problem `json:"fixed"`
	Commits  []agent.Commit  `json:"commits"` // that mending made
	DryRun   bool            `json:"dry_run,omitempty"`
}

func runDoctor(ctx context.Context, e *console.Env, in *console.Input) error {
	fix, dry := in.Bool("fix"), in.Bool("dry-run")
	switch {
	case in.Bool("model") && (fix || dry || in.Bool("list")):
		return agent.Usagef("--model goes alone: it looks at no vault")
	case in.Bool("model"):
		return doctorModel(ctx, e)
	case in.Bool("list"):
		return listChecks(e)
	case dry && !fix:
		return agent.Usagef("--dry-run goes with --fix: without it doctor changes nothing")
	}
	open := func() (*vault.Vault, error) { return e.Reader(ctx) }
	if fix && !dry {
		open = func() (*vault.Vault, error) { v, _, err := e.Writer(ctx); return v, err }
	}
	v, err := open()
	if err != nil {
		return err
	}
	defer e.Close(v)
	x, err := e.Index(v, !fix || dry)
	if err != nil {
		return err
	}
	report, err := doctor.Examine(ctx, v, doctor.Options{Index: mendable{x}, Fix: fix && !dry, Door: console.Door})
	if err = errors.Join(err, x.Close()); err != nil {
		return err
	}
	for _, w := range report.Warnings {
		e.Warn("%s", w)
	}
	e.Indexed(ctx, v, report.Changes)
	view := doctorView{Problems: append([]vault.Problem{}, report.Problems...), Fixed: append([]vault.Problem{}, report.Fixed...), Commits: agent.ViewCommits(report.Commits)}
	if dry {
		view.DryRun, view.Fixed = true, slices.DeleteFunc(slices.Clone(view.Problems), func(p vault.Problem) bool { return !p.Fixable })
	}
	if err := e.Answer(view, func(w io.Writer) error { return printDoctor(w, view) }); err != nil {
		return err
	}
	if slices.ContainsFunc(view.Problems, func(p vault.Problem) bool { return !p.Advice }) {
		return console.ErrProblems
	}
	return nil
}

// mendable lets doctor build a search index anew.
type mendable struct{ *index.Index }

// Mend builds the index anew.
func (m mendable) Mend(ctx context.Context) error {
	_, err := m.Rebuild(ctx)
	return err
}

// A checkView is one row of "doctor --list" under --json.
type checkView struct {
	ID    string `json:"id"`
	Finds string `json:"finds"`
	Mends string `json:"mends"` // "" is nothing
}

func listChecks(e *console.Env) error {
	view := struct {
		Checks []checkView `json:"checks"`
	}{[]checkView{}}
	for _, c := range doctor.Checks() {
		view.Checks = append(view.Checks, checkView{c.ID, c.Finds, c.Mends})
	}
	return e.Answer(view, func(w io.Writer) error {
		for _, c := range view.Checks {
			line := fmt.Sprintf("%-20s  %s", c.ID, c.Finds)
			if c.Mends != "" {
				line += "; --fix: " + c.Mends
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	})
}

func printDoctor(w io.Writer, view doctorView) error {
	verb := "mended"
	if view.DryRun {
		verb = "would mend"
	}
	for _, p := range view.Fixed {
		if _, err := fmt.Fprintf(w, "%s  %s\n", verb, console.ProblemLine(p)); err != nil {
			return err
		}
	}
	for _, c := range view.Commits {
		if _, err := fmt.Fprintf(w, "committed  %s\n", console.Line1(c.Subject)); err != nil {
			return err
		}
	}
	for _, p := range view.Problems {
		if _, err := fmt.Fprintln(w, console.ProblemLine(p)); err != nil {
			return err
		}
	}
	if len(view.Problems) == 0 {
		_, err := fmt.Fprintln(w, "nothing is wrong")
		return err
	}
	return nil
}
