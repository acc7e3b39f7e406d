package imports

import (
	"encoding/json"
	"time"

	"stet/markdown"
)

// "hermes sessions export" writes one conversation a line with its messages in
// it. Of messages that are not active those that were only compacted away were
// said, the others were taken back. A conversation names the one it came out of,
// which may stand on a later line, so the file is read twice.

func hermesSessions() Source {
	keep := hasExt(".jsonl")
	return Source{
		Name: "hermes", Title: "Hermes, conversations (hermes sessions export FILE)",
		keep: keep,
		is:   func(s shape) bool { return s.has(".id", ".messages[]", ".started_at") },
		read: func(r *reading, f file) error {
			err := eachRecord(keep, func(_ *reading, _ string, _ int, record []byte) error {
				var h struct {
					ID      string
					Started json.RawMessage `json:"started_at"`
				}
				if tolerant(record, &h) == nil && h.ID != "" {
					r.remember(h.ID, timeOf(h.Started))
				}
				return nil
			})(&reading{ctx: r.ctx}, f)
			if err != nil {
				return err
			}
			return eachRecord(keep, (*reading).hermes)(r, f)
		},
	}
}

type hermesChat struct {
	ID, Source, Model, CWD string
	Title                  json.RawMessage
	Messages               []hermesMessage
	Provider               string          `json:"billing_provider"`
	Parent                 string          `json:"parent_session_id"`
	Started                json.RawMessage `json:"started_at"`
	Ended                  json.RawMessage `json:"ended_at"`
	EndReason              json.RawMessage `json:"end_reason"`
	Input                  int             `json:"input_tokens"`
	Output                 int             `json:"output_tokens"`
	CacheRead              int             `json:"cache_read_tokens"`
	CacheWrite             int             `json:"cache_write_tokens"`
	Estimated              *float64        `json:"estimated_cost_usd"`
	Actual                 *float64        `json:"actual_cost_usd"`
}

type hermesMessage struct {
	ID, Content json.RawMessage
	Role        string
	Active      *int
	Compacted   int
	CallID      string          `json:"tool_call_id"`
	Calls       json.RawMessage `json:"tool_calls"`
	Tool        string          `json:"tool_name"`
	Time        json.RawMessage `json:"timestamp"`
	Tokens      *int            `json:"token_count"`
}

func (r *reading) hermes(_ string, _ int, line []byte) error {
	var c hermesChat
	if err := tolerant(line, &c); err != nil {
		return err
	}
	if c.ID == "" || c.Messages == nil {
		return bad("it is no conversation of Hermes': it has no id or no messages")
	}
	s := &Session{Transcript: markdown.Transcript{Agent: "hermes", Origin: c.ID, Title: text(c.Title), Model: c.Model, Provider: c.Provider,
		Project: c.CWD, Started: timeOf(c.Started), Ended: timeOf(c.Ended), EndReason: oneLine(text(c.EndReason))}}
	if c.Parent != "" {
		s.ParentOrigin, s.ParentStarted = c.Parent, r.started[c.Parent]
	}
	if c.Input+c.Output+c.CacheRead+c.CacheWrite > 0 {
		s.Tokens = &markdown.TokenUse{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite}
	}
	switch {
	case c.Actual != nil:
		s.Cost = &markdown.Cost{USD: *c.Actual, Status: "actual"}
	case c.Estimated != nil:
		s.Cost = &markdown.Cost{USD: *c.Estimated, Status: "estimated"}
	}
	names := map[string]string{}
	var last time.Time
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Active != nil && *m.Active == 0 && m.Compacted == 0 {
			continue // taken back
		}
		out, ok := m.message(names)
		if !ok {
			continue
		}
		if out.Time.After(last) {
			last = out.Time
		}
		s.Messages = append(s.Messages, out)
	}
	if s.Ended.Before(last) {
		s.Ended = last
	}
	return r.session(s)
}

func (m *hermesMessage) message(names map[string]string) (markdown.Message, bool) {
	said := parseContent(m.Content)
	out := markdown.Message{Role: m.Role, Call: m.CallID, Time: timeOf(m.Time), Content: []byte(withoutInjected(said.said()))}
	if id := compactJSON(m.ID); id != nil {
		out.Ref = string(id)
	}
	out.Calls = append(said.calls, openAICalls(m.Calls)...)
	for _, c := range out.Calls {
		names[c.ID] = c.Name
	}
	if m.Role == "tool" {
		if out.Name = m.Tool; out.Name == "" {
			out.Name = names[m.CallID]
		}
	}
	if m.Tokens != nil {
		out.Tokens = max(*m.Tokens, 0)
	}
	return out, m.Role != "" && m.Role != "session_meta" && len(out.Content)+len(out.Calls) > 0
}
