package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"stet/agent/approval"
	"stet/agent/cite"
	"stet/agent/ingest"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/links"
)

// Write says who writes, and how. The zero value is the user.
type Write struct {
	Agent   string // the name of the agent that writes; "" is the user
	Actor   string // what of the agent's writes: nudge…; "" is the agent itself
	Door    string // the front end that the commit names; "" is [Options].Door
	Via     string // the agent among whose tools the user, or another agent, writes; "" for none
	Session string // noted in the commit
	Source  string // where the entry of a notebook comes from, as "session:ID#n": its file has no place for it
	Because string // the user's turn that asks an agent for it, as "session:ID#n"
	Message string // the commit's subject; "" makes one from the content
	Again   bool   // write what was rejected before: the user asked for it
	DryRun  bool   // compute the result, and write nothing
}

func (w Write) actor() string {
	if w.Agent != "" {
		return cmp.Or(w.Actor, "agent")
	}
	return vault.ActorUser
}

// vault is w as the vault takes it.
func (w Write) vault(e *Environment) vault.Write {
	by := vault.Writer{
		Actor: w.actor(), AgentName: w.Agent, Door: cmp.Or(w.Door, e.o.Door), Session: w.Session, Again: w.Again,
		Via: w.Via,
	}
	if w.Source != "" {
		by.Trail("Stet-Source", w.Source)
	}
	return vault.Write{Message: w.Message, DryRun: w.DryRun, Writer: by}
}

// A Plan is what a dry run would have done.
type Plan struct {
	Base vault.Revision `json:"base"`
	Ops  []vault.Change `json:"ops"`
}

// Written is the result of a use case that writes.
type Written struct {
	Base      vault.Revision    `json:"base"` // HEAD before
	Commits   []Commit          `json:"commits"`
	Changes   []vault.Change    `json:"changes"`
	Memories  []Memory          `json:"memories"`
	Held      []vault.Problem   `json:"held,omitempty"`    // edits by hand that the guard left uncommitted
	Skipped   []vault.Problem   `json:"skipped,omitempty"` // by adopt: what could not be read
	Unchanged bool              `json:"unchanged"`
	Diff      string            `json:"diff,omitempty"`
	Links     *Moves            `json:"links,omitempty"` // of a move
	Items     []ingest.Item     `json:"items,omitempty"` // of the plan: what becomes of each note
	Decisions []ingest.Decision `json:"decisions,omitempty"`
	Placed    []ingest.Placing  `json:"placed,omitempty"`   // where the rules filed notes
	Matched   []Match           `json:"matched,omitempty"`  // what a description matched, best first
	Proposed  []vault.Proposed  `json:"proposed,omitempty"` // what waits for the user's approval instead
	Unasked   string            `json:"unasked,omitempty"`  // why the turn that was cited does not count
	// Own says of an undo that it takes back nothing but the user's own.
	Own  bool     `json:"-"`
	Back []string `json:"back,omitempty"` // of undo and redo: the subjects of the commits taken back
	// Erase says how to erase what was purged from git's history and all copies.
	Erase  *lineage.Erasure `json:"erase,omitempty"`
	DryRun bool             `json:"dry_run,omitempty"`
	Plan   *Plan            `json:"plan,omitempty"`
}

// planned adds the plan of a write, nil for none.
func (w *Written) planned(p *ingest.Plan) {
	if p != nil {
		w.Items, w.Decisions, w.Placed = p.Items, p.Decisions(), p.Placed()
	}
}

// newWritten is what a write of the vault did.
func newWritten(res *vault.Result) *Written {
	out := &Written{
		Base: res.Base, Commits: viewCommits(res.Commits), Changes: tombstonesLast(res.Changes),
		Memories: viewMemories(res.Memories), Held: res.Held, Skipped: res.Skipped, Unchanged: res.Unchanged,
		Diff: res.Diff, DryRun: res.DryRun, Proposed: res.Proposed, Unasked: res.Unasked,
	}
	if len(res.Proposed) > 0 {
		out.Memories = []Memory{} // there are none yet
	}
	if res.DryRun {
		out.Plan = &Plan{Base: res.Base, Ops: out.Changes}
	}
	return out
}

// finished is [App.finish] for a write that may have failed.
func (a *App) finished(ctx context.Context, res *vault.Result, err error) (*Written, error) {
	if err != nil {
		return nil, err
	}
	return a.finish(ctx, res), nil
}

// write carries out one write of the vault, where the policy allows the operation.
func (a *App) write(
	ctx context.Context, by Write, operation, target string, do func(vault.Write) (*vault.Result, error),
) (*Written, error) {
	w, err := a.permit(by, operation, target)
	if err != nil {
		return nil, err
	}
	res, err := do(w)
	return a.finished(ctx, res, err)
}

// finish settles a write and turns it into its result.
func (a *App) finish(ctx context.Context, res *vault.Result) *Written {
	a.settle(ctx, res)
	if res.Unasked != "" {
		res.Unasked += "; what counts is a turn that the user's own command or import recorded, which served no " +
			"change yet, names what the text is about and says all that changes"
		a.note("the cited turn does not count: %s", res.Unasked)
	}
	if !res.DryRun {
		if err := cite.Serve(ctx, a.v, res.Commits); err != nil {
			a.warn("the turns are not noted as used, though the commit says so: %v", err)
		}
		a.hints(ctx, res)
	}
	out := newWritten(res)
	if a.o.Agent == "" {
		i := 0
		for c := range res.Chain() {
			out.Commits[i].Deletes = len(c.Changes) > 0 &&
				!slices.ContainsFunc(c.Changes, func(ch vault.Change) bool { return ch.Status != vault.Deleted })
			i++
		}
	} else {
		out.Diff = WithoutRecords(out.Diff) // a proposal may hold what is private by now
	}
	return out
}

// tombstonesLast puts the records of rejections behind what was asked for.
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

// WithoutRecords leaves the files of tombstones and proposals out of a diff for people: a front end
// says in a sentence what they mean.
func WithoutRecords(diff string) string {
	var out strings.Builder
	skip := false
	for line := range strings.Lines(diff) {
		if rest, header := strings.CutPrefix(line, "diff --git a/"); header {
			p, _, _ := strings.Cut(rest, " b/")
			skip = vault.IsTombstone(vault.Path(p)) || approval.Is(vault.Path(p))
		}
		if !skip {
			out.WriteString(line)
		}
	}
	return out.String()
}

// ProblemLine is one problem in one line: what, where, what to do.
func ProblemLine(p vault.Problem) string {
	line := p.ID + "  "
	if p.Path != "" {
		line += string(p.Path) + ": "
	}
	line += p.Text
	if p.Hint != "" {
		line += fmt.Sprintf(" (%s)", p.Hint)
	}
	return line
}

// Plural is [templates.Plural], for front ends.
func Plural(n int, one string, many ...string) string { return templates.Plural(n, one, many...) }

// hints tells the user, once in a vault, what they may not expect of the commits that were made: whose name is in
// them, that git's hooks did not see them, that attachments are not in them; and each time that HEAD has been detached
// anew, that they are on no branch.
func (a *App) hints(ctx context.Context, res *vault.Result) {
	if !a.o.Hints || a.o.Agent != "" || len(res.Commits) == 0 {
		return
	}
	if i := slices.IndexFunc(res.Commits, vault.Commit.Nameless); i >= 0 && a.first(ctx, "nameless") {
		a.note("git knows no name of yours, so the author is %s <%s>; \"git config --global user.name NAME\" and "+
			"\"git config --global user.email ADDRESS\" tell it", res.Commits[i].Author, res.Commits[i].AuthorEmail)
	}
	if res.Detached && a.first(ctx, "detached") {
		a.note("HEAD is detached, so this commit is on no branch: \"git switch -c NAME\" keeps it, then " +
			"\"git switch -\" goes back to the branch, and \"git merge NAME\" brings it there")
	}
	if told, err := a.v.State().Seen("detached"); !res.Detached && err == nil && len(told) > 0 {
		_ = a.v.State().SetSeen(ctx, "detached", func([]byte) ([]byte, error) { return nil, nil }) // told again then
	}
	if res.Unrun != nil && !a.told("unrun") {
		if unrun := res.Unrun(); len(unrun) > 0 && a.first(ctx, "unrun") {
			a.note("stet runs none of git's hooks and signs no commits: its commits go without %s",
				strings.Join(unrun, ", "))
		}
	}
	if adopts := func(c vault.Commit) bool { return c.Op == vault.OpAdopt }; slices.ContainsFunc(res.Commits, adopts) {
		a.tellAttachments(ctx, res.Changes)
	}
}

// told reports whether a hint was given in this vault.
func (a *App) told(hint string) bool {
	now, err := a.v.State().Seen(hint)
	return err == nil && len(now) > 0
}

// first reports whether a hint is given for the first time in this vault, and keeps that it is.
func (a *App) first(ctx context.Context, hint string) bool {
	if a.told(hint) {
		return false
	}
	told := false
	err := a.v.State().SetSeen(ctx, hint, func(now []byte) ([]byte, error) {
		told = len(now) > 0
		return []byte("told\n"), nil
	})
	return !told || err != nil
}

// mostRead bounds how many files are looked at for attachments.
const mostRead = 100

// tellAttachments says that no commit has the pictures and other files that adopted notes show.
func (a *App) tellAttachments(ctx context.Context, changes []vault.Change) {
	if a.told("attachments") {
		return
	}
	named := sync.OnceValue(func() map[string][]vault.Path { return links.Attachments(os.DirFS(a.Root())) })
	for i, c := range changes {
		if i == mostRead {
			return
		}
		if c.Status == vault.Deleted || !c.Path.IsMarkdown() {
			continue
		}
		data, _, err := a.v.ReadFile(c.Path)
		if err != nil {
			continue // it went away meanwhile
		}
		for _, l := range markdown.Parse(data).Links() {
			if file := a.uncommitted(ctx, c.Path, l, named); file != "" && a.first(ctx, "attachments") {
				a.note("stet commits Markdown alone: attachments such as %s are in no commit until you add them "+
					"with git: git add -- %s", file, templates.Quote(file))
				return
			}
		}
	}
}

// uncommitted is the file that is no Markdown to which a link leads, where it is there and in no commit: by its path,
// or by its name in any folder.
func (a *App) uncommitted(
	ctx context.Context, from vault.Path, l markdown.Link, named func() map[string][]vault.Path,
) vault.Path {
	if ext := path.Ext(l.Target); ext == "" || vault.Path(l.Target).IsMarkdown() || strings.Contains(l.Target, "://") {
		return ""
	}
	all := []string{path.Join(from.Dir(), l.Target), strings.TrimPrefix(path.Clean(l.Target), "/")}
	for _, p := range named()[markdown.Fold(path.Base(l.Target))] {
		all = append(all, string(p))
	}
	for _, at := range all {
		p, err := vault.ParsePath(at)
		if err != nil || !a.exists(p) {
			continue
		}
		view, err := a.v.History().View(ctx, "")
		if err != nil {
			return ""
		}
		if has, err := view.Has(p); err == nil && !has {
			return p
		}
	}
	return ""
}
