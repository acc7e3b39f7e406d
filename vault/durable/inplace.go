package durable

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
)

// Overwrite replaces the contents of p in place and fsyncs them when sync is
// set. The change is not atomic: the reader must be able to tell a torn file
// by a checksum. p is made when it does not exist, and then its folder is
// fsynced as well. Shrinking happens after the new bytes are written.
func (r *Root) Overwrite(label, p string, data []byte, perm fs.FileMode, sync bool) (err error) {
	abs, fresh := r.Abs(p), !r.Exists(p)
	if fresh {
		if done, err := r.ask(Step{Op: OpCreate, Label: label, Path: abs, Perm: perm.Perm()}); done {
			return err
		}
	}
	f, err := r.overwrite(label, p, data, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !sync {
		return nil
	}
	if err := r.step(Step{Op: OpSync, Label: label, Path: abs}, f.Sync); err != nil {
		return err
	}
	if fresh {
		return r.SyncDir(label, path.Dir(p))
	}
	return nil
}

// overwrite puts data in the place of p's contents and hands out the file.
func (r *Root) overwrite(label, p string, data []byte, perm fs.FileMode) (*os.File, error) {
	f, err := r.openWritable(p, os.O_WRONLY, perm)
	if err != nil {
		return nil, err
	}
	abs, size := r.Abs(p), int64(len(data))
	err = r.write(f, label, abs, data, 0)
	if err == nil {
		if info, serr := f.Stat(); serr != nil || info.Size() != size {
			cut := Step{Op: OpTruncate, Label: label, Path: abs, Offset: size}
			err = r.step(cut, func() error { return f.Truncate(size) })
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Append adds data to the end of p, making it when needed, in one write, and
// fsyncs it when sync is set. A torn last line of an earlier crash was never
// reported as written and is cut off first, so that it can neither swallow this
// one nor pass for whole. Callers take turns: two appends at once may hit the
// same place.
func (r *Root) Append(label, p string, data []byte, perm fs.FileMode, sync bool) (err error) {
	abs, fresh := r.Abs(p), !r.Exists(p)
	if fresh {
		if done, err := r.ask(Step{Op: OpCreate, Label: label, Path: abs, Perm: perm.Perm()}); done {
			return err
		}
	}
	f, err := r.openWritable(p, os.O_RDWR, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end, err := lastLineEnd(f, info.Size())
	if err != nil {
		return err
	}
	if end < info.Size() {
		cut := Step{Op: OpTruncate, Label: label, Path: abs, Offset: end}
		if err := r.step(cut, func() error { return f.Truncate(end) }); err != nil {
			return err
		}
	}
	if err := r.write(f, label, abs, data, end); err != nil {
		return err
	}
	if !sync {
		return nil
	}
	if err := r.step(Step{Op: OpSync, Label: label, Path: abs}, f.Sync); err != nil {
		return err
	}
	if fresh {
		return r.SyncDir(label, path.Dir(p))
	}
	return nil
}

// lastLineEnd is the offset behind the last newline of a file of this size.
func lastLineEnd(f *os.File, size int64) (int64, error) {
	const step = 4096
	buf := make([]byte, step)
	for end := size; end > 0; end -= min(step, end) {
		from := max(0, end-step)
		n, err := f.ReadAt(buf[:end-from], from)
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
	}
	return 0, nil
}
