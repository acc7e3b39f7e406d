package lineage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/tombstone"
)

// archiveDir is the folder of cold storage.
const archiveDir = "archive/"

// Restore brings a memory back in a commit of its own: from the archive, or after
// a deletion, committed or not, to the place it had, an attachment as well, or all that a user's folder, with a slash behind it where
// a note has the name, lost last; or, with a revision, the bytes it had then,
// wherever it is now. What an older version takes out is a rejection, as with a
// revert. Restoring twice changes nothing. It fails with vault.ErrNotFound,
// vault.ErrInvalid for what is in place and no revision was named, and
// vault.ErrConflict when its place and the name beside it are taken.
func Restore(ctx context.Context, v *vault.Vault, ref, at string, w vault.Write) (*vault.Result, error) {
	if dir, is := strings.CutSuffix(ref, "/"); is && at == "" {
		if res, err := restoreFolder(ctx, v, dir, w); res != nil || err != nil {
			return res, err
		}
		ref = dir
	}
	m, err := v.Resolve(ctx, ref)
	gone := errors.Is(err, vault.ErrNotFound)
	if at == "" && (gone || errors.Is(err, vault.ErrRefused)) {
		// What a person forgot is withheld from agents, and whether one may bring it back is for the rejection to say.
		if whole, err := v.Whole().Resolve(ctx, ref); err == nil && whole.Archived() && !whole.Private {
			return restoreArchived(ctx, v, whole, w)
		}
	}
	switch {
	case err != nil && !gone:
		return nil, err
	case at != "":
		return restoreVersion(ctx, v, m, ref, at, w)
	case gone:
		return restoreDeleted(ctx, v, ref, err, w)
	}
	return restoreArchived(ctx, v, m, w)
}

func restoreArchived(ctx context.Context, v *vault.Vault, m vault.Memory, w vault.Write) (*vault.Result, error) {
	if !m.Archived() {
		return nil, vault.WithHint(fmt.Errorf("restore %q: %w: it is neither archived nor deleted", m.Path, vault.ErrInvalid),
			`"--at REV" brings an older version back; "stet history %s" lists them`, templates.Quote(m.Path))
	}
	old, heirs, flagging, err := beforeArchive(ctx, v, m)
	if err != nil {
		return nil, err
	}
	var to vault.Path
	return write(ctx, v, why(w, m, ""), w, func(tx *vault.Tx) (vault.Path, error) {
		data, _, err := tx.Read(m.Path)
		if err != nil {
			return "", err
		}
		if to, err = free(tx, old, data); err != nil {
			return "", err
		}
		for _, heir := range heirs {
			if _, err := tx.Link(heir, "supersedes", true, m.ID); err != nil {
				return "", err
			}
		}
		return to, errors.Join(flag(tx, flagging, m.ID), tx.Move(m.Path, to))
	})
}

// beforeArchive is where a memory of the archive was before it went there, and which live
// memories say that they supersede it, as long as they do; flagging are those that flagged it.
func beforeArchive(ctx context.Context, v *vault.Vault, m vault.Memory) (
	old vault.Path, heirs, flagging []vault.Memory, err error) {
	for version, err := range v.Whole().History().Versions(ctx, "", m.Path) {
		if err != nil {
			return "", nil, nil, err
		}
		if version.From == "" || strings.HasPrefix(string(version.From), archiveDir) {
			continue
		}
		for _, id := range version.Commit.Trailers.All("Stet-Memory") {
			heir, err := v.Whole().Resolve(ctx, id)
			if err == nil && m.ID != "" && !heir.Archived() && slices.Contains(heir.Supersedes, m.ID) {
				heirs = append(heirs, heir)
			} else if err != nil && !errors.Is(err, vault.ErrNotFound) {
				return "", nil, nil, err
			}
		}
		flagging, err = flaggedIn(ctx, v, version.Commit, m.ID)
		return version.From, heirs, flagging, err
	}
	return vault.Path(strings.TrimPrefix(string(m.Path), archiveDir)), nil, nil, nil
}

// flaggedIn lists the memories from which a commit that forgot a memory took the flag on it,
// as they are now, where they still say what they said.
func flaggedIn(ctx context.Context, v *vault.Vault, c vault.Commit, id string) (out []vault.Memory, err error) {
	if c.Op != vault.OpForget || id == "" || len(c.Parents) == 0 {
		return nil, nil
	}
	for f, err := range v.Whole().History().Diffs(ctx, string(c.Parents[0]), string(c.Rev), nil) {
		if err != nil {
			return nil, err
		}
		before, err := v.Whole().History().Ancestry().Read(f.Old)
		if err != nil {
			return nil, err
		}
		was := vault.ReadMemory(f.Path, before)
		if was.ID == "" || !slices.Contains(was.MayOutdate, id) {
			continue
		}
		now, err := v.Whole().Resolve(ctx, was.ID)
		if err == nil && !now.Archived() && bytes.Equal(now.Body, was.Body) {
			out = append(out, now)
		}
	}
	return out, nil
}

// flag brings flags on a memory back.
func flag(tx *vault.Tx, flagging []vault.Memory, id string) error {
	for _, m := range flagging {
		if _, err := tx.Link(m, "may_outdate", false, id); err != nil {
			return err
		}
	}
	return nil
}

// restoreDeleted brings back what ref named before it was deleted. A memory that only left its
// place is not doubled: it comes from where it is now.
func restoreDeleted(ctx context.Context, v *vault.Vault, ref string, unknown error, w vault.Write) (*vault.Result, error) {
	was, data, err := v.Whole().History().ReadAt(ctx, "", ref) // in HEAD, when it is gone from the disk alone
	var by vault.Commit
	var next vault.Path
	if errors.Is(err, vault.ErrNotFound) {
		was, data, next, by, err = deleted(ctx, v, ref, unknown)
		if err == nil && next != "" && was.ID != "" { // it was moved, and then deleted
			if m, now, herr := v.Whole().History().ReadAt(ctx, "", was.ID); herr == nil {
				was, data, next, by = m, now, "", vault.Commit{}
			} else {
				was, data, next, by, err = deleted(ctx, v, was.ID, unknown)
			}
		}
	}
	if errors.Is(err, vault.ErrNotFound) {
		if res, ferr := restoreFolder(ctx, v, ref, w); res != nil || ferr != nil {
			return res, ferr
		}
	}
	if err != nil {
		return nil, err
	}
	if !was.Path.IsMarkdown() && v != v.Whole() {
		return nil, fmt.Errorf("restore %q: %w: agents restore Markdown alone", was.Path, vault.ErrRefused)
	}
	if name := cmp.Or(was.ID, string(next)); name != "" {
		now, err := v.Resolve(ctx, name)
		if errors.Is(err, vault.ErrRefused) || err == nil && was.Private && v != v.Whole() {
			return nil, unknown // where it is now is as private
		}
		if err == nil {
			return restoreArchived(ctx, v, now, w)
		}
		if !errors.Is(err, vault.ErrNotFound) {
			return nil, err
		}
	}
	flagging, err := flaggedIn(ctx, v, by, was.ID)
	if err != nil {
		return nil, err
	}
	res, err := putBack(ctx, v, was.Path, data, "", w, flagging...)
	if err == nil && by.Trailers.Get("Stet-Mode") == "purge" {
		res.Warnings = append(res.Warnings, fmt.Sprintf("it was purged by %s; \"stet forget --purge\" does so again", by.Rev.Short()))
	}
	return res, err
}

// deleted finds the file that ref, a path, a name, a title or an id, named when it last had its
// place, the place that it got instead ("" for none) and the commit that did so. It fails with unknown.
func deleted(ctx context.Context, v *vault.Vault, ref string, unknown error) (
	was vault.Memory, data []byte, next vault.Path, by vault.Commit, err error) {
	o := vault.LogOptions{Changes: true}
	if p, err := vault.ParsePath(ref); err == nil && p.IsMarkdown() {
		o.Path = p
	}
	called := func(m vault.Memory) bool {
		base, asked := markdown.Fold(m.Path.Base()), markdown.Fold(ref)
		return string(m.Path) == ref || base == asked || base == asked+".md" ||
			m.Title != "" && markdown.Fold(m.Title) == markdown.Fold(ref)
	}
	objects := v.Whole().History().Ancestry()
	for c, err := range v.Whole().History().Log(ctx, o) {
		if err != nil {
			return was, nil, "", by, err
		}
		for _, ch := range c.Changes {
			from, next := ch.Path, vault.Path("")
			if ch.Status == vault.Renamed {
				from, next = ch.From, ch.Path
			} else if ch.Status != vault.Deleted {
				continue
			}
			if vault.ClassOf(from) == vault.ClassConfig || !from.IsMarkdown() && !called(vault.Memory{Path: from}) {
				continue
			}
			if data, err = objects.Read(ch.Old); err != nil {
				return was, nil, "", by, err
			}
			was = vault.ReadMemory(from, data)
			all := []vault.Memory{was}
			if _, err := vault.Pick(ref, all, func(m vault.Memory) vault.Memory { return m }, called); err == nil {
				return was, data, next, c, nil
			}
		}
	}
	return was, nil, "", by, unknown
}

// putBack stores bytes of the past at a place where nothing stands now, and brings back the
// flags on them.
func putBack(
	ctx context.Context, v *vault.Vault, p vault.Path, data []byte, at string, w vault.Write, flagging ...vault.Memory,
) (*vault.Result, error) {
	m := vault.ReadMemory(p, data)
	return write(ctx, v, why(w, m, at), w, func(tx *vault.Tx) (vault.Path, error) {
		to, err := free(tx, p, data)
		if err == nil {
			err = flag(tx, flagging, m.ID)
		}
		if err != nil {
			return "", err
		}
		return to, tx.Put(to, "", data)
	})
}

// restoreVersion puts the bytes of a revision in place of those of now.
func restoreVersion(ctx context.Context, v *vault.Vault, m vault.Memory, ref, at string, w vault.Write) (*vault.Result, error) {
	if m.Path == "" {
		was, data, err := v.Whole().History().ReadAt(ctx, at, ref)
		if err != nil {
			return nil, err
		}
		if was.ID != "" {
			// Its name may be gone and it may not: the id says so.
			if m, err = v.Resolve(ctx, was.ID); err != nil && !errors.Is(err, vault.ErrNotFound) {
				return nil, err
			}
		}
		if m.Path == "" {
			return putBack(ctx, v, was.Path, data, at, w)
		}
	}
	_, data, err := AsOf(ctx, v.Whole(), m, at)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return write(ctx, v, why(w, m, at), w, func(tx *vault.Tx) (vault.Path, error) {
		now, hash, err := tx.Read(m.Path)
		if err != nil || string(now) == string(data) {
			return m.Path, err
		}
		if err := tx.Put(m.Path, hash, data); err != nil {
			return "", err
		}
		return m.Path, tx.Reject(replaced(m, now, hash, data))
	})
}

// AsOf reads the file that m is now as it was in a revision, whatever its name was then. It fails with
// vault.ErrNotFound where the revision has no such file, and with vault.ErrRefused for what v withholds. Cost: the
// history of the file, as [vault.History.Versions] reads it.
func AsOf(ctx context.Context, v *vault.Vault, m vault.Memory, at string) (vault.Memory, []byte, error) {
	s, err := v.History().View(ctx, at)
	if err != nil {
		return vault.Memory{}, nil, err
	}
	names := []vault.Path{m.Path}
	for version, err := range v.History().Versions(ctx, "", m.Path) {
		if err != nil {
			return vault.Memory{}, nil, err
		}
		if version.From != "" {
			names = append(names, version.From)
		}
	}
	for _, p := range names {
		data, hash, err := s.Read(p)
		if err != nil {
			return vault.Memory{}, nil, err
		}
		was := vault.ReadMemory(p, data)
		if hash != "" && (was.ID == "" || m.ID == "" || was.ID == m.ID) {
			return was, data, nil
		}
	}
	if m.ID != "" {
		return v.History().ReadAt(ctx, at, m.ID)
	}
	return vault.Memory{}, nil, vault.WithHint(fmt.Errorf("%q: %w in %s", m.Path, vault.ErrNotFound, at),
		`"stet history %s" lists its versions`, templates.Quote(m.Path))
}

// replaced is the tombstone for what an older version takes out.
func replaced(m vault.Memory, now []byte, hash vault.Hash, older []byte) []tombstone.Stone {
	s := tombstone.Of(tombstone.Restore, tombstone.Added(older, now))
	s.Blob, s.Was, s.Within = string(hash), string(vault.ReadMemory(m.Path, older).Hash), m.ID
	if s.Within == "" {
		s.Within = string(m.Path)
	}
	if s.TextHash == "" {
		return nil
	}
	return []tombstone.Stone{s}
}

func why(w vault.Write, m vault.Memory, at string) vault.Why {
	subject := m.Name()
	if !m.Path.IsMarkdown() {
		subject = string(m.Path)
	}
	if at != "" {
		subject += " as of " + at
	}
	out := w.Why(vault.OpRestore, subject)
	if m.ID != "" {
		out.Memories = []string{m.ID}
	}
	return out
}

func free(tx *vault.Tx, p vault.Path, data []byte) (vault.Path, error) {
	to, free, err := tx.FreePlace(p, data)
	if err == nil && !free {
		err = vault.WithHint(fmt.Errorf("restore %q: %w: its place is taken, and so is the name with the end of its id", p, vault.ErrConflict),
			"move one of the files that stand there")
	}
	return to, err
}

// write runs one write and names the file that it leaves.
func write(ctx context.Context, v *vault.Vault, why vault.Why, w vault.Write, fn func(*vault.Tx) (vault.Path, error)) (*vault.Result, error) {
	var left vault.Memory
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *vault.Tx) error {
		p, err := fn(tx)
		if err != nil {
			return err
		}
		data, hash, err := tx.Read(p)
		if err == nil && hash == "" {
			err = fs.ErrNotExist
		}
		left = vault.ReadMemory(p, data)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Memories = []vault.Memory{left}
	return res, nil
}
