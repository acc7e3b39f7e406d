package vault

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
)

// RevertOptions choose what is taken back.
type RevertOptions struct {
	// Revs are commits, taken back newest first whatever their order here.
	Revs []string
	// Session and Run take back every commit with that trailer.
	Session string
	Run     string
	Write
	mode string // "undo" or "redo" for the commit's trailer
}

// A FileConflict is one file whose newer edits overlap what is taken back.
type FileConflict struct {
	Path   Path
	Reason string
}

// A RevertConflictError is an [ErrConflict] listing every file that a person
// must decide about. Nothing was written.
type RevertConflictError struct{ Files []FileConflict }

func (e *RevertConflictError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "revert: %v", ErrConflict)
	for _, f := range e.Files {
		fmt.Fprintf(&b, "; %q: %s", f.Path, f.Reason)
	}
	return b.String()
}

// Unwrap makes errors.Is(err, ErrConflict) true.
func (e *RevertConflictError) Unwrap() error { return ErrConflict }

// Hint names the next step.
func (e *RevertConflictError) Hint() string {
	return `nothing was written; edit the file by hand, "stet diff" and "stet show --at REV" show both sides`
}

// Revert takes commits back by a three-way merge of each file against what is
// there now: newer edits stay, a file that was moved since is followed, and
// reverting a revert restores the bytes. Everything is one commit. With DryRun
// the result holds the diff. It fails with a [RevertConflictError].
func (v *Vault) Revert(ctx context.Context, o RevertOptions) (*Result, error) {
	commits, err := v.toRevert(ctx, o)
	if err != nil {
		return nil, err
	}
	moved, err := v.movedSince(ctx, commits)
	if err != nil {
		return nil, err
	}
	why := o.why(OpRevert, revertSubject(commits))
	for _, c := range commits {
		why.Reverts = append(why.Reverts, c.Rev)
		why.Memories = append(why.Memories, c.Trailers.All("Stet-Memory")...)
	}
	if o.mode != "" {
		why.Extra = append(why.Extra, TrailerLine{"Stet-Mode", o.mode})
	}
	res, err := v.update(ctx, why, o.DryRun, func(tx *Tx) error {
		r := reverter{tx: tx, moved: moved}
		for _, c := range commits {
			if err := r.revert(ctx, c); err != nil {
				return err
			}
		}
		if len(r.conflicts) > 0 {
			return &RevertConflictError{Files: r.conflicts}
		}
		return nil
	})
	if err != nil || res.Diff != "" || res.Unchanged {
		return res, err
	}
	last := res.Commits[len(res.Commits)-1]
	res.Diff, err = v.commitDiff(last)
	return res, err
}

// commitDiff is what one published commit changed, as text.
func (v *Vault) commitDiff(c Commit) (string, error) {
	objects := v.repo.Stage()
	to, err := v.treeOf(objects, string(c.Rev))
	if err != nil {
		return "", err
	}
	from := gitstore.ID{}
	if len(c.Parents) > 0 {
		if from, err = v.treeOf(objects, string(c.Parents[0])); err != nil {
			return "", err
		}
	}
	return v.diffText(objects, from, to)
}

func revertSubject(commits []Commit) string {
	if len(commits) == 1 {
		return fmt.Sprintf("%q", commits[0].Subject)
	}
	return fmt.Sprintf("%d commits", len(commits))
}

// toRevert reads the commits, newest first, and refuses those that have no
// single meaning.
func (v *Vault) toRevert(ctx context.Context, o RevertOptions) ([]Commit, error) {
	wanted := map[Revision]bool{}
	for _, rev := range o.Revs {
		c, err := v.CommitAt(ctx, rev)
		if err != nil {
			return nil, err
		}
		wanted[c.Rev] = true
	}
	var out []Commit
	for c, err := range v.Log(ctx, LogOptions{Session: o.Session}) {
		if err != nil {
			return nil, err
		}
		bySession := o.Session != "" && len(o.Revs) == 0 && o.Run == ""
		if !wanted[c.Rev] && !bySession && (o.Run == "" || c.Trailers.Get("Stet-Run") != o.Run) {
			continue
		}
		full, err := v.CommitAt(ctx, string(c.Rev))
		if err != nil {
			return nil, err
		}
		if err := revertable(full); err != nil {
			return nil, err
		}
		out = append(out, full)
		if delete(wanted, c.Rev); len(wanted) == 0 && o.Session == "" && o.Run == "" {
			break
		}
	}
	for rev := range wanted {
		return nil, withHint(fmt.Errorf("revert %s: %w: it is no part of this branch's history of the vault", rev.Short(), ErrNotFound), `"stet log" lists what can be reverted`)
	}
	if len(out) == 0 {
		return nil, withHint(fmt.Errorf("revert: %w: no commit matches", ErrNotFound), `"stet log" lists what can be reverted`)
	}
	return out, nil
}

func revertable(c Commit) error {
	if len(c.Parents) > 1 {
		return withHint(fmt.Errorf("revert %s: %w: it is a merge", c.Rev.Short(), ErrRefused), `"git revert -m 1 %s" does it with git`, c.Rev.Short())
	}
	for _, ch := range c.Changes {
		if ch.Path == Marker && ch.Status == Added {
			return withHint(fmt.Errorf("revert %s: %w: it made the vault", c.Rev.Short(), ErrRefused), "remove the .stet folder by hand if that is what you want")
		}
	}
	return nil
}

// movedSince maps the paths that the oldest of the commits knew to where the
// same files are now.
func (v *Vault) movedSince(ctx context.Context, commits []Commit) (map[Revision]map[Path]Path, error) {
	pending := map[Revision]bool{}
	for _, c := range commits {
		pending[c.Rev] = true
	}
	out, later := map[Revision]map[Path]Path{}, map[Path]Path{}
	for c, err := range v.Log(ctx, LogOptions{Changes: true}) {
		if err != nil {
			return nil, err
		}
		if pending[c.Rev] {
			at := make(map[Path]Path, len(later))
			for from, to := range later {
				at[from] = to
			}
			out[c.Rev] = at
			if delete(pending, c.Rev); len(pending) == 0 {
				break
			}
		}
		// A path renamed in this commit ends where its new name ends. All new
		// names are looked up before any is forgotten: files may trade names.
		renames, next := renamesOf(c), maps.Clone(later)
		for _, to := range renames {
			delete(next, to)
		}
		for from, to := range renames {
			next[from] = cmp.Or(later[to], to)
		}
		later = next
	}
	return out, nil
}

// renamesOf maps old names to new ones. The trailers win over what the bytes
// alone suggest.
func renamesOf(c Commit) map[Path]Path {
	out := map[Path]Path{}
	for _, ch := range c.Changes {
		if ch.Status == Renamed {
			out[ch.From] = ch.Path
		}
	}
	for _, m := range c.Trailers.moves() {
		out[m[0]] = m[1]
	}
	return out
}

// reverter takes commits back on one transaction.
type reverter struct {
	tx        *Tx
	moved     map[Revision]map[Path]Path
	conflicts []FileConflict
}

func (r *reverter) revert(ctx context.Context, c Commit) error {
	parent := ""
	if len(c.Parents) > 0 {
		parent = string(c.Parents[0])
	}
	after, err := r.tx.v.View(ctx, string(c.Rev))
	if err != nil {
		return err
	}
	before := &Snapshot{v: r.tx.v, objects: after.objects}
	if parent != "" {
		if before, err = r.tx.v.View(ctx, parent); err != nil {
			return err
		}
	}
	for _, ch := range joinMoves(c.Changes, c.Trailers.moves()) {
		if err := r.change(c, ch, before, after); err != nil {
			return err
		}
	}
	return nil
}

// joinMoves makes one rename of a file that a commit moved and edited at once,
// as its trailers say.
func joinMoves(changes []Change, moves [][2]Path) []Change {
	at := map[Path]int{}
	for i, c := range changes {
		at[c.Path] = i
	}
	dead := map[int]bool{}
	for _, m := range moves {
		from, ok := at[m[0]]
		to, ok2 := at[m[1]]
		if ok && ok2 && changes[from].Status == Deleted && changes[to].Status == Added {
			changes[to] = Change{Status: Renamed, Path: m[1], From: m[0], Old: changes[from].Old, New: changes[to].New}
			dead[from] = true
		}
	}
	var out []Change
	for i, c := range changes {
		if !dead[i] {
			out = append(out, c)
		}
	}
	return out
}

// change takes one file's part of a commit back.
func (r *reverter) change(c Commit, ch Change, before, after *Snapshot) error {
	old := ch.Path // where the file was before the commit
	if ch.From != "" {
		old = ch.From
	}
	base, _, err := after.Read(ch.Path)
	if err != nil {
		return err
	}
	theirs, _, err := before.Read(old)
	if err != nil {
		return err
	}
	at := r.where(c, ch.Path)
	ours, was, err := r.tx.Read(at)
	if err != nil {
		return err
	}
	switch {
	case ch.Status == Added:
		return r.takeAway(at, ours, base, was)
	case ch.Status == Deleted:
		return r.bringBack(old, theirs)
	case ours == nil:
		r.conflict(at, "it was removed since")
		return nil
	}
	merged, conflicts := markdown.Merge(base, ours, theirs)
	if len(conflicts) > 0 {
		r.conflict(at, "newer edits overlap at "+conflicts[0].Where)
		return nil
	}
	target := at
	if ch.Status == Renamed && at == ch.Path {
		if target, err = r.freePlace(old, theirs); err != nil {
			return err
		}
		if err := r.tx.Move(at, target); err != nil {
			return err
		}
	}
	return r.tx.Put(target, was, merged)
}

// where is the present place of a file that commit c left at p.
func (r *reverter) where(c Commit, p Path) Path {
	if to, ok := r.moved[c.Rev][p]; ok {
		// Earlier commits of this same revert may have moved it back.
		if data, _, err := r.tx.Read(to); err == nil && data != nil {
			return to
		}
	}
	return p
}

func (r *reverter) takeAway(at Path, ours, base []byte, was Hash) error {
	switch {
	case ours == nil:
		return nil // gone already
	case string(ours) != string(base):
		r.conflict(at, "it was edited since it was made")
		return nil
	}
	return r.tx.Remove(at, was)
}

func (r *reverter) bringBack(p Path, theirs []byte) error {
	have, _, err := r.tx.Read(p)
	if err != nil {
		return err
	}
	if have != nil && string(have) == string(theirs) {
		return nil
	}
	target, err := r.freePlace(p, theirs)
	if err != nil {
		return err
	}
	return r.tx.Put(target, "", theirs)
}

// freePlace is p, or p with the end of the memory's id (else of its hash) when
// something else stands there by now.
func (r *reverter) freePlace(p Path, data []byte) (Path, error) {
	have, _, err := r.tx.Read(p)
	if err != nil || have == nil {
		return p, err
	}
	mark := ReadMemory(p, data).ID
	if len(mark) < minSuffix {
		mark = string(hashOf(data))
	}
	ext := path.Ext(string(p))
	return Path(strings.TrimSuffix(string(p), ext) + "-" + mark[len(mark)-minSuffix:] + ext), nil
}

func (r *reverter) conflict(p Path, reason string) {
	r.conflicts = append(r.conflicts, FileConflict{Path: p, Reason: reason})
}
