package curator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stet/agent"
	"stet/curator/fork"
	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// Options say how a run is made.
type Options struct {
	agent.Write        // of it Agent, Door and DryRun count: the commits are the curator's
	IncludeEdited bool // what agents made and the person edited since as well: the person says so
	// Consolidate asks for the second tier as well: skills that may be one.
	Consolidate bool
	Runner      fork.Runner // has a model make one of them; nil only says which they are
	due         bool        // nothing is to be told of where nothing is to be done
}

// A runner makes one run.
type runner struct {
	a     *agent.App
	v     *vault.Vault
	w     vault.Write
	o     Options
	lib   *library
	begun time.Time
	now   string // as the names of archived folders have it
	out   *Report
	clone string
	view  *vault.Snapshot
	files map[int][]vault.File // of the skills with an action, as they were read
	own   []vault.Commit       // what the run has committed, oldest first
}

// Run looks at every skill that the curator owns, does what is due and reports it, whatever the time of the last run.
// With DryRun it writes nothing and says what it would do. What cannot be done is in the report, and the rest goes on.
// It fails with [vault.ErrRefused] for an agent, with [vault.ErrBusy] while another run is on, and as
// [vault.Vault.Transact] does.
func Run(ctx context.Context, a *agent.App, o Options) (*Report, error) {
	operation := "curate"
	if o.due {
		operation = "curate-due"
	}
	v, w, err := a.Permit(o.Write, operation, "")
	if err != nil {
		return nil, err
	}
	r := &runner{a: a, v: v, o: o, begun: a.Now().Truncate(time.Second), w: vault.Write{DryRun: o.DryRun,
		Writer: vault.Writer{Actor: Actor, AgentName: Actor, Door: w.Door}}}
	if name, email := v.Person(); o.IncludeEdited && o.Agent == "" {
		r.w.Approver = fmt.Sprintf("%s <%s>", name, email)
	}
	r.now = r.begun.Format("20060102T150405Z")
	if o.DryRun {
		if err = r.decideAndDo(ctx); err == nil && o.Consolidate {
			err = r.consolidate(ctx)
		}
		return r.out, err
	}
	release, err := v.Claim(ctx, "curate")
	if err != nil {
		return nil, vault.WithHint(fmt.Errorf("curate: %w", err), "another run is on; its report says what it does")
	}
	err = r.alone(ctx)
	return r.out, errors.Join(err, release())
}

// alone makes the run while no other is on.
func (r *runner) alone(ctx context.Context) error {
	// A crash is no reason to try again at once.
	if was, err := interrupted(ctx, r); err != nil || was && r.o.due {
		return err
	}
	err := r.decideAndDo(ctx)
	failed := error(nil) // of the model: what rules do is done and told
	if r.o.Consolidate && err == nil && r.out != nil {
		failed = r.consolidate(ctx)
		ctx = context.WithoutCancel(ctx)
	}
	did := r.out != nil && len(r.out.Commits) > 0
	switch {
	case err != nil && did:
		return err // the next run reports it
	case err != nil || r.out == nil:
	case r.o.due && !did && len(r.out.Proposed) == 0 && r.out.Model == "":
		r.out = nil
	default:
		if err = r.out.save(ctx, r); err != nil && did {
			return vault.WithHint(fmt.Errorf("the run is committed, its report is not: %w", err),
				"mend what it names; the next \"stet curate\" reports the run")
		}
	}
	return errors.Join(failed, err, setMark(context.WithoutCancel(ctx), r.v, func(m *mark) { m.Running = nil }))
}

// decideAndDo reads the library, decides, and does it. A look that was not asked for, and finds nothing, leaves no
// report.
func (r *runner) decideAndDo(ctx context.Context) error {
	var err error
	if r.lib, err = read(ctx, r.v, r.a.Now()); err != nil {
		return err
	}
	s := r.a.Settings()
	actions, counts := Transitions(r.lib.rows, r.begun,
		cutoffsOf(r.begun, s.Int(settings.CuratorStale), s.Int(settings.CuratorArchive)))
	if r.o.due && len(actions) == 0 && !r.o.Consolidate {
		return setMark(ctx, r.v, func(m *mark) { m.Last = r.begun })
	}
	slices.SortStableFunc(actions, func(a, b Action) int { // the commit of states comes first
		return cmp.Compare(max(len(a.To), len(Active)), max(len(b.To), len(Active)))
	})
	out := newReport(r, counts)
	if !r.o.DryRun {
		if r.clone, err = cloneID(ctx, r.v); err != nil {
			return err
		}
		err = setMark(ctx, r.v, func(m *mark) { m.Last, m.Running = r.begun, &running{out.Run, r.begun} })
	}
	if err == nil {
		err = r.remember(ctx, actions)
	}
	if err == nil {
		r.out = out
		err = r.do(ctx, actions)
	}
	return err
}

// remember notes which files the skills have that something is to happen to.
func (r *runner) remember(ctx context.Context, actions []Action) (err error) {
	r.files = map[int][]vault.File{}
	if len(actions) == 0 {
		return nil
	}
	if r.view, err = r.v.History().View(ctx, string(r.lib.base)); err != nil {
		return err
	}
	for _, a := range actions {
		if r.files[a.Row], err = r.lib.skills[a.Row].Contents(ctx, r.v, nil); err != nil {
			return err
		}
	}
	return nil
}

// do carries out the actions in one transaction. An action that fails is left and noted, and the others are done.
func (r *runner) do(ctx context.Context, actions []Action) error {
	if r.w.Approver == "" && r.a.Settings().Text(settings.SkillApproval) == "stage" {
		return r.propose(ctx, actions)
	}
	for len(actions) > 0 {
		done, err := r.transact(ctx, actions, r.o.DryRun)
		if err == nil {
			return r.note(ctx, done)
		}
		failed := r.culprits(ctx, actions, err)
		if len(failed) == 0 {
			return err
		}
		actions = slices.DeleteFunc(slices.Clone(actions), func(a Action) bool { return failed[a.Row] != nil })
		for _, i := range sorted(failed) {
			r.out.leave(r.lib.rows[i].Name, failed[i])
		}
	}
	return nil
}

// propose lets every action wait for the person.
func (r *runner) propose(ctx context.Context, actions []Action) error {
	r.clone = "" // nothing is done, and no counts are shared
	for _, a := range actions {
		done, err := r.transact(ctx, []Action{a}, r.o.DryRun)
		if global(ctx, err) {
			return err
		}
		if err != nil {
			r.out.leave(r.lib.rows[a.Row].Name, err)
			continue
		}
		r.a.Settle(ctx, done.Result)
		r.out.Diff += done.Diff
		for _, p := range done.Proposed {
			r.out.Proposed = append(r.out.Proposed, Waiting{Name: r.lib.rows[a.Row].Name, To: a.To, ID: p.ID})
		}
	}
	return nil
}

// An actionError is why one action cannot be done.
type actionError struct {
	row int
	error
}

func (e *actionError) Unwrap() error { return e.error }

// global reports whether an error would meet every action.
func global(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrInProgress) ||
		errors.Is(err, vault.ErrReadOnly)
}

// culprits are the actions, by their rows, that make a transaction fail: what the vault refuses as a whole is tried
// one by one.
func (r *runner) culprits(ctx context.Context, actions []Action, err error) map[int]error {
	if global(ctx, err) {
		return nil
	}
	if one, ok := errors.AsType[*actionError](err); ok {
		return map[int]error{one.row: one.error}
	}
	out := map[int]error{}
	for _, a := range actions {
		if _, err := r.transact(ctx, []Action{a}, true); err != nil {
			out[a.Row] = err
		}
	}
	return out
}

// transacted is what one transaction did.
type transacted struct {
	*vault.Result
	actions []Action
	to      map[int]vault.Path // where archived skills went, by their rows
}

// transact does the actions: the changes of states are one commit, each archive is one, and the counts of this clone
// are one.
func (r *runner) transact(ctx context.Context, actions []Action, dry bool) (*transacted, error) {
	out := &transacted{actions: actions}
	var err error
	out.Result, err = r.v.Transact(ctx, r.why(vault.OpCurate, ""), dry, func(tx *vault.Tx) error {
		out.to = map[int]vault.Path{}
		next := chained(tx)
		if why, any := r.states(actions); any {
			next(why)
		}
		for _, a := range actions {
			s := r.lib.skills[a.Row]
			if a.To == Archived {
				why := r.why(vault.OpArchive, "skill "+s.Name)
				why.Trail("Stet-Reason", a.reason(r.lib.rows[a.Row]))
				next(why)
			}
			if err := r.unchanged(ctx, tx, a); err != nil {
				return &actionError{a.Row, err}
			}
			to, err := r.act(ctx, tx, s, a)
			if out.to[a.Row] = to; err != nil {
				return &actionError{a.Row, err}
			}
		}
		if r.clone == "" {
			return nil
		}
		next(r.why(vault.OpCurate, "how often skills were used"))
		return skill.ShareUsage(r.v, tx, r.clone, r.names(out.to))
	})
	return out, err
}

// chained begins each commit of a chain, with its description.
func chained(tx *vault.Tx) func(vault.Why) {
	begin := true
	return func(why vault.Why) {
		if begin {
			*tx.Why(), begin = why, false
			return
		}
		tx.Split(why)
	}
}

// ownCommits are those of the run among what a transaction committed.
func (r *runner) ownCommits(done *vault.Result) (out []vault.Commit) {
	for c := range done.Chain() {
		if c.Trailers.Get("Stet-Run") == r.out.Run {
			out = append(out, c)
		}
	}
	return out
}

// why describes a commit of the run.
func (r *runner) why(op vault.Op, subject string) vault.Why {
	why := r.w.Why(op, subject)
	if r.out != nil {
		why.Run = r.out.Run
	}
	return why
}

// states describes the commit that changes states; any reports whether there is one.
func (r *runner) states(actions []Action) (why vault.Why, any bool) {
	n := map[State]int{}
	for _, a := range actions {
		n[a.To]++
	}
	subject := agent.Plural(n[Stale], "skill") + " stale"
	switch {
	case n[Stale] == 0:
		subject = agent.Plural(n[Active], "skill") + " active again"
	case n[Active] > 0:
		subject += fmt.Sprintf(", %d active again", n[Active])
	}
	return r.why(vault.OpCurate, subject), n[Stale]+n[Active] > 0
}

// act stages one action and returns where the skill stands then.
func (r *runner) act(ctx context.Context, tx *vault.Tx, s skill.Skill, a Action) (vault.Path, error) {
	if a.To == Archived {
		return skill.ToArchive(ctx, r.v, tx, s, r.now)
	}
	data, was, err := tx.Read(s.Main())
	if err != nil {
		return s.Folder, err
	}
	state := ""
	if a.To == Stale {
		state = string(Stale)
	}
	doc := markdown.Parse(data)
	if err := doc.SetMetaText("metadata", skill.State, state); err != nil {
		return s.Folder, fmt.Errorf("%q: %w: %w", s.Main(), vault.ErrInvalid, err)
	}
	return s.Folder, tx.Put(s.Main(), was, doc.Bytes())
}

// errChanged is why a skill is left that somebody is working on.
var errChanged = errors.New("it was changed while the curator was looking at it")

// unchanged fails where the files of a skill are not what they were in the commit that the library was read of:
// somebody is at work on it, and the skill is used.
func (r *runner) unchanged(ctx context.Context, tx *vault.Tx, a Action) error {
	files, err := r.lib.skills[a.Row].Contents(ctx, r.v, nil)
	if err != nil {
		return err
	}
	if !slices.Equal(skill.Paths(files), skill.Paths(r.files[a.Row])) {
		return errChanged
	}
	for _, f := range files {
		_, now, err := tx.Read(f.Path)
		if err != nil {
			return err
		}
		permitted, err := tx.Permitted(f.Path)
		if err == nil && permitted {
			err = fmt.Errorf("%q: its permissions were changed and not committed", f.Path)
		}
		if err != nil {
			return err
		}
		if _, was, err := r.view.Read(f.Path); err != nil || was != now {
			return errors.Join(err, errChanged)
		}
	}
	return nil
}

// names are the skills of which counts are shared: those that stay, without private ones.
func (r *runner) names(gone map[int]vault.Path) map[string]bool {
	out := map[string]bool{}
	for i, s := range r.lib.skills {
		if to, moved := gone[i]; !moved || to == s.Folder {
			out[s.Name] = true
		}
	}
	return out
}
