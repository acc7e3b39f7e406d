package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
	"stet/vault"
)

func doctorCommand() *console.Command {
	return &console.Command{
		Name: "doctor", Group: console.Start,
		Summary: "look for damage and mend what can be mended",
		Details: "Exit 0 when nothing is wrong, 6 when something is. --fix mends git's index and the\n" +
			"search index; it never changes a file of yours.",
		Examples: []console.Example{
			{Line: "stet doctor", Says: "look"},
			{Line: "stet doctor --fix", Says: "mend"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "mend what is marked as fixable"},
			&cli.BoolFlag{Name: "dry-run", Usage: "with --fix: say what would be mended and write nothing"},
		},
		Run: doctor,
	}
}

// A doctorView is what doctor prints under --json.
type doctorView struct {
	Problems []vault.Problem `json:"problems"` // what is left
	Fixed    []vault.Problem `json:"fixed"`
	DryRun   bool            `json:"dry_run,omitempty"`
}

func doctor(ctx context.Context, e *console.Env, in *console.Input) error {
	fix, dry := in.Bool("fix"), in.Bool("dry-run")
	if dry && !fix {
		return console.Usagef("--dry-run goes with --fix: without it doctor changes nothing")
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
	view, err := examine(ctx, e, v, fix && !dry)
	if err != nil {
		return err
	}
	if dry {
		view.DryRun, view.Fixed = true, slices.DeleteFunc(slices.Clone(view.Problems), func(p vault.Problem) bool { return !p.Fixable })
	}
	if err := e.Answer(view, func(w io.Writer) error { return printDoctor(w, view) }); err != nil {
		return err
	}
	if len(view.Problems) > 0 {
		return console.ErrProblems
	}
	return nil
}

// examine checks vault and search index and, with fix, mends and looks again.
func examine(ctx context.Context, e *console.Env, v *vault.Vault, fix bool) (view doctorView, err error) {
	view = doctorView{Problems: []vault.Problem{}, Fixed: []vault.Problem{}}
	problems, err := v.Check(ctx)
	if err != nil {
		return view, err
	}
	if fix {
		fixed, err := v.Fix(ctx, problems)
		if err != nil {
			return view, err
		}
		view.Fixed = append(view.Fixed, fixed...)
	}
	inIndex, fixed, err := examineIndex(ctx, e, v, fix)
	if err != nil {
		return view, err
	}
	view.Fixed = append(view.Fixed, fixed...)
	problems = slices.DeleteFunc(problems, func(p vault.Problem) bool { return slices.Contains(view.Fixed, p) })
	view.Problems = append(append(view.Problems, problems...), inIndex...)
	return view, nil
}

func examineIndex(ctx context.Context, e *console.Env, v *vault.Vault, fix bool) (problems, fixed []vault.Problem, err error) {
	x, err := e.Index(v, !fix)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if problems, err = x.Check(ctx); err != nil || !fix || len(problems) == 0 {
		return problems, nil, err
	}
	if _, err := x.Rebuild(ctx); err != nil {
		return nil, nil, err
	}
	left, err := x.Check(ctx)
	fixed = slices.DeleteFunc(problems, func(p vault.Problem) bool { return slices.Contains(left, p) })
	return left, fixed, err
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
