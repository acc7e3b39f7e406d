package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// HookRef is the [Turn].Ref of a turn that a client's hook told of. Nobody else may use it. HookDoor is the front
// end that hooks come by.
const (
	HookRef  = "hook"
	HookDoor = "hook"
)

// HookMay fails with [vault.ErrRefused] for a turn of a session that a person made private, or that another front
// end began and has open.
func HookMay(ctx context.Context, v *vault.Vault, t Turn) error {
	v = v.Whole()
	refused := func(why string) error { return fmt.Errorf("session %q: %w: %s", t.Session, vault.ErrRefused, why) }
	key := Key(t.Agent, t.Session)
	paths, err := Transcripts(ctx, v, key)
	sealed := false
	for _, p := range paths {
		k, err := Head(v, p)
		if err != nil || !same(k.ID, key) {
			continue
		}
		if sealed = true; k.Private {
			return refused("it is private")
		}
	}
	open, oerr := Opened(v, key)
	switch {
	case oerr != nil:
		return errors.Join(err, ignoreMissing(oerr))
	case open.Facts.Private:
		return refused("it is private")
	case !sealed && open.door != "" && open.door != HookDoor:
		return refused("no hook began it")
	}
	return err
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
			lines, lerr := v.State().Session(key)
			if lerr != nil && !errors.Is(lerr, vault.ErrNotFound) {
				err = errors.Join(err, lerr)
				continue // so do these
			}
			there := func(line []byte) bool { return bytes.Equal(line, job.Data) }
			if !slices.ContainsFunc(lines, there) { // else a process was killed before it was done
				if err := v.State().AppendSession(ctx, key, job.Data); err != nil {
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

// Covered says which turns that hooks told of stand in a client's own record of the conversation, in order: of each
// the index there, -1 for none.
func Covered(hooked, own []markdown.Message) []int {
	out, next := make([]int, len(hooked)), 0
	for i, h := range hooked {
		out[i] = -1
		if h.Ref != HookRef {
			continue
		}
		said := words(h.Content)
		for j := next; j < len(own); j++ {
			if own[j].Role == h.Role && own[j].Ref != HookRef && sameWords(h.Role, said, words(own[j].Content)) {
				out[i], next = j, j+1
				break
			}
		}
	}
	return out
}

func words(text []byte) string {
	return strings.Join(strings.Fields(string(markdown.StripInjected(text))), " ")
}

// sameWords: a hook tells the end of an answer alone.
func sameWords(role, hooked, own string) bool {
	return hooked == own || role == "assistant" && hooked != "" && strings.HasSuffix(own, hooked)
}

// Settle takes the turns of an open session that hooks told of out of it which its transcript holds: the client's
// own record came in. It returns the number of messages of the transcript, 0 for none.
func Settle(ctx context.Context, v *vault.Vault, key string) (messages int, err error) {
	err = v.State().Alone(ctx, "seal", true, func() error {
		open, err := Opened(v, key)
		if errors.Is(err, vault.ErrNotFound) {
			open, err = &Open{Key: key, Facts: &markdown.Transcript{}}, nil
		}
		if err != nil {
			return err
		}
		s := &sealer{v: v}
		if n := settled(v, open); n > 0 {
			if err := s.drop(ctx, open, open.intent.Base+n, n); err != nil {
				return err
			}
			if open, err = Opened(v, key); err != nil {
				return ignoreMissing(err)
			}
		}
		messages, err = s.leaveOut(ctx, open)
		return err
	})
	return messages, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, vault.ErrNotFound) {
		return nil
	}
	return err
}

// leaveOut drops the turns that hooks told of and the transcript holds, of which it returns the number of messages.
func (s *sealer) leaveOut(ctx context.Context, open *Open) (messages int, err error) {
	files, err := Transcripts(ctx, s.v, open.Key)
	if err != nil {
		return 0, err
	}
	at, err := s.standing(ctx, open, files, true)
	if at == nil || err != nil {
		return 0, err
	}
	redact(s.v, open.Facts)
	covered := Covered(open.Facts.Messages, markdown.ParseTranscript(at.data).Messages)
	if !slices.ContainsFunc(covered, func(j int) bool { return j >= 0 }) {
		return at.have, nil
	}
	if err := s.ended(ctx, open, at.have); err != nil {
		return 0, err
	}
	err = SetMarks(ctx, s.v, open.Key, func(m *Marks, _ bool) bool {
		m.At = max(m.At, at.have) // the hooks have counted them
		return true
	})
	if err != nil {
		return 0, err
	}
	return at.have, s.v.State().RewriteSession(ctx, open.Key, func(lines [][]byte) (left [][]byte) {
		turn, turns := -1, 0
		for _, line := range lines {
			var r record
			isTurn := json.Unmarshal(line, &r) != nil || r.Seal == nil && !r.notes()
			if isTurn {
				turn++
			}
			stays := turn >= len(covered) || turn >= 0 && covered[turn] < 0
			if isTurn && stays {
				turns++
			}
			if !isTurn || stays {
				left = append(left, line)
			}
		}
		if turns == 0 {
			return nil // what is left was said of these turns
		}
		return left
	})
}

// uncovered are the turns that stand in no transcript yet.
func uncovered(turns []markdown.Message, transcript []byte) []markdown.Message {
	var left []markdown.Message
	covered := Covered(turns, markdown.ParseTranscript(transcript).Messages)
	for i, m := range turns {
		if covered[i] < 0 {
			left = append(left, m)
		}
	}
	return left
}
