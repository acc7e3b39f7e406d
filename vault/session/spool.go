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
	if open.Facts.Private {
		return refused(ErrPrivate)
	}
	if err := errors.Join(err, oerr); err != nil {
		return err
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
// key, and the next one goes on.
func aside(ctx context.Context, v *vault.Vault, t Turn) error {
	key := Key(t.Agent, t.Session)
	open, err := Opened(v, key)
	for n := 1; err == nil && open.door != "" && open.door != HookDoor; n++ {
		name := fmt.Sprintf("%s (%s)", t.Session, open.door)
		if n > 1 {
			name = fmt.Sprintf("%s (%s %d)", t.Session, open.door, n)
		}
		var given [][]byte // the snapshots: they are the hook's as well
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
			return lines, nil
		})
		if errors.Is(err, vault.ErrConflict) {
			err = nil
			continue
		}
		for _, line := range given {
			err = errors.Join(err, v.State().AppendSession(ctx, key, line))
		}
		break
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
// it is, and fails it after all others.
func TakeUp(ctx context.Context, v *vault.Vault) error {
	waiting, err := v.State().Queued(spool)
	if err != nil || waiting == 0 {
		return err
	}
	return v.State().Alone(ctx, spool, true, func() error {
		jobs, err := v.State().Jobs(spool)
		for _, job := range jobs {
			var r record
			if json.Unmarshal(job.Data, &r) != nil || r.Role == "" {
				err = errors.Join(err, fmt.Errorf("a spooled turn is damaged: %w", vault.ErrInvalid))
				continue // its bytes stay
			}
			key := Key(r.Agent, r.Session)
			line, lerr := r.spooled(ctx, v, job.Data)
			lines, serr := v.State().Session(key)
			if lerr = errors.Join(lerr, ignoreMissing(serr)); errors.Is(lerr, vault.ErrBusy) {
				return lerr
			} else if lerr != nil {
				err = errors.Join(err, lerr)
				continue // so do these
			}
			there := func(l []byte) bool { return bytes.Equal(l, line) || bytes.Equal(l, job.Data) }
			if line != nil && !slices.ContainsFunc(lines, there) { // else a process was killed before it was done
				if err := v.State().AppendSession(ctx, key, line); err != nil {
					return err
				}
			}
			if err := v.State().Done(ctx, spool, job.ID); err != nil {
				return err
			}
		}
		return err
	})
}

// spooled is the line of a turn that was kept apart as data, in a session that has room for it; nil is none. What was
// said before its session was made private goes there, and what nobody could tell it of is dropped then.
func (r *record) spooled(ctx context.Context, v *vault.Vault, data []byte) ([]byte, error) {
	if r.Ref != HookRef {
		return data, nil
	}
	now, known := r.Turn, r.ID != ""
	err := HookMay(ctx, v, &now)
	switch {
	case errors.Is(err, ErrPrivate) && !known:
		return nil, nil
	case errors.Is(err, ErrPrivate):
		r.Private = true
		return json.Marshal(r)
	case err != nil:
		return nil, err
	case now.beside:
		err = aside(ctx, v, now)
	}
	if !known {
		r.ID = now.ID
		data, _ = json.Marshal(r) // as it was read
	}
	return data, err
}
