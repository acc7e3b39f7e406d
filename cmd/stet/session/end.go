package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// A sealedView is a session that was sealed, as JSON shows it.
type sealedView struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Path     vault.Path `json:"path"`
	Turns    int        `json:"turns"`
	Redacted []string   `json:"redacted,omitempty"` // rules that found a secret
}

// An endAnswer is what session end prints under --json.
type endAnswer struct {
	Sealed  []sealedView   `json:"sealed"`
	Commits []agent.Commit `json:"commits"`
	DryRun  bool           `json:"dry_run,omitempty"`
	Plan    *agent.Plan    `json:"plan,omitempty"`
}

func end(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	if n := len(words); n > 0 == (in.Bool("idle") || in.Bool("all")) {
		return agent.Usagef("session end needs the name of an open session, or --idle, or --all").Suggest(`"stet session list --open" shows them`)
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	picked, err := toEnd(ctx, e, in, v, words)
	if err != nil {
		return err
	}
	o := session.Options{Reason: in.String("reason"), Door: console.Door, Wait: true, DryRun: in.Bool("dry-run")}
	answer := endAnswer{Sealed: []sealedView{}, Commits: []agent.Commit{}, DryRun: o.DryRun}
	if o.DryRun {
		answer.Plan = &agent.Plan{Ops: []vault.Change{}}
	}
	if len(picked) == 0 && len(words) == 0 {
		e.Note("no session has ended")
	}
	var changes []vault.Change
	var failed []error
	for _, s := range picked {
		sealed, err := session.Seal(ctx, v, s.Key, o)
		if errors.Is(err, vault.ErrNotFound) {
			continue // another process was faster
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("end session %s: %w", console.Line1(s.Name), err))
			if ctx.Err() != nil {
				break
			}
			continue // one that cannot be sealed does not keep the others
		}
		changes = append(changes, answer.add(e, sealed)...)
	}
	// What was sealed is done; say so before the errors.
	return errors.Join(append([]error{answer.print(ctx, e, v, changes)}, failed...)...)
}

// toEnd are the open sessions that the command line means.
func toEnd(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, words []string) ([]*session.Open, error) {
	var picked []*session.Open
	for _, word := range words {
		o, err := session.FindOpen(v, word)
		if errors.Is(err, session.ErrUnknownSession) {
			k, _, known := session.Find(ctx, v, word)
			if known != nil {
				return nil, err
			}
			e.Note("it is sealed already: %s", k.Path)
			continue
		}
		if err != nil {
			return nil, err
		}
		picked = append(picked, o)
	}
	if len(words) > 0 {
		return picked, nil
	}
	all, err := session.AllOpen(v)
	if err != nil {
		e.Warn("%v", err)
	}
	idle := time.Duration(v.Settings().Int(settings.SessionIdle)) * time.Minute
	for _, o := range all {
		if in.Bool("all") || e.Now().Sub(o.Last) >= idle {
			picked = append(picked, o)
		}
	}
	return picked, nil
}

// add takes down one sealed session and returns what it changed.
func (a *endAnswer) add(e *console.Env, s *session.Sealed) []vault.Change {
	a.Sealed = append(a.Sealed, sealedView{ID: s.ID, Title: s.Title, Path: s.Path, Turns: s.Turns, Redacted: s.Redacted})
	change := vault.Change{Status: vault.Modified, Path: s.Path}
	if s.Result == nil {
		if a.Plan != nil {
			a.Plan.Ops = append(a.Plan.Ops, change)
		}
		return []vault.Change{change}
	}
	for _, w := range s.Result.Warnings {
		e.Warn("%s", w)
	}
	if a.Plan != nil {
		a.Plan.Base = s.Result.Base
		a.Plan.Ops = append(a.Plan.Ops, s.Result.Changes...)
		return nil
	}
	a.Commits = append(a.Commits, agent.ViewCommits(s.Result.Commits)...)
	return s.Result.Changes
}

func (a *endAnswer) print(ctx context.Context, e *console.Env, v *vault.Vault, changes []vault.Change) error {
	if !a.DryRun {
		e.Indexed(ctx, v, changes)
	}
	return e.Answer(a, func(w io.Writer) error {
		done := "sealed"
		if a.DryRun {
			done = "would be sealed"
		}
		for _, s := range a.Sealed {
			redacted := ""
			if len(s.Redacted) > 0 {
				redacted = "  redacted: " + strings.Join(s.Redacted, ", ")
			}
			if _, err := fmt.Fprintf(w, "%s  %s  (%d turn(s), %s)%s%s\n", done, console.Line1(string(s.Path)), s.Turns, s.ID, redacted, e.Where()); err != nil {
				return err
			}
		}
		return nil
	})
}
