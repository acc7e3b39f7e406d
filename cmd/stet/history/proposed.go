package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/agent/approval"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/cmd/stet/console"
	"stet/vault"
)

// A proposedView is one write that waits, as JSON shows it.
type proposedView struct {
	ID      string     `json:"id"`
	Path    vault.Path `json:"path"`
	Op      string     `json:"op"`
	Subject string     `json:"subject"`
	By      string     `json:"by"`
	At      string     `json:"at"`
	Session string     `json:"session,omitempty"`
	About   string     `json:"about"`
	Diff    string     `json:"diff,omitempty"`
	// Problem says why it cannot be accepted as things are.
	Problem string `json:"problem,omitempty"`
}

// A decidedView is one proposal that was accepted or rejected.
type decidedView struct {
	proposedView
	Verdict   string        `json:"verdict"` // accepted, rejected
	Unchanged bool          `json:"unchanged,omitempty"`
	Write     agent.Written `json:"write"`
}

// A proposedAnswer is what review --proposed prints under --json.
type proposedAnswer struct {
	Proposed []proposedView  `json:"proposed"` // what waits now
	Decided  []decidedView   `json:"decided"`
	Problems []vault.Problem `json:"problems,omitempty"`
	DryRun   bool            `json:"dry_run,omitempty"`
}

func viewProposed(w approval.Waiting) proposedView {
	p := w.Proposal
	by := p.By
	if by == "" {
		by = p.Actor
	}
	return proposedView{ID: w.ID, Path: w.Path, Op: p.Op, Subject: p.Subject, By: by, At: p.At.UTC().Format(time.RFC3339), Session: p.Session, About: p.Files[0].Path}
}

// An approver answers proposals.
type approver struct {
	e      *console.Env
	v      *vault.Vault
	w      vault.Write
	answer proposedAnswer
}

func runProposed(ctx context.Context, e *console.Env, in *console.Input) error {
	for _, name := range []string{"since", "stat"} {
		if in.IsSet(name) {
			return agent.Usagef("--%s and --proposed exclude each other", name)
		}
	}
	if in.Bool("accept-all") && in.Bool("reject-all") {
		return agent.Usagef("--accept-all and --reject-all exclude each other")
	}
	w := e.Write(in)
	answers := in.Bool("accept-all") || in.Bool("reject-all") || in.IsSet("accept") || in.IsSet("reject")
	if answers {
		if err := e.Check(e.By(in), "review", "proposals"); err != nil {
			return err
		}
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	all, problems, err := approval.List(ctx, v)
	if err != nil {
		return err
	}
	for _, p := range problems {
		e.Warn("%s", console.ProblemLine(p))
	}
	a := &approver{e: e, v: v, w: w, answer: proposedAnswer{Proposed: []proposedView{}, Decided: []decidedView{}, Problems: problems, DryRun: w.DryRun}}
	switch {
	case answers:
		return a.decideAll(ctx, all, in)
	case !w.DryRun && w.Actor == vault.ActorUser && e.CanAsk() && e.OutTerminal && len(all) > 0:
		return a.goThrough(ctx, all)
	}
	return a.list(ctx, all)
}

// list shows what waits, each with the difference that it would make now.
func (a *approver) list(ctx context.Context, all []approval.Waiting) error {
	for _, w := range all {
		view, err := a.look(ctx, w)
		if err != nil {
			return err
		}
		a.answer.Proposed = append(a.answer.Proposed, view)
	}
	return a.e.PagedAnswer(ctx, a.answer, func(w io.Writer) error {
		for _, view := range a.answer.Proposed {
			if err := a.print(w, view); err != nil {
				return err
			}
		}
		text := "nothing waits for you"
		if n := len(all); n > 0 {
			text = fmt.Sprintf("%d waiting; \"stet review --proposed\" on a terminal asks about each, --accept and --reject answer", n)
		}
		_, err := fmt.Fprintln(w, text+a.e.Where())
		return err
	})
}

// look is a proposal with what accepting it would change.
func (a *approver) look(ctx context.Context, w approval.Waiting) (proposedView, error) {
	dry := a.w
	dry.DryRun = true
	view := viewProposed(w)
	res, err := a.accept(ctx, w, dry)
	switch {
	case ctx.Err() != nil:
		return view, err
	case err != nil:
		view.Problem = err.Error()
	case len(res.Plan.Decisions()) > 0 && len(res.Memories) > 0 && onlyProposals(res.Changes):
		view.Problem = fmt.Sprintf("said already in %s", res.Memories[0].Path)
	default:
		view.Diff = console.WithoutRecords(res.Diff)
	}
	return view, nil
}

func onlyProposals(changes []vault.Change) bool {
	return !slices.ContainsFunc(changes, func(c vault.Change) bool { return !vault.IsProposal(c.Path) })
}

func (a *approver) print(w io.Writer, view proposedView) error {
	at, err := time.Parse(time.RFC3339, view.At)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s  %s  %s: %s\n    %s", a.e.Paint(console.Cyan, view.ID), console.Day(at), view.Op, console.Line1(view.Subject), console.Line1(view.By))
	if view.Session != "" {
		line += "; session " + console.Line1(view.Session)
	}
	if view.Problem != "" {
		line += "\n    " + console.Line1(view.Problem)
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	if err := a.e.PrintDiff(w, view.Diff); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// accept writes one proposal, compared with what is stored by now as any new memory
// is. Where a model is configured it is left to "stet encode" to ask it.
func (a *approver) accept(ctx context.Context, w approval.Waiting, who vault.Write) (res *ingest.Result, err error) {
	_, _, err = llm.FromSettings(a.v.Settings(), llm.Auxiliary, a.e.Getenv)
	later := !errors.Is(err, llm.ErrNoModel)
	x, err := a.e.Lexicon(a.v, false)
	if err != nil {
		return nil, err
	}
	res, err = approval.Accept(ctx, a.v, approval.Desk{Find: x, Later: later}, w, who)
	return res, errors.Join(err, x.Close())
}

// decide answers one proposal and says what became of it.
func (a *approver) decide(ctx context.Context, w approval.Waiting, yes bool) error {
	view := decidedView{proposedView: viewProposed(w), Verdict: "rejected"}
	var res *vault.Result
	if yes {
		view.Verdict = "accepted"
		done, err := a.accept(ctx, w, a.w)
		if err != nil {
			return err
		}
		res = done.Result
		view.Unchanged = onlyProposals(res.Changes)
	} else {
		var err error
		if res, err = approval.Reject(ctx, a.v, []approval.Waiting{w}, a.w); err != nil {
			return err
		}
	}
	a.e.AfterWrite(ctx, a.v, res, view.Verdict)
	view.Write = *agent.NewWritten(res)
	view.Diff = console.WithoutRecords(res.Diff)
	a.answer.Decided = append(a.answer.Decided, view)
	return nil
}

// decideAll does what the flags say. What cannot be done is left waiting, and the
// others do not wait for it.
func (a *approver) decideAll(ctx context.Context, all []approval.Waiting, in *console.Input) error {
	verdicts := map[string]bool{}
	for flag, yes := range map[string]bool{"accept": true, "reject": false} {
		for _, ref := range in.StringSlice(flag) {
			w, err := approval.Find(all, ref)
			if err != nil {
				return err
			}
			if was, again := verdicts[w.ID]; again && was != yes {
				return agent.Usagef("%s is to be accepted and rejected", w.ID)
			}
			verdicts[w.ID] = yes
		}
	}
	var failed []error
	for _, w := range all {
		yes, named := verdicts[w.ID]
		if !named {
			if yes = in.Bool("accept-all"); !yes && !in.Bool("reject-all") {
				a.answer.Proposed = append(a.answer.Proposed, viewProposed(w))
				continue
			}
		}
		if err := a.decide(ctx, w, yes); err != nil {
			failed = append(failed, err)
			a.answer.Proposed = append(a.answer.Proposed, viewProposed(w))
		}
	}
	if len(a.answer.Decided) == 0 && len(failed) > 0 {
		return errors.Join(failed...)
	}
	err := a.e.Answer(a.answer, func(w io.Writer) error {
		for _, d := range a.answer.Decided {
			if err := a.printDecided(w, d); err != nil {
				return err
			}
		}
		if len(a.answer.Decided) == 0 {
			_, err := fmt.Fprintln(w, "nothing waits for you"+a.e.Where())
			return err
		}
		return nil
	})
	return errors.Join(append(failed, err)...)
}

func (a *approver) printDecided(w io.Writer, d decidedView) error {
	verb := d.Verdict
	if a.w.DryRun {
		verb = "would be " + verb
		if err := a.e.PrintDiff(w, d.Diff); err != nil {
			return err
		}
	}
	what := d.About
	if len(d.Write.Memories) > 0 {
		what = string(d.Write.Memories[0].Path)
	}
	if d.Unchanged {
		verb += ", said already"
	}
	_, err := fmt.Fprintf(w, "%s  %s  %s%s\n", verb, d.Op, console.Line1(what), a.e.Where())
	return err
}

// goThrough asks about each proposal on a terminal.
func (a *approver) goThrough(ctx context.Context, all []approval.Waiting) error {
	accepted, rejected := 0, 0
	for n, w := range all {
		view, err := a.look(ctx, w)
		if err != nil {
			return err
		}
		if err := a.print(a.e.Out, view); err != nil {
			return err
		}
		verdict, err := a.ask(fmt.Sprintf("[%d/%d] write it? [y]es, [n]o: reject it, [l]ater, [q]uit:", n+1, len(all)))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if verdict == "later" {
			continue
		}
		if err := a.decide(ctx, w, verdict == "yes"); err != nil {
			if ctx.Err() != nil {
				return err
			}
			a.e.Warn("left for later: %v", err)
			continue
		}
		if verdict == "yes" {
			accepted++
		} else {
			rejected++
		}
	}
	a.e.Note("%d accepted, %d rejected, %d left for later", accepted, rejected, len(all)-accepted-rejected)
	return nil
}

func (a *approver) ask(question string) (string, error) {
	for {
		answer, err := a.e.Ask(question)
		if err != nil {
			return "", err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			return "yes", nil
		case "n", "no":
			return "no", nil
		case "l", "later":
			return "later", nil
		case "q", "quit":
			return "", io.EOF
		}
	}
}
