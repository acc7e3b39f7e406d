package console

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"stet/vault"
	"stet/vault/session"
)

// A Plan is what a dry run would have done.
type Plan struct {
	Base vault.Revision `json:"base"`
	Ops  []vault.Change `json:"ops"`
}

// A WriteView is the answer of every command that writes.
type WriteView struct {
	Base      vault.Revision   `json:"base"`
	Commits   []CommitView     `json:"commits"`
	Changes   []vault.Change   `json:"changes"`
	Memories  []MemoryView     `json:"memories"`
	Held      []vault.Problem  `json:"held,omitempty"`    // hand edits that the guard left uncommitted
	Skipped   []vault.Problem  `json:"skipped,omitempty"` // by adopt: what could not be looked at
	Unchanged bool             `json:"unchanged"`
	Diff      string           `json:"diff,omitempty"`
	Links     any              `json:"links,omitempty"`     // of a move
	Decisions any              `json:"decisions,omitempty"` // of the rules
	Placed    any              `json:"placed,omitempty"`    // where the rules say notes belong
	Matched   any              `json:"matched,omitempty"`   // what --match met, best first
	Proposed  []vault.Proposed `json:"proposed,omitempty"`  // what waits for a person instead
	DryRun    bool             `json:"dry_run,omitempty"`
	Plan      *Plan            `json:"plan,omitempty"`
}

// Door is the name under which commits say that they came through this command
// line.
const Door = "cli"

// Write says who writes, from the flags of [WriteFlags]. It does not look at
// --session, which revert gives another meaning.
func (e *Env) Write(in *Input) vault.Write {
	w := vault.Write{Actor: vault.ActorUser, Door: Door, DryRun: in.Bool("dry-run"), Again: in.Bool("again")}
	name := in.String("as")
	if name == "" {
		name = e.Getenv("STET_AGENT")
	}
	if name != "" {
		w.Actor, w.AgentName = "agent", name
	}
	return w
}

// WriteInSession is [Env.Write] with the session that --session names.
func (e *Env) WriteInSession(in *Input) vault.Write {
	w := e.Write(in)
	w.Session = in.String("session")
	return w
}

// More is how a command that writes tells what it did. Verb is the past form
// ("remembered"), Diff prints the diff even when it was no dry run, Lines
// replaces the lines that name what was written, Links joins the JSON answer.
type More struct {
	Verb  string
	Diff  bool
	Lines func(w io.Writer, verb string) error
	Links any
	// Matched joins the JSON answer as well.
	Matched any
	// Decisions joins the JSON answer, and After prints it behind the lines.
	Decisions any
	// Placed joins the JSON answer as well.
	Placed any
	After  func(w io.Writer, dry bool) error
}

// Wrote is [Env.WroteMore] without anything special to tell.
func (e *Env) Wrote(ctx context.Context, v *vault.Vault, res *vault.Result, verb string, showDiff bool) error {
	return e.WroteMore(ctx, v, res, More{Verb: verb, Diff: showDiff})
}

// WroteMore finishes a command that writes: the search index, the answer, what
// happened to edits made by hand.
func (e *Env) WroteMore(ctx context.Context, v *vault.Vault, res *vault.Result, m More) error {
	e.AfterWrite(ctx, v, res, m.Verb)
	if m.Diff && res.Diff == "" && !res.DryRun && len(res.Commits) > 0 {
		diffs, err := v.Diff(ctx, string(res.Base), string(res.Commits[len(res.Commits)-1].Rev), nil)
		if err != nil {
			e.Warn("show the difference: %v", err) // the write itself is done
		}
		for _, d := range diffs {
			res.Diff += d.Text
		}
	}
	view := ViewWrite(res)
	view.Links, view.Decisions, view.Placed, view.Matched = m.Links, m.Decisions, m.Placed, m.Matched
	if len(res.Proposed) > 0 {
		return e.Answer(view, func(w io.Writer) error { return e.printProposed(w, res) })
	}
	return e.Answer(view, func(w io.Writer) error {
		if err := e.printWrite(w, res, m); err != nil || m.After == nil {
			return err
		}
		return m.After(w, res.DryRun)
	})
}

// AfterWrite is the part of [Env.WroteMore] that is not the answer: warnings, the
// search index, and what happened to edits made by hand.
func (e *Env) AfterWrite(ctx context.Context, v *vault.Vault, res *vault.Result, verb string) {
	for _, w := range res.Warnings {
		e.Warn("%s", w)
	}
	for _, p := range res.Skipped {
		e.Note("left alone: %s", ProblemLine(p))
	}
	if res.DryRun {
		return
	}
	e.Indexed(ctx, v, append(res.Changes[:len(res.Changes):len(res.Changes)], e.SealEnded(ctx, v)...))
	for _, c := range res.Commits {
		if c.Op == vault.OpAdopt && verb != "adopted" {
			e.Note("committed your own edit first: %s", c.Subject)
		}
	}
}

// SealEnded seals the sessions that have ended since anybody wrote, and returns
// what that changed. It is no part of the write before it: a failure is a warning.
func (e *Env) SealEnded(ctx context.Context, v *vault.Vault) []vault.Change {
	sealed, err := session.SealEnded(ctx, v, e.Now(), session.Options{Door: Door})
	if err != nil && ctx.Err() == nil {
		e.Warn("seal sessions that have ended: %v; the next command that writes tries again", err)
	}
	var changes []vault.Change
	for _, s := range sealed {
		changes = append(changes, vault.Change{Status: vault.Modified, Path: s.Path})
		e.Note("sealed a session that had ended: %s", s.Path)
	}
	return changes
}

// ViewWrite renders the outcome of a write.
func ViewWrite(res *vault.Result) WriteView {
	view := WriteView{
		Base: res.Base, Commits: ViewCommits(res.Commits), Changes: tombstonesLast(res.Changes),
		Memories: ViewMemories(res.Memories), Held: res.Held, Skipped: res.Skipped, Unchanged: res.Unchanged, Diff: res.Diff, DryRun: res.DryRun,
	}
	if view.Proposed = res.Proposed; len(res.Proposed) > 0 {
		view.Memories = []MemoryView{} // there are none yet
	}
	if res.DryRun {
		view.Plan = &Plan{Base: res.Base, Ops: view.Changes}
	}
	return view
}

// printProposed tells of what was not written yet.
func (e *Env) printProposed(w io.Writer, res *vault.Result) error {
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

func (e *Env) printWrite(w io.Writer, res *vault.Result, m More) error {
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
func (e *Env) PrintChange(w io.Writer, res *vault.Result, showDiff bool) error {
	if (res.DryRun || showDiff) && res.Diff != "" {
		if err := e.PrintDiff(w, WithoutRecords(res.Diff)); err != nil {
			return err
		}
	}
	e.noteRejections(res)
	return nil
}

// tombstonesLast puts what was written for the record behind what was asked for.
func tombstonesLast(changes []vault.Change) []vault.Change {
	out := append([]vault.Change{}, changes...)
	slices.SortStableFunc(out, func(a, b vault.Change) int {
		switch x, y := vault.IsTombstone(a.Path), vault.IsTombstone(b.Path); {
		case x == y:
			return 0
		case x:
			return 1
		}
		return -1
	})
	return out
}

// noteRejections says what a write means for what agents may write.
func (e *Env) noteRejections(res *vault.Result) {
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

// WithoutRecords leaves the files of tombstones and proposals out of a diff for
// people: what they say is said in a sentence.
func WithoutRecords(diff string) string {
	var out strings.Builder
	skip := false
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "diff --git ") {
			skip = strings.HasPrefix(line, "diff --git a/.stet/tombstones/") || strings.HasPrefix(line, "diff --git a/.stet/proposals/")
		}
		if !skip {
			out.WriteString(line)
		}
	}
	return out.String()
}

// writeLines names what was written: the memories when the result knows them,
// else the changed paths.
func writeLines(res *vault.Result, verb string) []string {
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

// ProblemLine is one problem on one line: what, where, what to do.
func ProblemLine(p vault.Problem) string {
	line := p.ID + "  "
	if p.Path != "" {
		line += string(p.Path) + ": "
	}
	line += p.Text
	if p.Hint != "" {
		line += " (" + p.Hint + ")"
	}
	return Line1(line)
}
