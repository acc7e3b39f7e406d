package vault

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"github.com/oklog/ulid/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/vault/tombstone"
)

// forgotten is the tombstone of a memory that went to the archive. A transcript
// leaves none: it says what was said, not what is so.
func forgotten(m Memory, blob Hash) []tombstone.Stone {
	s := tombstone.Of(tombstone.Forget, string(m.Body))
	s.Blob = string(blob)
	s.Session, s.Turns = SourceTurns(m.Source)
	switch {
	case m.Class == ClassSession, m.ID == "" && s.TextHash == "":
		return nil
	case m.ID != "":
		s.IDs = []string{m.ID}
	default:
		s.Within = string(m.Path)
	}
	return []tombstone.Stone{s}
}

// SourceTurns reads the source of a memory that says which turns of which session it
// came from: "session:ID#14", "session:ID#14-17", "session:ID#7,14-17".
func SourceTurns(source string) (session string, turns []int) {
	rest, ok := strings.CutPrefix(source, "session:")
	if !ok {
		return "", nil
	}
	session, span, _ := strings.Cut(rest, "#")
	const most = 1000 // turns of one memory; more is a typing error
	for part := range strings.SplitSeq(span, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if ranged && err == nil {
			b, err = strconv.Atoi(to)
		}
		for n := a; err == nil && n <= b && len(turns) < most; n++ {
			turns = append(turns, n)
		}
	}
	return session, turns
}

// stones are the tombstones that taking back a commit leaves: one for each file
// whose text it added to. Taking back a commit that itself took something back
// rejects nothing. Of an imported transcript, or a new one that a merge brought, only the
// id is rejected: another may say what it says. Of memories that became one nothing is: they come back.
func (t *Tx) stones(c Commit, changes []Change, action string) ([]tombstone.Stone, error) {
	first, took, own := t.tookBack(c)
	if took || own {
		return nil, nil
	}
	imported := first.Op == OpImport || len(first.Parents) > 1
	var out []tombstone.Stone
	for _, ch := range changes {
		class := ClassOf(ch.Path)
		said := class == ClassSession && (!imported || ch.Old != "") ||
			class == ClassMemory && first.Op == OpMerge
		if ch.New == "" || ch.Old == ch.New || !ch.Path.IsMarkdown() || class == ClassReport || said {
			continue
		}
		after, err := t.tx.Objects.Content(string(ch.New))
		if err != nil {
			return nil, err
		}
		before, err := t.tx.Objects.Content(string(ch.Old))
		if err != nil {
			return nil, err
		}
		m := ReadMemory(ch.Path, after)
		if moved, err := t.leftNotebook(ch, m, c.Changes); err != nil {
			return nil, err
		} else if moved {
			continue
		}
		s := tombstone.Of(action, tombstone.Added(before, after))
		if class == ClassSession {
			s = tombstone.Stone{Action: action}
		}
		s.Blob, s.Was, s.Reverts = string(ch.New), string(ch.Old), string(c.Rev)
		s.Session, s.Turns = SourceTurns(m.Source)
		switch {
		case ch.Old == "" && m.ID != "":
			s.IDs = []string{m.ID}
		case s.TextHash == "":
			continue
		default:
			s.Within = cmp.Or(m.ID, string(ch.Path))
		}
		out = append(out, s)
	}
	return out, nil
}

// leftNotebook reports whether a new memory holds an entry that the same changes
// took out of a notebook, to make room: taking them back does not reject it.
func (t *Tx) leftNotebook(added Change, m Memory, changes []Change) (bool, error) {
	from, hash, ok := notebookSource(m.Source)
	if !ok || added.Old != "" {
		return false, nil
	}
	for _, ch := range changes {
		if ch.Path != from {
			continue
		}
		before, err := t.tx.Objects.Content(string(ch.Old))
		if err != nil {
			return false, err
		}
		after, err := t.tx.Objects.Content(string(ch.New))
		return hasEntry(before, hash) && !hasEntry(after, hash), err
	}
	return false, nil
}

// Reject leaves tombstones in the commit being staged. By, Actor and At are
// filled in from who writes.
func (t *Tx) Reject(stones []tombstone.Stone) error {
	if len(stones) == 0 {
		return nil
	}
	now, by := keptTime(t.v.o.Now()), t.why.Author(t.v.store.Repo().Config()).Name
	if t.why.Via != "" {
		by += " via " + agentName(t.why.Via)
	}
	signed := slices.Clone(stones)
	for i := range signed {
		signed[i].At, signed[i].By, signed[i].Actor = now, by, t.why.actor()
	}
	data := tombstone.Encode(signed)
	p := stoneName(now, data)
	_, was, err := t.Read(p)
	if err != nil {
		return err
	}
	return t.Put(p, was, data)
}

// RejectPurged leaves a tombstone that knows nothing but ids, and takes whatever
// else tombstones say of these memories away: a hash of a short text can be
// guessed. within are paths of files without an id.
func (t *Tx) RejectPurged(ids []string, within []Path) error {
	r, err := t.rejections()
	if err != nil {
		return err
	}
	about := func(p tombstone.Part) bool {
		return slices.Contains(ids, p.Within) || slices.Contains(within, Path(p.Within)) ||
			slices.ContainsFunc(p.IDs, func(id string) bool { return slices.Contains(ids, id) })
	}
	for _, f := range r.files {
		before := len(f.parts)
		f.parts = slices.DeleteFunc(slices.Clone(f.parts), about)
		if len(f.parts) == before || slices.ContainsFunc(r.plain, func(p plainRevert) bool { return p.file == f.path }) {
			continue // what is in no file yet is written without them
		}
		_, was, err := t.Read(f.path)
		if err != nil {
			return err
		}
		if len(f.parts) == 0 {
			err = t.Remove(f.path, was)
		} else {
			err = t.Put(f.path, was, tombstone.Join(f.parts))
		}
		if err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return t.Reject([]tombstone.Stone{{Action: tombstone.Purge, IDs: ids}})
}

// stoneName is a ULID of a time and of what is rejected, so that two clones that
// read the same history write the same file.
func stoneName(at time.Time, what []byte) Path {
	var id ulid.ULID
	const clock = 6 // bytes of milliseconds, which a time that can be kept fits
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(keptTime(at).UnixMilli()))
	sum := sha256.Sum256(what)
	copy(id[copy(id[:], millis[len(millis)-clock:]):], sum[:])
	return Path(tombstone.Dir + "/" + strings.ToLower(id.String()) + ".yaml")
}

// keptTime is the nearest time that a tombstone can hold. A commit may claim any
// date at all, and one that RFC 3339 or a ULID cannot say must not keep everybody
// from writing.
func keptTime(at time.Time) time.Time {
	first, last := time.Unix(0, 0), time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	switch {
	case at.Before(first):
		at = first
	case at.After(last):
		at = last
	}
	return at.UTC().Truncate(time.Second)
}

// Rejections finds, for texts before and after a change, the tombstones up to a time that what it adds matches or
// contains. No agent is told.
func (h *History) Rejections() (func(until time.Time, before, after []byte) []tombstone.Stone, error) {
	var files []*stoneFile
	var err error
	if h.v.o.Reader == "" {
		files, err = h.v.stones()
	}
	r := &rejections{objects: h.v.store.Repo().Stage()}
	return func(until time.Time, before, after []byte) (out []tombstone.Stone) {
		c := tombstone.Candidate{Text: tombstone.Added(before, after)}.Read()
		if id := frontID(after); before == nil && id != "" {
			c.IDs = []string{id}
		}
		for _, f := range files {
			for _, p := range f.parts {
				rejected := func() *tombstone.Said { return r.text(&p.Stone) }
				if !p.Ignored && !p.At.After(until) && p.Matches(c, rejected) != "" {
					out = append(out, p.Stone)
				}
			}
		}
		return out
	}, err
}

// A foundStone is one tombstone and where it stands.
type foundStone struct {
	file  *stoneFile
	at    int
	stone tombstone.Stone
}

// find is the first tombstone that a candidate matches. A machine may take back
// what a machine took back, so personal asks for those of persons only. With near it is,
// without another one, one whose text the candidate contains.
func (r *rejections) find(c tombstone.Candidate, personal, near bool) (*foundStone, string) {
	contained, c := (*foundStone)(nil), c.Read()
	key := fmt.Sprint(c.Text, "\x00", c.Session, c.Turns)
	if r.other[key] {
		c.Text = ""
	}
	for _, f := range r.files {
		for i := range f.parts {
			p := &f.parts[i]
			if p.Ignored || personal && p.Actor != ActorUser {
				continue
			}
			switch why := p.Matches(c, func() *tombstone.Said { return r.text(&p.Stone) }); {
			case why == tombstone.Contains:
				if contained == nil {
					contained = &foundStone{f, i, p.Stone}
				}
			case why != "":
				return &foundStone{f, i, p.Stone}, why
			}
		}
	}
	if contained != nil && near {
		return contained, tombstone.Contains
	}
	if contained == nil && !personal {
		r.other[key] = true // lifting others only leaves fewer
	}
	return nil, ""
}

// keptTexts bounds the bytes of rejected texts that are kept to be compared with the next candidate; what is kept of
// one takes about eight times as many.
const keptTexts = 16 << 20

// text reads what was rejected from history; nil when it is not there any more,
// after a purge or in a shallow clone for instance.
func (r *rejections) text(s *tombstone.Stone) *tombstone.Said {
	key := [2]string{s.Blob, s.Was}
	if said, read := r.texts[key]; read {
		return said
	}
	now, err := r.objects.Content(s.Blob)
	was, err2 := r.objects.Content(s.Was)
	text := ""
	if err == nil && err2 == nil && s.Blob != "" {
		text = tombstone.Added(was, now)
	}
	said := tombstone.Read(text)
	if r.kept += len(text); r.kept <= keptTexts {
		if r.texts == nil {
			r.texts = map[[2]string]*tombstone.Said{}
		}
		r.texts[key] = said
	}
	return said
}

// What was purged must not be guessed from what is committed, so its tombstone holds ids alone. That
// no agent writes the text anew is kept beside the vault: a key of its own, and what the key makes
// of each text.

// purgedMark is the mark in local state: the key, then one text a line, in hex.
const purgedMark = "purged"

// NotePurged remembers texts that were purged, in a form that says nothing without this machine.
func (s *State) NotePurged(ctx context.Context, texts []string) error {
	return s.SetSeen(ctx, purgedMark, func(now []byte) ([]byte, error) {
		if len(now) == 0 {
			key := make([]byte, sha256.Size)
			if _, err := rand.Read(key); err != nil {
				return nil, err
			}
			now = []byte(hex.EncodeToString(key) + "\n")
		}
		for _, text := range texts {
			for _, text := range []string{text, tombstone.Latin(text)} {
				if sum := sumOf(now, text); sum != nil && !bytes.Contains(now, sum) {
					now = append(append(now, sum...), '\n')
				}
			}
		}
		return now, nil
	})
}

// purged reports whether a text, or a line of it, is one that was purged here.
func (s *State) purged(text string) (bool, error) {
	known, err := s.Seen(purgedMark)
	if err != nil || len(known) == 0 {
		return false, err
	}
	again := func(part string) bool {
		sum := sumOf(known, part)
		return sum != nil && bytes.Contains(known, sum)
	}
	return slices.ContainsFunc(append(strings.Split(text, "\n"), text), func(part string) bool {
		latin := tombstone.Latin(part)
		return again(part) || latin != part && again(latin)
	}), nil
}

// sumOf is what the key in front of known makes of a text, nil of one that says nothing.
func sumOf(known []byte, text string) []byte {
	key, _, _ := bytes.Cut(known, []byte("\n"))
	said := tombstone.Hash(text)
	if said == "" {
		return nil
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(said))
	return []byte(hex.EncodeToString(mac.Sum(nil)))
}

// checkPurged refuses a machine what was purged.
func (r *rejections) checkPurged(p Path, text string) error {
	again, err := r.t.v.State().purged(text)
	if err == nil && again {
		err = &RejectedError{Path: p, Match: "text", Stone: tombstone.Stone{Action: tombstone.Purge}}
	}
	return err
}
