package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"stet/vault/store"
	"strings"
	"time"

	"stet/vault/settings"
)

// AdoptOptions choose which hand edits are committed.
type AdoptOptions struct {
	Paths   []Path // these files, or files below these folders; empty = all
	All     bool   // notes outside stet's own folders too
	Yes     bool   // commit a mass deletion
	DryRun  bool
	Message string // subject instead of the list of paths
	Door    string
	Via     string // see [Writer.Via]
	// Leave picks changes that are left for later, a file that is being written
	// for instance. It is asked again after the file was read, so that what it
	// then lets pass is what is committed. nil leaves nothing.
	Leave func(Change) bool
}

// massFloor and massShare bound how many files may vanish between two looks
// before stet asks: an unmounted folder or a half-finished sync looks like
// this, a person cleaning up does not (docs/FORMAT.md, Adopt).
const (
	massFloor = 50
	massShare = 5 // one in five
)

// secondLook is the time between two looks before a deletion is believed: a
// save through rename, or a sync tool, can leave a file away for a moment.
const secondLook = time.Second

// Adopt commits what a person changed by hand, as the person's own commit. It
// never renames files, adds ids or mends front matter. Edits that the guard
// stops stay uncommitted and are named in the result; one that o.Paths names
// is an [ErrRefused] instead. It fails with a [MassDeletionError] unless o.Yes.
func (v *Vault) Adopt(ctx context.Context, o AdoptOptions) (*Result, error) {
	if err := v.checkNamed(ctx, o.Paths); err != nil {
		return nil, err
	}
	changes, skipped, err := v.adoptable(ctx, o)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	if len(changes) == 0 {
		if err := v.refusedAttachments(o.Paths); err != nil {
			return nil, err
		}
	}
	if countDeleted(changes) > 0 && !o.DryRun {
		if changes, err = v.lookAgain(ctx, o, changes); err != nil {
			return nil, v.store.Explain(err)
		}
	}
	why := Why{Op: OpAdopt, Writer: Writer{Door: o.Door, Via: o.Via}}
	res, err := v.Transact(ctx, why, o.DryRun, func(tx *Tx) error {
		tx.named = o.Paths
		_, err := tx.adopt(changes, o)
		return err
	})
	if err == nil {
		res.Skipped = skipped
	}
	return res, err
}

// checkNamed fails for a path that a person named and that cannot be adopted:
// nothing is there, neither on disk nor in HEAD, or stet never commits it.
func (v *Vault) checkNamed(ctx context.Context, paths []Path) error {
	if len(paths) == 0 {
		return nil
	}
	s, err := v.store.View(ctx, "")
	if err != nil {
		return err
	}
	for _, p := range paths {
		if err := v.store.CheckOwn(p + "/x"); err != nil {
			return err
		}
		info, err := v.store.Tree().Lstat(string(p))
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("adopt %q: %w: %w", p, ErrBadPath, ErrNotRegular)
		}
		if err == nil && !dottedNote(p) {
			continue
		}
		if known, herr := s.Has(p); herr != nil || !known {
			if err == nil && herr == nil {
				return refusedDotted(p)
			}
			return errors.Join(herr, notFound(string(p)))
		}
	}
	return nil
}

// refusedAttachments is the error where all that a person named are files that stet never commits, and folders of such.
func (v *Vault) refusedAttachments(paths []Path) error {
	if len(paths) == 0 || slices.ContainsFunc(paths, func(p Path) bool { return !v.attachments(p) }) {
		return nil
	}
	return WithHint(fmt.Errorf("adopt %q: %w: stet commits no attachments", paths[0], ErrRefused),
		`"git add" and "git commit" commit them`)
}

// attachments reports whether p is a file, on disk or of HEAD, that stet does not look after, or a folder that has such
// files alone.
func (v *Vault) attachments(p Path) (only bool) {
	err := fs.WalkDir(os.DirFS(v.Root()), string(p), func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if only = !inDomain(Path(at)); !only {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && only || errors.Is(err, fs.ErrNotExist) && !inDomain(p)
}

// adoptable lists what is to be committed, and what stet would have to look at
// for that and cannot.
func (v *Vault) adoptable(ctx context.Context, o AdoptOptions) ([]Change, []Problem, error) {
	s, err := v.scan(ctx)
	if err != nil {
		return nil, nil, err
	}
	notes := o.All || v.settings.Bool(settings.WatchCommit)
	var out []Change
	for _, c := range slices.Concat(s.Changed, s.Covered) {
		if covered(o.Paths, c.Path) && (notes || len(o.Paths) > 0 || ClassOf(c.Path) != ClassNote) && !o.leaves(c) {
			out = append(out, c)
		}
	}
	// A file that stands elsewhere now has not vanished.
	if gone := countDeleted(store.JoinRenames(slices.Clone(out))); !o.Yes && gone > max(massFloor, s.Total/massShare) {
		return nil, nil, &MassDeletionError{Missing: gone, Total: s.Total}
	}
	skipped := slices.DeleteFunc(s.Skipped, func(p Problem) bool { return !covered(o.Paths, p.Path) })
	return out, skipped, nil
}

func (o AdoptOptions) leaves(c Change) bool { return o.Leave != nil && o.Leave(c) }

func covered(paths []Path, p Path) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(q Path) bool {
		return q == p || strings.HasPrefix(string(p), string(q)+"/")
	})
}

func countDeleted(changes []Change) int {
	n := 0
	for _, c := range changes {
		if c.Status == Deleted {
			n++
		}
	}
	return n
}

// lookAgain keeps only the deletions that still hold after a second, in
// folders that can be read.
func (v *Vault) lookAgain(ctx context.Context, o AdoptOptions, first []Change) ([]Change, error) {
	wait := v.o.SecondLook
	if wait == 0 {
		wait = secondLook
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-timer.C:
	}
	second, _, err := v.adoptable(ctx, o)
	if err != nil {
		return nil, err
	}
	gone := map[Path]bool{}
	for _, c := range first {
		gone[c.Path] = c.Status == Deleted
	}
	return slices.DeleteFunc(second, func(c Change) bool { return c.Status == Deleted && !gone[c.Path] }), nil
}

// adopt stages hand edits as the person's and returns their paths.
func (t *Tx) adopt(changes []Change, o AdoptOptions) ([]Path, error) {
	var kept []Change
	var paths []Path
	for _, c := range changes {
		_, err := t.tx.Touch(c.Path)
		if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrBadPath) || errors.Is(err, ErrUnsupportedRepository) {
			continue // something stet leaves alone; status says so
		}
		if err != nil {
			return nil, err
		}
		if o.leaves(c) || isProposal(c.Path) && c.Status == Added {
			continue // what a machine is said to propose is no edit of the person's
		}
		kept, paths = append(kept, c), append(paths, c.Path)
	}
	t.tx.Adopt(paths)
	t.adopted = Why{Subject: oneLine(o.Message)}
	for _, c := range store.JoinRenames(kept) {
		if c.Status == Renamed {
			t.adopted.Moved = append(t.adopted.Moved, [2]Path{c.From, c.Path})
		}
	}
	return paths, nil
}

// describe names the adopted paths in a subject unless the person gave one.
func (t *Tx) describe(g *store.Group, prefix string) {
	why := &Why{Op: OpAdopt, Subject: prefix + adoptSubject(g.Paths), Moved: t.adopted.Moved,
		Writer: Writer{Door: t.why.Door, Via: t.why.via()}}
	if len(g.Paths) > 0 && !slices.ContainsFunc(g.Paths, func(p Path) bool { return !isProposal(p) }) {
		why.Op, why.Actor = OpPropose, "agent"
	}
	if t.adopted.Subject != "" {
		why.Subject = prefix + t.adopted.Subject
	}
	g.Why = why
}

// adoptSubject names the first paths and counts the rest.
func adoptSubject(paths []Path) string {
	const named = 3
	names := make([]string, 0, named)
	for _, p := range paths[:min(named, len(paths))] {
		names = append(names, string(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// sayAdopted adds to a conflict the newest adopted edit that a step skipped and that
// changed one of the same files.
func (h *History) sayAdopted(ctx context.Context, err error, mode string, revs []string, passed []Commit) error {
	touched := map[Path]bool{}
	if !errors.Is(err, ErrConflict) {
		return err
	}
	for _, rev := range revs {
		c, cerr := h.CommitAt(ctx, rev)
		if cerr != nil {
			return err // it says enough
		}
		for _, ch := range c.Changes {
			touched[ch.Path] = true
		}
	}
	for _, c := range passed {
		full, cerr := h.CommitAt(ctx, string(c.Rev))
		if cerr == nil && c.Op == OpAdopt &&
			slices.ContainsFunc(full.Changes, func(ch Change) bool { return touched[cmp.Or(ch.From, ch.Path)] }) {
			rev := c.Rev.Short()
			return WithHint(fmt.Errorf("%w; %s skips the newer adopted edit %s", err, mode, rev),
				`nothing was written; "stet revert %s" takes the adopted edit back, then "stet %s" goes on`, rev, mode)
		}
	}
	return err
}
