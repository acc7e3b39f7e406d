package session

import (
	"context"
	"errors"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/cmd/stet/forked"
	"stet/curator"
)

func nudgeCommand() *console.Command {
	return &console.Command{
		Name: "nudge", Group: console.Session,
		Summary: "learn from a conversation now",
		Args:    "",
		Details: `What nobody has reviewed of the conversation is shown to the model for small tasks, every turn to its
			end: what is worth keeping becomes memories, each a commit of its own, and a method that took several steps
			a skill. Without a model rules write what you said of yourself, word for word, where they are sure, and
			propose a little of the rest; when they find nothing, the command exits 7. A private conversation is
			refused. The same happens by itself after memory.nudge_interval turns and at the end of a conversation, as
			"stet help worker" says. --dry-run says what would be reviewed and asks no model.`,
		Examples: `stet nudge --session 4711  # what nobody has reviewed of it
			stet nudge --session sessions/2026/11/2026-11-21-gate-7ck2ma.md --all  # all of it once more
			stet nudge --session 4711 --dry-run  # which messages that would be`,
		Flags: console.Flags(
			console.Text("session", "the conversation's `ID`, as stet or the agent calls it, or the path of a "+
				"transcript (also: STET_SESSION)"),
			console.Bool("all a", "review also what was reviewed before"),
			console.AgentFlag(), console.DryRunFlag(),
		),
		Run: runNudge,
	}
}

func runNudge(ctx context.Context, e *console.Env, in *console.Input) error {
	by := e.ByInSession(in)
	ref := by.Session
	if by.Session = ""; ref == "" {
		return agent.Usagef("nudge needs --session ID").Suggest(`"stet session list" shows the conversations`)
	}
	return e.With(ctx, false, func(a *agent.App) error {
		done, err := a.Learning().Nudge(ctx, agent.NudgeOptions{Write: by, Ref: ref, All: in.Bool("all")})
		if done == nil {
			return err
		}
		return errors.Join(e.Show(done, func(p *console.Printer) { printReviewed(p, done) }), err)
	})
}

// printReviewed says what was learnt of a conversation.
func printReviewed(p *console.Printer, r *agent.Reviewed) {
	what := "reviewed"
	switch {
	case r.DryRun && r.From > 0:
		what = "would be reviewed"
	case r.Error != "":
		what = "failed"
	case r.From == 0:
		what = "nothing new"
	case r.Nothing():
		what = "nothing to save"
	}
	p.Printf("%s  %s  (", what, console.Line1(r.Title))
	if r.From > 0 {
		p.Printf("messages %d to %d, ", r.From, r.To)
	}
	p.Printf("%s)\n", console.Line1(r.Session))
	line := func(what, text string) { p.Printf("  %s  %s\n", what, console.Line1(text)) }
	saved, proposed := "saved", "proposed"
	if r.DryRun {
		saved, proposed = "would save", "would propose"
	}
	for _, text := range r.Saved {
		line(saved, text)
	}
	for _, text := range r.Proposed {
		line(proposed, text)
	}
	if r.Skill != "" {
		line("skill", r.Skill)
	}
	for _, c := range r.Commits {
		p.Printf("  %s  %s\n", c.Rev.Short(), console.Line1(c.Subject))
	}
	if r.Error != "" {
		line("error", r.Error)
	}
}

func workerCommand() *console.Command {
	return &console.Command{
		Name: "worker", Group: console.Session,
		Summary: "make the reviews of conversations that are due, or show what waits",
		Args:    "[run | status]", MaxArgs: 1,
		Verbs: []console.Verb{
			{Name: "run", Flags: "as rules", Run: runWorker},
			{Name: "status", Flags: "as", Run: showWorker},
		},
		Details: `A review is queued after memory.nudge_interval turns of the user without a memory written, after
			skills.creation_nudge_interval steps with tools without a skill written, and when a conversation ends.
			"stet watch" makes it within a minute; "stet worker run" makes all that wait, imports the conversations that
			hooks of clients have seen, and ends; with
			memory.background the "stet observe" that queued it starts a process for it. Each has the rights of the
			agent whose conversation it is, and is made by the model for small tasks, within
			models.daily_limit_usd, or by rules where no model is configured. One that fails waits for the next
			one of its conversation, for its end, or for "stet nudge".`,
		Examples: `stet worker run  # all reviews that wait
			stet worker status --json  # how many, and what went wrong last`,
		Flags: console.Flags(console.AgentFlag(), console.Bool("rules",
			"ask no model: rules read what waits for one, and it goes on waiting")),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			e.Command = "worker " + append(in.Words[:len(in.Words):len(in.Words)], "run")[0]
			return console.RunVerb(ctx, e, in)
		},
	}
}

func runWorker(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	return e.With(ctx, false, func(a *agent.App) error {
		left := a.Hooks().Sweep(ctx, e.By(in))
		done, err := a.Learning().Work(ctx, agent.WorkOptions{Write: e.By(in), Rules: in.Bool("rules"),
			Each: func(r *agent.Reviewed) { e.Note("reviewed %s", r.Title) }})
		model, _ := forked.Runner(e) // without one there are the rules
		if in.Bool("rules") {
			model = nil
		}
		tidied, terr := curator.IfDue(ctx, a, e.By(in), model)
		if err = errors.Join(left, err, terr); done == nil {
			return err
		}
		if tidied != nil {
			e.Note("curated: %s, see %s", tidied.Summary(), tidied.Path())
		}
		return errors.Join(e.Show(done, func(p *console.Printer) {
			for _, r := range done.Reviews {
				printReviewed(p, r)
			}
			switch {
			case done.Busy:
				p.Printf("another worker is at it\n")
			case len(done.Reviews) == 0 && done.Left == 0:
				p.Printf("nothing waits\n")
			case done.Left > 0:
				p.Printf("%s left\n", agent.Plural(done.Left, "review"))
			}
		}), err)
	})
}

func showWorker(ctx context.Context, e *console.Env, _ *console.Input, _ []string) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Reviews, error) { return a.Learning().Reviews(ctx) },
		func(p *console.Printer, r *agent.Reviews) {
			p.Printf("queued   %d\n", r.Queued)
			last := func(what string, l *agent.Lately) {
				if l != nil {
					p.Printf("%s  %s  %s  (%s)\n", what, console.Day(l.Time), console.Line1(l.Text),
						console.Line1(l.Session))
				}
			}
			last("failure", r.Failure)
			last("lesson ", r.Lesson)
		})
}
