package upkeep

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
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
	return e.With(ctx, !fix || dry, func(a *agent.App) error {
		found, err := a.Vault().Examine(ctx, e.By(in), fix)
		if err != nil {
			return err
		}
		if err := e.Show(found, func(p *console.Printer) { printDoctor(p, found) }); err != nil || found.Sound() {
			return err
		}
		return console.ErrProblems
	})
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
	return e.Show(view, func(p *console.Printer) {
		for _, c := range view.Checks {
			line := fmt.Sprintf("%-20s  %s", c.ID, c.Finds)
			if c.Mends != "" {
				line += "; --fix: " + c.Mends
			}
			p.Printf("%s\n", line)
		}
	})
}

func printDoctor(p *console.Printer, found *agent.Diagnosis) {
	verb := "fixed"
	if found.DryRun {
		verb = "would fix"
	}
	for _, x := range found.Fixed {
		p.Printf("%s  %s\n", verb, console.ProblemLine(x))
	}
	for _, c := range found.Commits {
		p.Printf("committed  %s\n", console.Line1(c.Subject))
	}
	for _, x := range found.Problems {
		p.Printf("%s\n", console.ProblemLine(x))
	}
	if len(found.Problems) == 0 {
		p.Printf("nothing is wrong\n")
	}
}
