package console

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"stet/agent"
	"stet/agent/ingest"
	"stet/vault"
)

// Door is the name under which commits say that they came through this command
// line.
const Door = "cli"

// By says who writes and how, from the flags of [WriteFlags] and --message. It does not look
// at --session, which revert gives another meaning.
func (e *Env) By(in *Input) agent.Write {
	w := agent.Write{Agent: in.String("as"), Message: in.String("message"), DryRun: in.Bool("dry-run"), Again: in.Bool("again")}
	if w.Agent == "" {
		w.Agent = e.Getenv("STET_AGENT")
	}
	return w
}

// ByInSession is [Env.By] with the session that --session names.
func (e *Env) ByInSession(in *Input) agent.Write {
	w := e.By(in)
	w.Session = in.String("session")
	return w
}

// Write is [Env.By] as the vault takes it, without the message.
func (e *Env) Write(in *Input) vault.Write {
	w := e.By(in)
	w.Message = ""
	return w.Vault(Door)
}

// WriteInSession is [Env.Write] with the session that --session names.
func (e *Env) WriteInSession(in *Input) vault.Write {
	w := e.Write(in)
	w.Session = in.String("session")
	return w
}

// More is how a command that writes tells what it did. Verb is the past form
// ("remembered"), Diff prints the diff even when it was no dry run, Lines
// replaces the lines that name what was written, After follows them.
type More struct {
	Verb  string
	Diff  bool
	Lines func(w io.Writer, verb string) error
	After func(w io.Writer, dry bool) error
	// Links, Matched and Decisions join the JSON answer.
	Links     any
	Matched   any
	Decisions []ingest.Decision
	Placed    []ingest.Placing
}

// Wrote is [Env.WroteMore] without anything special to tell.
func (e *Env) Wrote(ctx context.Context, v *vault.Vault, res *vault.Result, verb string, showDiff bool) error {
	return e.WroteMore(ctx, v, res, More{Verb: verb, Diff: showDiff})
}

// WroteMore settles and prints a write.
func (e *Env) WroteMore(ctx context.Context, v *vault.Vault, res *vault.Result, m More) error {
	e.app.Settle(ctx, res)
	if m.Diff && res.Diff == "" && !res.DryRun && len(res.Commits) > 0 {
		diffs, err := v.Diff(ctx, string(res.Base), string(res.Commits[len(res.Commits)-1].Rev), nil)
		if err != nil {
			e.Warn("show the difference: %v", err) // the write itself is done
		}
		for _, d := range diffs {
			res.Diff += d.Text
		}
	}
	out := agent.NewWritten(res)
	out.Links, out.Decisions, out.Placed, out.Matched = m.Links, m.Decisions, m.Placed, m.Matched
	return e.Print(out, m)
}

// Print shows the result of a write.
func (e *Env) Print(res *agent.Written, m More) error {
	e.Adopted(res.Commits, m.Verb)
	if len(res.Proposed) > 0 {
		return e.Answer(res, func(w io.Writer) error { return e.printProposed(w, res) })
	}
	return e.Answer(res, func(w io.Writer) error {
		if err := e.printWrite(w, res, m); err != nil || m.After == nil {
			return err
		}
		return m.After(w, res.DryRun)
	})
}

// Adopted tells of edits by hand that were committed first.
func (e *Env) Adopted(commits []agent.Commit, verb string) {
	for _, c := range commits {
		if c.Op == vault.OpAdopt && verb != "adopted" {
			e.Note("committed your own edit first: %s", c.Subject)
		}
	}
}

// AfterWrite settles a write, and tells of edits by hand.
func (e *Env) AfterWrite(ctx context.Context, _ *vault.Vault, res *vault.Result, verb string) {
	e.app.Settle(ctx, res)
	if !res.DryRun {
		e.Adopted(agent.ViewCommits(res.Commits), verb)
	}
}

// printProposed tells of what was not written yet.
func (e *Env) printProposed(w io.Writer, res *agent.Written) error {
	verb := "proposed"
	switch {
	case res.DryRun:
		verb = "would be proposed"
		if err := e.PrintDiff(w, res.Diff); err != nil {
			return err
		}
	case res.Unchanged:
		verb = "proposed already"
	}
	for _, p := range res.Proposed {
		if _, err := fmt.Fprintf(w, "%s  %s  %s  (%s)%s\n", verb, p.Op, Line1(string(p.About)), p.ID, e.Where()); err != nil {
			return err
		}
	}
	e.Note(`nothing is written before the person agrees: "stet review --proposed"`)
	return nil
}

func (e *Env) printWrite(w io.Writer, res *agent.Written, m More) error {
	for _, p := range res.Held {
		if _, err := fmt.Fprintln(w, "left alone  "+ProblemLine(p)); err != nil {
			return err
		}
	}
	if res.Unchanged {
		_, err := fmt.Fprintf(w, "unchanged%s\n", e.Where())
		return err
	}
	verb := m.Verb
	if res.DryRun {
		verb = "would be " + verb
	}
	if err := e.PrintChange(w, res, m.Diff); err != nil {
		return err
	}
	if m.Lines != nil {
		return m.Lines(w, verb)
	}
	for _, line := range writeLines(res, verb) {
		if _, err := fmt.Fprintln(w, line+e.Where()); err != nil {
			return err
		}
	}
	return nil
}

// PrintChange prints the diff of a dry run, and with showDiff that of any write,
// and notes what the write means for what agents may write.
func (e *Env) PrintChange(w io.Writer, res *agent.Written, showDiff bool) error {
	if (res.DryRun || showDiff) && res.Diff != "" {
		if err := e.PrintDiff(w, agent.WithoutRecords(res.Diff)); err != nil {
			return err
		}
	}
	e.noteRejections(res)
	return nil
}

// noteRejections says what a write means for what agents may write.
func (e *Env) noteRejections(res *agent.Written) {
	noted, lifted := false, false
	for _, c := range res.Changes {
		if vault.IsTombstone(c.Path) {
			noted, lifted = noted || c.Status == vault.Added, lifted || c.Status != vault.Added
		}
	}
	switch {
	case noted:
		e.Note("agents are kept from writing this again; \"stet remember\" of your own lifts that")
	case lifted:
		e.Note("this is no longer rejected: agents may write it again")
	}
}

// writeLines names what was written: the memories when the result knows them,
// else the changed paths.
func writeLines(res *agent.Written, verb string) []string {
	var lines []string
	moved := map[vault.Path]vault.Path{}
	for _, c := range res.Changes {
		if c.From != "" {
			moved[c.From], moved[c.Path] = c.Path, c.From
		}
	}
	for _, m := range res.Memories {
		line := fmt.Sprintf("%s  %s", verb, Line1(string(m.Path)))
		switch other := moved[m.Path]; {
		case other != "" && slices.ContainsFunc(res.Changes, func(c vault.Change) bool { return c.From == m.Path }):
			line += " -> " + Line1(string(other))
		case other != "":
			line = fmt.Sprintf("%s  %s -> %s", verb, Line1(string(other)), Line1(string(m.Path)))
		}
		if m.ID != "" {
			line += "  (" + m.ID + ")"
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		return lines
	}
	for _, c := range res.Changes {
		if !vault.IsTombstone(c.Path) {
			lines = append(lines, fmt.Sprintf("%s  %s", verb, changeText(c)))
		}
	}
	if len(lines) == 0 {
		lines = []string{verb}
	}
	return lines
}

func changeText(c vault.Change) string {
	path := Line1(string(c.Path))
	if c.From != "" {
		path = Line1(string(c.From)) + " -> " + path
	}
	return fmt.Sprintf("%s (%s)", path, c.Status)
}

// PrintDiff prints a unified diff, coloured on a terminal.
func (e *Env) PrintDiff(w io.Writer, diff string) error {
	diff = e.Stored(diff)
	for line := range strings.Lines(diff) {
		if e.Colour() {
			body, hadNewline := strings.CutSuffix(line, "\n")
			line = e.Paint(diffColour(body), body)
			if hadNewline {
				line += "\n"
			}
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	if diff != "" && !strings.HasSuffix(diff, "\n") {
		_, err := io.WriteString(w, "\n")
		return err
	}
	return nil
}

func diffColour(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return Bold
	case strings.HasPrefix(line, "@@"):
		return Cyan
	case strings.HasPrefix(line, "+"):
		return Green
	case strings.HasPrefix(line, "-"):
		return Red
	}
	return ""
}

// ProblemLine is one problem on one clean line.
func ProblemLine(p vault.Problem) string { return Line1(agent.ProblemLine(p)) }
