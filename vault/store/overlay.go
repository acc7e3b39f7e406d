package store

import (
	"context"
	"errors"
	"fmt"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// An overlay is a set of changes in memory on top of the working tree.
type overlay struct {
	below func(Path) ([]byte, error)        // nil data = absent
	blob  func(gitstore.ID) ([]byte, error) // of stored content
	files map[Path]Content
	kept  map[Path]Content // earlier groups of a chain
}

func newOverlay(below func(Path) ([]byte, error)) overlay {
	return overlay{below: below, files: map[Path]Content{}, kept: map[Path]Content{}}
}

// read returns the bytes at p and their hash, nil and "" when there is no file.
func (o *overlay) read(p Path) ([]byte, Hash, error) {
	for _, layer := range []map[Path]Content{o.files, o.kept} {
		if f, ok := layer[p]; ok {
			if f.Remove {
				return nil, "", nil
			}
			data, err := f.bytes(p, o.blob)
			return data, Hash(f.ID.String()), err
		}
	}
	data, err := o.below(p)
	if err != nil || data == nil {
		return nil, "", err
	}
	return data, Hash(gitstore.HashBlob(data).String()), nil
}

// put stages data at p, whatever stands there. A mode that was staged for p stays.
func (o *overlay) put(p Path, data []byte) {
	if data == nil {
		data = []byte{} // nil means absent
	}
	o.files[p] = Content{Data: data, ID: gitstore.HashBlob(data), Mode: o.mode(p)}
}

// mode is the mode that was staged for p, 0 for none.
func (o *overlay) mode(p Path) uint32 {
	f, ok := o.files[p]
	if !ok {
		f = o.kept[p]
	}
	return f.Mode
}

// remove stages the removal of p.
func (o *overlay) remove(p Path) { o.files[p] = Content{Remove: true} }

// take hands over the staged changes; later reads still see them.
func (o *overlay) take() map[Path]Content {
	files := o.files
	for p, f := range files {
		o.kept[p] = f
	}
	o.files = map[Path]Content{}
	return files
}

// WriteBlobs writes contents into the repository, durable and with nothing that
// leads to them, and returns their hashes in the same order. git removes a blob that
// no commit takes up after two weeks, unless somebody asks it to hurry.
func (s *Store) WriteBlobs(ctx context.Context, contents [][]byte) (out []Hash, err error) {
	err = s.Locked(ctx, func(context.Context) error {
		out, err = s.writeBlobs(contents)
		return err
	})
	return out, s.Explain(err)
}

func (s *Store) writeBlobs(contents [][]byte) (out []Hash, err error) {
	mark, err := s.ensureState()
	if err != nil {
		return nil, err
	}
	objects := s.repo.Stage()
	for _, data := range contents {
		out = append(out, Hash(objects.PutBlob(data).String()))
	}
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	flush, err := objects.Flush(s.tmp("."), &batch)
	if err != nil {
		return nil, err
	}
	if err := batch.Sync(); err != nil {
		return nil, errors.Join(err, flush.Discard())
	}
	if err := flush.Publish(mark); err != nil {
		return nil, errors.Join(err, flush.Discard())
	}
	return out, flush.Release()
}

// PutStored is [Tx.Put] of content with the hash h that [Store.WriteBlobs] wrote, so
// that one commit can bring more than fits into memory.
func (t *Tx) PutStored(p Path, was, h Hash) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	id, err := gitstore.ParseID(string(h))
	t.layer.files[p] = Content{Stored: true, ID: id}
	return err
}

// Load is f with its bytes, which are checked as those of [Tx.Put] are.
func (t *Tx) Load(p Path, f Content) (Content, error) {
	if !f.Stored {
		return f, nil
	}
	var err error
	if f.Data, err = f.bytes(p, t.Objects.Blob); err == nil {
		err = t.rules.check(p, f.Data)
	}
	return f, err
}

// bytes is what f holds, which stands at p.
func (f Content) bytes(p Path, blob func(gitstore.ID) ([]byte, error)) ([]byte, error) {
	if !f.Stored {
		return f.Data, nil
	}
	data, err := blob(f.ID)
	if err != nil {
		err = fmt.Errorf("%q: what was written for it is gone: %w", p, err)
		return nil, WithHint(err, "git removed it meanwhile; do the same again")
	}
	return data, nil
}
