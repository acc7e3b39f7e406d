package durable

import (
	"errors"
	"io/fs"
	"os"
)

// A Batch makes several new files durable together. Each is fsynced, as by
// [Root.CreateSync], but only after all of them are written and their write-back
// has begun: a journaling file system then has one journal commit to wait for
// instead of one a file. It is not safe for concurrent use.
type Batch struct{ files []batchFile }

type batchFile struct {
	root  *Root
	label string
	path  string
	file  *os.File
}

// batchOpen bounds the files a batch keeps open: well below the 256 descriptors
// that the strictest systems give a process. A larger batch is synced in parts.
const batchOpen = 64

// Create makes p with data and permissions; a leftover of that name is
// replaced. Neither contents nor name are durable before [Batch.Sync] and
// [Root.SyncDir].
func (b *Batch) Create(r *Root, label, p string, data []byte, perm fs.FileMode) error {
	step := Step{Op: OpCreate, Label: label, Path: r.Abs(p), Perm: perm.Perm()}
	root, name := r.at(p)
	open := func() (f *os.File, err error) {
		if done, err := r.ask(step); done {
			return nil, err
		}
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openNonblock, perm.Perm())
	}
	f, err := open()
	if errors.Is(err, fs.ErrExist) {
		if err := r.Remove(label, p); err != nil {
			return err
		}
		f, err = open()
	}
	if f == nil {
		return err
	}
	if err := r.write(f, label, step.Path, data, 0); err != nil {
		return errors.Join(err, f.Close(), r.Remove(label, p))
	}
	return b.add(batchFile{r, label, p, f})
}

// Overwrite replaces the contents of p in place, as [Root.Overwrite] does, and
// syncs them with the batch. A file that it has to make is durable, with its
// name, at once.
func (b *Batch) Overwrite(r *Root, label, p string, data []byte, perm fs.FileMode) error {
	if !r.Exists(p) {
		return r.Overwrite(label, p, data, perm, true)
	}
	f, err := r.overwrite(label, p, data, perm)
	if err != nil {
		return err
	}
	return b.add(batchFile{r, label, p, f})
}

// Existing syncs the contents of p as it is with the batch, where [SyncsReaders].
func (b *Batch) Existing(r *Root, label, p string) error {
	f, _, err := r.OpenRegular(p)
	if err != nil {
		return err
	}
	return b.add(batchFile{r, label, p, f})
}

func (b *Batch) add(f batchFile) error {
	b.files = append(b.files, f)
	if len(b.files) >= batchOpen {
		return b.Sync()
	}
	return nil
}

// Sync makes the contents of every file durable and closes them all, also when
// it fails.
func (b *Batch) Sync() error {
	for _, f := range b.files {
		startWriteback(f.file)
	}
	var errs []error
	for _, f := range b.files {
		if len(errs) == 0 {
			if err := f.root.step(Step{Op: OpSync, Label: f.label, Path: f.root.Abs(f.path)}, f.file.Sync); err != nil {
				errs = append(errs, err)
			}
		}
		if err := f.file.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	b.files = nil
	return errors.Join(errs...)
}

// Close gives up what was not synced.
func (b *Batch) Close() error {
	var errs []error
	for _, f := range b.files {
		errs = append(errs, f.file.Close())
	}
	b.files = nil
	return errors.Join(errs...)
}
