package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"stet/agent"
	"stet/agent/ran"
	"stet/cmd/stet/console"
)

// ranDetails is what the help says of fix, how and files.
const ranDetails = `fix, how and files tell what agents ran. fix takes an error as it is pasted (- reads it from
	standard input), and shows what was run after it before, and whether what had given it was run again without
	it: "gone", "other error" or "not checked". It compares lines without their places, numbers, times and
	addresses, then without paths, then without what stands before the error, then by their words. how shows
	commands that succeeded, those with most of the words first, then the newest; equal ones are one. files shows
	which conversations changed a file, or read it, and, in a repository of code, which of its commits fall into
	them. Each names the message, and what a person
	had asked for. Whether a command failed is told from what its client wrote into the result.`

// How many answers fill a screen.
const (
	mostFixes    = 2
	mostCommands = 7
	mostFiles    = 4
)

// mostPasted is how much of an error is read from standard input, in bytes; its first and last lines count.
const mostPasted = 64 << 20

// asking reads what fix, how and files have in common.
func asking(in *console.Input, text string, most int) agent.RanQuery {
	q := agent.RanQuery{Text: strings.TrimSpace(text), Limit: most, Agent: in.String("agent"),
		Project: in.String("project")}
	if in.IsSet("limit") {
		q.Limit = in.Int("limit")
	}
	return q
}

func runFix(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	text := strings.Join(words, " ")
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(e.In, mostPasted))
		if err != nil {
			return fmt.Errorf("read the error from standard input: %w", err)
		}
		text = string(data)
	}
	q := asking(in, text, mostFixes)
	return ranIn(ctx, e, in, func(a *agent.App) (*agent.Ran, error) { return a.Sessions().Fix(ctx, q) },
		"nothing was run after such an error in a conversation that is kept; "+
			`"stet session search" finds where its words were said`)
}

func runHow(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	q := asking(in, strings.Join(words, " "), mostCommands)
	return ranIn(ctx, e, in, func(a *agent.App) (*agent.Ran, error) { return a.Sessions().How(ctx, q) },
		"no command with these words was run with success in a conversation that is kept; "+
			"name a program or a part of the command")
}

func runFiles(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	q := asking(in, words[0], mostFiles)
	q.Folder = "."
	return ranIn(ctx, e, in, func(a *agent.App) (*agent.Ran, error) { return a.Sessions().Files(ctx, q) },
		"no conversation that is kept read or changed such a file; its name alone finds it in every folder")
}

func ranIn(ctx context.Context, e *console.Env, in *console.Input, ask func(*agent.App) (*agent.Ran, error),
	none string) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Ran, error) {
		out, err := ask(a)
		if err != nil {
			return nil, err
		}
		switch shown := len(out.Fixes) + len(out.Commands) + len(out.Files); {
		case out.Total == 0:
			e.Note("%s", none)
		case shown < out.Total:
			e.Note("%d more: -n %d shows them", out.Total-shown, out.Total)
		}
		if out.Older > 0 {
			e.Note("%s with these words not read; -n 0 reads all", agent.Plural(out.Older, "older conversation"))
		}
		return out, nil
	}, printRan)
}

func printRan(p *console.Printer, r *agent.Ran) {
	blank := func(i int) {
		if i > 0 {
			p.Printf("\n")
		}
	}
	for i, f := range r.Fixes {
		blank(i)
		printFix(p, &f)
	}
	for _, c := range r.Commands {
		p.Printf("%s\n", fit("$ ", c.Command.Command))
		about := counted(c.Times, "run", "runs")
		if c.Failed > 0 {
			about += fmt.Sprintf(", %d failed", c.Failed)
		}
		if c.Exit != nil {
			about += fmt.Sprintf(", exit %d", *c.Exit)
		}
		printWhere(p, c.RanIn, c.Where, about)
	}
	for i, f := range r.Files {
		blank(i)
		printFile(p, &f)
	}
}

// counted is a number with its noun where it says something.
func counted(n int, one, many string) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("%d %s", n, cmp.Or(many, one))
}

// fit is a text in one line of a screen.
func fit(before, text string) string {
	const width = 79
	r := []rune(before + console.Line1(text))
	if len(r) > width {
		r = append(r[:width-1], '…')
	}
	return string(r)
}

// inside is a path as the project of a conversation has it.
func inside(in agent.RanIn, file string) string {
	return strings.TrimPrefix(file, strings.TrimSuffix(in.Project, "/")+"/")
}

// printWhere prints the message at which something was run, and who asked for it.
func printWhere(p *console.Printer, in agent.RanIn, w ran.Where, about string) {
	head := fmt.Sprintf("  %s#%d  %s", p.Paint(console.Cyan, console.Line1(in.Session)), w.Message, console.Day(w.Time))
	if about = strings.TrimPrefix(about, ", "); about != "" {
		head += "  " + about
	}
	by, as := told(in)
	if by != "" {
		by = "  by agent " + by
	}
	p.Printf("%s%s\n", head, by+flagged(in.Label))
	if w.Asked != nil {
		p.Printf("%s\n", fit(fmt.Sprintf("  asked%s in #%d: ", as, w.Asked.Message), w.Asked.Text))
	}
}

// told names the agent that told of a conversation itself, alone and as whoever says what a person said; "" for none.
// A name of several words is quoted, so that it passes for nothing else.
func told(in agent.RanIn) (by, as string) {
	if in.Origin != "agent" {
		return "", ""
	}
	by = console.Line1(in.Author)
	if strings.ContainsAny(by, " \"(),:;[]") {
		by = strconv.Quote(by)
	}
	return by, ", as " + by + " says,"
}

func printFix(p *console.Printer, f *agent.RanFix) {
	p.Printf("%s\n", p.Paint(console.Bold, fit("", f.Error)))
	about := f.Outcome
	if f.Times > 1 {
		about += fmt.Sprintf(", %s", agent.Plural(f.Times, "time"))
	}
	if f.Tries > 0 {
		about += fmt.Sprintf(", after %s", agent.Plural(f.Tries, "failed attempt"))
	}
	printWhere(p, f.RanIn, f.Where, about)
	if f.Command != "" {
		p.Printf("%s\n", fit("  after  ", f.Command))
	}
	if f.More > 0 {
		p.Printf("  …      %s before\n", agent.Plural(f.More, "step"))
	}
	for i, s := range f.Steps {
		if i < len(f.Steps)-2 {
			s.Before, s.After = "", "" // the last ones helped
		}
		printStep(p, f.RanIn, "  then   ", s)
	}
	if f.Said != nil {
		before := "  said  "
		if _, as := told(f.RanIn); as != "" {
			before = "  said" + as
		}
		p.Printf("%s\n", fit(fmt.Sprintf("%s #%d ", before, f.Said.Message), f.Said.Text))
	}
	if f.Check != nil {
		before := "  gone   "
		if f.Outcome == ran.Changed {
			before = "  other  "
		}
		printStep(p, f.RanIn, before, *f.Check)
	}
}

func printStep(p *console.Printer, in agent.RanIn, before string, s ran.Step) {
	switch {
	case s.Command != "":
		p.Printf("%s\n", fit(before, s.Command))
		return
	case s.File == "":
		p.Printf("%s\n", fit(before, s.Tool))
		return
	}
	times := ""
	if s.Times > 1 {
		times = fmt.Sprintf("%d× ", s.Times)
	}
	p.Printf("%s\n", fit(before, times+s.Tool+" "+inside(in, s.File)))
	if s.Before != "" {
		p.Printf("%s\n", fit("         - ", s.Before))
	}
	if s.After != "" {
		p.Printf("%s\n", fit("         + ", s.After))
	}
}

func printFile(p *console.Printer, f *agent.RanFile) {
	var did []string
	for _, d := range []struct {
		n    int
		what string
	}{{f.Changed, "changed"}, {f.Read, "read"}, {f.Named, "in commands"}} {
		if d.n > 0 {
			did = append(did, fmt.Sprintf("%s %d×", d.what, d.n))
		}
	}
	p.Printf("%s\n", p.Paint(console.Bold, fit("", f.Title)))
	printWhere(p, f.RanIn, f.Where, strings.Join(did, ", "))
	if len(f.Files) > 0 {
		p.Printf("%s\n", fit("  ", inside(f.RanIn, f.Files[0])))
	}
	if f.Line != "" {
		p.Printf("%s\n", fit("    + ", f.Line))
	}
	for _, c := range f.Commits[:min(len(f.Commits), 2)] {
		p.Printf("%s\n", fit(fmt.Sprintf("  commit %.10s  %s  ", c.ID, console.Day(c.Time)), c.Subject))
	}
}
