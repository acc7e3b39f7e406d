package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/agent/recall"
	"stet/cmd/stet/console"
	"stet/templates"
)

func runSearch(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	text := strings.TrimSpace(strings.Join(words, " "))
	if text == "" && !in.IsSet("in") && !in.IsSet("role") && !in.Bool("matches") {
		return runList(ctx, e, in, nil) // the newest ones
	}
	if text == "" {
		return agent.Usagef("nothing to search for").
			Suggest(`without a query "stet session search" lists the newest sessions; "stet session show" reads one`)
	}
	q := agent.SessionQuery{Matches: in.Bool("matches"), Summarise: in.Bool("summarise"),
		All: in.Bool("all") || in.IsSet("budget"), Query: recall.Query{
			Text: text, Session: in.String("in"), Agent: in.String("agent"), Project: in.String("project"),
			Role: in.String("role"), Budget: in.Int("budget"),
		}}
	if in.IsSet("limit") {
		q.Limit = cmp.Or(in.Int("limit"), 1<<20)
	}
	var err error
	if q.Since, q.Until, err = in.Span(e); err != nil {
		return err
	}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.SessionsFound, error) {
		found, err := a.Sessions().Search(ctx, q)
		if err == nil && len(found.Matches)+len(found.Sessions) == 0 {
			e.Note("no hits for %q", text)
		}
		if err == nil && found.Uncovered > 0 {
			e.Note("not searched: %s, in files that are binary or missing", agent.Plural(found.Uncovered, "message"))
		}
		if err == nil && e.ErrTerminal && len(found.Operators) > 0 {
			e.Note("read as operators: %s", console.Line1(strings.Join(found.Operators, " ")))
		}
		return found, err
	}, printSearch)
}

func printSearch(p *console.Printer, found *agent.SessionsFound) {
	printMatches(p, found.Matches)
	if found.Summary != nil {
		printSummary(p, found.Summary)
		return
	}
	for i, f := range found.Sessions {
		if len(f.Segments) > 0 && i > 0 {
			p.Printf("\n")
		}
		printFound(p, f)
	}
}

func printMatches(p *console.Printer, matches []agent.SessionMatch) {
	for _, m := range matches {
		at := fmt.Sprintf("%s#%d", cmp.Or(m.Session, string(m.Path)), m.Message)
		p.Printf("%s  %s: %s%s\n", p.Paint(console.Cyan, console.Line1(at)), console.Line1(cmp.Or(m.Speaker, m.Role)),
			console.Line1(m.Snippet), superseded(m.SupersededBy)+flagged(m.Label))
	}
}

// printSummary prints a summary and how to read the messages that it rests on.
func printSummary(p *console.Printer, s *recall.Summary) {
	p.Printf("%s\n\n", strings.TrimRight(p.Stored(s.Text), "\n"))
	for _, from := range s.Sources {
		p.Printf("from  stet session show %s --around %d\n", console.Line1(templates.Quote(from.Session)), from.Message)
	}
}

func printFound(p *console.Printer, f agent.FoundSession) {
	if len(f.Segments) > 0 {
		printSession(p, f.Session)
		for _, s := range f.Segments {
			if s.Session != f.Session.ID || s.Path != f.Session.Path {
				p.Printf("\n  in its part %s\n", console.Line1(s.Session))
			}
			printLines(p, s.Messages)
		}
		return
	}
	k := f.Session
	head, more := short(k.ID)+"  "+console.Day(cmp.Or(k.Ended, k.Started))+"  ", ""
	if f.More > 0 {
		more = fmt.Sprintf("  +%d", f.More)
	}
	if k.Open {
		more += "  open"
	}
	title := p.Cut(console.Line1(k.Title), p.Room(head+more, 200))
	p.Printf("%s\n", p.Paint(console.Bold, head+title)+more)
	for _, m := range f.Passages {
		at := fmt.Sprint("  ", m.Message)
		if m.Session != k.ID {
			at = "  " + short(m.Session) + "#" + fmt.Sprint(m.Message)
		}
		at += "  " + console.Line1(cmp.Or(m.Speaker, m.Role)) + ": "
		note := superseded(m.SupersededBy) + flagged(m.Label)
		line, _ := p.Around(m.Snippet, m.At, p.Room(at+note, 400))
		p.Printf("%s%s%s\n", at, console.Line1(line), note)
	}
}

// short is the end of an id, which names its session.
func short(id string) string { return console.Line1(id[max(0, len(id)-6):]) }
