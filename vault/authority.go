package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/settings"
	"stet/vault/store"
	"stet/vault/tombstone"
)

// What a machine may change without a person is decided here, for each file of each commit of
// its own, whatever command it comes from:
//
//	files that steer programs, stet's own settings     refused
//	a new file; text that only machines wrote          allowed
//	text that a person wrote or edited                 becomes a proposal
//	the folder of a skill that a person wrote          becomes a proposal, new files as well
//	a skill that a person gave over; that is pinned    allowed; refused
//
// Keys that stet itself keeps (flags, supersession) are no text, but for a commit that settles them.

// errNeedsApproval ends the attempt of a machine to change a person's text.
var errNeedsApproval = errors.New("a person wrote this")

// checkAuthority fails with [ErrRefused], or with errNeedsApproval where the change may wait for
// a person; proposing says that it is about to.
func (t *Tx) checkAuthority(ctx context.Context, proposing bool) error {
	for i, g := range t.tx.Groups {
		why := whyOf(g.Why)
		if why.actor() == ActorUser {
			continue
		}
		waits := proposing || why.Approver != "" || !why.Op.known().staged ||
			t.v.settings.Text(settings.AgentsEdit) == "all"
		if _, made := g.Files[Marker]; made && why.Op == OpConfig && t.before(Marker, t.tx.Groups[:i]) == nil {
			continue // Init makes a vault of a folder of the machine's own
		}
		for _, p := range g.Paths {
			if p.Steers() && !IsTombstone(p) && !isProposal(p) {
				return WithHint(fmt.Errorf("%q: %w: programs take orders from it, and only a person writes such files",
					p, ErrRefused), "tell the person what you would change in it")
			}
			if class := ClassOf(p); why.Op == OpMove && !g.Files[p].Remove && (class == ClassCore || class == ClassProfile) {
				return WithHint(fmt.Errorf("%q: %w: only a person makes a notebook of a file", p, ErrRefused),
					"\"stet core add\" and \"stet profile add\" write entries")
			}
			if !proposing && why.Approver == "" && IsTombstone(p) && lifts(t.before(p, t.tx.Groups[:i]), g.Files[p].Data) {
				return errNeedsApproval
			}
			waits := waits
			if class := ClassOf(p); why.Approver == "" && (class == ClassSkill || class == ClassArchive) {
				switch must, given, err := t.checkSkill(ctx, p, g, t.tx.Groups[:i]); {
				case err != nil:
					return err
				case must && !waits:
					return errNeedsApproval
				default:
					waits = waits || given
				}
			}
			private, err := t.private(ctx, p, g, t.tx.Groups[:i])
			if err != nil {
				return err
			}
			if waits && !private || ClassOf(p) == ClassConfig {
				continue
			}
			personal, err := t.changesPersonal(ctx, p, g, t.tx.Groups[:i])
			switch {
			case err != nil:
				return err
			case personal && private:
				return fmt.Errorf("%w: it would change what is private, or was, and no agent does that", ErrRefused)
			case personal && !waits:
				return errNeedsApproval
			}
		}
	}
	return nil
}

// lifts reports whether a file of tombstones loses one of a person's.
func lifts(before, after []byte) bool {
	was, _ := tombstone.Decode(before)
	now, _ := tombstone.Decode(after)
	return slices.ContainsFunc(was, func(p tombstone.Part) bool {
		return p.Actor == ActorUser &&
			!slices.ContainsFunc(now, func(n tombstone.Part) bool { return bytes.Equal(n.Bytes, p.Bytes) })
	})
}

// private reports whether a commit changes, or brings back, what is private at p: not even a
// proposal or a dry run shows that to an agent.
func (t *Tx) private(ctx context.Context, p Path, g store.Group, earlier []store.Group) (bool, error) {
	why := whyOf(g.Why)
	switch {
	case !why.Op.Staged() || why.Approver != "":
		return false, nil
	case ReadMemory(p, t.before(p, earlier)).Private,
		(why.Op == OpRevert || why.Op == OpRestore) && ReadMemory(p, g.Files[p].Data).Private:
		return true, nil
	case why.Op != OpRevert && why.Op != OpRestore:
		return false, nil
	}
	return t.v.wasPrivate(ctx, p, g.Files[p].Data)
}

// changesPersonal reports whether a commit changes what a person wrote at p.
func (t *Tx) changesPersonal(
	ctx context.Context, p Path, g store.Group, earlier []store.Group,
) (bool, error) {
	f := g.Files[p]
	before := t.before(p, earlier)
	if before == nil {
		if op := whyOf(g.Why).Op; op != OpRevert && op != OpRestore {
			return false, nil
		}
		return t.personal(ctx, p)
	}
	switch {
	case !f.Remove && sameText(before, f.Data) && !whyOf(g.Why).Settles:
		return false, nil
	case ClassOf(p) == ClassCore || ClassOf(p) == ClassProfile:
		if ReadMemory(p, before).Private {
			return true, nil // an agent's own lines have a person's around them
		}
		return t.personalLines(ctx, p, missingLines(before, f.Data))
	}
	return t.personal(ctx, p)
}

// personal reports whether a person wrote what stands, or stood last, at p, or edited it since.
func (t *Tx) personal(ctx context.Context, p Path) (bool, error) {
	if edited, err := t.uncommitted(p, sameText); err != nil || edited {
		return edited, err
	}
	h := t.v.History()
	for version, err := range h.Versions(ctx, "", p) {
		if err != nil {
			return false, err
		}
		if version.Commit.cut {
			return true, nil // perhaps
		}
		if byMachine(version.Commit) || version.Old == version.New {
			continue
		}
		before, after, err := h.texts(version)
		if err != nil || !sameText(before, after) && !aside(version.Commit, before, after) {
			return err == nil, err
		}
	}
	return false, nil
}

// aside reports whether a person's commit is about another memory and only took something out of
// this one, which it made untrue.
func aside(c Commit, before, after []byte) bool {
	about := c.Trailers.All("Stet-Memory")
	return c.Op != "" && c.Op != OpAdopt && before != nil && len(about) > 0 &&
		about[0] != ReadMemory("", before).ID && len(withoutOwnKeys(after)) < len(withoutOwnKeys(before))
}

// personalLines reports whether a person wrote one of these lines of p.
func (t *Tx) personalLines(ctx context.Context, p Path, wanted map[string]bool) (bool, error) {
	added := func(was, now []byte) bool { return !brings(was, now, wanted, nil) }
	if edited, err := t.uncommitted(p, added); err != nil || edited || len(wanted) == 0 {
		return edited, err
	}
	h := t.v.History()
	found := map[string]bool{}
	for version, err := range h.Versions(ctx, "", p) {
		if err != nil {
			return false, err
		}
		before, after, err := h.texts(version)
		if err != nil || brings(before, after, wanted, found) &&
			(version.Commit.cut || !byMachine(version.Commit)) {
			return err == nil, err
		}
	}
	return len(found) < len(wanted), nil
}

// ByPerson reports whether persons wrote all lines of a text that stands in p at a revision; "" is
// the disk, where what is not committed is a person's unless a machine's commit brought it elsewhere.
// A commit is a machine's where it says so. What an entry of a notebook was before a commit moved it
// counts; what stood before the commit that a shallow clone ends at is nobody's.
func (h *History) ByPerson(ctx context.Context, rev string, p Path, text []byte) (bool, error) {
	h = h.v.Whole().History()
	wanted, found := missingLines(text, nil), map[string]bool{}
	if len(wanted) == 0 {
		return false, nil // a text that stands nowhere was written by nobody
	}
	for version, err := range h.Versions(ctx, rev, p) {
		if err != nil {
			return false, err
		}
		before, after, err := h.texts(version)
		if err != nil || brings(before, after, wanted, found) && (version.Commit.cut || byMachine(version.Commit)) {
			return false, err
		}
		if version.Old == "" {
			if from, entry := h.movedEntry(version, after); entry != nil {
				return h.ByPerson(ctx, version.Commit.Before(), from, entry)
			}
		}
		if len(found) == len(wanted) {
			return true, nil
		}
	}
	if rev != "" {
		return false, nil
	}
	data, _, err := h.v.ReadFile(p)
	rest := lines(data)
	for line := range wanted {
		if rest[line] == 0 && !found[line] {
			return false, err
		}
		if found[line] {
			delete(wanted, line)
		}
	}
	if err != nil || len(wanted) == 0 {
		return err == nil, err
	}
	return h.neverMachines(ctx, text, wanted)
}

// movedEntry is the entry of a notebook that the commit made a memory of, with the notebook; nil is none.
func (h *History) movedEntry(version Version, memory []byte) (Path, []byte) {
	name, hash, _ := strings.Cut(ReadMemory(version.Path, memory).Source, "#")
	p, err := ParsePath(name)
	if class := ClassOf(p); err != nil || hash == "" || class != ClassCore && class != ClassProfile {
		return "", nil
	}
	_, data, err := h.ReadAt(context.Background(), version.Commit.Before(), name)
	for _, e := range markdown.Parse(data).Entries() {
		if err == nil && e.Hash() == hash {
			return p, data[e.Start:e.End]
		}
	}
	return "", nil
}

// neverMachines reports whether no line of a text that makes it read like orders came into the vault
// by a machine's commit. Cost: the changes of all those commits.
func (h *History) neverMachines(ctx context.Context, text []byte, pending map[string]bool) (bool, error) {
	theirs := map[string]bool{}
	for c, err := range h.Log(ctx, LogOptions{Changes: true}) {
		if err != nil {
			return false, err
		}
		if !c.cut && !byMachine(c) {
			continue
		}
		var before, after []byte
		for _, change := range c.Changes {
			if !change.Path.IsMarkdown() {
				continue
			}
			was, now, err := h.texts(Version{Change: change})
			if err != nil {
				return false, err
			}
			before, after = append(append(before, was...), '\n'), append(append(after, now...), '\n')
		}
		brings(before, after, pending, theirs)
	}
	var own strings.Builder
	for line := range strings.Lines(string(text)) {
		if !theirs[strings.TrimRight(line, " \t\r\n")] {
			own.WriteString(line)
		}
	}
	all := len(guard.Injections(text))
	return len(theirs) == 0 || all > 0 && len(guard.Injections([]byte(own.String()))) == all, nil
}

// uncommitted reports whether the disk holds another text at p than HEAD: a person's edit.
func (t *Tx) uncommitted(p Path, same func(was, now []byte) bool) (bool, error) {
	at, ok := t.tx.Touched()[p]
	if !ok || !at.Disk.Exists || gitstore.HashBlob(at.Disk.Data) == at.InHead.ID {
		return false, nil
	}
	if at.InHead.ID.IsZero() {
		return true, nil
	}
	was, err := t.tx.Objects.Blob(at.InHead.ID)
	return err == nil && !same(was, at.Disk.Data), err
}

func (h *History) texts(v Version) (before, after []byte, err error) {
	a := h.Ancestry()
	before, err = a.Read(v.Old)
	if err == nil {
		after, err = a.Read(v.New)
	}
	return before, after, err
}

// byMachine reports whether a machine wrote a commit, as the commit says.
func byMachine(c Commit) bool {
	actor := c.Trailers.Get("Stet-Actor")
	return actor != "" && actor != ActorUser
}

// sameText compares two states of a file without the keys that stet keeps. What cannot be read
// is compared whole.
func sameText(a, b []byte) bool {
	return a != nil && b != nil && string(withoutOwnKeys(a)) == string(withoutOwnKeys(b))
}

func withoutOwnKeys(data []byte) []byte {
	doc := markdown.Parse(data)
	for _, f := range fields() {
		if _, has := doc.Meta(f.key); has && f.own && f.key != "created" && doc.RemoveMeta(f.key) != nil {
			return data
		}
	}
	return doc.Bytes()
}

// lines counts the lines of a text that are not blank, by what they say and how deep they stand.
func lines(data []byte) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			out[line]++
		}
	}
	return out
}

// missingLines are those of which after has fewer than before.
func missingLines(before, after []byte) map[string]bool {
	out, now := map[string]bool{}, lines(after)
	for line, n := range lines(before) {
		if now[line] < n {
			out[line] = true
		}
	}
	return out
}

// brings reports whether after has more of a wanted line than before; found holds those whose
// first appearance was found, and which are no longer looked for: another one does not hide it.
func brings(before, after []byte, wanted, found map[string]bool) (any bool) {
	was, now := lines(before), lines(after)
	for line := range wanted {
		if now[line] > was[line] && !found[line] {
			any = true
			if found != nil && was[line] == 0 {
				found[line] = true
			}
		}
	}
	return any
}
