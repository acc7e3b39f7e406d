package upkeep

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/doctor"
)

func doctorCommand() *console.Command {
	return &console.Command{
		Name: "doctor", Group: console.Start,
		Summary: "find damage, and repair what can be repaired",
		Details: `Exit 0 when nothing is wrong or there is only advice, 6 when something is. --list names every
			kind of finding and what --fix does about it: git's index and the search index are rebuilt, a copied id
			is replaced in a commit of its own. Everything else is for you to decide. Of a vault with more than
			10,000 files the contents of 10,000 are read, stet's own and what changed last, and no links are
			followed; how many were left is told, and --deep reads them all.`,
		Examples: `stet doctor  # look
			stet doctor --deep  # look at every file of a large vault
			stet doctor --fix  # repair
			stet doctor --list  # what is looked for
			stet doctor --model  # ask each configured model once`,
		Flags: console.Flags(
			console.Bool("fix", "repair what is marked as fixable"),
			console.Bool("deep", "read the contents of every file, also in a vault of more than 10,000"),
			console.Bool("list", "list the kinds of findings and look for none"),
			console.Bool("model",
				"make one real call to each configured model, and nothing else; exit 7 when one fails"),
			console.Bool("dry-run", "with --fix: say what would be repaired and write nothing"),
		),
		Run: runDoctor,
	}
}

func runDoctor(ctx context.Context, e *console.Env, in *console.Input) error {
	fix, dry := in.Bool("fix"), in.Bool("dry-run")
	switch {
	case in.Bool("model") && (fix || dry || in.Bool("deep") || in.Bool("list")):
		return agent.Usagef("--model cannot be combined with other flags: it looks at no vault")
	case in.Bool("model"):
		return doctorModel(ctx, e)
	case in.Bool("list"):
		return listChecks(e)
	case dry && !fix:
		return agent.Usagef("--dry-run goes with --fix: without it doctor changes nothing")
	}
	return e.With(ctx, !fix || dry, func(a *agent.App) error {
		found, err := a.Vault().Examine(ctx, agent.ExamineOptions{Write: e.By(in), Fix: fix, Deep: in.Bool("deep")})
		if err != nil {
			return err
		}
		if err := e.Show(found, func(p *console.Printer) { printDoctor(p, found) }); err != nil || found.Sound() {
			return err
		}
		return console.ErrProblems
	})
}

func listChecks(e *console.Env) error {
	checks := doctor.Checks()
	return e.Show(map[string]any{"checks": checks}, func(p *console.Printer) {
		for _, c := range checks {
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
	if found.Unread > 0 {
		p.Printf("not read: %s; \"stet doctor --deep\" reads all of them and follows links\n",
			agent.Plural(found.Unread, "file"))
	}
}
