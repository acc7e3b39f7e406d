package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/oklog/ulid/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
)

// A collection is the vault of one history: its conversations are transcripts,
// each with the ids of its turns.
type collection struct {
	name  string
	app   *agent.App
	index *index.Index
}

func (c *collection) close() error { return c.app.Close() }

// open makes, or opens if it is there from before, the vault of a collection
// below dir.
func open(ctx context.Context, e *console.Env, dir, name string, turns []turn) (*collection, error) {
	root := filepath.Join(dir, name)
	o, err := e.VaultOptions(false)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(string(vault.Marker)))); err != nil {
		if err := seal(e, root, turns); err != nil {
			return nil, fmt.Errorf("vault of %s: %w", name, err)
		}
		if _, err := vault.Init(ctx, root, vault.InitOptions{}, o); err != nil {
			return nil, fmt.Errorf("vault of %s: %w", name, err)
		}
	}
	a, err := e.OpenAt(ctx, agent.Place{Root: root}, true)
	if err != nil {
		return nil, fmt.Errorf("vault of %s: %w", name, err)
	}
	x, err := a.Index(false)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &collection{name: name, app: a, index: x}, nil
}

// seal writes the transcripts of the conversations in turns.
func seal(e *console.Env, root string, turns []turn) (err error) {
	if err := durable.MakeFolder("bench", root, 0o755, e.Hook); err != nil {
		return err
	}
	r, err := durable.OpenRoot(root, e.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for len(turns) > 0 {
		n := 1
		for n < len(turns) && turns[n].Session == turns[0].Session {
			n++
		}
		t := transcript(turns[:n])
		turns = turns[n:]
		p := string(vault.NameTranscript(t))
		text, attached, err := markdown.RenderTranscript(t, markdown.TranscriptOptions{Name: path.Base(p)})
		if err != nil {
			return err
		}
		if err := r.MkdirAllLazy("bench.mkdir", path.Dir(p), 0o755); err != nil {
			return err
		}
		if err := r.Create("bench.transcript", p, text, 0o644); err != nil {
			return err
		}
		for _, a := range attached {
			dir := path.Join(path.Dir(p), markdown.AttachmentDir(path.Base(p)))
			if err := r.MkdirAllLazy("bench.mkdir", dir, 0o755); err != nil {
				return err
			}
			if err := r.Create("bench.attachment", path.Join(dir, a.Name), a.Data, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// transcript is one conversation. Speakers who are no role are people with a
// name, as an importer would have it.
func transcript(turns []turn) *markdown.Transcript {
	t := &markdown.Transcript{
		Source: "import", Agent: "bench", Origin: turns[0].Session, Started: turns[0].at(),
		Ended: turns[len(turns)-1].at(),
	}
	sum := sha256.Sum256([]byte(t.Agent + "\x00" + t.Origin))
	id := ulid.ULID{}
	if !t.Started.IsZero() && t.Started.Unix() > 0 {
		// Any time of a data set lies within what an id can hold.
		_ = id.SetTime(ulid.Timestamp(t.Started))
	}
	copy(id[6:], sum[:10])
	t.ID = strings.ToLower(id.String())
	for _, u := range turns {
		m := markdown.Message{Role: "user", Name: u.Speaker, Time: u.at(), Ref: u.ID, Content: []byte(u.Text)}
		switch strings.ToLower(u.Speaker) {
		case "user", "assistant", "system", "tool":
			m.Role, m.Name = strings.ToLower(u.Speaker), ""
		}
		if u.Caption != "" {
			m.Content = fmt.Appendf(m.Content, "\n\n[image: %s]", u.Caption)
		}
		t.Messages = append(t.Messages, m)
	}
	return t
}
