package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/settings"
)

// Sealing moves turns from local state into the tree without ever having them in
// both or in neither for whoever comes next:
//
//	lock "seal"                       one sealer at a time; appends go on
//	  append an intent to the open file  path, messages there now, turns to come
//	  commit the transcript           ← the turns are in it, all of them
//	  drop these turns and the intent   under the lock of appends
//
// A process that finds an intent looks into the transcript: with the turns in it
// they are dropped, without them they are sealed again.

// Options say how a session is sealed.
type Options struct {
	Reason string // why it ended: ended, idle…
	Door   string // see vault.Why
	Wait   bool   // for another process that seals, else it is a vault.ErrBusy
	DryRun bool
}

// Sealed says what Seal did, or with DryRun would do.
type Sealed struct {
	ID       string     `json:"id"`
	Title    string     `json:"title"`
	Path     vault.Path `json:"path"`
	Turns    int        `json:"turns"`              // that were sealed now
	Before   int        `json:"before,omitempty"`   // turns that the transcript had
	Redacted []string   `json:"redacted,omitempty"` // rules that found a secret
	// Result is that of the commit, nil where the transcript is kept out of git
	// or an earlier process had sealed it.
	Result *vault.Result `json:"-"`
}

// Seal ends an open session: its turns become its transcript, or go on the end
// of it, and the open session is gone. Turns that are appended meanwhile stay
// open. It fails with [vault.ErrNotFound], [vault.ErrBusy], or what
// [vault.Vault.Update] fails with, and then the session is still open.
func Seal(ctx context.Context, v *vault.Vault, key string, o Options) (*Sealed, error) {
	if o.DryRun {
		return (&sealer{v: v, o: o}).preview(ctx, key)
	}
	var out *Sealed
	err := v.State().Alone(ctx, "seal", o.Wait, func() (err error) {
		out, err = (&sealer{v: v, o: o}).seal(ctx, key)
		return err
	})
	return out, err
}

type sealer struct {
	v *vault.Vault
	o Options
}

// target is the transcript that an open session goes into.
type target struct {
	path vault.Path
	data []byte // nil: it is new
	was  vault.Hash
	id   string
	have int  // messages in it
	git  bool // git keeps it
}

func (s *sealer) seal(ctx context.Context, key string) (*Sealed, error) {
	open, err := Opened(s.v, key)
	if err != nil {
		return nil, err
	}
	if n := settled(s.v, open); n > 0 {
		if err := s.drop(ctx, open, open.intent.Base+n, n); err != nil {
			return nil, err
		}
		if len(open.Facts.Messages) <= n {
			return &Sealed{ID: open.Facts.ID, Title: open.Facts.Title, Path: open.intent.Path}, nil
		}
		if open, err = Opened(s.v, key); err != nil {
			return nil, err
		}
	}
	beside := func(m markdown.Message) bool { return m.Ref == HookRef || m.Ref == "" }
	if slices.ContainsFunc(open.Facts.Messages, beside) {
		if _, err := s.leaveOut(ctx, open, nil); err != nil {
			return nil, err
		}
		if open, err = Opened(s.v, key); err != nil {
			return nil, err
		}
	}
	if len(open.Facts.Messages) == 0 {
		return nil, cmp.Or(s.rewrite(ctx, key, 0), unknown(open.Name)) // nothing was said in it
	}
	out, at, err := s.prepare(ctx, open)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(record{V: turnVersion, Seal: &intent{Path: at.path, Base: at.have, Turns: out.Turns}})
	if err != nil {
		return nil, err
	}
	if err := s.v.State().AppendSession(ctx, key, line); err != nil {
		return nil, err
	}
	if err := s.publish(ctx, open, at, out); err != nil {
		return nil, err
	}
	return out, s.drop(ctx, open, at.have+out.Turns, out.Turns)
}

func (s *sealer) preview(ctx context.Context, key string) (*Sealed, error) {
	open, err := Opened(s.v, key)
	if err != nil {
		return nil, err
	}
	open.forget(settled(s.v, open))
	if len(open.Facts.Messages) == 0 {
		return nil, unknown(open.Name)
	}
	out, at, err := s.prepare(ctx, open)
	if err != nil {
		return nil, err
	}
	return out, s.publish(ctx, open, at, out)
}

// settled is the number of turns that the intent speaks of, if they are in the
// transcript, else 0. Their places, roles and times are compared: a person may
// have changed words.
func settled(v *vault.Vault, open *Open) int {
	m := open.intent
	if m == nil {
		return 0
	}
	data, _, err := v.ReadFile(m.Path)
	if err != nil {
		return 0
	}
	have := markdown.Parse(data).Messages()
	if m.Turns < 1 || len(have) < m.Base+m.Turns || len(open.Facts.Messages) < m.Turns {
		return 0
	}
	for i, want := range open.Facts.Messages[:m.Turns] {
		got := have[m.Base+i]
		if !got.Time.Equal(want.Time) || got.Role != want.Role {
			return 0
		}
	}
	return m.Turns
}

// drop takes the first n turns out of an open session, which are messages of its transcript up to
// number last, once what nobody has reviewed of them is queued.
func (s *sealer) drop(ctx context.Context, open *Open, last, n int) error {
	if err := s.ended(ctx, open, last); err != nil {
		return err
	}
	return s.rewrite(ctx, open.Key, n)
}

// rewrite takes the first n turns out of an open session, every intent, and the snapshots noted before
// the last intent; of a session in which nothing was said, all of it.
func (s *sealer) rewrite(ctx context.Context, key string, n int) error {
	return s.v.State().RewriteSession(ctx, key, func(lines [][]byte) [][]byte {
		records, marked := make([]record, len(lines)), -1
		for i, line := range lines {
			if json.Unmarshal(line, &records[i]) == nil && records[i].Seal != nil {
				marked = i
			}
		}
		var left [][]byte
		turns := 0
		for i, line := range lines {
			switch r := records[i]; {
			case r.Seal != nil || r.notes() && i < marked:
			case r.notes():
				left = append(left, line)
			case n > 0:
				n--
			default:
				left = append(left, line)
				turns++
			}
		}
		if turns == 0 && marked < 0 {
			return nil
		}
		return left
	})
}

// prepare takes secrets out of the session and finds its transcript.
func (s *sealer) prepare(ctx context.Context, open *Open) (*Sealed, *target, error) {
	t := open.Facts
	if err := open.below(ctx, s.v, nil); err != nil {
		return nil, nil, err
	}
	out := &Sealed{Turns: len(t.Messages), Redacted: open.redact(s.v)}
	t.Parent = parentOf(ctx, s.v, t.Agent, t.Parent, nil)
	t.EndReason = s.o.Reason
	at, err := s.find(ctx, open)
	if err != nil {
		return nil, nil, err
	}
	out.ID, out.Title, out.Path, out.Before = t.ID, t.Title, at.path, at.have
	return out, at, nil
}

// find looks for the transcript of a session that was sealed before, else makes
// up its path, which it keeps.
func (s *sealer) find(ctx context.Context, open *Open) (*target, error) {
	t := open.Facts
	have, err := transcripts(ctx, s.v)
	if err != nil {
		return nil, err
	}
	files := named(have, t.ID)
	track := s.v.Settings().Bool(settings.SessionsTrack)
	at, err := s.standing(ctx, open, files, track)
	if at != nil || err != nil {
		return at, err
	}
	if files, err = renamed(ctx, s.v, open.Key); err != nil {
		return nil, err
	}
	if at, err = s.standing(ctx, open, files, track); at != nil || err != nil {
		return at, err
	}
	was, err := s.v.History().PrivateTalk(ctx, t.ID)
	t.Private = t.Private || was
	return &target{path: nameNew(t, have), id: t.ID, git: track}, err
}

// standing is the one of these files that is the transcript of the session; nil
// when none is.
func (s *sealer) standing(ctx context.Context, open *Open, paths []vault.Path, track bool) (*target, error) {
	for _, p := range paths {
		data, _, err := s.v.ReadFile(p)
		if err != nil {
			return nil, err
		}
		id, _ := markdown.Parse(data).Meta("id")
		if same(id.Text(), open.Key) {
			open.Facts.ID = id.Text()
			git, err := s.inHead(ctx, p)
			return &target{path: p, data: data, was: hashOf(data, p), id: open.Facts.ID, have: lastNumber(data),
				git: git || track}, err
		}
	}
	return nil, nil
}

func hashOf(data []byte, p vault.Path) vault.Hash { return vault.ReadMemory(p, data).Hash }

// lastNumber is the number of messages of a transcript.
func lastNumber(data []byte) int { return len(markdown.Parse(data).Messages()) }

func (s *sealer) inHead(ctx context.Context, p vault.Path) (bool, error) {
	view, err := s.v.History().View(ctx, "")
	if err != nil {
		return false, err
	}
	_, hash, err := view.Read(p)
	return hash != "", err
}

// publish commits the transcript, or writes it where git does not look.
func (s *sealer) publish(ctx context.Context, open *Open, at *target, out *Sealed) error {
	data, beside, err := s.render(open.Facts, at)
	if err != nil {
		return err
	}
	if !at.git {
		if s.o.DryRun {
			return nil
		}
		for _, a := range beside {
			was, err := s.hashAt(a.path)
			if err == nil {
				err = s.v.State().PutIgnored(ctx, a.path, was, a.data)
			}
			if err != nil {
				return err
			}
		}
		return s.v.State().PutIgnored(ctx, at.path, at.was, data)
	}
	if !s.o.DryRun {
		if err := s.v.State().ShowSessions(ctx); err != nil {
			return err
		}
	}
	out.Result, err = s.v.Transact(ctx, s.why(open, out), s.o.DryRun, func(tx *vault.Tx) error {
		for _, a := range beside {
			_, was, err := tx.Read(a.path)
			if err == nil {
				err = tx.Put(a.path, was, a.data)
			}
			if err != nil {
				return err
			}
		}
		return tx.Put(at.path, at.was, data)
	})
	return err
}

func (s *sealer) hashAt(p vault.Path) (vault.Hash, error) {
	data, _, err := s.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return hashOf(data, p), err
}

func (s *sealer) why(open *Open, out *Sealed) vault.Why {
	w := vault.Why{Op: vault.OpSeal, Subject: out.Title, Body: templates.Plural(out.Turns, "turn"),
		Writer: vault.Writer{Session: out.ID, Door: s.o.Door, Via: open.via}}
	if open.Facts.Agent != "" {
		w.Actor, w.AgentName = "agent", open.Facts.Agent
	}
	for _, rule := range out.Redacted {
		w.Trail("Stet-Redacted", rule)
	}
	return w
}

// besides is a file beside the transcript.
type besides struct {
	path vault.Path
	data []byte
}
