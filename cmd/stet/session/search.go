package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/agent/llm"
	"stet/agent/recall"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/vault"
)

// A matchView is a message that answers a query, as JSON shows it.
type matchView struct {
	Session string     `json:"session"`
	Path    vault.Path `json:"path,omitempty"` // "" while it is open
	Open    bool       `json:"open,omitempty"` // the session is not sealed, or not all of it
	Message int        `json:"message"`
	Line    int        `json:"line"`
	Role    string     `json:"role"`
	Speaker string     `json:"speaker,omitempty"`
	Ref     string     `json:"ref,omitempty"`
	Time    string     `json:"time,omitempty"`
	Score   float64    `json:"score"`
	Tier    string     `json:"tier"`
	Snippet string     `json:"snippet"`
	// The memory that took the place of one that this led to.
	SupersededBy string `json:"superseded_by,omitempty"`
}

type segmentView struct {
	Session  string     `json:"session"`
	Path     vault.Path `json:"path,omitempty"` // "" while it is open
	Open     bool       `json:"open,omitempty"`
	Messages []lineView `json:"messages"`
}

type foundView struct {
	Session  sessionView   `json:"session"`
	Score    float64       `json:"score"`
	Segments []segmentView `json:"segments"`
}

// A summary is what a model made of the answer, and what it rests on.
type summary struct {
	Text    string       `json:"text"`
	Sources []sourceView `json:"sources"`
}

type sourceView struct {
	Session string     `json:"session"`
	Path    vault.Path `json:"path,omitempty"` // "" while it is open
	Message int        `json:"message"`
}

// A searchAnswer is what session search prints under --json.
type searchAnswer struct {
	Query    string      `json:"query"`
	Tier     string      `json:"tier"`
	Total    int         `json:"total"` // messages that match
	Degraded string      `json:"degraded,omitempty"`
	Summary  *summary    `json:"summary,omitempty"` // with --summarise
	Sessions []foundView `json:"sessions"`
	Matches  []matchView `json:"matches,omitempty"` // with --matches
}

func search(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	text := strings.TrimSpace(strings.Join(words, " "))
	if text == "" && !in.IsSet("in") && !in.IsSet("role") && !in.Bool("matches") {
		return list(ctx, e, in, nil) // nothing is asked: the newest ones
	}
	if text == "" {
		return agent.Usagef("nothing to search for").Suggest(`without a query "stet session search" lists the newest sessions; "stet session show" reads one`)
	}
	q := recall.Query{Text: text, Session: in.String("in"), Agent: in.String("agent"), Project: in.String("project"), Role: in.String("role"), Budget: in.Int("budget")}
	if in.IsSet("limit") {
		q.Limit = cmp.Or(in.Int("limit"), 1<<20)
	}
	var err1, err2 error
	q.Since, err1 = e.Time(in.String("since"))
	q.Until, err2 = e.Time(in.String("until"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	x, live, err := searcher(ctx, e, v)
	if err != nil {
		return err
	}
	q.Live = live
	defer func() {
		if err := x.Close(); err != nil {
			e.Warn("close search index: %v", err)
		}
	}()
	if in.Bool("matches") {
		m, err := recall.FindMatches(ctx, v, x, q)
		if err != nil {
			return err
		}
		return printMatches(e, q, m)
	}
	a, err := recall.Sessions(ctx, v, x, q)
	if err != nil {
		return err
	}
	if !in.Bool("summarise") || len(a.Found) == 0 {
		return printFound(ctx, e, q, a)
	}
	return summarise(ctx, e, v, q, a)
}

// summarise shows what a model makes of the answer, or without one the answer.
func summarise(ctx context.Context, e *console.Env, v *vault.Vault, q recall.Query, a *recall.Answer) error {
	return e.Auxiliary(v.Settings(), func(model llm.Client) error {
		if model == nil {
			e.Warn("no model is configured: this is what was said")
			return printFound(ctx, e, q, a)
		}
		s, err := recall.Summarise(ctx, v, model, q.Text, a, q.Budget)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			e.Warn("no summary: %v; this is what was said", err)
			return printFound(ctx, e, q, a)
		}
		return printSummary(ctx, e, q, a, s)
	})
}

// printSummary shows the summary instead of what was said, and the messages that it
// rests on.
func printSummary(ctx context.Context, e *console.Env, q recall.Query, a *recall.Answer, s *recall.Summary) error {
	said(e, a.Degraded, a.Warnings)
	if s.LeftOut > 0 {
		e.Note("%d messages that are private, or look like a secret, were not shown to the model", s.LeftOut)
	}
	answer := searchAnswer{Query: q.Text, Tier: a.Tier, Total: a.Total, Degraded: a.Degraded, Summary: &summary{Text: s.Text, Sources: []sourceView{}}, Sessions: []foundView{}}
	for _, f := range a.Found {
		answer.Sessions = append(answer.Sessions, foundView{Session: viewKnown(f.Root), Score: f.Score, Segments: []segmentView{}})
	}
	for _, from := range s.Sources {
		answer.Summary.Sources = append(answer.Summary.Sources, sourceView(from))
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		if _, err := fmt.Fprintf(w, "%s\n\n", strings.TrimRight(e.Stored(s.Text), "\n")); err != nil {
			return err
		}
		for _, from := range s.Sources {
			if _, err := fmt.Fprintf(w, "from  stet session show %s --around %d\n", console.Line1(from.Session), from.Message); err != nil {
				return err
			}
		}
		return nil
	})
}

// searcher is the search index, brought up to date, and with the open sessions
// where there are any.
func searcher(ctx context.Context, e *console.Env, v *vault.Vault) (*index.Index, *recall.Live, error) {
	x, err := e.Index(v, false)
	if err != nil {
		return nil, nil, err
	}
	live, err := recall.Open(ctx, v)
	if err != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	for _, w := range live.Warnings {
		e.Warn("%s", w)
	}
	if !live.Any() {
		return x, nil, nil
	}
	// What is in files goes into the index now, so that only open sessions are
	// left to be read for this one query. Where that fails the search itself says
	// what it does without.
	_, err = x.CatchUp(ctx)
	if ctx.Err() != nil {
		return nil, nil, errors.Join(err, x.Close())
	}
	if err := x.Close(); err != nil {
		return nil, nil, err
	}
	x, err = e.LiveIndex(v, live)
	return x, live, err
}

// said tells what is to be known about an answer beside the answer.
func said(e *console.Env, degraded string, warnings []string) {
	if degraded != "" {
		e.Warn("index unavailable (%s); searched files directly", degraded)
	}
	for _, w := range warnings {
		e.Warn("%s", w)
	}
}

func printMatches(e *console.Env, q recall.Query, m *recall.Matches) error {
	said(e, m.Degraded, m.Warnings)
	answer := searchAnswer{Query: q.Text, Tier: m.Tier, Total: m.Total, Degraded: m.Degraded, Sessions: []foundView{}, Matches: []matchView{}}
	for _, h := range m.List {
		answer.Matches = append(answer.Matches, matchView{Session: h.In.ID, Path: viewKnown(h.In).Path, Open: h.In.Open, Message: h.Message, Line: h.Line, Role: h.Role,
			Speaker: h.Speaker, Ref: h.Ref, Time: stamp(h.Updated), Score: h.Score, Tier: h.Tier, Snippet: h.Snippet, SupersededBy: h.SupersededBy})
	}
	if len(m.List) == 0 {
		e.Note("no hits for %q", q.Text)
	}
	return e.Answer(answer, func(w io.Writer) error {
		for _, h := range m.List {
			note := ""
			if h.SupersededBy != "" {
				note = "  [superseded by " + console.Line1(h.SupersededBy) + "]"
			}
			_, err := fmt.Fprintf(w, "%s  %s: %s%s\n", e.Paint(console.Cyan, fmt.Sprintf("%s#%d", cmp.Or(h.In.ID, string(h.Path)), h.Message)),
				console.Line1(cmp.Or(h.Speaker, h.Role)), console.Line1(h.Snippet), note)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func printFound(ctx context.Context, e *console.Env, q recall.Query, a *recall.Answer) error {
	said(e, a.Degraded, a.Warnings)
	answer := searchAnswer{Query: q.Text, Tier: a.Tier, Total: a.Total, Degraded: a.Degraded, Sessions: []foundView{}}
	for _, f := range a.Found {
		view := foundView{Session: viewKnown(f.Root), Score: f.Score, Segments: []segmentView{}}
		for _, s := range f.Segments {
			view.Segments = append(view.Segments, segmentView{Session: s.In.ID, Path: viewKnown(s.In).Path, Open: s.In.Open, Messages: viewLines(s.Lines)})
		}
		answer.Sessions = append(answer.Sessions, view)
	}
	if len(a.Found) == 0 {
		e.Note("no hits for %q", q.Text)
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for i, f := range a.Found {
			if i > 0 {
				if _, err := io.WriteString(w, "\n"); err != nil {
					return err
				}
			}
			if err := printSession(w, e, viewKnown(f.Root)); err != nil {
				return err
			}
			for _, s := range f.Segments {
				if s.In.Path != f.Root.Path {
					if _, err := fmt.Fprintf(w, "\n  in its part %s\n", console.Line1(s.In.ID)); err != nil {
						return err
					}
				}
				if err := printLines(w, e, s.Lines); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
