package vault

import (
	"context"
	"errors"
	"fmt"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// An Overlay is a set of changes in memory on top of something that can be
// read: the working tree in a [Tx], one commit in [Vault.Overlay]. It is not
// safe for concurrent use.
type Overlay struct {
	below func(Path) ([]byte, error)        // nil data = absent
	blob  func(gitstore.ID) ([]byte, error) // of a deposit
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
			data, err := f.content(p, o.blob)
			return data, Hash(f.id.String()), err
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

// Deposit writes contents into the repository, durable and with nothing that
// leads to them, and returns their hashes in the same order. What
// [Tx.PutDeposited] stages need not be in memory: one commit can so bring more
// than fits there. git collects a deposit that no commit takes up, after two
// weeks unless somebody asks it to hurry.
func (v *Vault) Deposit(ctx context.Context, contents [][]byte) (out []Hash, err error) {
	for _, data := range contents {
		if len(data) > MaxFileSize {
			return nil, fmt.Errorf("deposit: %w (%d bytes, at most %d)", ErrTooLarge, len(data), int64(MaxFileSize))
		}
	}
	err = v.locked(ctx, func(ctx context.Context) error {
		if err := v.recoverLocked(ctx); err != nil {
			return err
		}
		out, err = v.deposit(contents)
		return err
	})
	return out, v.writeError(err)
}

func (v *Vault) deposit(contents [][]byte) (out []Hash, err error) {
	mark, err := v.ensureState()
	if err != nil {
		return nil, err
	}
	objects := v.repo.Stage()
	for _, data := range contents {
		out = append(out, Hash(objects.PutBlob(data).String()))
	}
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	flush, err := objects.Flush(v.tmp("."), &batch)
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

// PutDeposited is [Tx.Put] of what a [Vault.Deposit] has written and given the
// hash h, for transcripts and what stands beside them.
func (t *Tx) PutDeposited(p Path, was, h Hash) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	id, err := gitstore.ParseID(string(h))
	if err != nil || ClassOf(p) != ClassSession {
		return fmt.Errorf("%q: %w: only transcripts are deposited", p, errors.Join(ErrInvalid, err))
	}
	t.layer.files[p] = pendingFile{deposited: true, id: id, mode: gitstore.ModeFile}
	return nil
}

// withContent is f with its bytes, of which a deposit has not been looked at yet.
func (t *Tx) withContent(p Path, f pendingFile) (pendingFile, error) {
	if !f.deposited {
		return f, nil
	}
	var err error
	if f.data, err = f.content(p, t.objects.Blob); err == nil {
		err = t.rules.check(p, f.data)
	}
	return f, err
}

// content is the bytes of f, which stands at p.
func (f pendingFile) content(p Path, blob func(gitstore.ID) ([]byte, error)) ([]byte, error) {
	if !f.deposited {
		return f.data, nil
	}
	data, err := blob(f.id)
	if err != nil {
		return nil, WithHint(fmt.Errorf("%q: what was written for it is gone: %w", p, err), "git collected it meanwhile; do the same again")
	}
	return data, nil
}
