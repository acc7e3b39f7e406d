package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
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
//	what the scan finds new in a skill                 becomes a proposal; refused with --as me
//	whether a person's text is private                 becomes a proposal; refused with --as me
//
// Keys that stet itself keeps (flags, supersession) are no text, but for a commit that settles them.

// checkAuthority fails with [ErrRefused], or with a [needsApproval] where the change may wait for
// a person; proposing says that it is about to.
func (t *Tx) checkAuthority(ctx context.Context, proposing bool) error {
	for i, g := range t.tx.Groups {
		why := whyOf(g.Why)
		if why.actor() == ActorUser {
			if err := t.checkVia(ctx, why, g, t.tx.Groups[:i]); err != nil {
				return err
			}
			continue
		}
		var personal []Path // what a person wrote, and what the commit needs a person's word for
		free := proposing || why.Approver != "" || !why.Op.known().staged ||
			t.v.settings.Text(settings.AgentsEdit) == "all"
		if _, made := g.Files[Marker]; made && why.Op == OpConfig && t.before(Marker, t.tx.Groups[:i]) == nil {
			continue // Init makes a vault of a folder of the machine's own
		}
		for _, p := range g.Paths {
			if err := forbidden(p, g, why, t.before(p, t.tx.Groups[:i])); err != nil {
				return err
			}
			if !proposing && why.Approver == "" && IsTombstone(p) && lifts(t.before(p, t.tx.Groups[:i]), g.Files[p].Data) {
				return overNo
			}
			free := free
			if class := ClassOf(p); why.Approver == "" && (class == ClassSkill || class == ClassArchive) {
				if !proposing && class == ClassSkill && !why.Op.known().rule && t.suspect(p, g, t.tx.Groups[:i]) {
					return overScan
				}
				switch must, given, err := t.checkSkill(ctx, p, g, t.tx.Groups[:i]); {
				case err != nil:
					return err
				case must && !free:
					return overPerson
				default:
					free = free || given
				}
			}
			private, err := t.private(ctx, p, g, t.tx.Groups[:i])
			if err != nil {
				return err
			}
			if free && !private || ClassOf(p) == ClassConfig {
				continue
			}
			changes, err := t.changesPersonal(ctx, p, g, t.tx.Groups[:i])
			switch {
			case err != nil:
				return err
			case changes && private:
				return fmt.Errorf("%w: it would change what is private, or was, and no agent does that", ErrRefused)
			case changes && !free:
				personal = append(personal, p)
			}
		}
		if err := t.askedFor(ctx, personal, g, t.tx.Groups[:i]); err != nil {
			return err
		}
	}
	return nil
}

// checkVia fails with [ErrRefused] where the user's commit, given among an agent's tools, brings into a skill what the
// scan finds, or hides from agents what a person wrote, or shows it to them: the agent could have said yes in their
// name. What the user had changed by hand is adopted all the same.
func (t *Tx) checkVia(ctx context.Context, why *Why, g store.Group, earlier []store.Group) error {
	if why.Via == "" {
		return nil
	}
	refused := func(what string) error {
		return WithHint(fmt.Errorf("%w: %s, and %s could answer in your name", ErrRefused, what, agentName(why.Via)),
			"give the command on a terminal that no agent started")
	}
	for _, p := range g.Paths {
		if ClassOf(p) == ClassSkill && t.suspect(p, g, earlier) {
			return refused("the scan finds in this skill what can do harm")
		}
		before, f := t.before(p, earlier), g.Files[p]
		if why.Op == OpAdopt || f.Remove || before == nil ||
			ReadMemory(p, before).Private == ReadMemory(p, f.Data).Private {
			continue
		}
		if is, err := t.personal(ctx, p); err != nil || is {
			return cmp.Or(err, refused(fmt.Sprintf("it changes whether agents may read %q, which a person wrote", p)))
		}
	}
	return nil
}

// lifts reports whether a file of tombstones loses one of a person's.
func lifts(before, after []byte) bool {
	return slices.ContainsFunc(tombstone.Missing(before, after), func(s tombstone.Stone) bool { return s.Actor == ActorUser })
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
	before, op := t.before(p, earlier), whyOf(g.Why).Op
	back := op == OpRevert || op == OpRestore
	if before == nil {
		if !back {
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
		if back && reordered(before, f.Data) {
			return true, nil // below which heading an entry stands says whether it is pinned
		}
		return t.personalLines(ctx, p, missingLines(before, f.Data))
	}
	return t.personal(ctx, p)
}

// personal reports whether a person wrote what stands, or stood last, at p, or edited it since.
func (t *Tx) personal(ctx context.Context, p Path) (is bool, err error) {
	if known, ok := t.persons[p]; ok {
		return known, nil
	}
	if t.persons == nil {
		t.persons, t.ancestry = map[Path]bool{}, t.v.History().Ancestry()
		if t.ancestry.head, err = t.v.store.Resolve(""); err != nil {
			return false, err
		}
	}
	defer func() {
		if err == nil {
			t.persons[p] = is
		}
	}()
	if edited, err := t.uncommitted(p, sameText); err != nil || edited {
		return edited, err
	}
	h := t.v.History()
	var again []byte // what a person brought back: whoever wrote it before has written it
	for version, err := range t.ancestry.versions(ctx, "", p) {
		if err != nil {
			return false, err
		}
		before, after, err := h.texts(version)
		if err != nil || version.Commit.cut {
			return err == nil, err // perhaps
		}
		if again != nil && !sameText(again, after) {
			continue
		}
		again = nil
		if !version.Commit.personal() || version.Old == version.New {
			continue
		}
		if sameText(before, after) || aside(version.Commit, before, after) {
			continue
		}
		if op := version.Commit.Op; op != OpRevert && op != OpRestore {
			return true, nil
		}
		again = after
	}
	return again != nil, nil
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
	added := func(was, now []byte) bool { return !brings(was, now, wanted) }
	if edited, err := t.uncommitted(p, added); err != nil || edited || len(wanted) == 0 {
		return edited, err
	}
	h := t.v.History()
	persons := map[string]bool{} // of each line whether a person brought it first
	for version, err := range h.Versions(ctx, "", p) {
		if err != nil {
			return false, err
		}
		before, after, err := h.texts(version)
		if err != nil {
			return false, err
		}
		was, now := lines(before), lines(after)
		for line := range wanted {
			by := version.Commit.cut || version.Commit.personal()
			if now[line] > was[line] && (was[line] == 0 || by) {
				persons[line] = by
			}
		}
	}
	for line := range wanted {
		if by, known := persons[line]; by || !known {
			return true, nil
		}
	}
	return false, nil
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

// ByMachine reports whether a machine wrote a commit, as the commit says.
func (c Commit) ByMachine() bool {
	actor := c.Trailers.Get("Stet-Actor")
	return actor != "" && actor != ActorUser
}

// personal reports a commit of which the text is a person's: who wrote it, asked a machine for it in a turn that the
// commit names, or accepted what a machine proposed. What rules of the curator did is nobody's text.
func (c Commit) personal() bool {
	asked := c.Trailers.Get("Stet-Because") != "" || c.Trailers.Get("Stet-Approved-By") != ""
	return !c.ByMachine() || asked && !c.Op.known().rule
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

// reordered reports whether lines that two texts have in common stand in another order.
func reordered(before, after []byte) bool {
	was, now := lines(before), lines(after)
	common := func(data []byte) (out []string) {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimRight(line, " \t\r\n"); line != "" && was[line] == now[line] {
				out = append(out, line)
			}
		}
		return out
	}
	return !slices.Equal(common(before), common(after))
}

// brings reports whether after has more of a wanted line than before.
func brings(before, after []byte, wanted map[string]bool) bool {
	was, now := lines(before), lines(after)
	for line := range wanted {
		if now[line] > was[line] {
			return true
		}
	}
	return false
}

// checkSkill fails with [ErrRefused] where a machine's commit changes a skill that a person pinned, or
// gives one over to machines. It reports whether a person has to say yes, as to any change of a skill
// that a person wrote, a new file in its folder included, or gave the skill over.
func (t *Tx) checkSkill(
	ctx context.Context, p Path, g store.Group, earlier []store.Group,
) (must, given bool, err error) {
	before := func(p Path) []byte {
		if _, err := t.tx.Touch(p); err != nil {
			return nil
		}
		return t.before(p, earlier)
	}
	folder := SkillFolder(p, func(p Path) bool { return before(p) != nil })
	over := func(data []byte) bool { return skillMark(markdown.Parse(data), SkillManaged) }
	if p.Base() == skillFile && over(g.Files[p].Data) && !over(before(p)) &&
		!slices.ContainsFunc(whyOf(g.Why).Moved, func(m [2]Path) bool { return m[1] == p && over(before(m[0])) }) {
		return false, false, fmt.Errorf("%q: %w: only a person gives a skill over to agents", p, ErrRefused)
	}
	if folder == "" {
		return false, false, nil
	}
	main := folder + "/" + skillFile
	switch doc := markdown.Parse(before(main)); {
	case markdown.SkillPin(doc) != "":
		err = fmt.Errorf("%q: %w: the skill is pinned, and no agent changes it", folder, ErrRefused)
		return false, false, WithHint(err, "tell the person what you would change in it")
	case skillMark(doc, SkillManaged):
		return false, true, nil
	}
	must, err = t.personalSkill(ctx, main)
	return must, false, err
}

// personalSkill reports whether a person wrote a SKILL.md, edited it, or put it into the archive.
func (t *Tx) personalSkill(ctx context.Context, main Path) (bool, error) {
	if ClassOf(main) == ClassArchive {
		for version, err := range t.v.History().Versions(ctx, "", main) {
			if err != nil || !version.Commit.ByMachine() {
				return true, err
			}
			break
		}
	}
	return t.personal(ctx, main)
}
