package vault

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"stet/vault/store"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/vault/gitstore"
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
// came from: "session:ID#14", "session:ID#14-17".
func SourceTurns(source string) (session string, turns []int) {
	rest, ok := strings.CutPrefix(source, "session:")
	if !ok {
		return "", nil
	}
	session, span, _ := strings.Cut(rest, "#")
	from, to, ranged := strings.Cut(span, "-")
	a, err := strconv.Atoi(from)
	b := a
	if ranged && err == nil {
		b, err = strconv.Atoi(to)
	}
	const most = 1000 // turns of one memory; more is a typing error
	for n := a; err == nil && n <= b && n-a < most; n++ {
		turns = append(turns, n)
	}
	return session, turns
}

// stones are the tombstones that taking back a commit leaves: one for each file
// whose text it added to. Taking back a commit that itself took something back
// rejects nothing.
func (t *Tx) stones(c Commit, changes []Change, action string) ([]tombstone.Stone, error) {
	if len(RevertedBy(c)) > 0 {
		return nil, nil
	}
	var out []tombstone.Stone
	for _, ch := range changes {
		if class := ClassOf(ch.Path); ch.New == "" || ch.Old == ch.New || !ch.Path.IsMarkdown() || class == ClassReport || class == ClassSession {
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
	now := keptTime(t.v.o.Now())
	signed := slices.Clone(stones)
	for i := range signed {
		signed[i].At, signed[i].By, signed[i].Actor = now, t.why.Author(t.v.store.Repo().Config()).Name, t.why.actor()
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
	return Path(stonesDir + "/" + strings.ToLower(id.String()) + ".yaml")
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

// A plainRevert is a commit that a person made with "git revert" and that no
// writer of stet's has read yet. Its file gets parts, or goes when there are
// none: then the person has taken the revert itself back.
type plainRevert struct {
	file    Path
	parts   []tombstone.Part
	subject string // of the commit that was taken back, or brought back
	back    bool   // a revert of a revert
}

// plainReverts reads what people took back with plain git since stet last
// wrote. Every commit of stet's that reads tombstones has done so for all
// history before it, so the walk ends there: no cursor has to be kept, and a
// fresh clone knows as much as an old one.
func (t *Tx) plainReverts() ([]plainRevert, error) {
	commits, err := t.unread()
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	var out []plainRevert
	for _, gc := range slices.Backward(commits) {
		for _, rev := range RevertedBy(commitOf(gc)) {
			next, err := t.plainRevert(gc, rev)
			if err != nil {
				return nil, err
			}
			if next.file == "" {
				continue
			}
			out = slices.DeleteFunc(out, func(p plainRevert) bool { return p.file == next.file })
			out = append(out, next)
		}
	}
	return out, nil
}

// unread lists the plain commits back to the nearest that read tombstones,
// newest first.
func (t *Tx) unread() ([]gitstore.Commit, error) {
	var out []gitstore.Commit
	seen, queue := map[gitstore.ID]bool{}, []gitstore.ID{t.tx.Head().ID}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		gc, err := t.tx.Objects.Commit(id)
		if err != nil {
			return nil, err
		}
		c := commitOf(gc)
		if c.Op.known().settled {
			continue
		}
		if c.Op == OpConfig {
			// What was taken back before there was a vault rejects nothing.
			born, err := t.bornIn(gc)
			if err != nil {
				return nil, err
			}
			if born {
				continue
			}
		}
		queue = append(queue, gc.Parents...)
		if c.Op == "" && len(RevertedBy(c)) > 0 {
			out = append(out, gc)
		}
	}
	slices.SortStableFunc(out, func(a, b gitstore.Commit) int { return b.Committed.Compare(a.Committed) })
	return out, nil
}

// bornIn reports whether a commit made the vault.
func (t *Tx) bornIn(gc gitstore.Commit) (bool, error) {
	if len(gc.Parents) == 0 {
		return true, nil
	}
	before, err := t.tx.Objects.TreeOf(gc.Parents[0])
	if err != nil {
		return false, err
	}
	_, had, err := t.tx.Objects.Lookup(before, t.v.store.GitPath(Marker))
	return !had, err
}

// plainRevert says what one of them leaves. file is "" when that is nothing.
func (t *Tx) plainRevert(gc gitstore.Commit, rev Revision) (plainRevert, error) {
	id, err := gitstore.ParseID(string(rev))
	if err != nil {
		return plainRevert{}, nil // a message that a person made up
	}
	taken, err := t.tx.Objects.Commit(id)
	if err != nil {
		return plainRevert{}, nil // not in this clone: nothing is known of it
	}
	c := commitOf(taken)
	if again := RevertedBy(c); len(again) > 0 {
		if c.Op != "" || len(again) > 1 {
			return plainRevert{}, nil // git took the tombstone out itself
		}
		back := plainRevert{file: plainName(taken, again[0]), subject: c.Subject, back: true}
		if id, err := gitstore.ParseID(string(again[0])); err == nil {
			if first, err := t.tx.Objects.Commit(id); err == nil { // not in every clone
				back.subject = commitOf(first).Subject
			}
		}
		return back, nil
	}
	if len(c.Parents) > 1 {
		return plainRevert{}, nil // which side was meant is in no message
	}
	before := gitstore.ID{}
	if len(taken.Parents) > 0 {
		if before, err = t.tx.Objects.TreeOf(taken.Parents[0]); err != nil {
			return plainRevert{}, nil // the end of a shallow clone
		}
	}
	changes, err := t.v.store.TreeChanges(t.tx.Objects, before, taken.Tree)
	if err != nil {
		return plainRevert{}, err
	}
	c.Changes = changes
	stones, err := t.stones(c, joinMoves(changes, c.Trailers.moves()), tombstone.Revert)
	if err != nil || len(stones) == 0 {
		return plainRevert{}, err
	}
	for i := range stones {
		stones[i].At, stones[i].By, stones[i].Actor = keptTime(gc.Committed), gc.Author.Name, ActorUser
	}
	parts, err := tombstone.Decode(tombstone.Encode(stones))
	return plainRevert{file: plainName(gc, rev), parts: parts, subject: c.Subject}, err
}

// plainName is the same in every clone.
func plainName(gc gitstore.Commit, rev Revision) Path {
	return stoneName(gc.Committed, []byte(gc.ID.String()+" "+string(rev)))
}

// writePlain puts what was read into a commit of its own before the others: it
// is a person's, and taking back the write that found it must not take it back.
func (r *rejections) writePlain() error {
	why := Why{Op: OpAdopt, Writer: Writer{Door: r.t.why.Door}}
	g := store.Group{Why: &why, Files: map[Path]store.Content{}}
	for _, p := range r.plain {
		var data []byte
		for _, f := range r.files {
			if f.path == p.file && len(f.parts) > 0 {
				data = tombstone.Join(f.parts)
			}
		}
		at, err := r.t.tx.Touch(p.file)
		if err != nil {
			return err
		}
		if len(data) == 0 && !at.Disk.Exists {
			continue
		}
		if err := r.t.tx.StageInto(&g, p.file, data); err != nil {
			return err
		}
		did := "taken"
		if p.back {
			did = "brought"
		}
		whyOf(g.Why).Subject = fmt.Sprintf("%s back with git revert: %q", did, p.subject)
	}
	if len(g.Paths) == 0 {
		return nil
	}
	if len(g.Paths) > 1 {
		whyOf(g.Why).Subject = fmt.Sprintf("%d commits taken back with git revert", len(g.Paths))
	}
	r.t.tx.Groups = slices.Insert(r.t.tx.Groups, 0, g)
	return nil
}
