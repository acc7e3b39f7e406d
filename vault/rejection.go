package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/store"
	"stet/vault/tombstone"
)

// IsTombstone reports whether a path is a file of tombstones.
func IsTombstone(p Path) bool { return p.Dir() == tombstone.Dir }

// A RejectedError is an [ErrRejected]: a machine was about to write what was
// taken back before. Nothing was written.
type RejectedError struct {
	Path  Path   // where it was to be written
	Match string // id, text, words, slot or turns
	Stone tombstone.Stone
	File  Path // the tombstone, "" where local state alone knows of it
}

func (e *RejectedError) Error() string {
	how, told := map[string]string{tombstone.Undo: ": it was undone", tombstone.Reject: "", tombstone.Purge: ": it was purged",
		tombstone.Restore: ": it was replaced by an older version", tombstone.Forget: ": it was forgotten"}[e.Stone.Action]
	if !told {
		how = ": it was reverted"
	}
	if e.Stone.By != "" && e.File != "" {
		how += " by " + e.Stone.By
	}
	if e.File != "" {
		how += " on " + e.Stone.At.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf("%q: %v%s", e.Path, ErrRejected, how)
}

// Unwrap makes errors.Is(err, ErrRejected) true.
func (e *RejectedError) Unwrap() error { return ErrRejected }

// Hint names the next step.
func (e *RejectedError) Hint() string {
	if e.File == "" {
		return `ask the person: "--again" proposes it to them`
	}
	return fmt.Sprintf(`ask the person: "--again" proposes it to them, and their own "stet remember" lifts the rejection in %s`, e.File)
}

// A stoneFile is one file of tombstones as it stands on disk or is about to.
type stoneFile struct {
	path  Path
	parts []tombstone.Part
}

// rejections are the tombstones in force while a transaction is built.
type rejections struct {
	t       *Tx
	objects *gitstore.Objects
	files   []*stoneFile
	// plain are those that people made with plain "git revert" since stet last
	// wrote: not yet in any file, or to be taken out of one.
	plain []plainRevert
	texts map[[2]string]*tombstone.Said // by Blob and Was, those read so far: many notes are compared with each
	kept  int                           // bytes of texts
	other map[string]bool               // candidates, by what they say, of which no text is the rejected one
	// proposing says that what is about to be written waits for a person in any case.
	proposing bool
}

// rejections reads the tombstones, once for each transaction.
func (t *Tx) rejections() (*rejections, error) {
	if t.rejected != nil {
		return t.rejected, nil
	}
	r := &rejections{t: t, objects: t.tx.Objects, other: map[string]bool{}}
	var err error
	if r.files, err = t.v.stones(); err != nil {
		return nil, err
	}
	if r.plain, err = t.plainReverts(); err != nil {
		return nil, err
	}
	for _, p := range r.plain {
		r.files = slices.DeleteFunc(r.files, func(f *stoneFile) bool { return f.path == p.file })
		if len(p.parts) > 0 {
			r.files = append(r.files, &stoneFile{p.file, p.parts})
		}
	}
	t.rejected = r
	return r, nil
}

// stones reads the files of tombstones.
func (v *Vault) stones() (out []*stoneFile, err error) {
	files, err := v.stoneFiles()
	for _, p := range files {
		data, _, err := v.Worktree.ReadFile(p)
		if store.Absent(err) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNotRegular) {
			continue // nothing that stet wrote
		}
		if err != nil {
			return nil, err
		}
		// What cannot be read is shown by "stet doctor"; the rest holds.
		parts, _ := tombstone.Decode(data)
		out = append(out, &stoneFile{p, parts})
	}
	return out, err
}

// stoneFiles lists the files of tombstones on disk: a person who removes one
// lifts the rejection, committed or not.
func (v *Vault) stoneFiles() ([]Path, error) {
	entries, err := v.store.ReadDir(tombstone.Dir)
	if errors.Is(err, ErrBadPath) {
		err = WithHint(fmt.Errorf("read the tombstones: %w", err),
			"remove the link %s: what was rejected is kept in a folder of files", tombstone.Dir)
	}
	if err != nil {
		return nil, err
	}
	var out []Path
	for _, e := range entries {
		if p, err := ParsePath(tombstone.Dir + "/" + e.Name()); err == nil && e.Type().IsRegular() && path.Ext(e.Name()) == ".yaml" {
			out = append(out, p)
		}
	}
	return out, nil
}

// RejectedIDs are the ids that readable tombstones name: of memories and imported
// transcripts that were taken back or purged. What was taken back with plain "git revert"
// counts before a write has made tombstones of it.
func (h *History) RejectedIDs(ctx context.Context) (map[string]bool, error) {
	files, err := h.v.stones()
	if errors.Is(err, ErrBadPath) {
		err = nil // checkStones names it
	}
	if err != nil {
		return nil, err
	}
	// Where nothing can be written, in the middle of a merge for instance, the files say
	// what there is to say: a write meets the same error.
	_, _, _ = h.v.store.Preview(ctx, &Why{}, func(tx *store.Tx) (store.BeforeCommit, error) {
		r, err := (&Tx{v: h.v, tx: tx, why: &Why{}}).rejections()
		if err == nil {
			files = r.files
		}
		return nil, err
	})
	out := map[string]bool{}
	for _, f := range files {
		for _, part := range f.parts {
			for _, id := range part.IDs {
				out[id] = true
			}
		}
	}
	return out, context.Cause(ctx)
}

// checkStones lists tombstones that cannot be read and so reject nothing.
func (v *Vault) checkStones() ([]Problem, error) {
	files, err := v.stoneFiles()
	if errors.Is(err, ErrBadPath) {
		return []Problem{{ID: "tombstone", Path: tombstone.Dir, Text: err.Error(), Hint: "remove the link; nothing can be written until then"}}, nil
	}
	var out []Problem
	if _, _, err := v.ReadFile(tombstone.Dir); err == nil {
		return []Problem{{ID: "tombstone", Path: tombstone.Dir,
			Text: "a file stands where the folder of rejections has to be",
			Hint: "move it away: nothing can be forgotten until then"}}, nil
	}
	for _, p := range files {
		data, _, err := v.ReadFile(p)
		if err == nil {
			_, err = tombstone.Decode(data)
		}
		if err != nil {
			out = append(out, Problem{ID: "tombstone", Path: p, Text: "cannot be read: " + oneLine(err.Error()),
				Hint: "mend it, or remove it: what it rejects may come back until then"})
		}
	}
	return out, err
}

// settle compares what is about to be committed with what was rejected: a
// machine is refused, what a person says again is no longer rejected. It also
// writes down what people took back with plain git.
func (t *Tx) settle(proposing bool) error {
	if !slices.ContainsFunc(t.tx.Groups, func(g store.Group) bool { return whyOf(g.Why).Op.known().settled }) {
		return nil
	}
	r, err := t.rejections()
	if err != nil {
		return err
	}
	r.proposing = proposing
	for i := range t.tx.Groups {
		if err := r.settle(&t.tx.Groups[i], t.tx.Groups[:i]); err != nil {
			return err
		}
	}
	return r.writePlain()
}

func (r *rejections) settle(g *store.Group, earlier []store.Group) error {
	why := whyOf(g.Why)
	machine := why.actor() != ActorUser && !why.Again
	if !why.Op.known().states || len(r.files) == 0 && !machine || why.Op == OpRevert && !machine {
		return nil
	}
	for _, p := range slices.Clone(g.Paths) {
		f := g.Files[p]
		if class := ClassOf(p); f.Remove || class == ClassConfig || class == ClassReport || class == ClassSession {
			continue
		}
		said := []tombstone.Candidate{r.candidate(g, p, f.Data, earlier)}
		if machine {
			if err := r.checkPurged(p, said[0].Text); err != nil {
				return err
			}
		}
		if machine && ClassOf(p) != ClassArchive {
			said = append(said, tombstone.Labels(string(p), r.t.before(p, earlier), f.Data)...)
		}
		for _, c := range said {
			if err := r.settleOne(g, p, c, machine); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleOne compares what a group says at a path with what was rejected.
func (r *rejections) settleOne(g *store.Group, p Path, c tombstone.Candidate, machine bool) error {
	why := whyOf(g.Why)
	for {
		found, match := r.find(c, why.Op == OpRevert || why.Op == OpRestore, machine)
		switch {
		case found == nil, why.Again && why.actor() == ActorUser: // the person's word for this text, and no machine's
			return nil
		case machine && match == tombstone.Contains:
			if !r.proposing && why.Op.known().staged {
				return overNo
			}
			return nil
		case machine:
			return &RejectedError{Path: p, Match: match, Stone: found.stone, File: found.file.path}
		}
		if err := r.lift(g, found); err != nil {
			return err
		}
	}
}

// candidate is what a group says at a path that was not said there before.
func (r *rejections) candidate(g *store.Group, p Path, data []byte, earlier []store.Group) tombstone.Candidate {
	before := r.t.before(p, earlier)
	for _, m := range whyOf(g.Why).Moved {
		if fromArchive := ClassOf(m[0]) == ClassArchive && ClassOf(p) != ClassArchive; m[1] == p && !fromArchive {
			before = r.t.before(m[0], earlier) // what comes out of the archive is said anew
		}
	}
	var m Memory
	m.readFront(markdown.Parse(data))
	c := tombstone.Candidate{Text: tombstone.Added(before, data)}
	if from, hash, ok := notebookSource(m.Source); ok && before == nil {
		after := g.Files[from].Data
		if _, changed := g.Files[from]; changed && hasEntry(r.t.before(from, earlier), hash) && !hasEntry(after, hash) {
			c.Text = "" // it has moved: nothing is said that was not said before
		}
	}
	if before == nil && m.ID != "" {
		c.IDs = []string{m.ID}
	}
	c.Session, c.Turns = SourceTurns(m.Source)
	return c
}

// notebookSource takes apart the source of a memory that holds what an entry of
// a notebook said: "USER.md#1a2b3c4d".
func notebookSource(source string) (file Path, hash string, ok bool) {
	name, hash, ok := strings.Cut(source, "#")
	file = Path(name)
	class := ClassOf(file)
	return file, hash, ok && (class == ClassCore || class == ClassProfile)
}

func hasEntry(data []byte, hash string) bool {
	return slices.ContainsFunc(markdown.Parse(data).Entries(), func(e markdown.Entry) bool { return e.Hash() == hash })
}

// before is what stood at p after these groups, the first ones of the transaction; nil is nothing.
func (t *Tx) before(p Path, earlier []store.Group) []byte {
	if len(t.tx.Groups) != t.counted { // a chain of thousands would be looked through for each file
		t.groups, t.counted = map[Path][]int{}, len(t.tx.Groups)
		for i, g := range t.tx.Groups {
			for _, p := range g.Paths {
				t.groups[p] = append(t.groups[p], i)
			}
		}
	}
	for _, i := range slices.Backward(t.groups[p]) {
		if i < len(earlier) {
			return earlier[i].Files[p].Data
		}
	}
	if at, ok := t.tx.Touched()[p]; ok && at.Disk.Exists {
		return at.Disk.Data
	}
	return nil
}

// lift takes a tombstone out of its file, in the commit of g.
func (r *rejections) lift(g *store.Group, found *foundStone) error {
	f := found.file
	f.parts = slices.Delete(slices.Clone(f.parts), found.at, found.at+1)
	if slices.ContainsFunc(r.plain, func(p plainRevert) bool { return p.file == f.path }) {
		return nil // not written yet: writePlain writes what is left
	}
	r.t.counted = -1 // the commit writes one file more
	if len(f.parts) == 0 {
		return r.t.tx.StageInto(g, f.path, nil)
	}
	return r.t.tx.StageInto(g, f.path, tombstone.Join(f.parts))
}

// leaveOutRejected drops what a machine may not say again from a batch, as long
// as anything is left of it.
func (t *Tx) leaveOutRejected(notes []draft) (wanted []draft, skipped []string, err error) {
	if len(notes) < 2 || t.why.actor() == ActorUser || t.why.Again {
		return notes, nil, nil
	}
	r, err := t.rejections()
	if err != nil {
		return nil, nil, err
	}
	var last error
	for i, n := range notes {
		session, turns := SourceTurns(n.Source)
		text := strings.TrimSuffix(n.Text, "\n") + "\n" // as it is stored
		found, why := r.find(tombstone.Candidate{Text: text, Session: session, Turns: turns}, false, false)
		last = r.checkPurged(Path(n.folder+"/"), n.Text)
		if found == nil && last == nil {
			wanted = append(wanted, n)
			continue
		}
		if found != nil {
			last = &RejectedError{Path: Path(n.folder + "/"), Match: why, Stone: found.stone, File: found.file.path}
		}
		skipped = append(skipped, fmt.Sprintf("note %d was left out: %v", i+1, last))
	}
	if len(wanted) == 0 {
		return nil, nil, last
	}
	return wanted, skipped, nil
}
