package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/agent"
	"stet/vault"
)

// Door is the name under which commits say that they came through this command
// line.
const Door = "cli"

// By says who writes and how, from the flags of [WriteFlags], --message and STET_SESSION. It does not
// look at --session, which revert gives another meaning.
func (e *Env) By(in *Input) agent.Write {
	return agent.Write{Agent: e.actor, Session: e.Getenv("STET_SESSION"), Via: e.via,
		Message: in.String("message"), DryRun: in.Bool("dry-run"),
		Again: in.Bool("again"), Because: in.String("because")}
}

// ByInSession is [Env.By] with the session that --session names.
func (e *Env) ByInSession(in *Input) agent.Write {
	w := e.By(in)
	w.Session = cmp.Or(in.String("session"), w.Session)
	return w
}

// More is how a command that writes tells what it did. Verb is the past form
// ("remembered"), Diff prints the diff even when it was no dry run, and NoDiff not even then; Lines
// replaces the lines that name what was written, After follows them.
type More struct {
	Verb   string
	Diff   bool
	NoDiff bool
	Lines  func(p *Printer, verb string)
	After  func(p *Printer)
}

// Print shows the result of a write, with a diff through the user's pager.
func (e *Env) Print(ctx context.Context, res *agent.Written, m More) error {
	return PrintAs(ctx, e, res, res, m)
}

// PrintAs is [Env.Print] with a larger result as JSON.
func PrintAs(ctx context.Context, e *Env, result any, res *agent.Written, m More) error {
	e.Adopted(res.Commits, m.Verb, res.DryRun)
	shown := res.Diff != "" && !m.NoDiff && (res.DryRun || m.Diff)
	err := e.ShowPaged(ctx, result, func(p *Printer) {
		switch {
		case len(res.Proposed) > 0:
			p.proposed(res)
			return
		case !p.written(res, m):
		case m.Lines != nil:
			m.Lines(p, verbOf(res, m.Verb))
		default:
			for _, line := range writeLines(res, verbOf(res, m.Verb)) {
				p.Printf("%s%s\n", line, p.Where())
			}
		}
		if m.After != nil {
			m.After(p)
		}
	}, shown)
	NoteRejections(e, res)
	return err
}

func verbOf(res *agent.Written, verb string) string {
	if res.DryRun {
		return "would be " + verb
	}
	return verb
}

// Adopted tells of edits by hand that were committed first, or with dry would be.
func (e *Env) Adopted(commits []agent.Commit, verb string, dry bool) {
	for _, c := range commits {
		switch {
		case c.Op != vault.OpAdopt || verb == "adopted":
		case c.Deletes && dry:
			e.Note("would first commit what you deleted by hand: %s", c.Subject)
		case c.Deletes:
			e.Note("what you deleted by hand is in the history now, and \"stet restore\" brings it back: %s", c.Subject)
		case dry:
			e.Note("would commit your own edit first: %s", c.Subject)
		default:
			e.Note("committed your own edit first: %s", c.Subject)
		}
	}
}

// proposed tells of what was not written yet.
func (p *Printer) proposed(res *agent.Written) {
	verb := "proposed"
	switch {
	case res.DryRun:
		verb = "would be proposed"
		p.Diff(res.Diff)
	case res.Unchanged:
		verb = "already proposed"
	}
	for _, w := range res.Proposed {
		p.Printf("%s  %s  %s  (%s)%s\n", verb, w.Op, Line1(string(w.About)), w.ID, p.Where())
	}
	p.Note(`nothing is written before the user agrees: "stet review --proposed"`)
}

// written prints what a write has in common with all others, and reports whether it changed
// anything.
func (p *Printer) written(res *agent.Written, m More) bool {
	for _, h := range res.Held {
		p.Printf("left alone  %s\n", ProblemLine(h))
	}
	if res.Unchanged {
		p.Printf("unchanged%s\n", p.Where())
		return false
	}
	if !m.NoDiff {
		p.Change(res, m.Diff)
	}
	return true
}

// Change prints the diff of a dry run, and with showDiff that of any write.
func (p *Printer) Change(res *agent.Written, showDiff bool) {
	if res.DryRun || showDiff {
		p.Diff(agent.WithoutRecords(res.Diff))
	}
}

// NoteRejections says what a write means for what agents may write.
func NoteRejections(e *Env, res *agent.Written) {
	noted, lifted, skills, others := false, false, false, false
	for _, c := range res.Changes {
		if vault.IsTombstone(c.Path) {
			noted, lifted = noted || c.Status == vault.Added, lifted || c.Status != vault.Added
			continue
		}
		in := strings.TrimPrefix(string(c.Path), "archive/")
		skill := strings.HasPrefix(in, "skills/")
		skills, others = skills || skill, others || !skill && !strings.HasPrefix(in, ".stet/")
	}
	switch {
	case res.Own: // nobody thinks of agents then
	case noted && skills && !others && !res.DryRun:
		e.Note("agents may not write these skills like this again by themselves, and the curator leaves them " +
			"until they change")
	case noted && res.DryRun:
		e.Note("agents would not be allowed to write the removed text again by themselves; " +
			"write it once yourself (\"stet remember\") to let them")
	case noted:
		e.Note("agents may not write the removed text again by themselves; " +
			"write it once yourself (\"stet remember\") to let them")
	case lifted && res.DryRun:
		e.Note("agents would be allowed to write this again")
	case lifted:
		e.Note("agents may write this again")
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
			lines = append(lines, fmt.Sprintf("%s  %s (%s)", verb, Paths(c), c.Status))
		}
	}
	for i := 0; len(lines) == i && i < len(res.Back); i++ { // together they come to nothing
		lines = append(lines, fmt.Sprintf("%s  %s", verb, Line1(res.Back[i])))
	}
	if len(lines) == 0 {
		lines = []string{verb}
	}
	return lines
}

// Paths is the path of a change, "FROM -> TO" for a move.
func Paths(c vault.Change) string {
	if c.From != "" {
		return Line1(string(c.From)) + " -> " + Line1(string(c.Path))
	}
	return Line1(string(c.Path))
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
