package upkeep

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func statusCommand() *console.Command {
	return &console.Command{
		Name: "status", Group: console.Start,
		Summary: "show where the vault stands: counts, edits by hand, problems",
		Examples: []console.Example{
			{Line: "stet status", Says: "the same as stet alone"},
			{Line: "stet status -C ~/notes --json", Says: "for a program"},
		},
		Run: func(ctx context.Context, e *console.Env, _ *console.Input) error { return Status(ctx, e) },
	}
}

// Status prints where the vault stands and what can be done next.
func Status(ctx context.Context, e *console.Env) error {
	return e.With(ctx, true, func(a *agent.App) error {
		st, err := a.Vault().Status(ctx)
		if err != nil {
			return err
		}
		return e.Show(st, func(p *console.Printer) { p.Printf("%s", statusText(st)) })
	})
}

func statusText(st *agent.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "vault   %s  (%s)\n", st.Root, where(st))
	fmt.Fprintf(&b, "holds   %s\n", counts(st.Counts))
	if st.Last != nil {
		fmt.Fprintf(&b, "newest  %s  %s  %s\n", st.Last.Rev.Short(), console.Day(st.Last.At()), console.Line1(st.Last.Subject))
	}
	if st.Proposed > 0 {
		fmt.Fprintf(&b, "waits   %d proposed by agents\n", st.Proposed)
	}
	if st.Pending > 0 {
		fmt.Fprintf(&b, "model   %d pending: \"stet encode\" finishes them\n", st.Pending)
	}
	if st.State != "" {
		fmt.Fprintf(&b, "git     an unfinished %s: stet writes again when it is done\n", st.State)
	}
	if st.Busy {
		b.WriteString("busy    another stet command is writing\n")
	}
	changes(&b, "\nchanged by hand, not committed yet:\n", st.Changed)
	changes(&b, "\nstaged in git:\n", st.Staged)
	if len(st.Problems) > 0 {
		b.WriteString("\nleft alone:\n")
		for _, p := range st.Problems {
			b.WriteString("  " + console.ProblemLine(p) + "\n")
		}
	}
	b.WriteString("\n" + next(st))
	return b.String()
}

func where(st *agent.Status) string {
	switch {
	case st.Head == "":
		return "branch " + st.Branch + ", no commit yet"
	case st.Detached:
		return "detached at " + st.Head.Short()
	}
	return "branch " + st.Branch + " at " + st.Head.Short()
}

func counts(n map[vault.Class]int) string {
	words := []struct {
		class     vault.Class
		one, many string
	}{
		{vault.ClassMemory, "memory", "memories"}, {vault.ClassNote, "note", "notes"}, {vault.ClassCore, "core notebook", "core notebooks"},
		{vault.ClassProfile, "profile", "profiles"}, {vault.ClassSkill, "skill file", "skill files"},
		{vault.ClassSession, "session", "sessions"}, {vault.ClassArchive, "archived", "archived"},
	}
	var out []string
	for _, w := range words {
		switch k := n[w.class]; {
		case k == 1:
			out = append(out, "1 "+w.one)
		case k > 1:
			out = append(out, fmt.Sprintf("%d %s", k, w.many))
		}
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, ", ")
}

func changes(b *strings.Builder, heading string, cs []vault.Change) {
	if len(cs) == 0 {
		return
	}
	b.WriteString(heading)
	for i, c := range cs {
		if i == 20 {
			fmt.Fprintf(b, "  … and %d more\n", len(cs)-i)
			return
		}
		path := console.Line1(string(c.Path))
		if c.From != "" {
			path = console.Line1(string(c.From)) + " -> " + path
		}
		fmt.Fprintf(b, "  %-8s  %s\n", c.Status, path)
	}
}

// next names the commands that make sense now.
func next(st *agent.Status) string {
	type step struct{ line, says string }
	var steps []step
	if len(st.Problems) > 0 {
		steps = append(steps, step{"stet doctor", "look at what is left alone"})
	}
	if st.Proposed > 0 {
		steps = append(steps, step{"stet review --proposed", "let agents write, or not"})
	}
	if len(st.Changed) > 0 {
		steps = append(steps, step{"stet diff", "see your edits"}, step{"stet adopt", "commit them as yours"})
	}
	switch {
	case st.Counts[vault.ClassMemory]+st.Counts[vault.ClassNote] == 0:
		steps = append(steps, step{`stet remember "The first thing worth keeping."`, "keep something"},
			step{`stet new decision "What was decided"`, "begin from a form"})
	default:
		steps = append(steps, step{"stet search WORDS", "find something"}, step{"stet remember TEXT", "keep something"},
			step{"stet log", "what was written, and by whom"})
	}
	var b strings.Builder
	b.WriteString("next:\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range steps {
		fmt.Fprintf(table, "  %s\t%s\n", s.line, s.says)
	}
	// A strings.Builder takes everything.
	_ = table.Flush()
	return b.String()
}
