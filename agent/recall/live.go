package recall

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"stet/vault"
	"stet/vault/session"
)

// Live is a vault with its open sessions as the transcripts that they will be. An
// index that is opened on it must only read: what it finds changes with every
// turn and stands in no file.
type Live struct {
	*vault.Vault
	files    []vault.File
	text     map[vault.Path][]byte
	Warnings []string // of open sessions that are not in it
}

// mostLive bounds the text of open sessions, which is made searchable anew with
// every query; the ones that spoke last come first.
const mostLive = 4 << 20

// Open reads the open sessions of a vault.
func Open(ctx context.Context, v *vault.Vault) (*Live, error) {
	l := &Live{Vault: v, text: map[vault.Path][]byte{}}
	all, failed := session.AllOpen(v)
	if failed != nil {
		l.Warnings = append(l.Warnings, failed.Error())
	}
	if len(all) == 0 {
		return l, nil
	}
	sealed, err := v.Files(ctx, vault.WalkOptions{Under: "sessions"})
	if err != nil {
		return nil, err
	}
	paths := make([]vault.Path, len(sealed))
	for i, f := range sealed {
		paths[i] = f.Path
	}
	size := 0
	for _, o := range all {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		p, data, err := session.AsSealed(ctx, v, o, paths)
		switch {
		case errors.Is(err, vault.ErrNotFound):
			continue // sealed meanwhile
		case err != nil:
			l.Warnings = append(l.Warnings, "open session "+o.Key+" is not searched: "+err.Error())
			continue
		case data == nil || l.text[p] != nil:
			continue
		}
		if size += len(data); size > mostLive {
			l.Warnings = append(l.Warnings, "not all open sessions are searched: together they are too large; stet session end --idle seals those that have ended")
			break
		}
		l.text[p] = data
		l.files = append(l.files, vault.File{Path: p, Size: int64(len(data)), ModTime: o.Last})
	}
	slices.SortFunc(l.files, func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
	return l, nil
}

// Any reports whether there is an open session in it.
func (l *Live) Any() bool { return len(l.files) > 0 }

// Files is [vault.Vault.Files] with the open sessions.
func (l *Live) Files(ctx context.Context, o vault.WalkOptions) ([]vault.File, error) {
	files, err := l.Vault.Files(ctx, o)
	if err != nil || o.Reports || o.Under != "" && o.Under != "sessions" && !strings.HasPrefix(string(o.Under), "sessions/") {
		return files, err
	}
	out := slices.DeleteFunc(slices.Clone(files), func(f vault.File) bool { return l.text[f.Path] != nil })
	for _, f := range l.files {
		if o.Under == "" || strings.HasPrefix(string(f.Path), string(o.Under)+"/") {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

// ReadFile is [vault.Vault.ReadFile] with the open sessions.
func (l *Live) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	data, ok := l.text[p]
	if !ok {
		return l.Vault.ReadFile(p)
	}
	i, _ := slices.BinarySearchFunc(l.files, p, func(f vault.File, p vault.Path) int { return cmp.Compare(f.Path, p) })
	return data, l.files[i], nil
}

// FolderTime is [vault.Vault.FolderTime]; a folder with an open session changes
// all the time.
func (l *Live) FolderTime(p vault.Path) (time.Time, error) {
	for _, f := range l.files {
		if vault.Path(f.Path.Dir()) == p {
			return f.ModTime, nil
		}
	}
	return l.Vault.FolderTime(p)
}

// find names one of the open sessions that ref means.
func (l *Live) find(ref string) (session.Known, error) {
	open, err := session.FindOpen(l.Vault, ref)
	if err != nil {
		return session.Known{}, err
	}
	for _, f := range l.files {
		if k := session.Read(f.Path, l.text[f.Path]); k.ID == open.Facts.ID {
			return k, nil
		}
	}
	return session.Known{}, vault.WithHint(session.ErrUnknownSession, "it is not searched")
}
