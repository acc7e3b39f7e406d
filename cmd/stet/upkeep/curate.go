package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/cmd/stet/forked"
	"stet/curator"
	"stet/vault"
)

// CurateCommand keeps the skills in order.
func CurateCommand() *console.Command {
	return &console.Command{
		Name: "curate", Group: console.Curator,
		Summary: "put skills aside that nobody uses, and show what was done",
		Args:    "[run | status | report [RUN] | own SKILL... | disown SKILL... | pause | resume]", MaxArgs: -1,
		Verbs: []console.Verb{
			{Name: "run", Flags: runFlags, Run: runCurate},
			{Name: "status", Flags: "as", Run: curateStatus},
			{Name: "report", Args: "[RUN]", Max: 1, Flags: "diff as", Run: curateReport},
			{Name: "own", Args: "SKILL...", Max: -1, Flags: "all dry-run as", Run: owning(true)},
			{Name: "disown", Args: "SKILL...", Max: -1, Flags: "all dry-run as", Run: owning(false)},
			{Name: "pause", Flags: "as", Run: pausing(true)},
			{Name: "resume", Flags: "as", Run: pausing(false)},
		},
		Details: `The curator looks after the skills that agents made and those that you gave over with own; disown
			takes one back. A skill that nobody used, changed (as own and disown do) or, being an agent, viewed for
			curator.stale_after_days is marked stale, after curator.archive_after_days it goes to the archive whole, and
			a stale one that is used again is active. Pinned skills, and those of an agent that you edited, are not
			changed; --include-edited takes the latter as well. Nothing is deleted, and what you take back, by "git
			revert", "stet undo" or "stet skill restore", is not done again until the skill changes.

			Of memories it puts aside those whose date expires, set by you, is over, and of those that agents wrote
			with the same text all but one; entries of agents in a notebook that is too full become memories.

			Each run is a chain of commits: one for the states, one for each skill or memory that goes to the archive,
			one for each notebook and for how often skills were used here, and last the report below logs/curator/,
			with every difference and the command that takes it back. "stet watch" and "stet worker run" make one every
			curator.interval_hours when nobody has said anything for curator.min_idle_hours; such a look that finds
			nothing to do leaves no trace, and pause ends the looks until resume. --if-due is one; else a run reports.

			With models.curator a second tier follows every curator.consolidate_hours, and with --consolidate at once:
			the model is shown skills that could be merged, and works on a copy of them in a process of its own, within
			curator.max_tokens, curator.max_minutes and curator.max_usd: what it finished by then counts. It is compared
			with what was there before anything is changed, each merge is a commit, and the skills that it absorbed are
			in the archive whole. Without the model --consolidate says which skills could be merged, and exits 7.

			--memories does the same for memories that agents alone wrote: the model only says which texts stay, and
			what judges new memories has to agree. By itself the curator does it with curator.memories alone.`,
		Examples: `stet curate --dry-run  # what a run would do
			stet curate  # do it, and report
			stet curate --background  # the same, without waiting for it
			stet curate report  # what the last run did
			stet curate report 20261123-020000 --diff  # every difference of one
			stet curate --consolidate  # have a model merge skills that could be merged
			stet curate own deploy  # let the curator look after it
			stet curate status  # when it looks next, and what it owns`,
		Flags: console.Flags(
			console.Bool("if-due", "run: only when the time has come, as \"stet watch\" does"),
			console.Bool("consolidate", "run: have the model merge skills, also where that is not due"),
			console.Bool("memories", "run: have the model merge memories of agents, and skills with --consolidate"),
			console.Number("tier", "run: 1 is the rules alone, 2 the model alone"),
			console.Bool("include-edited", "run: also skills of agents that you edited"),
			console.Bool("background", "run: in a process of its own, and do not wait for it"),
			console.Bool("diff", "report: with every difference, as REPORT.md has it"),
			console.Bool("all a", "own, disown: every skill"),
			console.AgentFlag(), console.DryRunFlag(),
		),
		Run: console.RunVerb,
	}
}

const runFlags = "background consolidate dry-run if-due include-edited memories tier as"

func runCurate(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	model, missing := forked.Runner(e)
	o := curator.Options{Write: e.By(in), IncludeEdited: in.Bool("include-edited"), Tier: in.Int("tier"),
		Consolidate: in.Bool("consolidate"), Memories: in.Bool("memories"), Runner: model}
	due, operation, usage := in.Bool("if-due"), "curate", error(nil)
	if due {
		operation = "curate-due"
	}
	switch {
	case o.Tier < 0 || o.Tier > 2:
		usage = agent.Usagef("there is no tier %d", o.Tier).Suggest("1 is the rules, 2 is the model")
	case o.Tier == 1 && (o.Consolidate || o.Memories),
		due && (o.DryRun || o.IncludeEdited || o.Consolidate || o.Memories || o.Tier > 0):
		usage = agent.Usagef("--if-due goes with no other flag, and --tier 1 not with --consolidate or --memories")
	case in.Bool("background") && o.DryRun:
		usage = agent.Usagef("--background writes, and --dry-run does not")
	case o.Tier < 2 && !o.Consolidate && !o.Memories || o.DryRun:
		missing = nil
	}
	return permitted(ctx, e, o.Write, operation, usage, func(a *agent.App) error {
		var done *curator.Report
		var err error
		if in.Bool("background") {
			return startRun(e, in, a)
		}
		if due {
			done, err = curator.IfDue(ctx, a, o.Write, model)
		} else {
			done, err = curator.Run(ctx, a, o)
		}
		if err != nil && (done == nil || done.LLMError+done.Memories.LLMError == "") {
			return err
		}
		if done == nil {
			return e.Show(struct {
				Unchanged bool `json:"unchanged"`
			}{true}, func(p *console.Printer) { p.Printf("nothing is due%s\n", p.Where()) })
		}
		shown := e.ShowPaged(ctx, done, func(p *console.Printer) { printRun(p, done) }, o.DryRun)
		return errors.Join(shown, err, missing)
	})
}

// permitted opens the vault for an operation. What is wrong with the command line is said to those who may do it.
func permitted(
	ctx context.Context, e *console.Env, by agent.Write, operation string, usage error, do func(*agent.App) error,
) error {
	if by.Agent == "" && usage != nil {
		return usage
	}
	return e.With(ctx, false, func(a *agent.App) error {
		if _, _, err := a.Permit(by, operation, ""); err != nil || usage != nil {
			return cmp.Or(err, usage)
		}
		return do(a)
	})
}

// startRun makes the run in a process that nobody waits for.
func startRun(e *console.Env, in *console.Input, a *agent.App) error {
	args := []string{"-C", a.Root(), "curate", "run", "--quiet"}
	for _, flag := range []string{"if-due", "include-edited", "consolidate", "memories"} {
		if in.Bool(flag) {
			args = append(args, "--"+flag)
		}
	}
	if n := in.Int("tier"); n > 0 {
		args = append(args, fmt.Sprintf("--tier=%d", n))
	}
	if by := e.By(in); by.Agent != "" {
		args = append(args, "--as", by.Agent)
	}
	if err := e.Spawn(args...); err != nil {
		return vault.WithHint(fmt.Errorf("start a run in the background: %w", err), `"stet curate" makes it here`)
	}
	return e.Show(struct {
		Started bool `json:"started"`
	}{true}, func(p *console.Printer) { p.Printf("started%s; \"stet curate report\" shows what it did\n", p.Where()) })
}

// printRun says what a run did, or would do.
func printRun(p *console.Printer, r *curator.Report) {
	for _, t := range r.Transitions {
		verb := string(t.To)
		if r.DryRun {
			verb = "would be " + verb
		}
		line := verb + "  " + string(t.Path)
		if t.Into != t.Path {
			line += " -> " + string(t.Into)
		}
		p.Printf("%s  (%s)\n", console.Line1(line), console.Line1(t.Why))
	}
	did := func(verb string, e curator.Ended) {
		if r.DryRun {
			verb = "would be " + verb
		}
		p.Printf("%s  %s  (%s)\n", verb, console.Line1(string(e.Path)+" -> "+string(e.Into)), console.Line1(e.Why))
	}
	for _, e := range r.Memories.Archived {
		did("archived", e)
	}
	for _, e := range r.Memories.Moved {
		did("moved", e)
	}
	for _, a := range slices.Concat(r.Consolidated, r.Pruned) {
		if a.Applied {
			p.Printf("archived  %s -> %s  (%s)\n", console.Line1(string(a.From)), console.Line1(string(a.To)),
				console.Line1(cmp.Or(a.Section, a.Into, "without a successor")))
		}
	}
	for _, v := range r.Vetoes() {
		var names []string
		for _, a := range v.Of {
			names = append(names, a.Name)
		}
		p.Printf("not changed  %s: %s\n", console.Line1(strings.Join(names, ", ")), console.Line1(v.Why))
	}
	printNames(p, r)
	printMerges(p, r.Memories)
	for _, w := range r.Proposed {
		p.Printf("proposed  %s %s  (%s)\n", console.Line1(w.Name), console.Line1(string(w.To)), console.Line1(w.ID))
	}
	for _, l := range r.Left {
		p.Printf("not changed  %s: %s\n", console.Line1(l.Name), console.Line1(l.Reason))
	}
	p.Diff(console.Clean(r.Diff))
	p.Printf("%s checked: %s%s\n", agent.Plural(r.AutoTransitions.Checked, "skill"), r.Summary(), p.Where())
	if n := r.Counts.Others; n > 0 && r.Counts.Before == 0 {
		p.Printf("%s not the curator's: \"stet curate own NAME\" gives one over to it, own --all every one\n",
			agent.Plural(n, "skill here is", "skills here are"))
	}
	if !r.DryRun {
		p.Printf("report  %s\n", r.Path())
	}
}

// printNames says which skills could be merged, and where the old name of one that was still stands.
func printNames(p *console.Printer, r *curator.Report) {
	for _, m := range r.StillNamed {
		p.Printf("still names  %s: %s, which is a section of %s now\n", console.Line1(m.Where()), console.Line1(m.Name),
			console.Line1(m.Into))
	}
	if len(r.ToolCalls) == 0 {
		for _, c := range r.Suggested {
			p.Printf("could be merged  %s  (%s)\n", console.Line1(strings.Join(c.Names, ", ")), console.Line1(c.Why))
		}
	}
}

// printMerges says which memories became one, or may.
func printMerges(p *console.Printer, m curator.Memories) {
	for _, a := range m.Consolidated {
		if a.Applied {
			p.Printf("merged  %s -> %s\n", console.Line1(string(a.From)), console.Line1(a.Into))
		}
	}
	for _, a := range m.Refused() {
		p.Printf("not changed  %s: %s\n", console.Line1(string(a.From)), console.Line1(a.Veto))
	}
	for _, c := range m.Suggested {
		if len(m.ToolCalls) == 0 {
			p.Printf("could be merged  %s  (%s)\n", console.Line1(strings.Join(c.Names, ", ")), console.Line1(c.Why))
		}
	}
}

func curateStatus(ctx context.Context, e *console.Env, _ *console.Input, _ []string) error {
	return console.Reading(ctx, e, func(a *agent.App) (*curator.Status, error) {
		return curator.StatusOf(ctx, a)
	}, func(p *console.Printer, s *curator.Status) {
		state := "enabled"
		switch {
		case !s.Enabled:
			state = "disabled (curator.enabled)"
		case s.Paused:
			state = "paused"
		}
		p.Printf("curator   %s, %s\n", state, agent.Plural(s.Runs, "run"))
		moment := func(label, at string) {
			if t, err := time.Parse(time.RFC3339, at); err == nil {
				p.Printf("%s  %s\n", label, console.Day(t))
			}
		}
		moment("last look", s.LastLook)
		moment("next look", s.NextLook)
		if s.Model != "" {
			p.Printf("model     %s\n", console.Line1(s.Model))
		}
		moment("last merge", s.LastMerge)
		moment("next merge", s.NextMerge)
		if s.LastReport != "" {
			p.Printf("last run  %s  (%s)\n", s.LastReport, s.LastSummary)
		}
		p.Printf("every     %s; stale after %s, archived after %d\n", agent.Plural(s.Interval, "hour"),
			agent.Plural(s.StaleAfter, "day"), s.ArchiveAfter)
		p.Printf("skills    %d its own, %d of them stale; %s; %d in the archive\n", s.Owned, s.Stale,
			agent.Plural(s.Others, "other"), s.Archived)
		if s.Yours > 0 {
			p.Printf("yours     %d of its own are left as they are, for you edited or accepted them: "+
				"\"stet curate own NAME\" gives one over\n", s.Yours)
		}
		for _, name := range s.Pinned {
			by := ""
			if line := s.PinnedBy[name]; line != "" {
				by = "  (by the line " + line + ")"
			}
			p.Printf("pinned    %s%s\n", console.Line1(name), console.Line1(by))
		}
		for _, name := range s.Kept {
			p.Printf("kept      %s  (you took back what the curator did)\n", console.Line1(name))
		}
		for _, o := range s.Oldest {
			day := o.LastActivity[:len(time.DateOnly)]
			p.Printf("idle      %s  %s  since %s\n", console.Line1(o.Name), o.State, day)
		}
	})
}

func curateReport(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	run := append(words, "")[0]
	return e.With(ctx, true, func(a *agent.App) error {
		r, err := curator.Load(ctx, a, run)
		if err != nil {
			return err
		}
		page, _, err := curator.Page(a, r)
		return errors.Join(err, e.ShowPaged(ctx, r, func(p *console.Printer) {
			if in.Bool("diff") {
				p.Printf("%s", p.Stored(string(page)))
			} else {
				printRun(p, r)
				printCommits(p, r)
			}
			for _, name := range r.Restored {
				p.Printf("restored  %s is no longer in the archive where this run put it\n", console.Line1(name))
			}
			switch back := len(r.TakenBack); {
			case back > 0 && back == len(r.Commits):
				p.Printf("taken back  the whole run\n")
			case back > 0:
				p.Printf("taken back  %d of its %s\n", back, agent.Plural(len(r.Commits), "commit"))
			}
		}))
	})
}

// printCommits lists the commits of a run, and how they are taken back.
func printCommits(p *console.Printer, r *curator.Report) {
	if r.LLMError != "" {
		p.Printf("ended early  %s\n", console.Line1(r.LLMError))
	}
	for _, c := range r.Commits {
		state := "can be reverted on its own"
		if c.After != "" {
			state = "revert " + c.After.Short() + " first"
		}
		if by := r.TakenBack[c.Rev]; by != "" {
			state = "taken back by " + by.Short()
		}
		p.Printf("%s  %s  (%s)\n", console.Line1(c.Rev.Short()), console.Line1(c.Subject), state)
	}
	if len(r.TakenBack) < len(r.Commits) {
		p.Printf("take back  stet revert --run %s\n", r.Run)
	}
}

// owning gives skills over to the curator, or takes them back.
func owning(given bool) func(context.Context, *console.Env, *console.Input, []string) error {
	return func(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
		usage := error(nil)
		if all := in.Bool("all"); all == (len(words) > 0) {
			usage = agent.Usagef("name skills, or give --all").Suggest(`"stet skill list" shows them`)
		}
		return permitted(ctx, e, e.By(in), "skill-manage", usage, func(a *agent.App) error {
			done, err := curator.Own(ctx, a, words, given, e.By(in))
			if err != nil {
				return err
			}
			return e.Show(done, func(p *console.Printer) {
				verb := "the curator's"
				if !given {
					verb = "your own"
				}
				if in.Bool("dry-run") {
					verb = "would be " + verb
				}
				for _, name := range done.Skills {
					p.Printf("%s  %s\n", verb, console.Line1(name))
				}
				p.Printf("%s changed%s\n", agent.Plural(len(done.Skills), "skill"), p.Where())
			})
		})
	}
}

func pausing(paused bool) func(context.Context, *console.Env, *console.Input, []string) error {
	return func(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
		return e.With(ctx, false, func(a *agent.App) error {
			if err := curator.Pause(ctx, a, e.By(in), paused); err != nil {
				return err
			}
			return e.Show(struct {
				Paused bool `json:"paused"`
			}{paused}, func(p *console.Printer) {
				p.Printf("%s%s\n", map[bool]string{true: "paused", false: "resumed"}[paused], p.Where())
			})
		})
	}
}
