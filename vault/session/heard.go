package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
// that the same words were such a message when they were sealed, or that the change that brought its words to the
// transcript, under whatever number, is an import of the person's.
func (c *Conversation) Proven(ctx context.Context, n int) error {
	m := c.Messages[n-1]
	if n > c.sealed {
		if c.Agent != "" && m.Ref != HookRef {
			return ErrUnproven
		}
		return nil
	}
	marks, _, err := MarksOf(c.v, KeyOf(c.v, c.Agent, c.ID))
	if err != nil || marks.Heard(m) {
		return err
	}
	by := ""
	for version, err := range c.v.History().Versions(ctx, "", c.Path) {
		if err != nil {
			return err
		}
		data, err := c.v.History().Ancestry().Read(version.New)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(markdown.ParseTranscript(data).Messages, func(is markdown.Message) bool {
			return is.Role == m.Role && bytes.Equal(is.Content, m.Content)
		}) {
			break
		}
		by = changeKey(version.Old, version.New)
	}
	imported, err := c.v.State().Seen(importedName)
	if err == nil && (by == "" || !slices.Contains(strings.Fields(string(imported)), by)) {
		err = ErrUnproven
	}
	return err
}

// importedName is the name under which local state lists the changes of transcripts by which the person imported
// conversations, and mostImported how many.
const (
	importedName = "imported"
	mostImported = 20_000
)

// changeKey stands for the change of a file from one content to another.
func changeKey(was, now vault.Hash) string {
	const digits = 16
	return fmt.Sprintf("%.*s-%.*s", digits, was, digits, now)
}

// Imports notes, before it is committed, that the person's own command changes transcripts so by an import: of each
// the hash before and after. One that is not committed then is nothing that anybody else can say.
func Imports(ctx context.Context, v *vault.Vault, changes [][2]vault.Hash) error {
	return v.State().SetSeen(ctx, importedName, func(now []byte) ([]byte, error) {
		keys := strings.Fields(string(now))
		for _, c := range changes {
			keys = append(keys, changeKey(c[0], c[1]))
		}
		return []byte(strings.Join(keys[max(0, len(keys)-mostImported):], "\n")), nil
	})
}
