package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/markdown"
)

// FreeName is a path in folder for a file called base. A name is taken when the
// folder has it on disk, in HEAD, in the archive, staged, or given by this transaction
// before, compared without case and Unicode form, because the vault may be cloned to a
// file system that does not tell them apart; so is one that Windows gives to no file.
// Of a taken name the last characters of mark, an id of four or more, go behind the
// stem, as few as are free.
func (t *Tx) FreeName(folder, base, mark string) (Path, error) {
	taken, err := t.takenNames(folder)
	if err != nil {
		return "", err
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	for i := minSuffix; taken[FoldName(base)] || reservedName(strings.TrimSuffix(base, ext)); i++ {
		if i > len(mark) {
			return "", fmt.Errorf("name %q in %q: %w: it is taken", base, folder, ErrConflict)
		}
		base = stem + "-" + mark[len(mark)-i:] + ext
	}
	taken[FoldName(base)] = true
	return Path(path.Join(folder, base)), nil
}

// takenNames are the names that files in folder may not have, folded.
func (t *Tx) takenNames(folder string) (map[string]bool, error) {
	if have, ok := t.taken[folder]; ok {
		return have, nil
	}
	taken := map[string]bool{}
	for _, dir := range []string{folder, "archive/" + folder} {
		entries, err := t.v.store.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			taken[FoldName(e.Name())] = true
		}
		committed, err := t.tx.NamesIn(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range committed {
			taken[FoldName(name)] = true
		}
	}
	for p := range t.tx.Staged() {
		if p.Dir() == folder {
			taken[FoldName(p.Base())] = true
		}
	}
	t.taken[folder] = taken
	return taken, nil
}

// FoldName is the form in which two names that some file system cannot tell
// apart are equal.
func FoldName(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(norm.NFC.String(s))
		}
	}
	return strings.ToLower(s)
}

// reservedName reports the device names that Windows gives to no file.
func reservedName(slug string) bool {
	switch slug {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(slug) == 4 && (strings.HasPrefix(slug, "com") || strings.HasPrefix(slug, "lpt")) && slug[3] >= '0' && slug[3] <= '9'
}

// Link adds ids to, or with gone takes them out of, a list of ids that stet keeps in
// the front matter of m: "supersedes", "conflicts_with" or "may_outdate". A file without an id
// gets one; "updated" stays, for what the memory says does not change.
func (t *Tx) Link(m Memory, key string, gone bool, ids ...string) (Memory, error) {
	data, was, err := t.Read(m.Path)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	have := metaList(doc, key)
	var want []string
	if gone {
		want = slices.DeleteFunc(slices.Clone(have), func(id string) bool { return slices.Contains(ids, id) })
	} else {
		want = slices.DeleteFunc(cleanList(slices.Concat(have, ids)), func(id string) bool { return id == m.ID && id != "" })
	}
	if err := identify(doc, t.v.o.Now()); err != nil {
		return m, err
	}
	switch {
	case slices.Equal(have, want):
	case len(want) == 0:
		err = doc.RemoveMeta(key)
	default:
		err = doc.SetMeta(key, markdown.Strings(want))
	}
	if err != nil {
		return m, pathErrorf("link", m.Path, err)
	}
	if string(doc.Bytes()) != string(data) {
		err = t.Put(m.Path, was, doc.Bytes())
	}
	return ReadMemory(m.Path, doc.Bytes()), err
}

// Disputing lists the live memories that m names in conflicts_with. Cost: nothing for a
// memory without any, else as [Vault.Resolve].
func (m Memory) Disputing(ctx context.Context, v *Vault) (out []Memory, err error) {
	for _, id := range m.Conflicts {
		o, err := v.Resolve(ctx, id)
		var unknown *NotFoundError
		switch {
		case errors.As(err, &unknown), err == nil && o.Archived():
		case err != nil:
			return nil, err
		default:
			out = append(out, o)
		}
	}
	return out, nil
}

// Detach takes the id of m, which goes to the archive, out of conflicts_with of the memories
// that [Memory.Disputing] listed.
func (t *Tx) Detach(m Memory, from []Memory) error {
	for _, o := range from {
		if _, have, err := t.Read(o.Path); err != nil {
			return err
		} else if have == "" {
			continue // it went as well
		}
		if _, err := t.Link(o, "conflicts_with", true, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// Archive moves m to cold storage. With rejected it also leaves a tombstone, as
// [Vault.Forget] does.
func (t *Tx) Archive(m Memory, rejected bool) error {
	to, err := t.archivePath(m.Path)
	if err != nil {
		return err
	}
	data, hash, err := t.Read(m.Path)
	if err != nil {
		return err
	}
	if err := t.Move(m.Path, to); err != nil || !rejected {
		return err
	}
	return t.Reject(forgotten(ReadMemory(m.Path, data), hash))
}

// archivePath is a free place for p in cold storage; a taken name gets the UTC
// time appended.
func (t *Tx) archivePath(p Path) (Path, error) {
	to := "archive/" + p
	_, have, err := t.Read(to)
	if err != nil {
		return "", err
	}
	if have != "" {
		ext := path.Ext(string(to))
		to = Path(strings.TrimSuffix(string(to), ext) + t.v.o.Now().UTC().Format("-20060102-150405") + ext)
	}
	return to, nil
}
