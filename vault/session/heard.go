package session

import (
	"bytes"
	"context"
	"errors"

	"stet/markdown"
	"stet/vault"
)

// ErrUnproven reports a message of which nothing proves that a person's command recorded it.
var ErrUnproven = errors.New("nothing proves who recorded it")

// A Conversation is all that was said in a session, sealed and open. Message n is Messages[n-1].
type Conversation struct {
	Known
	Messages []markdown.Message
	sealed   int // so many of them stand in the transcript
	v        *vault.Vault
}

// Hear reads the session that ref names. It fails with [ErrUnknownSession] or a [vault.AmbiguousError].
func Hear(ctx context.Context, v *vault.Vault, ref string) (*Conversation, error) {
	c := &Conversation{v: v}
	k, data, err := Find(ctx, v, ref)
	var open *Open
	switch {
	case err == nil:
		c.Known, c.Messages = k, markdown.ParseTranscript(data).Messages
		c.sealed = len(c.Messages)
		if open, err = Rest(v, k.ID, data); errors.Is(err, vault.ErrNotFound) {
			return c, nil
		}
	case errors.Is(err, ErrUnknownSession):
		if open, err = FindOpen(v, ref); err == nil {
			c.Known = open.Known()
		}
	}
	if err != nil {
		return nil, err
	}
	c.Messages = append(c.Messages, open.Facts.Messages...)
	c.Private = c.Private || open.Facts.Private
	if c.Agent == "" {
		c.Agent = open.Facts.Agent
	}
	return c, nil
}

// Proven fails with [ErrUnproven] unless a client's hook or a person's command recorded message n: the message
// says so, the session has no agent, a hook recorded the same words in it, or the commit that brought the message
// as it stands there, of a sealing or an import, is a person's own.
func (c *Conversation) Proven(ctx context.Context, n int) error {
	if n > c.sealed {
		if c.Agent != "" && c.Messages[n-1].Ref != HookRef {
			return ErrUnproven
		}
		return nil
	}
	m, by := c.Messages[n-1], vault.Commit{}
	untracked := true // kept out of git, where an agent's import leaves no ref of hooks
	for version, err := range c.v.History().Versions(ctx, "", c.Path) {
		if err != nil {
			return err
		}
		untracked = false
		data, err := c.v.History().Ancestry().Read(version.New)
		if err != nil {
			return err
		}
		all := markdown.ParseTranscript(data).Messages
		if n > len(all) || all[n-1].Role != m.Role || !bytes.Equal(all[n-1].Content, m.Content) {
			break
		}
		by = version.Commit
	}
	sealed := by.Op == vault.OpSeal && by.Trailers.Get("Stet-Session") == c.ID
	marks, _, err := MarksOf(c.v, KeyOf(c.v, c.Agent, c.ID))
	if err != nil {
		return err
	}
	byHook := (sealed || untracked) && m.Ref == HookRef || marks.noted(m)
	user := by.Trailers.Get("Stet-Actor") == vault.ActorUser && by.Trailers.Get("Stet-Via") == "" &&
		(sealed && c.Agent == "" || by.Op == vault.OpImport)
	if !byHook && !user {
		return ErrUnproven
	}
	return nil
}
