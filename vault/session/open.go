package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
)

// An intent says what a writer was about to seal: the first Turns turns of the file
// become the messages behind Base of the transcript at Path. Whoever finds it
// can tell whether that happened.
type intent struct {
	Path  vault.Path `json:"path"`
	Base  int        `json:"base"`
	Turns int        `json:"turns"`
}

// An Open is a session that is not sealed yet, or not all of it.
type Open struct {
	Key    string
	Name   string // as its agent calls it; the id when it is ours
	Agent  string
	Facts  *markdown.Transcript // what its turns say of it, and they themselves
	Last   time.Time            // of its newest turn
	intent *intent
	size   int    // lines of the file, marks and all
	called bool   // a turn says what it is called
	door   string // of its first turn
	via    string // see [Turn]
	after  []int  // of each message, see [Turn]
}

// Known is what o says of itself; it has no path.
func (o *Open) Known() Known {
	f := o.Facts
	return Known{
		ID: f.ID, Title: f.Title, Agent: f.Agent, Source: f.Source, Origin: f.Origin, Project: f.Project,
		Parent: f.Parent, Model: f.Model, Started: f.Started, Ended: o.Last, Messages: len(f.Messages), Open: true,
		Private: f.Private,
	}
}

// unreadable is the role of a line that nobody can read any more: its bytes stay.
const unreadable = "unreadable"

// Opened reads an open session. It fails with [vault.ErrNotFound], or with
// [vault.ErrNewerFormat] for one that a later stet wrote.
func Opened(v *vault.Vault, key string) (*Open, error) {
	lines, err := v.State().Session(key)
	if err != nil {
		return nil, err
	}
	o := &Open{Key: key, Facts: &markdown.Transcript{}, size: len(lines)}
	for _, line := range lines {
		var r record
		switch err := json.Unmarshal(line, &r); {
		case err == nil && r.V > lineVersion:
			return nil, vault.WithHint(fmt.Errorf("open session %q: %w: line version %d, this stet knows %d", key, vault.ErrNewerFormat, r.V, lineVersion),
				"use a newer stet; nothing was changed")
		case err == nil && r.notes():
			o.facts(&r)
			o.Facts.Context = r.Context
		case err != nil || r.Seal == nil && r.Role == "":
			o.Facts.Messages = append(o.Facts.Messages, markdown.Message{Role: unreadable, Time: o.Last, Content: slices.Clone(line)})
			o.after = append(o.after, 0)
		case r.Seal != nil:
			o.intent = r.Seal
		default:
			o.add(&r)
		}
	}
	o.finish()
	return o, nil
}

func (o *Open) add(r *record) {
	o.facts(r)
	if o.Facts.Started.IsZero() {
		o.Facts.Started, o.door, o.Facts.ID = r.Time, r.Source, r.ID
	}
	o.Facts.Messages, o.after = append(o.Facts.Messages, r.message()), append(o.after, r.After)
}

// facts takes over what a line says of the conversation.
func (o *Open) facts(r *record) {
	t := o.Facts
	for into, value := range map[*string]string{&o.Name: r.Session, &o.Agent: r.Agent, &o.via: r.Via, &t.Agent: r.Agent,
		&t.Source: r.Source, &t.Project: r.Project, &t.Parent: r.Parent, &t.Title: r.Title, &t.Model: r.Model,
		&t.Provider: r.Provider, &t.ModelConfig: r.ModelConfig} {
		if value != "" {
			*into = value
		}
	}
	o.Last, t.Private = r.Time, t.Private || r.Private
	t.Tokens = addTokens(t.Tokens, r.Usage)
	if r.Cost != nil {
		t.Cost = addCost(t.Cost, &markdown.Cost{USD: *r.Cost, Status: costActual})
	}
}

// costActual is the status of a cost that whoever paid it told of.
const costActual = "actual"

// addTokens and addCost add up what is known of the parts of a conversation; nil is nothing.
func addTokens(a, b *markdown.TokenUse) *markdown.TokenUse {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &markdown.TokenUse{Input: a.Input + b.Input, Output: a.Output + b.Output,
		CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite}
}

func addCost(a, b *markdown.Cost) *markdown.Cost {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	status := a.Status
	if b.Status != costActual {
		status = b.Status
	}
	return &markdown.Cost{USD: a.USD + b.USD, Status: status}
}

// finish fills in what needs all turns.
func (o *Open) finish() {
	t := o.Facts
	if o.Name == "" {
		o.Name = o.Key // no line of it can be read
	}
	t.Ended = o.Last
	if !same(t.ID, o.Key) {
		t.ID = ID(o.Agent, o.Name, t.Started)
	}
	if len(o.Key) == 26 {
		t.ID = o.Key
	} else {
		t.Origin = o.Name
	}
	if o.called = t.Title != ""; !o.called {
		t.Title = titleOf(t)
	}
	for i := range t.Messages {
		t.Messages[i].Number = i + 1
	}
}

// forget leaves out the first n turns.
func (o *Open) forget(n int) { o.Facts.Messages, o.after = o.Facts.Messages[n:], o.after[n:] }

const titleWidth = 72

// titleOf is the first sentence that a user said, else that anybody said.
func titleOf(t *markdown.Transcript) string {
	for _, user := range []bool{true, false} {
		for _, m := range t.Messages {
			if user != (m.Role == "user") || m.Role == unreadable {
				continue
			}
			for line := range strings.Lines(string(markdown.StripInjected(m.Content))) {
				if line = strings.Join(strings.Fields(printable(line)), " "); line != "" {
					return cut(FirstSentence(line), titleWidth)
				}
			}
		}
	}
	return "conversation"
}

// printable is a line without the bytes that are no text.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, " "))
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return strings.TrimRight(string(r[:n-1]), " ") + "…"
	}
	return s
}

// AllOpen lists the open sessions, the one that was last active first, for an agent without the secrets in
// them. One that cannot be read is an error beside the others.
func AllOpen(v *vault.Vault) ([]*Open, error) {
	keys, err := v.State().Sessions()
	if err != nil {
		return nil, err
	}
	var out []*Open
	var errs []error
	for _, key := range keys {
		o, err := Opened(v, key)
		switch {
		case errors.Is(err, vault.ErrNotFound): // sealed meanwhile
		case err != nil:
			errs = append(errs, err)
		case o.size > 0 && (!o.shown(v).Facts.Private || v == v.Whole()): // a private one is kept from agents
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *Open) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Key, b.Key)) })
	return out, errors.Join(errs...)
}

// unspoken is how long a session is kept that was given a snapshot and in which nothing was said.
const unspoken = 24 * time.Hour

// SealEnded seals the sessions that have ended: whose newest turn is older than
// session.idle_minutes. That covers those of killed processes. No lock or claim
// could tell them sooner: whoever appends a turn ends with it, so that between
// two turns of a living conversation no process has it open either, and nothing
// but time tells it from one whose agent was killed. It does not wait for
// another process that seals, and one session that cannot be sealed does not
// keep the others.
func SealEnded(ctx context.Context, v *vault.Vault, now time.Time, o Options) ([]*Sealed, error) {
	all, failed := AllOpen(v)
	idle := time.Duration(v.Settings().Int(settings.SessionIdle)) * time.Minute
	o.Wait = false
	if o.Reason == "" {
		o.Reason = "idle"
	}
	var out []*Sealed
	errs := []error{failed}
	for _, s := range all {
		kept := idle
		if len(s.Facts.Messages) == 0 {
			kept = max(idle, unspoken)
		}
		if now.Sub(s.Last) < kept {
			continue
		}
		sealed, err := Seal(ctx, v, s.Key, o)
		switch {
		case errors.Is(err, vault.ErrBusy):
			return out, errors.Join(errs...) // whoever holds the lock does this
		case errors.Is(err, vault.ErrNotFound):
		case err != nil:
			errs = append(errs, fmt.Errorf("session %s: %w", s.Key, err))
		default:
			out = append(out, sealed)
		}
	}
	return out, errors.Join(errs...)
}
