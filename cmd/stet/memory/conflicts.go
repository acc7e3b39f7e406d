package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

func conflictsCommand() *console.Command {
	return &console.Command{
		Name: "conflicts", Group: console.Memory,
		Summary: "list memories that contradict each other, and resolve them",
		MaxArgs: 0,
		Details: `Contradictions come first: both memories name each other in conflicts_with. Then come memories
			that a newer one may outdate, the likeliest first: the newer one names the older one in may_outdate, and
			search and show say so. --keep archives the other side, so that agents do not write it again; --both
			keeps the two and takes the link away; --merge opens both texts in your editor, and what you save is what
			the memory says from now on, the other side goes to the archive. Saved empty or unchanged, nothing
			happens. Each is one commit. On a terminal --settle asks about one after the other.`,
		Examples: `stet conflicts  # both sides of each, with their sources
			stet conflicts --settle  # go through them on a terminal
			stet conflicts --keep 01jd7q  # this one is right, the other goes to the archive
			stet conflicts --merge 01jd7q  # write what is true in your editor
			stet conflicts --merge 01jd7q --text "Port 8080, 8443 with TLS."  # without an editor
			stet conflicts --both 01jd7q --dry-run  # see what keeping both would change`,
		Flags: console.WriteFlags(
			console.Text("keep", "the `MEMORY` that is right"),
			console.Text("both", "a `MEMORY` that is true beside what it is in conflict with"),
			console.Text("merge", "the `MEMORY` that is to say what is true of both"),
			console.Text("text", "with --merge: the `TEXT`, \"-\" for standard input, instead of an editor"),
			console.Bool("settle", "ask about each"),
			console.Bool("explain", "list the features that decided"),
			console.BecauseFlag(),
			console.MessageFlag(),
		),
		Run: conflicts,
	}
}

func conflicts(ctx context.Context, e *console.Env, in *console.Input) error {
	given := slices.DeleteFunc([]string{"keep", "both", "merge", "settle"},
		func(name string) bool { return !in.IsSet(name) })
	switch {
	case len(given) > 1:
		return agent.Usagef("--%s and --%s cannot be used together", given[0], given[1])
	case in.IsSet("explain") && len(given) > 0:
		return agent.Usagef("--explain goes with the list")
	case in.IsSet("text") && !in.IsSet("merge"):
		return agent.Usagef("--text goes with --merge")
	case len(given) == 0:
		return e.With(ctx, true, func(a *agent.App) error { return listConflicts(ctx, e, a, in.Bool("explain")) })
	}
	if given[0] == "settle" {
		return e.With(ctx, false, func(a *agent.App) error { return settleEach(ctx, e, a, e.ByInSession(in)) })
	}
	o := agent.SettleOptions{Write: e.ByInSession(in), Ref: in.String(given[0]), How: agent.Resolution(given[0])}
	if err := mergeOptions(e, in, &o); err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().Settle(ctx, o)
		if err != nil {
			return err
		}
		return e.Print(ctx, res, console.More{Verb: "resolved"})
	})
}

// mergeOptions says where the text of a merge comes from.
func mergeOptions(e *console.Env, in *console.Input, o *agent.SettleOptions) (err error) {
	switch {
	case o.How != agent.Merge:
		return nil
	case in.IsSet("text"):
		text, err := textArgument(e, in.String("text"), true)
		o.Text = &text
		return err
	case o.DryRun:
		return agent.Usagef("--merge with --dry-run needs --text").
			Suggest("an editor shows both texts, and saving them unchanged changes nothing")
	}
	o.Editor, err = mergeEditor(e)
	return err
}

func mergeEditor(e *console.Env) (agent.Editor, error) {
	return editorOf(e, "--merge", "--text TEXT gives the text without one")
}

func listConflicts(ctx context.Context, e *console.Env, a *agent.App, explain bool) error {
	found, err := a.Memories().Conflicts(ctx, explain)
	if err != nil {
		return err
	}
	result := struct {
		Conflicts []agent.Conflict `json:"conflicts"`
	}{found}
	return e.Show(result, func(p *console.Printer) {
		for i, d := range found {
			if i > 0 {
				p.Printf("\n")
			}
			p.Printf("%s%s%s", side(e, d.A), side(e, d.B), likely(d))
			printReasons(p, d.Why)
		}
		if len(found) == 0 {
			e.Note("no conflicts, and nothing that may be outdated")
		} else {
			e.Note(`"stet conflicts --keep MEMORY" says which is right, "--both MEMORY" keeps the two, ` +
				`"--merge MEMORY" opens them in your editor; --settle asks about each`)
		}
	})
}

// likely says of a flag how sure it is.
func likely(d agent.Conflict) string {
	if d.Likely == 1 {
		return ""
	}
	return fmt.Sprintf("the second may outdate the first (%.0f %% likely)\n", 100*d.Likely)
}

// side is one memory of a pair: where, since when, by whom and from where, and what it says.
func side(e *console.Env, m agent.Memory) string {
	head := e.Paint(console.Cyan, console.Line1(string(m.Path))) + "  (" + m.ID + ")"
	if m.Created != "" {
		head += "  " + m.Created[:min(10, len(m.Created))]
	}
	head += "  by " + console.Line1(cmp.Or(m.Label.String(), "you"))
	if m.Source != "" {
		head += "  " + console.Line1(m.Source)
	}
	var b strings.Builder
	b.WriteString(head + "\n")
	for line := range strings.Lines(strings.TrimSpace(*m.Body)) {
		b.WriteString("  " + console.Line1(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
