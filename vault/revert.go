package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/vault/tombstone"
)

// RevertOptions choose what is taken back.
type RevertOptions struct {
	// Revs are commits, taken back newest first whatever their order here.
	Revs []string
	// Session and Run take back every commit with that trailer.
	Session string
	Run     string
	// Reject says that the person looked at it and said no: the tombstones tell
	// that from other reverts.
	Reject bool
	Write
	mode string // "undo" or "redo" for the commit's trailer
	each bool   // a commit for each, published together
}

// action is what the tombstones say was done.
func (o RevertOptions) action() string {
	switch {
	case o.Reject:
		return tombstone.Reject
	case o.mode == "undo":
		return tombstone.Undo
	}
	return tombstone.Revert
}

// Revert takes commits back by a three-way merge of each file against what is
// there now: newer edits stay, a file that was moved since is followed, and
// reverting a revert restores the bytes. What is taken back leaves tombstones, so
// that no machine writes it again. Everything is one commit. With DryRun the
// result holds the diff. It fails with [ErrConflict], naming
// every file that a person must decide about; of a run the other commits are taken back, and the warnings name these.
func (h *History) Revert(ctx context.Context, o RevertOptions) (*Result, error) {
	whole := h.v.Whole().History()
	commits, err := whole.toRevert(ctx, o)
	if err != nil {
		return nil, err
	}
	moved, err := whole.movedSince(ctx, commits)
	if err != nil {
		return nil, err
	}
	var left []string
	for {
		res, conflicts, err := h.takeBack(ctx, o, commits, moved)
		if err == nil {
			res.Warnings = append(res.Warnings, left...)
		}
		if len(conflicts) == 0 || len(conflicts) == len(commits) || o.Run == "" || !errors.Is(err, ErrConflict) {
			return res, err
		}
		commits = slices.DeleteFunc(commits, func(c Commit) bool {
			if texts, is := conflicts[c.Rev]; is {
				left = append(left, h.left(ctx, c, texts))
			}
			return len(conflicts[c.Rev]) > 0
		})
	}
}

// left says that a commit of a run was not taken back, why, and what to do about it.
func (h *History) left(ctx context.Context, c Commit, conflicts []string) string {
	said := strings.Join(h.v.namelessTexts(ctx, conflicts), "; ")
	todo := fmt.Sprintf(`"stet log FILE" names the newer edit, and "stet revert EDIT %s" takes both back`,
		c.Rev.Short())
	if len(c.Trailers.All("Supersedes")) > 0 {
		todo += `; "stet skill restore NAME" brings a skill back beside what it went into`
	}
	return fmt.Sprintf("%s %q stays as it is: %s; %s", c.Rev.Short(), c.Subject, said, todo)
}

// takeBack takes commits back, newest first. With [ErrConflict] it says of each which of its files stand in the way.
func (h *History) takeBack(
	ctx context.Context, o RevertOptions, commits []Commit, moved map[Revision]map[Path]Path,
) (res *Result, conflicts map[Revision][]string, err error) {
	parts := [][]Commit{commits}
	if o.each {
		parts = slices.Collect(slices.Chunk(commits, 1))
	}
	res, err = h.v.Transact(ctx, o.why(parts[0]), o.DryRun, func(tx *Tx) error {
		r := reverter{tx: tx, moved: moved, action: o.action(), brought: map[Path]bool{}, again: o.Again,
			undoing: o.mode != ""}
		conflicts = map[Revision][]string{}
		for n, part := range parts {
			if n > 0 {
				err := tx.Reject(r.stones)
				if r.stones = nil; err != nil {
					return err
				}
				tx.Split(o.why(part))
			}
			for _, c := range part {
				n := len(r.conflicts)
				if err := r.revert(ctx, c); err != nil {
					return err
				}
				if len(r.conflicts) > n {
					conflicts[c.Rev] = r.conflicts[n:]
				}
			}
		}
		if len(r.conflicts) > 0 {
			said := strings.Join(h.v.namelessTexts(ctx, r.conflicts), "; ")
			return WithHint(fmt.Errorf("revert: %w; %s", ErrConflict, said),
				`nothing was written; edit the file by hand, "stet diff" and "stet show --at REV" show both sides`)
		}
		return tx.Reject(r.stones)
	})
	if err != nil || res.Diff != "" || res.Unchanged || o.DryRun {
		return res, conflicts, err
	}
	for _, c := range res.Commits[max(0, len(res.Commits)-len(parts)):] {
		for f, err := range h.Diffs(ctx, c.Before(), string(c.Rev), nil) {
			if err != nil {
				return res, nil, err
			}
			res.Diff += f.Text
		}
	}
	return res, nil, nil
}

// why describes the commit that takes others back.
func (o RevertOptions) why(commits []Commit) Why {
	why := o.Why(OpRevert, revertSubject(commits))
	for _, c := range commits {
		why.Reverts = append(why.Reverts, c.Rev)
		why.Memories = append(why.Memories, c.Trailers.All("Stet-Memory")...)
	}
	if o.mode != "" {
		why.Trail("Stet-Mode", o.mode)
	}
	return why
}

// toRevert reads the commits, newest first, and refuses those that have no
// single meaning.
func (h *History) toRevert(ctx context.Context, o RevertOptions) ([]Commit, error) {
	wanted := map[Revision]bool{}
	for _, rev := range o.Revs {
		c, err := h.CommitAt(ctx, rev)
		if err != nil {
			return nil, err
		}
		wanted[c.Rev] = true
	}
	var out []Commit
	for c, err := range h.Log(ctx, LogOptions{Session: o.Session}) {
		if err != nil {
			return nil, err
		}
		bySession := o.Session != "" && len(o.Revs) == 0 && o.Run == "" && c.Op != OpSeal // what was said stays
		byRun := o.Run != "" && c.Trailers.Get("Stet-Run") == o.Run && c.Op != OpReport   // what was done was done
		if !wanted[c.Rev] && !bySession && !byRun {
			continue
		}
		full, err := h.CommitAt(ctx, string(c.Rev))
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
		return nil, WithHint(fmt.Errorf("revert %s: %w: it is no part of this branch's history of the vault", rev.Short(), ErrNotFound), `"stet log" lists what can be reverted`)
	}
	if len(out) == 0 && o.Run != "" {
		return nil, WithHint(fmt.Errorf("revert run %s: %w: no run of that name changed anything", o.Run, ErrNotFound),
			`"stet curate report %s" shows what it did`, o.Run)
	}
	if len(out) == 0 {
		return nil, WithHint(fmt.Errorf("revert: %w: no commit matches", ErrNotFound),
			`"stet log" lists what can be reverted`)
	}
	return out, nil
}

func revertable(c Commit) error {
	if len(c.Parents) > 1 {
		return WithHint(fmt.Errorf("revert %s: %w: it is a merge", c.Rev.Short(), ErrRefused),
			`"git revert -m 1 %s" does it with git`, c.Rev.Short())
	}
	for _, ch := range c.Changes {
		if ch.Path == Marker && ch.Status == Added {
			return WithHint(fmt.Errorf("revert %s: %w: it made the vault", c.Rev.Short(), ErrRefused),
				"remove the .stet folder by hand if that is what you want")
		}
	}
	return nil
}

// reverter takes commits back on one transaction.
type reverter struct {
	tx        *Tx
	moved     map[Revision]map[Path]Path
	action    string
	conflicts []string // file and reason
	stones    []tombstone.Stone
	brought   map[Path]bool // deletions that are taken back
	again     bool          // a person asked for what was purged
	undoing   bool          // or redoing: all comes back, what waited as well
}

// taken notes that a change of commit c was really taken back.
func (r *reverter) taken(c Commit, ch Change) error {
	stones, err := r.tx.stones(c, []Change{ch}, r.action)
	r.stones = append(r.stones, stones...)
	return err
}

func (r *reverter) revert(ctx context.Context, c Commit) error {
	after, err := r.tx.v.History().View(ctx, string(c.Rev))
	if err != nil {
		return err
	}
	before, err := r.tx.v.History().View(ctx, c.Before())
	if err != nil {
		return err
	}
	approved := c.Trailers.Get("Stet-Approved-By") != ""
	for _, ch := range joinMoves(c.Changes, c.Trailers.moves()) {
		if approved && isProposal(ch.Path) && !r.undoing {
			continue // the person decided
		}
		if err := r.change(ctx, c, ch, before, after); err != nil {
			return err
		}
	}
	return nil
}

// Undo takes back the newest n operations that are not taken back already.
// Adopted hand edits are a person's and are passed over; "revert" takes them
// back by name. It fails with [ErrNothingToUndo] or [ErrConflict].
func (h *History) Undo(ctx context.Context, n int, w Write) (*Result, error) {
	return h.step(ctx, n, "undo", w)
}

// Redo brings back the newest n operations that were undone, as long as nothing else was done since.
// What one undo took comes back together.
func (h *History) Redo(ctx context.Context, n int, w Write) (*Result, error) {
	return h.step(ctx, n, "redo", w)
}

func (h *History) step(ctx context.Context, n int, mode string, w Write) (*Result, error) {
	if n < 1 {
		return nil, fmt.Errorf("%s: %w: the count must be at least 1", mode, ErrInvalid)
	}
	// What changes nothing, because its file was removed by hand since for
	// instance, is as good as taken back: it must not stand in the way for ever.
	spent := map[Revision]bool{}
	for {
		revs, passed, steps, err := h.v.Whole().History().candidates(ctx, n, mode, spent)
		if err != nil {
			return nil, err
		}
		if steps < n {
			err := fmt.Errorf("%s %d: %w after %d; \"stet %s %d\" takes these", mode, n, ErrNothingToUndo, steps, mode, steps)
			switch {
			case steps == 0 && mode == "redo":
				err = fmt.Errorf("%w to redo: nothing was undone since the last write", ErrNothingToUndo)
			case steps == 0:
				err = fmt.Errorf("%w to undo: every operation of stet's is undone already", ErrNothingToUndo)
			}
			return nil, WithHint(err, `"stet log" shows what was done`)
		}
		if err := h.checkOwn(ctx, revs, n, mode, w); err != nil {
			return nil, err
		}
		o := RevertOptions{Revs: revs, Write: w, mode: mode}
		res, err := h.Revert(ctx, o)
		if err == nil && res.Unchanged && len(revs) > 1 {
			o.each = true // together they come to nothing, as a forget and its restore: no commit would say so
			res, err = h.Revert(ctx, o)
		}
		if err != nil {
			return nil, h.sayAdopted(ctx, err, mode, revs, passed)
		}
		for i := 0; i < len(passed) && h.v.o.Reader != ""; i++ {
			if passed[i], err = h.CommitAt(ctx, string(passed[i].Rev)); err != nil {
				return nil, err
			}
		}
		if res.Passed, res.Took = passed, revs; !res.Unchanged || len(res.Proposed) > 0 {
			return res, nil
		}
		for _, rev := range revs {
			spent[Revision(rev)] = true
		}
	}
}

// checkOwn refuses a machine to undo or redo anything but its own newest operation.
func (h *History) checkOwn(ctx context.Context, revs []string, n int, mode string, w Write) error {
	why := w.Why(OpRevert, "")
	if why.actor() == ActorUser {
		return nil
	}
	name := why.machineName()
	for _, rev := range revs {
		c, err := h.CommitAt(ctx, rev)
		if err != nil {
			return err
		}
		if n > 1 || !c.ByMachine() || c.Author != name {
			return WithHint(
				fmt.Errorf("%s %q: %w: an agent may %s its own newest operation only", mode, c.Subject, ErrRefused, mode),
				`"stet revert REV" takes back an older one of its own, and proposes to take back any other`)
		}
	}
	return nil
}

// candidates walks back from HEAD. A revert cancels what it names, unless a
// later one has cancelled the revert itself. Those in spent are passed over. A commit
// that finishes an earlier one is one step with it, and so are the commits of one run.
func (h *History) candidates(ctx context.Context, n int, mode string, spent map[Revision]bool) (
	found []string, passed []Commit, steps int, err error) {
	cancelled, run, same := map[Revision]bool{}, "", false
	for c, err := range h.Log(ctx, LogOptions{}) {
		if err != nil {
			return nil, nil, 0, err
		}
		if same = run != "" && c.Trailers.Get("Stet-Run") == run; steps >= n && !same {
			break
		}
		if cancelled[c.Rev] || c.Op == OpReport {
			continue
		}
		took := c.Reverts()
		for _, rev := range took {
			cancelled[rev] = true
		}
		switch step := c.Trailers.Get("Stet-Mode"); {
		case !c.Op.known().undone && mode == "undo":
			passed = append(passed, c)
			continue
		case spent[c.Rev], !c.Op.known().undone, step == "redo":
			continue
		case mode == "redo" && step != "undo":
			return found, passed, steps, nil // something was done since: there is nothing to redo
		case mode == "undo" && step == "undo":
			continue
		}
		found = append(found, string(c.Rev))
		if first := Revision(c.Trailers.Get("Stet-Finishes")); first != "" && !cancelled[first] && !spent[first] {
			found, cancelled[first] = append(found, string(first)), true
		}
		if run = c.Trailers.Get("Stet-Run"); same {
			continue
		}
		if steps++; mode == "redo" {
			steps += max(len(took), 1) - 1
		}
	}
	return found, passed, steps, nil
}
