package history

import (
	"context"
	"errors"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/vault"
)

func runProposed(ctx context.Context, e *console.Env, in *console.Input) error {
	for _, name := range []string{"since", "stat"} {
		if in.IsSet(name) {
			return agent.Usagef("--%s and --proposed cannot be used together", name)
		}
	}
	o := agent.DecideOptions{
		Write: e.By(in), Accept: in.StringSlice("accept"), Reject: in.StringSlice("reject"),
		AcceptAll: in.Bool("accept-all"), RejectAll: in.Bool("reject-all"),
	}
	if o.AcceptAll && o.RejectAll {
		return agent.Usagef("--accept-all and --reject-all cannot be used together")
	}
	return e.With(ctx, false, func(a *agent.App) error {
		if o.AcceptAll || o.RejectAll || len(o.Accept)+len(o.Reject) > 0 {
			return decide(ctx, e, a.History(), o)
		}
		all, err := a.History().Proposals(ctx)
		if err != nil {
			return err
		}
		if all.Skills, err = a.Skills().Waiting(ctx); err != nil {
			return err
		}
		if !o.DryRun && e.CanAsk() && e.OutTerminal && len(all.Proposed)+len(all.Skills) > 0 {
			if len(all.Proposed) > 0 {
				err = askProposals(ctx, e, a.History(), o.Write, all.Proposed)
			}
			if err == nil && len(all.Skills) > 0 {
				err = choice.AskSkills(ctx, e, a.Skills(), all.Skills)
			}
			return err
		}
		all.DryRun = o.DryRun
		return listProposals(ctx, e, a, o.Write, all)
	})
}

// listProposals shows what waits, each with the difference that it would make now, and notes that it was shown.
func listProposals(
	ctx context.Context, e *console.Env, a *agent.App, by agent.Write, all *agent.Proposals,
) error {
	for i := range all.Proposed {
		if err := a.History().Preview(ctx, &all.Proposed[i]); err != nil {
			return err
		}
	}
	note := func() {
		if by.DryRun {
			return
		}
		err := errors.Join(a.History().Shown(ctx, by, all.Proposed), a.Skills().Shown(ctx, by, all.Skills))
		if err != nil && !errors.Is(err, vault.ErrRefused) { // an agent answers none of them
			e.Warn("could not note that these were shown, so --accept refuses them: %v", err)
		}
	}
	if e.JSON {
		note() // the answer holds the warning
	}
	err := e.ShowPaged(ctx, all, func(p *console.Printer) {
		for _, w := range all.Proposed {
			printProposal(p, w, nil)
		}
		for _, s := range all.Skills {
			choice.PrintSkill(p, s)
		}
		text := nothingWaits
		if n := len(all.Proposed) + len(all.Skills); n > 0 {
			text = fmt.Sprintf(
				"%d waiting; \"stet review --proposed\" on a terminal asks about each, --accept and --reject answer", n)
		}
		p.Folded(text+e.Where(), 0)
	})
	if err == nil && !e.JSON {
		note()
	}
	return err
}

const nothingWaits = "nothing waits for you"

func printProposal(p *console.Printer, w agent.Proposal, room *int) {
	p.Printf("%s  %s  %s: %s\n    %s", p.Paint(console.Cyan, console.Line1(w.ID)), console.Day(w.At),
		console.Line1(w.Op), console.Line1(w.Subject), console.Line1(w.By))
	if w.Session != "" {
		p.Printf("; session %s", console.Line1(w.Session))
	}
	if w.Waits != "" {
		p.Printf("\n    waits for you: %s", console.Line1(w.Waits))
	}
	if w.Problem != "" {
		p.Printf("\n    %s", console.Line1(w.Problem))
	}
	for _, line := range w.Lines() {
		p.Printf("\n    %s", console.Line1(line))
	}
	p.Printf("\n")
	p.Head(room, console.Clean(w.Diff)) // also where it is not seen on a terminal yet
	printRest(p, room)
	p.Printf("\n")
}

// decide answers the proposals that the flags name.
func decide(ctx context.Context, e *console.Env, h agent.History, o agent.DecideOptions) error {
	all, err := h.Decide(ctx, o)
	if all == nil {
		return err
	}
	for _, d := range all.Decided {
		e.Adopted(d.Write.Commits, d.Verdict, d.Write.DryRun)
		console.NoteRejections(e, &d.Write)
	}
	return errors.Join(err, e.Show(all, func(p *console.Printer) {
		for _, d := range all.Decided {
			printDecided(p, d, o.DryRun)
		}
		decided := len(all.Decided)
		for _, s := range all.Skills {
			verb := s.Decision
			switch {
			case verb == "" && o.AcceptAll:
				e.Note("%s still waits: the scan calls it dangerous, so it must be accepted by its name", s.Path)
				continue
			case verb == "":
				continue
			case o.DryRun:
				verb = "would be " + verb
			}
			decided++
			p.Printf("%s  skill  %s%s\n", verb, console.Line1(string(s.Path)), p.Where())
		}
		if decided == 0 && len(all.Skills) == 0 {
			p.Printf("%s%s\n", nothingWaits, e.Where())
		}
	}))
}

func printDecided(p *console.Printer, d agent.DecidedProposal, dry bool) {
	verb, what := d.Verdict, d.About
	if dry {
		verb = "would be " + verb
	}
	p.Change(&d.Write, false)
	if len(d.Write.Memories) > 0 {
		what = string(d.Write.Memories[0].Path)
	}
	if d.Unchanged {
		verb += ", already stored"
	}
	p.Printf("%s  %s  %s%s\n", verb, console.Line1(d.Op), console.Line1(what), p.Where())
}

// askProposal shows a proposal and asks about it: yes is about all of it.
func askProposal(
	ctx context.Context, e *console.Env, h agent.History, by agent.Write, w agent.Proposal, question string,
) (answer byte, err error) {
	for room := firstLines(); ; room = nil {
		if err := e.Show(nil, func(p *console.Printer) { printProposal(p, w, room) }); err != nil {
			return 'q', err
		}
		whole := !cut(room)
		if whole {
			if err := h.Shown(ctx, by, []agent.Proposal{w}); err != nil {
				return 'q', err
			}
		}
		answer, err = console.Choose(e, false, "ynldq", question,
			"yes writes it; no refuses it, and no agent proposes it again; later leaves it waiting; "+
				"diff shows all of it; quit leaves the rest waiting")
		if err != nil || answer != 'd' && (answer != 'y' || whole) {
			return answer, err
		}
		if answer == 'y' {
			e.Note("not all of it was shown; this is all of it:")
		}
	}
}

// askProposals asks about each proposal on a terminal.
func askProposals(ctx context.Context, e *console.Env, h agent.History, by agent.Write, all []agent.Proposal) error {
	accepted, rejected := 0, 0
	for n, w := range all {
		if err := h.Preview(ctx, &w); err != nil {
			return err
		}
		answer, err := askProposal(ctx, e, h, by, w, fmt.Sprintf(
			"[%d/%d] write it? [y]es, [n]o: reject it, [l]ater, [d]iff, [q]uit:", n+1, len(all)))
		if err != nil {
			return err
		}
		if answer == 'q' {
			break
		}
		if answer == 'l' {
			continue
		}
		done, err := h.Answer(ctx, w, answer == 'y', by)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			e.Warn("left for later: %v", err)
			continue
		}
		e.Adopted(done.Write.Commits, "", done.Write.DryRun)
		console.NoteRejections(e, &done.Write)
		if answer == 'y' {
			accepted++
		} else {
			rejected++
		}
	}
	e.Note("%d accepted, %d rejected, %d left for later", accepted, rejected, len(all)-accepted-rejected)
	return nil
}
