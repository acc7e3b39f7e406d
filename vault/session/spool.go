package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"stet/markdown"
	"stet/vault"
)

// ErrPrivate reports a session that a person made private.
var ErrPrivate = errors.New("it is private")

// HookMay notes in a turn of a hook's what is known of its session: the id that it was shown by so far, what its
// transcript holds, and whether another front end has one open under that name, which [Append] puts aside. It writes
// nothing. It fails with [vault.ErrRefused] for a session that a person made private, and then with [ErrPrivate]; of a
// turn for which it fails otherwise nothing is noted, and [TakeUp] asks again.
func HookMay(ctx context.Context, v *vault.Vault, t *Turn) error {
	v = v.Whole()
	refused := func(why error) error { return fmt.Errorf("session %q: %w: %w", t.Session, vault.ErrRefused, why) }
	key := Key(t.Agent, t.Session)
	for _, f := range []*string{&t.Project, &t.Model} {
		if !isHeading(*f) {
			*f = "" // the turn counts more
		}
	}
	var paths []vault.Path
	sealed, err := MayBeSealed(v, key)
	if sealed || err != nil { // a folder that cannot be read is for the listing to pass over
		paths, err = Transcripts(ctx, v, key)
	}
	id, after := "", 0
	for _, p := range paths {
		k, err := Head(v, p)
		if err != nil || !same(k.ID, key) {
			continue
		}
		if id, after = k.ID, k.Messages; k.Private {
			return refused(ErrPrivate)
		}
	}
	open, oerr := Opened(v, key)
	if oerr != nil {
		open, oerr = &Open{Facts: &markdown.Transcript{}}, ignoreMissing(oerr)
	}
	if err := errors.Join(err, oerr); err != nil {
		return err
	}
	was := open.Facts.Private
	if id == "" && len(open.Facts.Messages) == 0 {
		if was, err = v.History().PrivateTalk(ctx, key); err != nil {
			return err
		}
	}
	if !was {
		if was, err = Private(ctx, v, t.Agent, t.Parent, nil); err != nil {
			return err
		}
	}
	if was {
		return refused(ErrPrivate)
	}
	t.beside = id == "" && open.door != "" && open.door != HookDoor
	if id == "" && !t.beside && len(open.Facts.Messages) > 0 {
		id = open.Facts.ID
	}
	t.ID, t.After = cmp.Or(id, ID(t.Agent, t.Session, t.Time)), after
	return nil
}

// aside gives the open session under the name of a hook's turn, which no hook began, another name: what is said to a
// client's hook is kept whatever an agent recorded before under its name. A killed process leaves it whole under its
// key, and the next one goes on, or leaves the snapshots, which are the hook's as well, to [TakeUp].
func aside(ctx context.Context, v *vault.Vault, t Turn) error {
	key := Key(t.Agent, t.Session)
	open, err := Opened(v, key)
	for n := 1; err == nil && open.door != "" && open.door != HookDoor; n++ {
		name := fmt.Sprintf("%s (%s)", t.Session, open.door)
		if n > 1 {
			name = fmt.Sprintf("%s (%s %d)", t.Session, open.door, n)
		}
		var given [][]byte // the snapshots
		err = v.State().RenameSession(ctx, key, Key(open.Agent, name), func(lines [][]byte) ([][]byte, error) {
			begun := false
			for i, line := range lines {
				var r record
				if json.Unmarshal(line, &r) != nil || Key(r.Agent, r.Session) != key {
					continue // damaged, or renamed before
				}
				if r.notes() {
					given = append(given, line)
				} else if !begun && r.Source == HookDoor {
					return nil, vault.ErrNotFound // another hook was faster
				}
				begun = begun || !r.notes()
				r.ID, r.Session = "", name
				lines[i], _ = json.Marshal(&r) // as it was read
			}
			for _, line := range given {
				if err := v.State().Spool(spool, line); err != nil {
					return nil, err
				}
			}
			return lines, nil
		})
		if errors.Is(err, vault.ErrConflict) {
			err = nil
			continue
		}
		if err != nil || len(given) == 0 {
			break // where it is not known what was done, they stand there or wait
		}
		for _, line := range given {
			err = errors.Join(err, v.State().AppendSession(ctx, key, line))
		}
		jobs, jerr := v.State().Jobs(spool)
		for _, job := range jobs {
			if err == nil && slices.ContainsFunc(given, func(l []byte) bool { return bytes.Equal(l, job.Data) }) {
				jerr = errors.Join(jerr, v.State().Done(ctx, spool, job.ID))
			}
		}
		return errors.Join(err, jerr)
	}
	return ignoreMissing(err)
}

// spool is the queue of turns that were to wait for nobody.
const spool = "turns"

// Spool keeps a turn apart from its session, without any lock, until [TakeUp].
func Spool(v *vault.Vault, t Turn) error {
	r, err := t.record()
	if err != nil {
		return err
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return v.State().Spool(spool, data)
}

// TakeUp adds the turns of [Spool] to their sessions, each once, in the order of the clock. What is damaged stays where
// it is, and fails it after all others. Cost: each of their sessions is read twice, however many turns wait.
func TakeUp(ctx context.Context, v *vault.Vault) error {
	waiting, err := v.State().Queued(spool)
	if err != nil || waiting == 0 {
		return err
	}
	return v.State().Alone(ctx, spool, true, func() error {
		type of struct {
			key    string
			hooked bool
		}
		sessions := map[of]*waiter{}
		jobs, err := v.State().Jobs(spool)
		for _, job := range jobs {
			var r record
			if json.Unmarshal(job.Data, &r) != nil || r.Role == "" && !r.notes() {
				err = errors.Join(err, fmt.Errorf("a spooled turn is damaged: %w", vault.ErrInvalid))
				continue // its bytes stay
			}
			is := of{Key(r.Agent, r.Session), r.Ref == HookRef}
			s := sessions[is]
			if s == nil {
				s = &waiter{}
				sessions[is] = s
				if s.err = s.look(ctx, v, &r); errors.Is(s.err, vault.ErrBusy) {
					return s.err
				}
				err = errors.Join(err, s.err)
			}
			if s.err != nil {
				continue // so do these
			}
			line, lerr := s.line(&r, job.Data)
			if lerr != nil {
				return lerr
			}
			// Where it stands there a process was killed before it was done.
			if line != nil && !s.there[string(line)] && !s.there[string(job.Data)] {
				if err := v.State().AppendSession(ctx, is.key, line); err != nil {
					return err
				}
				s.there[string(line)] = true
			}
			if err := v.State().Done(ctx, spool, job.ID); err != nil {
				return err
			}
		}
		return err
	})
}

// A waiter is a session for which lines wait in the spool.
type waiter struct {
	now     Turn // what [HookMay] notes in a turn of a hook's
	private bool
	there   map[string]bool // the lines that stand in it
	err     error
}

// look finds out what is known of the session, r being the first line that waits for it, and makes room for a hook.
func (s *waiter) look(ctx context.Context, v *vault.Vault, r *record) error {
	if s.now = r.Turn; r.Ref == HookRef {
		err := HookMay(ctx, v, &s.now)
		if s.private = errors.Is(err, ErrPrivate); s.private {
			err = nil
		} else if err == nil && s.now.beside {
			err = aside(ctx, v, s.now)
		}
		if err != nil {
			return err
		}
	}
	lines, err := v.State().Session(Key(r.Agent, r.Session))
	s.there = map[string]bool{}
	for _, line := range lines {
		s.there[string(line)] = true
	}
	return ignoreMissing(err)
}

// line is the line of a turn that was kept apart as data; nil is none. What was said before its session was made
// private goes there, and what nobody could tell it of is dropped then.
func (s *waiter) line(r *record, data []byte) ([]byte, error) {
	switch known := r.ID != "" || r.Ref != HookRef; {
	case s.private && !known:
		return nil, nil
	case s.private:
		r.Private = true
	case known:
		return data, nil
	default:
		r.ID, r.After = s.now.ID, s.now.After
	}
	return json.Marshal(r) // as it was read
}
