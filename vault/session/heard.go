package session

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

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

// Proven fails with [ErrUnproven] unless a client's hook or a person's command recorded message n in this clone:
// commits and transcripts may be anybody's. Local state tells that an open message has no agent or is from a hook,
// that the same words were such a message when they were sealed, or that the commit that brought the message as it
// stands there is an import of the person's.
func (c *Conversation) Proven(ctx context.Context, n int) error {
	m := c.Messages[n-1]
	if n > c.sealed {
		if c.Agent != "" && m.Ref != HookRef {
			return ErrUnproven
		}
		return nil
	}
	marks, _, err := MarksOf(c.v, KeyOf(c.v, c.Agent, c.ID))
	if err != nil || marks.noted(m) {
		return err
	}
	var by vault.Revision
	for version, err := range c.v.History().Versions(ctx, "", c.Path) {
		if err != nil {
			return err
		}
		data, err := c.v.History().Ancestry().Read(version.New)
		if err != nil {
			return err
		}
		all := markdown.ParseTranscript(data).Messages
		if n > len(all) || all[n-1].Role != m.Role || !bytes.Equal(all[n-1].Content, m.Content) {
			break
		}
		by = version.Commit.Rev
	}
	imported, err := c.v.State().Seen(importedName)
	if err == nil && (by == "" || !slices.Contains(strings.Fields(string(imported)), string(by))) {
		err = ErrUnproven
	}
	return err
}

// importedName is the name under which local state lists the commits by which the person imported conversations,
// and mostImported how many.
const (
	importedName = "imported"
	mostImported = 10_000
)

// Imported notes that the person's own command imported what these commits brought.
func Imported(ctx context.Context, v *vault.Vault, commits []vault.Commit) error {
	return v.State().SetSeen(ctx, importedName, func(now []byte) ([]byte, error) {
		revs := strings.Fields(string(now))
		for _, c := range commits {
			revs = append(revs, string(c.Rev))
		}
		return []byte(strings.Join(revs[max(0, len(revs)-mostImported):], "\n")), nil
	})
}
