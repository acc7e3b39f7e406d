package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/session"
)

// A sessionView is a session as JSON shows it.
type sessionView struct {
	ID       string     `json:"id"`
	Path     vault.Path `json:"path,omitempty"` // "" while it is open
	Open     bool       `json:"open,omitempty"`
	Title    string     `json:"title"`
	Agent    string     `json:"agent,omitempty"`
	Source   string     `json:"source,omitempty"`
	Origin   string     `json:"origin,omitempty"`
	Project  string     `json:"project,omitempty"`
	Parent   string     `json:"parent,omitempty"`
	Model    string     `json:"model,omitempty"`
	Started  string     `json:"started,omitempty"`
	Ended    string     `json:"ended,omitempty"`
	Messages int        `json:"messages"`
	last     time.Time
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func viewKnown(k session.Known) sessionView {
	if k.Open {
		k.Path = "" // what stands there, if anything, is not all of it
	}
	return sessionView{ID: k.ID, Path: k.Path, Open: k.Open, Title: k.Title, Agent: k.Agent, Source: k.Source, Origin: k.Origin, Project: k.Project,
		Parent: k.Parent, Model: k.Model, Started: stamp(k.Started), Ended: stamp(k.Ended), Messages: k.Messages, last: cmp.Or(k.Ended, k.Started)}
}

func viewOpen(o *session.Open) sessionView {
	t := o.Facts
	return sessionView{ID: t.ID, Open: true, Title: t.Title, Agent: t.Agent, Source: t.Source, Origin: t.Origin, Project: t.Project,
		Parent: t.Parent, Model: t.Model, Started: stamp(t.Started), Ended: stamp(o.Last), Messages: len(t.Messages), last: o.Last}
}

// A listAnswer is what session list prints under --json.
type listAnswer struct {
	Total    int           `json:"total"`
	Sessions []sessionView `json:"sessions"`
}

func list(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	since, err1 := e.Time(in.String("since"))
	until, err2 := e.Time(in.String("until"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	all, err := sessionsOf(ctx, e, v, in.Bool("open"))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s sessionView) bool {
		return in.String("agent") != "" && !strings.EqualFold(s.Agent, in.String("agent")) ||
			in.String("project") != "" && !strings.EqualFold(s.Project, in.String("project")) ||
			!since.IsZero() && s.last.Before(since) || !until.IsZero() && !s.last.Before(until)
	})
	answer := listAnswer{Total: len(all), Sessions: all}
	if n := in.Int("limit"); n > 0 && len(all) > n {
		answer.Sessions = all[:n]
	}
	if len(all) == 0 {
		e.Note("no sessions")
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for _, s := range answer.Sessions {
			if err := printSession(w, e, s); err != nil {
				return err
			}
		}
		return nil
	})
}

// sessionsOf lists open and sealed sessions, the one last spoken in first.
func sessionsOf(ctx context.Context, e *console.Env, v *vault.Vault, openOnly bool) ([]sessionView, error) {
	open, err := session.AllOpen(v)
	if err != nil {
		e.Warn("%v", err) // the others are listed all the same
	}
	views := []sessionView{}
	for _, o := range open {
		views = append(views, viewOpen(o))
	}
	if !openOnly {
		known, err := session.All(ctx, v)
		if err != nil {
			return nil, err
		}
		for _, k := range known {
			views = append(views, viewKnown(k))
		}
	}
	slices.SortStableFunc(views, func(a, b sessionView) int { return b.last.Compare(a.last) })
	return views, nil
}

func printSession(w io.Writer, e *console.Env, s sessionView) error {
	where := console.Line1(string(s.Path))
	if s.Open {
		where = "open"
	}
	who := ""
	for _, part := range []string{s.Agent, s.Project} {
		if part != "" {
			who += "  " + console.Line1(part)
		}
	}
	_, err := fmt.Fprintf(w, "%s  %s  %4d  %s%s  %s\n", e.Paint(console.Cyan, s.ID), console.Day(s.last), s.Messages, console.Line1(s.Title), who, where)
	return err
}
