package session

import (
	"context"
	"stet/markdown"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
)

// redact takes out what a transcript must not hold, and returns the rules that found it. What has no title is
// named by what is left: half a secret, cut short, looks like none.
func (o *Open) redact(v *vault.Vault) []string {
	rules := redact(v, o.Facts)
	if !o.called {
		o.Facts.Title = titleOf(o.Facts)
	}
	return rules
}

// shown is o as v gives it: to an agent, as its transcript will be, and private where that is, or was.
func (o *Open) shown(v *vault.Vault) *Open {
	if v != v.Whole() {
		o.redact(v)
		private, err := v.History().PrivateTalk(context.Background(), o.Key)
		o.Facts.Private = o.Facts.Private || private || err != nil
	}
	return o
}

// redact takes secrets out of all there is in t and returns the rules that found
// them. What is a secret in one message is one in all of them.
func redact(v *vault.Vault, t *markdown.Transcript) []string {
	if v.Settings().Text(settings.GuardSecrets) != guard.Block {
		return nil
	}
	r := guard.NewRedactor(guard.Policy{Allow: v.Settings().List(settings.GuardAllow)}.Allowed)
	texts := func(visit func(string) string) {
		for _, s := range []*string{&t.Title, &t.Agent, &t.Source, &t.Origin, &t.Project, &t.Parent, &t.Model,
			&t.Provider, &t.ModelConfig} {
			*s = visit(*s)
		}
		if t.Context != nil {
			t.Context.Query = visit(t.Context.Query)
		}
		for i := range t.Messages {
			m := &t.Messages[i]
			for _, s := range []*string{&m.Role, &m.Name, &m.Ref, &m.Call} {
				*s = visit(*s)
			}
			m.Content = visitBytes(m.Content, visit)
			for j := range m.Calls {
				c := &m.Calls[j]
				c.ID, c.Name, c.Arguments = visit(c.ID), visit(c.Name), visitBytes(c.Arguments, visit)
			}
		}
	}
	texts(func(s string) string { r.Learn(s); return s })
	texts(r.Clean)
	return r.Rules()
}

func visitBytes(b []byte, visit func(string) string) []byte {
	if len(b) == 0 {
		return b
	}
	return []byte(visit(string(b)))
}

// blank takes out whole messages in which a secret is left: one that only shows
// between the parts of a rendered file, whose messages from first on they are. It
// reports whether there was any.
func blank(t *markdown.Transcript, rendered []byte, found []guard.Finding, first int) (any bool) {
	spans := markdown.Parse(rendered).Messages()
	for _, f := range found {
		at := offset(rendered, f.Line)
		for i, s := range spans {
			if s.Start <= at && at < s.End && i >= first && i-first < len(t.Messages) {
				m := &t.Messages[i-first]
				*m = markdown.Message{Role: m.Role, Time: m.Time, Content: []byte(guard.Marker(f.Rule))}
				any = true
			}
		}
	}
	return any
}

// offset is where a line, counted from 1, begins.
func offset(data []byte, line int) int {
	at := 0
	for ; line > 1 && at < len(data); at++ {
		if data[at] == '\n' {
			line--
		}
	}
	return at
}
