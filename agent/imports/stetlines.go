package imports

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"
	"time"

	"stet/markdown"
)

// stet's own lines: one message a line, as docs/FORMAT.md says, and optionally a
// line before the messages of a conversation that says what is known about it.
// The lines of one conversation need not stand together, but one whose lines do
// is never held in memory with another.

func stetLines() Source {
	return Source{
		Name: "jsonl", Title: "stet's own JSON lines",
		keep: hasExt(".jsonl", ".ndjson"),
		is: func(s shape) bool {
			return s.has(".session") && (s.has(".text") || s.has(".bytes") || s.has(".stet") || s.has(".calls[]"))
		},
		read: func(r *reading, f file) error {
			// Which conversations are interrupted by others has to be known first.
			runs, quiet := map[string]int{}, &reading{ctx: r.ctx}
			err := quiet.open(f, hasExt(".jsonl", ".ndjson"), func(name string, in io.Reader) error { return quiet.stetRuns(name, in, runs) })
			if err != nil {
				return err
			}
			return r.open(f, hasExt(".jsonl", ".ndjson"), func(name string, in io.Reader) error { return r.stetLines(name, in, runs) })
		},
	}
}

type stetLine struct {
	Session, Role, Speaker, Text, Caption, Call, Project, Coll, Agent, Title, Source, Origin, Provider string
	Model, Parent                                                                                      string
	Date, Started, Ended                                                                               json.RawMessage
	Calls                                                                                              []stetCall
	Context                                                                                            *markdown.FrozenContext

	Kind string `json:"stet"` // "session" for a line about one

	ID        string          `json:"id"`     // of the message; of a session, stet's own
	Bytes     []byte          `json:"bytes"`  // instead of text, what is no text
	Tokens    json.RawMessage `json:"tokens"` // a number; of a session an object
	Config    string          `json:"model_config"`
	Older     []string        `json:"supersedes"`
	EndReason string          `json:"end_reason"`
	Private   bool            `json:"private"`
	CostUSD   *float64        `json:"cost_usd"`
	CostState string          `json:"cost_status"`
	Branch    string          `json:"branch"`
	Models    []string        `json:"models"`
	Summed    int             `json:"compactions"`
	Errors    int             `json:"errors"`
}

type stetCall struct {
	ID, Name, Arguments string
	Bytes               []byte
}

// stetRuns counts for every conversation how often its lines begin.
func (r *reading) stetRuns(name string, in io.Reader, runs map[string]int) error {
	last := ""
	return r.records(name, in, func(_ int, line []byte) error {
		var l struct {
			Session string
		}
		if json.Unmarshal(line, &l) != nil || l.Session == "" {
			return nil // counted when it is read for real
		}
		if l.Session != last {
			runs[l.Session]++
			last = l.Session
		}
		return nil
	})
}

func (r *reading) stetLines(name string, in io.Reader, runs map[string]int) error {
	var now *Session
	key := ""
	held, order := map[string]*Session{}, []string{}
	end := func() error {
		if now == nil || held[key] == now {
			return nil
		}
		return r.session(now)
	}
	err := r.records(name, in, func(_ int, line []byte) error {
		var l stetLine
		if err := decode(line, &l); err != nil {
			return err
		}
		if l.Session == "" {
			return bad(`it has no "session"`)
		}
		if l.Session != key || now == nil {
			if err := end(); err != nil {
				return err
			}
			if key, now = l.Session, held[l.Session]; now == nil {
				now = &Session{Transcript: markdown.Transcript{Agent: "jsonl", Origin: l.Session}}
				if runs[key] > 1 {
					held[key], order = now, append(order, key)
				}
			}
		}
		return now.stetLine(&l)
	})
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	for _, k := range order {
		if err := r.session(held[k]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) stetLine(l *stetLine) error {
	s.Project = cmp.Or(s.Project, l.Project, l.Coll)
	switch l.Kind {
	case "session":
		return s.stetHead(l)
	case "":
	default:
		return bad("%q is no kind of line", l.Kind)
	}
	if l.Agent != "" {
		s.Agent = l.Agent
	}
	m := markdown.Message{Role: l.Role, Name: l.Speaker, Time: timeOf(l.Date), Ref: l.ID, Call: l.Call, Content: []byte(l.Text)}
	if l.Bytes != nil {
		m.Content = l.Bytes
	}
	if m.Role == "" {
		switch m.Role = strings.ToLower(l.Speaker); m.Role {
		case "user", "assistant", "system", "tool":
			m.Name = ""
		default:
			m.Role = "user" // people have names
		}
	}
	if l.Caption != "" {
		m.Content = append(m.Content, "\n\n[image: "+l.Caption+"]"...)
	}
	if len(l.Tokens) > 0 && json.Unmarshal(l.Tokens, &m.Tokens) != nil {
		return bad(`"tokens" of a message is a number`)
	}
	for _, c := range l.Calls {
		args := []byte(c.Arguments)
		if c.Bytes != nil {
			args = c.Bytes
		}
		m.Calls = append(m.Calls, markdown.ToolCall{ID: c.ID, Name: c.Name, Arguments: args})
	}
	s.Messages = append(s.Messages, m)
	return nil
}

// stetHead reads what is known about a conversation. One that names its id was
// exported from a vault and keeps all that it had there.
func (s *Session) stetHead(l *stetLine) error {
	for _, at := range []struct {
		raw  json.RawMessage
		into *time.Time
	}{{l.Started, &s.Started}, {l.Ended, &s.Ended}} {
		if t := timeOf(at.raw); !t.IsZero() {
			*at.into = t
		}
	}
	if l.ID != "" {
		if !isID(l.ID) {
			return bad("%q is no id of stet's", l.ID)
		}
		s.ID, s.exact, s.Origin = strings.ToLower(l.ID), true, ""
		s.Agent = ""
	}
	for _, f := range []struct {
		from string
		into *string
	}{{l.Title, &s.Title}, {l.Agent, &s.Agent}, {l.Source, &s.Source}, {l.Origin, &s.Origin}, {l.Provider, &s.Provider}, {l.Model, &s.Model},
		{l.Config, &s.ModelConfig}, {l.Parent, &s.Parent}, {l.EndReason, &s.EndReason}, {l.Branch, &s.Branch}} {
		if f.from != "" {
			*f.into = f.from
		}
	}
	s.Supersedes, s.Models, s.Compactions, s.Errors = l.Older, l.Models, l.Summed, l.Errors
	if len(l.Tokens) > 0 {
		s.Tokens = &markdown.TokenUse{}
		if json.Unmarshal(l.Tokens, s.Tokens) != nil {
			return bad(`"tokens" of a session is an object`)
		}
	}
	if l.CostUSD != nil {
		s.Cost = &markdown.Cost{USD: *l.CostUSD, Status: l.CostState}
	}
	s.Context, s.Private = l.Context, l.Private
	return nil
}
