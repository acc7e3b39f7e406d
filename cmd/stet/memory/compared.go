package memory

import (
	"context"
	"errors"
	"fmt"
	"io"

	"stet/agent/encode"
	"stet/agent/intake"
	"stet/cmd/stet/console"
	"stet/vault"
)

// compared stores notes with the rules in front, and says what those decided.
func compared(ctx context.Context, e *console.Env, v *vault.Vault, notes []vault.Note, w vault.Write) (err error) {
	x, err := e.Lexicon(v)
	if err != nil {
		return err
	}
	res, err := intake.Remember(ctx, v, x, notes, w)
	if err = errors.Join(err, x.Close()); err != nil {
		return err
	}
	more := console.More{Verb: "remembered", After: func(w io.Writer, dry bool) error { return printDecisions(w, res.Decisions, dry) }}
	if len(res.Decisions) > 0 {
		more.Decisions = res.Decisions
	}
	return e.WroteMore(ctx, v, res.Result, more)
}

func printDecisions(w io.Writer, decisions []intake.Decision, dry bool) error {
	for _, d := range decisions {
		path, was := console.Line1(string(d.Path)), console.Line1(d.Was)
		line := fmt.Sprintf("said already  %s", path)
		switch {
		case d.Kind == encode.Conflict:
			line = fmt.Sprintf("in conflict with  %s: %s", path, was)
		case d.Kind == encode.Supersede && d.Kept != "":
			line = fmt.Sprintf("no longer true in  %s: %s", path, was)
		case d.Kind == encode.Supersede:
			line = fmt.Sprintf("takes the place of  %s: %s", path, was)
		}
		if _, err := fmt.Fprintf(w, "%s  (%s, %.2f)\n", line, d.Rule, d.Confidence); err != nil {
			return err
		}
	}
	return nil
}
