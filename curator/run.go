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
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
)

// Options say how a run is made.
type Options struct {
	agent.Write        // of it Agent, Door and DryRun count: the commits are the curator's
	IncludeEdited bool // what agents made and the person edited since as well: the person says so
	// Tier 1 is the rules alone, 2 the skills that could be merged; 0 is both, the second where it is due.
	Tier        int
	Consolidate bool        // the second is made whether or not it is due
	Memories    bool        // that of memories is made, alone without Consolidate and Tier 2
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
	notes bool      // the second tier is that of memories alone
	begun time.Time // in whole seconds, as the run is called
	clock time.Time // the same, not cut
	now   string    // as the names of archived folders have it
	out   *Report
	clone string
	view  *vault.Snapshot // the vault as it was read
	stock *skill.Stock    // of the skills of a transaction, taken in it
	// became are the new states of skills, by their rows.
	became map[int]State
	own    []vault.Commit // what the run has committed, oldest first
	marked bool           // local state says that it is on
	unsure bool           // it may have committed more, which the next writer finishes
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
	clock := a.Now()
	r := &runner{a: a, v: v, o: o, clock: clock, begun: clock.Truncate(time.Second), w: vault.Write{DryRun: o.DryRun,
		Writer: vault.Writer{Actor: Actor, AgentName: Actor, Door: w.Door}}}
	if name, email := v.Person(); o.IncludeEdited && o.Agent == "" {
		r.w.Approver = fmt.Sprintf("%s <%s>", name, email)
	}
	r.now = r.begun.Format("20060102T150405Z")
	if o.DryRun {
		if r.o.Consolidate, err = r.merges(ctx); err == nil {
			err = r.decideAndDo(ctx)
		}
		if err == nil && r.o.Consolidate {
			_, err = r.secondTier(ctx)
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
	var err error
	if r.o.Consolidate, err = r.merges(ctx); err != nil {
		return err
	}
	err = r.decideAndDo(ctx)
	failed := error(nil) // of the model: what rules do is done and told
	if r.o.Consolidate && err == nil && r.out != nil {
		if failed = r.merged(ctx); failed == nil {
			failed, err = r.secondTier(ctx)
		}
		ctx = context.WithoutCancel(ctx)
	}
	did := r.out != nil && (len(r.own) > 0 || r.unsure)
	switch {
	case err != nil && did:
		return err // the next run reports it
	case err != nil || r.out == nil:
	case r.o.due && !did && len(r.out.Proposed) == 0 && !r.out.asks():
		r.out = nil
	default:
		if err = r.out.save(ctx, r); err != nil && did {
			return vault.WithHint(fmt.Errorf("the run is committed, its report is not: %w", err),
				"mend what it names; the next \"stet curate\" reports the run")
		}
	}
	if err = errors.Join(failed, err); r.marked || r.out == nil {
		err = errors.Join(err, setMark(ctx, r.v, func(m *mark) { m.Running = nil }))
	}
	return err
}

// mark notes in local state that the run is on. Where that fails, one that a person asked for goes on and says so: what
// is lost are the counts of this clone, and the report of a crash.
func (r *runner) mark(ctx context.Context, out *Report) (err error) {
	if r.clone, err = cloneID(ctx, r.v); err == nil {
		err = setMark(ctx, r.v, func(m *mark) { m.Last, m.Running = r.begun, &running{out.Run, r.begun} })
	}
	if r.marked = err == nil; err != nil && !r.o.due && ctx.Err() == nil {
		out.leave("the note of this run in local state", err)
		return nil
	}
	return err
}

// A job is one thing that a run is to do.
type job struct {
	name  string       // of what it is about
	own   *vault.Why   // of its commit; nil: it changes a state, and all of those are one commit
	state State        // that the skill gets; "" where it is about something else
	skill *skill.Skill // nil where it is about something else
	stage func(context.Context, *vault.Tx) error
	tell  func(vault.Revision) // notes in the report that a commit did it
}

// decideAndDo reads what there is, decides, and does it. A look that was not asked for, and finds nothing, leaves no
// report.
func (r *runner) decideAndDo(ctx context.Context) error {
	var err error
	if r.lib, err = read(ctx, r.v, r.a.Now()); err != nil {
		return err
	}
	s := r.a.Settings()
	actions, counts := Transitions(r.lib.rows, r.begun,
		cutoffsOf(r.begun, s.Int(settings.CuratorStale), s.Int(settings.CuratorArchive)))
	notes, err := readNotes(ctx, r.v, r.begun)
	if err != nil {
		return err
	}
	if r.o.due && len(actions) == 0 && !notes.due() && !r.o.Consolidate {
		return setMark(ctx, r.v, func(m *mark) { m.Last = r.begun })
	}
	slices.SortStableFunc(actions, func(a, b Action) int { // the commit of states comes first
		return cmp.Compare(max(len(a.To), len(Active)), max(len(b.To), len(Active)))
	})
	out := newReport(r, counts)
	out.Memories.Checked = len(notes.rows)
	if !r.o.DryRun {
		err = r.mark(ctx, out)
	}
	if err != nil {
		return err
	}
	if r.view, err = r.v.Whole().History().View(ctx, string(r.lib.base)); err != nil {
		return err
	}
	r.out = out
	jobs, err := r.skillJobs(ctx, actions)
	if err != nil {
		return err
	}
	more, err := r.noteJobs(ctx, notes)
	if err != nil || r.o.Tier == 2 {
		return err
	}
	jobs = append(jobs, more...)
	if r.w.Approver == "" && r.a.Settings().Text(settings.SkillApproval) == "stage" {
		return r.propose(ctx, jobs)
	}
	return r.do(ctx, jobs, r.note)
}

// do carries out the jobs in one transaction, and has note write down what it did. One that fails is left and noted,
// and the others are done.
func (r *runner) do(ctx context.Context, jobs []job, note func(context.Context, []job, *vault.Result) error) error {
	for len(jobs) > 0 {
		done, err := r.transact(ctx, jobs, r.o.DryRun)
		if err == nil {
			return note(ctx, jobs, done)
		}
		if r.unsure = !r.o.DryRun && r.more(ctx); r.unsure || global(ctx, err) {
			return err
		}
		failed := r.culprits(ctx, jobs, err)
		if len(failed) == 0 {
			return err
		}
		var rest []job
		for i, j := range jobs {
			if err := failed[i]; err != nil {
				r.out.leave(j.name, err)
				continue
			}
			rest = append(rest, j)
		}
		jobs = rest
	}
	return nil
}

// more reports whether history has commits of the run of which it does not know, or cannot be read.
func (r *runner) more(ctx context.Context) bool {
	const newest = 1000 // others may have committed since
	ctx = context.WithoutCancel(ctx)
	n := 0
	for c, err := range r.v.History().Log(ctx, vault.LogOptions{}) {
		if n++; err != nil || n > newest {
			return err != nil
		}
		same := func(own vault.Commit) bool { return own.Rev == c.Rev }
		if c.Trailers.Get("Stet-Run") == r.out.Run && !slices.ContainsFunc(r.own, same) {
			return true
		}
		if c.When.Before(r.begun) {
			return false
		}
	}
	return false
}

// propose lets every job wait for the person.
func (r *runner) propose(ctx context.Context, jobs []job) error {
	r.clone = "" // nothing is done, and no counts are shared
	for _, j := range jobs {
		done, err := r.transact(ctx, []job{j}, r.o.DryRun)
		if global(ctx, err) {
			return err
		}
		if err != nil {
			r.out.leave(j.name, err)
			continue
		}
		r.a.Settle(ctx, done)
		r.out.Diff += done.Diff
		for _, p := range done.Proposed {
			r.out.Proposed = append(r.out.Proposed, Waiting{Name: j.name, To: cmp.Or(j.state, Archived), ID: p.ID})
		}
	}
	return nil
}

// A jobError is why one job cannot be done.
type jobError struct {
	n int
	error
}

func (e *jobError) Unwrap() error { return e.error }

// global reports whether an error would meet every job.
func global(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrInProgress) ||
		errors.Is(err, vault.ErrReadOnly)
}

// culprits are the jobs, by their numbers, that make a transaction fail: what the vault refuses as a whole is tried
// one by one.
func (r *runner) culprits(ctx context.Context, jobs []job, err error) map[int]error {
	if one, ok := errors.AsType[*jobError](err); ok {
		return map[int]error{one.n: one.error}
	}
	out := map[int]error{}
	for i, j := range jobs {
		if _, err := r.transact(ctx, []job{j}, true); err != nil {
			out[i] = err
		}
	}
	return out
}

// transact does the jobs: the changes of states are one commit, each other job is one, and the counts of this clone
// are one.
func (r *runner) transact(ctx context.Context, jobs []job, dry bool) (*vault.Result, error) {
	return r.v.Transact(ctx, r.why(vault.OpCurate, ""), dry, func(tx *vault.Tx) error {
		var about []skill.Skill
		for _, j := range jobs {
			if j.skill != nil {
				about = append(about, *j.skill)
			}
		}
		var err error
		if r.stock, err = skill.Look(ctx, r.v, about); err != nil {
			return err
		}
		next := chained(tx)
		if why, any := r.states(jobs); any {
			next(why)
		}
		used := map[string]bool{} // of which counts are shared: those that stay, without private ones
		for _, s := range r.lib.skills {
			used[s.Name] = true
		}
		for i, j := range jobs {
			if j.own != nil {
				next(*j.own)
			}
			if err := j.stage(ctx, tx); err != nil {
				return &jobError{i, err}
			}
			used[j.name] = used[j.name] && j.state != Archived
		}
		if r.clone == "" {
			return nil
		}
		next(r.why(vault.OpCurate, "how often skills were used"))
		return skill.ShareUsage(r.v, tx, r.clone, used)
	})
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
