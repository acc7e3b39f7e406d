package memory

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stet/agent"
	"stet/cmd/stet/console"
)

// settleEach asks about one conflict after the other until none is left that was not
// put off. Every answer is a commit of its own, made at once.
func settleEach(ctx context.Context, e *console.Env, a *agent.App, w agent.Write) error {
	if w.DryRun || !e.CanAsk() {
		return agent.Usagef("--settle needs a terminal").
			Suggest("--keep, --both and --merge answer without one, with --dry-run as well")
	}
	s := settler{e: e, a: a, w: w, later: map[[2]string]bool{}}
	for {
		next, err := s.next(ctx)
		if err == nil && next != nil {
			err = s.ask(ctx, *next)
		}
		if err == nil && next != nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		e.Note("%d resolved, %d left", s.settled, s.left)
		return err
	}
}

type settler struct {
	e             *console.Env
	a             *agent.App
	w             agent.Write
	later         map[[2]string]bool
	settled, left int
}

// next is the first conflict that was not put off, nil when there is none.
func (s *settler) next(ctx context.Context) (*agent.Conflict, error) {
	found, err := s.a.Memories().Conflicts(ctx, false)
	s.left = len(found)
	for i, d := range found {
		if !s.later[[2]string{d.A.ID, d.B.ID}] {
			return &found[i], err
		}
	}
	return nil, err
}

// ask asks about a conflict; io.EOF ends the walk.
func (s *settler) ask(ctx context.Context, d agent.Conflict) error {
	if _, err := fmt.Fprintf(s.e.Out, "1  %s2  %s%s", side(s.e, d.A), side(s.e, d.B), likely(d)); err != nil {
		return err
	}
	answer, err := console.Choose(s.e, false, "12bmlq",
		"which is true? [1], [2], [b]oth, [m]erge in the editor, [l]ater, [q]uit:",
		"1 and 2 archive the other one; both keeps the two and takes the link away; merge opens both texts in the "+
			"editor; later leaves them as they are; quit or an empty line leaves the rest")
	if err != nil {
		return err
	}
	o := agent.SettleOptions{Write: s.w, Ref: d.B.ID, Against: d.A.ID, How: agent.Keep}
	switch answer {
	case '1':
		o.Ref, o.Against = d.A.ID, d.B.ID
	case 'b':
		o.How = agent.Both
	case 'm':
		o.How = agent.Merge
	case 'l':
		s.later[[2]string{d.A.ID, d.B.ID}] = true
		return nil
	case 'q':
		return io.EOF
	}
	return s.settle(ctx, d, o)
}

// settle does what was answered. What cannot be done is put off, with the reason:
// the others do not wait for it.
func (s *settler) settle(ctx context.Context, d agent.Conflict, o agent.SettleOptions) (err error) {
	var res *agent.Written
	if o.How == agent.Merge {
		o.Editor, err = mergeEditor(s.e)
	}
	if err == nil {
		res, err = s.a.Memories().Settle(ctx, o)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		s.e.Warn("left for later: %v%s", err, hintOf(err))
	case !res.Unchanged:
		s.e.Adopted(res.Commits, "resolved", res.DryRun)
		s.settled, s.left = s.settled+1, s.left-1
		return nil
	}
	s.later[[2]string{d.A.ID, d.B.ID}] = true
	return nil
}

// hintOf is the hint of an error, to be put behind it.
func hintOf(err error) string {
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		return " (" + hinter.Hint() + ")"
	}
	return ""
}
