package session

import (
	"context"
	"errors"

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
		below := o.below(context.Background(), v, nil)
		o.redact(v)
		private, err := v.History().PrivateTalk(context.Background(), o.Key)
		o.Facts.Private = o.Facts.Private || private || below != nil || err != nil
	}
	return o
}

// below makes o private where what it is a part of is.
func (o *Open) below(ctx context.Context, v *vault.Vault, candidates []vault.Path) error {
	private, err := Private(ctx, v, o.Agent, o.Facts.Parent, candidates)
	o.Facts.Private = o.Facts.Private || private
	return err
}

// mostAbove is how far up [Private] looks: parents that are open may go round.
const mostAbove = 16

// Private reports a conversation, called id by its agent or by stet, that is private, was before its transcript was
// removed, or, while it is open, is a part of one that is. Of one that an agent's v is not to know of now it goes by
// what was. candidates are files of which one may be its transcript; nil looks for them.
func Private(ctx context.Context, v *vault.Vault, agent, id string, candidates []vault.Path) (is bool, err error) {
	for n := 0; id != "" && n < mostAbove; n++ {
		key := Key(agent, id)
		tail, found := key[len(key)-foreignPart:], false
		if v == v.Whole() { // else history knows of those as well
			if candidates == nil {
				if candidates, err = transcripts(ctx, v); err != nil {
					return true, err
				}
			}
			for _, p := range named(candidates, tail) {
				if k, err := Head(v, p); err == nil && same(k.ID, tail) {
					is, found = is || k.Private, true
				}
			}
		}
		if !found {
			is, err = v.History().PrivateTalk(ctx, tail)
		}
		agent, id = "", ""
		for _, key := range []string{key, tail} {
			if o, oerr := Opened(v, key); oerr == nil {
				is, agent, id = is || o.Facts.Private, o.Agent, o.Facts.Parent
			} else {
				err = errors.Join(err, ignoreMissing(oerr))
			}
		}
		if is || err != nil {
			return true, err
		}
	}
	return false, nil
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
