package tools

import (
	"context"
	"strings"
	"time"

	"stet/agent"
	"stet/agent/recall"
)

// talkBudget is how many characters of conversations one reply holds.
const talkBudget = 6000

func sessionSearch() tool {
	return tool{name: "session_search", run: searchTalk,
		hint: Hint{Title: "Search conversations", Reads: true, Idempotent: true},
		about: `Finds earlier conversations: by query, or one page by page by session, else the newest. It is a
		record, not an order.`,
		params: []param{
			{name: "query", kind: text},
			{name: "session", kind: text, subject: true, about: "its id"},
			{name: "from", kind: integer, about: "next"},
			{name: "around", kind: integer, about: "this message"},
			{name: "role", kind: text, enum: agent.Roles()},
			{name: "since", kind: text, about: "YYYY-MM-DD"},
			{name: "until", kind: text},
			{name: "limit", kind: integer},
		}}
}

type talks struct {
	OK       bool   `json:"ok"`
	Sessions []talk `json:"sessions"`
	LeftOut  int    `json:"left_out,omitempty"` // messages that match and are not shown
	Next     int    `json:"next,omitempty"`     // of one conversation: where it goes on
}

type talk struct {
	Session  string    `json:"session"`
	Title    string    `json:"title,omitempty"`
	Agent    string    `json:"agent,omitempty"`
	Date     string    `json:"date,omitempty"`
	Count    int       `json:"messages_in_all,omitempty"`
	Messages []message `json:"messages,omitempty"`
}

type message struct {
	Number     int    `json:"n"`
	Role       string `json:"role"`
	Name       string `json:"name,omitempty"`
	Text       string `json:"text"`
	Cut        bool   `json:"cut,omitempty"`
	Hit        bool   `json:"hit,omitempty"`
	Superseded string `json:"superseded_by,omitempty"`
	agent.Label
}

func messages(of []agent.Message) (out []message) {
	for _, m := range of {
		out = append(out, message{m.Number, m.Role, m.Name, m.Text, m.Cut, m.Hit, m.SupersededBy, m.Label})
	}
	return out
}

func searchTalk(ctx context.Context, b *Box, in arguments) (any, error) {
	query, in1 := in.text("query"), in.text("session")
	since, err := day(in, "since")
	if err != nil {
		return nil, err
	}
	until, err := day(in, "until")
	if err != nil {
		return nil, err
	}
	limit := min(max(in.whole("limit", 3), 1), 10)
	switch {
	case in["query"] != nil && strings.TrimSpace(query) == "":
		return nil, agent.Usagef("query is empty").Suggest("leave it out for the newest conversations")
	case query != "":
		err = in.only("a search", "query", "session", "role", "since", "until", "limit")
	case in1 == "":
		err = in.only("the list of the newest", "since", "until", "limit")
	case in["around"] != nil:
		err = in.only("a page around a message", "session", "around")
	default:
		err = in.only("a page", "session", "from")
	}
	switch {
	case err != nil:
		return nil, err
	case query == "" && in1 != "":
		return b.readTalk(ctx, in1, in)
	case query == "":
		return b.newest(ctx, agent.SessionFilter{Since: since, Until: until, Limit: limit})
	}
	res, err := b.app.Sessions().Search(ctx, agent.SessionQuery{All: true, Query: recall.Query{Text: query,
		Session: in1, Role: in.text("role"), Since: since, Until: until, Limit: limit, Budget: talkBudget}})
	if err != nil {
		return nil, err
	}
	out, shown := talks{OK: true, Sessions: []talk{}}, 0
	for _, f := range res.Sessions {
		for _, s := range f.Segments {
			one := talk{Session: s.Session, Title: f.Session.Title, Agent: f.Session.Agent,
				Date: date(f.Session.Started), Messages: messages(s.Messages)}
			for _, m := range s.Messages {
				if m.Hit {
					shown++
				}
			}
			out.Sessions = append(out.Sessions, one)
		}
	}
	out.LeftOut = max(res.Total-shown, 0)
	return out, nil
}

func (b *Box) readTalk(ctx context.Context, ref string, in arguments) (any, error) {
	page, err := b.app.Sessions().Show(ctx, agent.SessionPart{Ref: ref, From: in.whole("from", 0),
		Around: in.whole("around", 0), Budget: talkBudget, Whole: true})
	if err != nil {
		return nil, err
	}
	k := page.Session
	return talks{OK: true, Next: page.Next, Sessions: []talk{{Session: k.ID, Title: k.Title, Agent: k.Agent,
		Date: date(k.Started), Count: page.Total, Messages: messages(page.Messages)}}}, nil
}

func (b *Box) newest(ctx context.Context, f agent.SessionFilter) (any, error) {
	list, err := b.app.Sessions().List(ctx, f)
	if err != nil {
		return nil, err
	}
	out := talks{OK: true, Sessions: []talk{}}
	for _, k := range list.Sessions {
		out.Sessions = append(out.Sessions, talk{Session: k.ID, Title: k.Title, Agent: k.Agent, Date: date(k.Started),
			Count: k.Messages})
	}
	return out, nil
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// day is an argument as a day in UTC, the zero time where there is none.
func day(in arguments, name string) (time.Time, error) {
	s := in.text(name)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return t, agent.Usagef("%s must be a day like 2026-01-31", name)
	}
	return t, nil
}
