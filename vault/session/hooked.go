package session

import (
	"context"
	"encoding/json"
	"errors"
	"math/bits"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault"
)

// HookRef is the [Turn].Ref of a turn that a client's hook recorded. Nobody else may use it. HookDoor is the front
// end that hooks come by.
const (
	HookRef  = "hook"
	HookDoor = "hook"
)

// HookTalk is the beginning of the names under which local state keeps what hooks know of each conversation.
const HookTalk = "hook-"

// ByHooks reports a session, by its key, that hooks of a client recorded in this clone, its beginning or what was said,
// or in which the user's own commands recorded what the user said.
func ByHooks(v *vault.Vault, key string) (bool, error) {
	talk, err := v.State().Seen(HookTalk + key)
	marks, _, merr := MarksOf(v, key)
	if err = errors.Join(err, merr); err != nil || len(talk) > 0 || marks.Hooked != "" {
		return true, err
	}
	open, err := Opened(v, key)
	return err == nil && hasHooked(open.Facts), ignoreMissing(err)
}

func hasHooked(t *markdown.Transcript) bool {
	return slices.ContainsFunc(t.Messages, func(m markdown.Message) bool { return m.Ref == HookRef })
}

// Covered says which turns that hooks recorded stand in a client's own record of the conversation, as many as can in
// one order, and of several such ways one near in time: of each the index there, -1 for none, as of one that a hook
// recorded after the record ends. may, if any, says which of these places a turn can have, and alone where the turns of
// others stand, which count more. Beyond [mostAligned] pairs what is left takes the first place it can.
func Covered(turns, own []markdown.Message, may func(turn, place int) bool) []int {
	out, texts, said := make([]int, len(turns)), make([]string, len(turns)), make([]string, len(own))
	for i, t := range turns {
		if out[i] = nowhere; t.Ref == HookRef {
			texts[i] = words(t.Content)
		}
	}
	var end time.Time
	for j, m := range own {
		if m.Role == "user" || m.Role == "assistant" {
			said[j] = words(m.Content)
		}
		if m.Ref != HookRef && m.Time.After(end) {
			end = m.Time
		}
	}
	one := int64(len(turns)+1) * farthest // more than all distances
	worth := func(i, j int) int64 {
		switch t, m := turns[i], own[j]; {
		case t.Ref != HookRef:
			if may != nil && may(i, j) {
				return int64(len(turns)+1) * one
			}
		case t.Role != m.Role || may != nil && !may(i, j):
		case m.Ref == HookRef && t.Time.Equal(m.Time):
			return one
		case m.Ref != HookRef && (end.IsZero() || !t.Time.After(end.Add(hookDelay))) &&
			sameWords(t.Role, texts[i], said[j]):
			return one - distance(t.Time, m.Time)
		}
		return 0
	}
	i, j := 0, 0
	for i < len(turns) && turns[i].Ref != HookRef { // most of what has grown
		at := j
		for at < len(own) && worth(i, at) == 0 {
			at++
		}
		if at == len(own) {
			break
		}
		out[i], i, j = at, i+1, at+1
	}
	align(out, i, j, len(own), worth)
	return out
}

// hookDelay is how long after a client has dated a message its hook may record it.
const hookDelay = 10 * time.Second

// distance says how far apart two moments are, from 0 to below farthest, one more for twice as far.
func distance(a, b time.Time) int64 { return int64(bits.Len64(uint64(a.Sub(b).Abs().Milliseconds()))) }

const farthest = 64

// nowhere is the place of a turn that stands in no record.
const nowhere = -1

// mostAligned bounds the pairs of messages that are compared.
const mostAligned = 4 << 20

// align sets the places of turns from first on, in order, among those from next to end, so that they are worth most.
func align(out []int, first, next, end int, worth func(i, j int) int64) {
	n, m := len(out)-first, end-next
	if n <= 0 || m <= 0 {
		return
	}
	if n > mostAligned/m {
		for i := first; i < len(out); i++ {
			for j := next; j < end; j++ {
				if worth(i, j) > 0 {
					out[i], next = j, j+1
					break
				}
			}
		}
		return
	}
	best := make([]int64, (n+1)*(m+1)) // of turns from i on among those from j on
	at := func(i, j int) int { return i*(m+1) + j }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[at(i, j)] = max(best[at(i+1, j)], best[at(i, j+1)])
			if w := worth(first+i, next+j); w > 0 {
				best[at(i, j)] = max(best[at(i, j)], best[at(i+1, j+1)]+w)
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		w := worth(first+i, next+j)
		switch {
		case w > 0 && best[at(i, j)] == best[at(i+1, j+1)]+w:
			out[first+i], i, j = next+j, i+1, j+1
		case best[at(i, j)] == best[at(i, j+1)]:
			j++
		default:
			i++
		}
	}
}

// covered is [Covered] for open turns and their transcript. What a person typed stands behind what that held then, but
// for a turn that was taken up again after it was sealed. A turn that an agent observed stands there where its words
// were imported and the record goes on behind it.
func (o *Open) covered(transcript []byte) []int {
	known, own := Read("", transcript), markdown.ParseTranscript(transcript).Messages
	var end time.Time // of what was imported
	said := make([]string, len(own))
	for i, m := range own {
		if m.Ref != "" && m.Ref != HookRef {
			if said[i] = words(m.Content); m.Time.After(end) {
				end = m.Time
			}
		}
	}
	noted := make([]string, len(o.Facts.Messages))
	for i, m := range o.Facts.Messages {
		if m.Ref == "" && !m.Time.After(end.Add(hookDelay)) {
			noted[i] = words(m.Content)
		}
	}
	return Covered(o.Facts.Messages, own, func(turn, place int) bool {
		m := o.Facts.Messages[turn]
		if m.Ref == "" {
			return noted[turn] != "" && noted[turn] == said[place] && m.Role == own[place].Role &&
				len(m.Calls) <= len(own[place].Calls)
		}
		if m.Ref != HookRef || m.Role != "user" {
			return m.Ref == HookRef
		}
		if is := own[place]; is.Ref == HookRef && is.Time.Equal(m.Time) {
			return true
		}
		for n := o.after[turn]; n > 0; n-- {
			if now := known.Number(n, m.Time); now > 0 { // else it was taken back
				return place >= now
			}
		}
		return true
	})
}

func words(text []byte) string {
	return strings.Join(strings.Fields(string(markdown.StripInjected(text))), " ")
}

// sameWords: a hook records the end of an answer alone.
func sameWords(role, hooked, own string) bool {
	return hooked == own || role == "assistant" && hooked != "" && strings.HasSuffix(own, hooked)
}

// Settle takes those turns out of an open session that hooks recorded and its transcript holds, and those that the
// client's own record brought here or elsewhere. It returns the number of messages of the transcript, 0 for none.
func Settle(ctx context.Context, v *vault.Vault, key string, brought []markdown.Message) (messages int, err error) {
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
		messages, err = s.leaveOut(ctx, open, brought)
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

// leaveOut is [Settle] of a session that is known.
func (s *sealer) leaveOut(ctx context.Context, open *Open, brought []markdown.Message) (messages int, err error) {
	files, err := Transcripts(ctx, s.v, open.Key)
	if err != nil {
		return 0, err
	}
	at, err := s.standing(ctx, open, files, true)
	if at == nil || err != nil {
		return 0, err
	}
	redact(s.v, open.Facts)
	covered := open.covered(at.data)
	for i, t := range open.Facts.Messages {
		same := func(m markdown.Message) bool { return m.Role == t.Role && m.Time.Equal(t.Time) }
		if t.Ref == HookRef && slices.ContainsFunc(brought, same) {
			covered[i] = 0
		}
	}
	if !slices.ContainsFunc(covered, func(j int) bool { return j != nowhere }) {
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
			stays := turn >= len(covered) || turn >= 0 && covered[turn] == nowhere
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

// uncover forgets the turns that stand in the transcript.
func (o *Open) uncover(transcript []byte) {
	var left []markdown.Message
	var after []int
	for i, j := range o.covered(transcript) {
		if j < 0 {
			left, after = append(left, o.Facts.Messages[i]), append(after, o.after[i])
		}
	}
	o.Facts.Messages, o.after = left, after
}
