package vault

import (
	"context"

	"stet/vault/gitstore"
)

// An Overlay is a set of changes in memory on top of something that can be
// read: the working tree in a [Tx], one commit in [Vault.Overlay]. It is not
// safe for concurrent use.
type Overlay struct {
	below func(Path) ([]byte, error) // nil data = absent
	files map[Path]pendingFile
	kept  map[Path]pendingFile // earlier groups of a chain
}

func newOverlay(below func(Path) ([]byte, error)) Overlay {
	return Overlay{below: below, files: map[Path]pendingFile{}, kept: map[Path]pendingFile{}}
}

// Overlay returns an empty set of changes on top of commit rev. Nothing in it
// reaches the disk by itself.
func (v *Vault) Overlay(ctx context.Context, rev Revision) (*Overlay, error) {
	s, err := v.View(ctx, string(rev))
	if err != nil {
		return nil, err
	}
	o := newOverlay(func(p Path) ([]byte, error) {
		data, _, err := s.Read(p)
		return data, err
	})
	return &o, nil
}

// Read returns the bytes at p and their hash, nil and "" when there is no file.
func (o *Overlay) Read(p Path) ([]byte, Hash, error) {
	for _, layer := range []map[Path]pendingFile{o.files, o.kept} {
		if f, ok := layer[p]; ok {
			if f.remove {
				return nil, "", nil
			}
			return f.data, Hash(f.id.String()), nil
		}
	}
	data, err := o.below(p)
	if err != nil || data == nil {
		return nil, "", err
	}
	return data, Hash(gitstore.HashBlob(data).String()), nil
}

// Put stages data at p, whatever stands there.
func (o *Overlay) Put(p Path, data []byte) {
	if data == nil {
		data = []byte{} // nil means absent
	}
	o.files[p] = pendingFile{data: data, id: gitstore.HashBlob(data), mode: gitstore.ModeFile}
}

// Remove stages the removal of p.
func (o *Overlay) Remove(p Path) { o.files[p] = pendingFile{remove: true} }

// Paths lists the staged paths in no order.
func (o *Overlay) Paths() []Path {
	out := make([]Path, 0, len(o.files))
	for p := range o.files {
		out = append(out, p)
	}
	return out
}

// take hands over the staged changes; later reads still see them.
func (o *Overlay) take() map[Path]pendingFile {
	files := o.files
	for p, f := range files {
		o.kept[p] = f
	}
	o.files = map[Path]pendingFile{}
	return files
}
