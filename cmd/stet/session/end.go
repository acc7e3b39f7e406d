package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/session"
)

func runEnd(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	o := agent.EndOptions{
		Write: e.By(in), Refs: words, Idle: in.Bool("idle"), All: in.Bool("all"), Reason: in.String("reason"),
	}
	return e.With(ctx, false, func(a *agent.App) error {
		for i, word := range o.Refs {
			var err error
			if o.Refs[i], err = a.Sessions().Meant(ctx, o.Agent, word); err != nil {
				return err
			}
		}
		ended, err := a.Sessions().End(ctx, o)
		if ended == nil {
			return err
		}
		return errors.Join(e.Show(ended, func(p *console.Printer) {
			for _, s := range ended.Sealed {
				printSealed(p, s, o.DryRun)
			}
		}), err)
	})
}

func printSealed(p *console.Printer, s *session.Sealed, dry bool) {
	done, redacted := "sealed", ""
	if dry {
		done = "would be sealed"
	}
	if len(s.Redacted) > 0 {
		redacted = "  redacted: " + strings.Join(s.Redacted, ", ")
	}
	turns := agent.Plural(s.Turns, "turn")
	if s.Before > 0 {
		turns = fmt.Sprintf("%s, %d in all", agent.Plural(s.Turns, "new turn"), s.Before+s.Turns)
	}
	p.Printf("%s  %s  (%s, %s)%s%s\n", done, console.Line1(string(s.Path)), turns,
		console.Line1(s.ID), redacted, p.Where())
}
