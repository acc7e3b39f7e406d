package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/templates"
	"stet/vault"
)

func statusCommand() *console.Command {
	return &console.Command{
		Name: "status", Group: console.Start,
		Summary: "show where the vault stands: counts, edits by hand, problems",
		Examples: `stet status  # the same as stet alone
			stet status -C ~/notes --json  # for a program`,
		Flags: console.Flags(),
		Run:   func(ctx context.Context, e *console.Env, _ *console.Input) error { return Status(ctx, e) },
	}
}

// Status prints where the vault stands and what can be done next.
func Status(ctx context.Context, e *console.Env) error {
	return e.With(ctx, true, func(a *agent.App) error {
		st, err := a.Vault().Status(ctx)
		if st == nil || ctx.Err() != nil {
			return err
		}
		if err != nil {
			e.Warn("%v; \"stet doctor\" says what is wrong", err)
			err = console.ErrProblems
		}
		return errors.Join(e.ShowPaged(ctx, st, func(p *console.Printer) {
			p.Folded(statusText(p, st), len("vault   "))
		}), err)
	})
}

func statusText(p *console.Printer, st *agent.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "vault   %s  (%s)\n", st.Root, where(st))
	fmt.Fprintf(&b, "holds   %s\n", counts(st.Counts))
	if st.Last != nil {
		fmt.Fprintf(&b, "newest  %s  %s  %s\n", st.Last.Rev.Short(), console.Day(st.Last.At()),
			console.Line1(st.Last.Subject))
	}
	waiting(&b, st)
	reviews(&b, st.Reviews)
	if st.State != "" {
		fmt.Fprintf(&b, "git     an unfinished %s, until which stet writes nothing: %s\n", st.State, st.Ends)
	}
	if st.Busy {
		b.WriteString("busy    another stet command is writing\n")
	}
	changes(p, &b, "\nchanged by hand, not committed yet:\n", st.Changed, "stet diff")
	changes(p, &b, "\nstaged in git:\n", st.Staged, "git status")
	if len(st.Problems) > 0 {
		b.WriteString("\nleft alone:\n")
		for i, p := range st.Problems {
			if i == mostListed {
				fmt.Fprintf(&b, "  … and %d more: \"stet doctor\"\n", len(st.Problems)-i)
				break
			}
			b.WriteString("  " + leftAlone(p) + "\n")
		}
	}
	b.WriteString("\n" + next(st))
	return b.String()
}

// mostListed leaves room on a screen for what else there is to say.
const mostListed = 5

// waiting names what waits for the user, each with the command that goes on.
func waiting(b *strings.Builder, st *agent.Status) {
	for _, w := range []struct {
		label     string
		n         int
		one, many string // with the verb
		next      string
	}{
		{"waits", st.Proposed, "proposal of an agent waits", "proposals of agents wait",
			`for you: "stet review --proposed"`},
		{"skills", st.Skills, "skill from elsewhere waits", "skills from elsewhere wait",
			`for you: "stet review --proposed"`},
		{"others", st.Others, "commit of agents or other people is", "commits of agents or other people are",
			`not reviewed yet: "stet review" shows them`},
		{"decide", st.Undecided, "memory", "memories",
			`may outdate or contradict others: "stet conflicts" shows them`},
		{"model", st.Pending, "memory is pending", "memories are pending", `for a model: "stet encode" asks it`},
		{"kept", st.Kept, "version of a file is", "versions of files are",
			`kept outside the vault: "stet doctor" says where`},
	} {
		if w.n > 0 {
			fmt.Fprintf(b, "%-6s  %s %s\n", w.label, agent.Plural(w.n, w.one, w.many), w.next)
		}
	}
}

// leftAlone names a problem in one line: the guard may have found hundreds of secrets in one file.
func leftAlone(p vault.Problem) string {
	if all := strings.Split(p.Text, "; "); p.ID == "secret" && len(all) > 2 {
		p.Text = fmt.Sprintf("%s and %d more, left uncommitted", all[0], len(all)-1)
		p.Hint = `take them out of the file; "stet doctor" lists each, and how to allow it`
	}
	return console.ProblemLine(p)
}

// reviews says what waits to be learnt, and what became of the last reviews.
func reviews(b *strings.Builder, r *agent.Reviews) {
	if r == nil {
		return
	}
	if r.Queued > 0 {
		fmt.Fprintf(b, "learn   %s: \"stet worker run\"\n", agent.Plural(r.Queued, "review of conversations waits",
			"reviews of conversations wait"))
	}
	if l := r.Lesson; l != nil {
		fmt.Fprintf(b, "learnt  %s  %s\n", console.Day(l.Time), console.Line1(l.Text))
	}
	if l := r.Failure; l != nil && (r.Lesson == nil || l.Time.After(r.Lesson.Time)) {
		fmt.Fprintf(b, "failed  %s  %s\n", console.Day(l.Time), console.Line1(l.Text))
	}
}

func where(st *agent.Status) string {
	switch {
	case st.Head == "":
		return "branch " + st.Branch + ", no commit yet"
	case st.Detached:
		return "detached at " + st.Head.Short() + ", on no branch: \"git switch -\" goes back, and before it " +
			"\"git switch -c NAME\" keeps what is committed here"
	}
	return "branch " + st.Branch + " at " + st.Head.Short()
}

func counts(n map[vault.Class]int) string {
	var out []string
	for _, w := range []struct {
		class     vault.Class
		one, many string
	}{
		{vault.ClassMemory, "memory", "memories"}, {vault.ClassNote, "note", "notes"},
		{vault.ClassCore, "core notebook", "core notebooks"}, {vault.ClassProfile, "profile", "profiles"},
		{vault.ClassSkill, "skill file", "skill files"}, {vault.ClassSession, "session", "sessions"},
		{vault.ClassArchive, "archived", "archived"},
	} {
		if k := n[w.class]; k > 0 {
			out = append(out, agent.Plural(k, w.one, w.many))
		}
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, ", ")
}

// changes lists some of the changes, and names the command that shows the rest.
func changes(p *console.Printer, b *strings.Builder, heading string, cs []vault.Change, all string) {
	if len(cs) == 0 {
		return
	}
	b.WriteString(heading)
	for i, c := range cs {
		if i == mostListed {
			fmt.Fprintf(b, "  … and %d more: \"%s\"\n", len(cs)-i, all)
			return
		}
		fmt.Fprintf(b, "  %-8s  %s\n", c.Status, p.CutPath(console.Paths(c), len("  modified  ")))
	}
}

// next names the commands that make sense now.
func next(st *agent.Status) string {
	var steps [][2]string
	step := func(when bool, lines ...[2]string) {
		if when {
			steps = append(steps, lines...)
		}
	}
	empty := st.Counts[vault.ClassMemory]+st.Counts[vault.ClassNote] == 0
	switch {
	case st.State == "bisect":
		step(true, [2]string{"git bisect reset", "end it, so that stet writes again"})
	case st.State != "":
		for _, p := range st.Problems[:min(len(st.Problems), mostListed)] {
			step(p.ID == "unmerged",
				[2]string{"git add " + templates.Quote(p.Path), "when you have edited it: it is in conflict"})
		}
		step(true, [2]string{"git " + st.State + " --continue", "finish it, so that stet writes again"},
			[2]string{"git " + st.State + " --abort", "take it back"})
	}
	step(len(st.Problems) > 0, [2]string{"stet doctor", "see what stet leaves alone"})
	step(len(st.Changed) > 0, [2]string{"stet diff", "see your edits"})
	writes := st.State == "" // stet writes nothing before git has ended
	gone := slices.IndexFunc(st.Changed, func(c vault.Change) bool { return c.Status == vault.Deleted })
	if gone >= 0 {
		step(writes, [2]string{"stet restore " + templates.Quote(st.Changed[gone].Path),
			"bring that file back; adopt commits that it is gone"})
	}
	step(len(st.Changed) > 0 && writes, [2]string{"stet adopt", "commit them as yours"})
	step(empty && writes, [2]string{`stet remember "The first thing worth keeping."`, "keep something"},
		[2]string{`stet new decision "What was decided"`, "begin from a form"})
	step(!empty, [2]string{"stet search WORDS", "find something"})
	step(!empty && writes, [2]string{"stet remember TEXT", "keep something"})
	step(!empty, [2]string{"stet log", "what was written, and by whom"})
	var b strings.Builder
	b.WriteString("next:\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, s := range steps {
		fmt.Fprintf(table, "  %s\t%s\n", s[0], s[1])
	}
	_ = table.Flush() // a strings.Builder takes everything
	return b.String()
}
