package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/agent/recall"
	"stet/cmd/stet/console"
	"stet/vault"
)

// A lineView is one message as JSON shows it.
type lineView struct {
	Number int      `json:"number"`
	Role   string   `json:"role"`
	Name   string   `json:"name,omitempty"`
	Time   string   `json:"time,omitempty"`
	Text   string   `json:"text"`
	Cut    bool     `json:"cut,omitempty"` // text is the beginning of the message
	Hit    bool     `json:"hit,omitempty"`
	Calls  []string `json:"calls,omitempty"` // tools
	// The memory that took the place of one that this led to.
	SupersededBy string `json:"superseded_by,omitempty"`
}

func viewLines(lines []recall.Line) []lineView {
	out := make([]lineView, 0, len(lines))
	for _, l := range lines {
		out = append(out, lineView{Number: l.Number, Role: l.Role, Name: l.Name, Time: stamp(l.Time), Text: l.Text, Cut: l.Cut, Hit: l.Hit, Calls: l.Calls, SupersededBy: l.SupersededBy})
	}
	return out
}

// A showAnswer is what session show prints under --json.
type showAnswer struct {
	Session  sessionView `json:"session"`
	Messages []lineView  `json:"messages"`
	Next     int         `json:"next,omitempty"` // the first message that is not shown
	Total    int         `json:"total"`
}

// besideAround is how many messages --around shows on either side.
const besideAround = 5

func show(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	around := in.Int("around")
	if around > 0 && (in.IsSet("from") || in.IsSet("to") || in.Bool("all")) {
		return agent.Usagef("--around goes without --from, --to and --all")
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	talk, err := recall.Read(ctx, v, words[0])
	if err != nil {
		return err
	}
	budget := in.Int("budget")
	if in.Bool("all") {
		budget = -1
	}
	var page recall.Page
	if around > 0 {
		page = talk.Around(around, besideAround, budget)
	} else {
		page = talk.Page(in.Int("from"), in.Int("to"), budget)
	}
	if err := outdate(ctx, e, v, talk, page.Lines); err != nil {
		if ctx.Err() != nil {
			return err
		}
		e.Warn("what does not hold any more is not marked: %v", err)
	}
	view := viewKnown(talk.Known)
	view.Open = talk.Open
	answer := showAnswer{Session: view, Messages: viewLines(page.Lines), Next: page.Next, Total: page.Total}
	if len(page.Lines) == 0 {
		e.Note("no such messages: the session has %d", page.Total)
	}
	err = e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		if err := printSession(w, e, view); err != nil {
			return err
		}
		return printLines(w, e, page.Lines)
	})
	if err == nil && page.Next > 0 && around == 0 && (in.Int("to") == 0 || page.Next <= in.Int("to")) {
		e.Note("it goes on: stet session show %s --from %d", words[0], page.Next)
	}
	return err
}

// outdate says of lines what does not hold any more. Without a memory to tell, nothing
// is looked at.
func outdate(ctx context.Context, e *console.Env, v *vault.Vault, talk *recall.Talk, lines []recall.Line) error {
	if !e.Exists(v, "archive") && !e.Exists(v, "memories") {
		return nil
	}
	x, err := e.Index(v, false)
	if err != nil {
		return err
	}
	old, err := x.Outdated(ctx)
	if err == nil {
		talk.Outdate(lines, old)
	}
	return errors.Join(err, x.Close())
}

func printLines(w io.Writer, e *console.Env, lines []recall.Line) error {
	for _, l := range lines {
		who := console.Line1(cmp.Or(l.Name, l.Role))
		for _, c := range l.Calls {
			who += "  -> " + console.Line1(c)
		}
		if l.SupersededBy != "" {
			who += "  [superseded by " + console.Line1(l.SupersededBy) + "]"
		}
		mark := " "
		if l.Hit {
			mark = "*"
		}
		if _, err := fmt.Fprintf(w, "\n%s%s\n", mark, e.Paint(console.Bold, fmt.Sprintf("%d  %s  %s", l.Number, who, console.Day(l.Time)))); err != nil {
			return err
		}
		for text := range strings.Lines(e.Stored(l.Text)) {
			if _, err := fmt.Fprintf(w, "  %s\n", strings.TrimRight(text, "\r\n")); err != nil {
				return err
			}
		}
		if l.Cut {
			if _, err := fmt.Fprintln(w, "  […]"); err != nil {
				return err
			}
		}
	}
	return nil
}
