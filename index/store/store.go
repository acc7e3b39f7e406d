package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stet/index/document"
	"stet/vault/durable"
	"stet/vault/filelock"
)

// A Folder owns the index folder:
//
//	<state dir>/index/lock             kernel lock of the writer, never unlinked
//	<state dir>/index/v8/manifest      see codec.go
//	<state dir>/index/v8/0000002a.seg
//
// Segments never change once a manifest names them. An update or a rebuild writes its
// segments and then replaces the manifest by rename: that is the commit point. Nothing
// is fsynced: every byte is covered by a checksum that is verified before use, of large
// segments once after each start of the system, and all of it can be made again from the
// vault, so a power failure costs a rebuild and an update does not cost a disk flush. A segment that no manifest names is swept by the next writer; a
// reader that loses that race loads again.
type Folder struct {
	Root    *durable.Root // the index folder
	version string        // see versionDir
}

const (
	lockName     = "lock"
	manifestName = "manifest"
	segmentExt   = ".seg"
	dirPerm      = 0o700
	filePerm     = 0o600
)

// versionDir is the folder of this layout and, but for English, language.
func versionDir(lang *document.Language) string { return "v" + strconv.Itoa(schema) + lang.Version() }

func (s *Folder) manifestPath() string { return path.Join(s.version, manifestName) }

func (s *Folder) segmentPath(id uint64) string {
	return path.Join(s.version, fmt.Sprintf("%08x%s", id, segmentExt))
}

// OpenFolder opens the index folder; with make set it makes a missing one.
func OpenFolder(dir, version string, hook durable.Hook, make bool) (*Folder, error) {
	root, err := durable.OpenRoot(dir, hook)
	if err == nil {
		return &Folder{Root: root, version: version}, nil
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && make {
		cleared, cerr := clearWay(dir, hook)
		if missing = cleared; cerr != nil {
			return nil, fmt.Errorf("make search index: %w", cerr)
		}
	}
	if !missing {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	if !make {
		return nil, ErrNone
	}
	if err = durable.MakeFolder("index.mkdir", dir, dirPerm, hook); err == nil {
		root, err = durable.OpenRoot(dir, hook)
	}
	if err != nil {
		return nil, fmt.Errorf("make search index: %w", err)
	}
	return &Folder{Root: root, version: version}, nil
}

// clearWay removes a file that stands where the index folder, or one above it
// in the state folder, belongs. Nobody keeps anything there but stet.
func clearWay(dir string, hook durable.Hook) (cleared bool, err error) {
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			return false, err
		}
		above, err := durable.OpenRoot(filepath.Dir(at), hook)
		if err != nil {
			return false, err
		}
		err = errors.Join(above.Remove("index.clear", filepath.Base(at)), above.Close())
		return err == nil, err
	}
	return false, nil
}

// Close lets go of the folder.
func (s *Folder) Close() error { return s.Root.Close() }

// lock takes the writer lock. Only who was told to write waits for it; a
// search that finds it held answers from memory instead.
func (s *Folder) lock(ctx context.Context, wait time.Duration) (*filelock.Lock, error) {
	return filelock.Acquire(ctx, s.Root, lockName, filelock.Options{Wait: wait})
}

// rebuildWait bounds how long a rebuild that a person asked for waits for
// another writer: catching up takes milliseconds, and another rebuild makes
// this one pointless.
const rebuildWait = 10 * time.Second

// stamp tells cheaply whether a manifest file is the one that was read.
type stamp struct {
	head  [headBytes]byte // holds the checksum
	size  int64
	mtime int64
}

func (s *Folder) stamp() (at stamp, err error) {
	f, info, err := s.Root.OpenRegular(s.manifestPath())
	if err != nil {
		return at, unopened(err)
	}
	at.size, at.mtime = info.Size(), info.ModTime().UnixNano()
	if _, err = io.ReadFull(f, at.head[:]); err != nil {
		err = fmt.Errorf("manifest: %w: %w", ErrDamaged, err)
	}
	return at, errors.Join(err, f.Close())
}

// unopened says what it means that the manifest cannot be opened.
func unopened(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNone
	}
	return fmt.Errorf("search index: %w: %w", ErrDamaged, err)
}

// load reads the published manifest: [ErrNone] without one.
func (s *Folder) load() (m *manifest, at stamp, err error) {
	data, info, err := s.Root.ReadFile(s.manifestPath(), 0)
	if err != nil {
		return nil, at, unopened(err)
	}
	at.size, at.mtime = info.Size(), info.ModTime().UnixNano()
	copy(at.head[:], data)
	m, err = decodeManifest(data)
	return m, at, err
}

// writeSegment writes a segment file that nothing names yet.
func (s *Folder) writeSegment(id uint64, data []byte) error {
	return s.createAnew("index.segment", s.segmentPath(id), data)
}

// createAnew makes a file, also where a writer that died before its commit point left one.
func (s *Folder) createAnew(label, p string, data []byte) error {
	err := s.Root.Create(label, p, data, filePerm)
	if errors.Is(err, fs.ErrExist) {
		if err = s.Root.Remove(label, p); err == nil {
			err = s.Root.Create(label, p, data, filePerm)
		}
	}
	return err
}

// publish replaces the manifest: the commit point of an update.
func (s *Folder) publish(m *manifest) (stamp, error) {
	tmp := s.manifestPath() + ".tmp"
	err := s.createAnew("index.manifest", tmp, encodeManifest(m))
	if err == nil {
		err = s.Root.Rename("index.manifest", tmp, s.manifestPath())
	}
	if err != nil {
		return stamp{}, err
	}
	return s.stamp()
}

// unusedSegment is a number above that of every segment file, named by a manifest or not.
func (s *Folder) unusedSegment() (next uint64, err error) {
	if err := s.Root.MkdirAllLazy("index.mkdir", s.version, dirPerm); err != nil {
		return 0, err
	}
	entries, err := s.Root.ReadDir(s.version)
	for _, e := range entries {
		if id, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), segmentExt), 16, 64); err == nil {
			next = max(next, id+1)
		}
	}
	return next, err
}

// sweep removes what m, the published manifest, does not name: segments of writers that
// died, temporary files, and what was made for another layout or language. Only the
// holder of the lock may call it. What cannot be removed stays for the next time.
func (s *Folder) sweep(m *manifest) error {
	keep := map[string]bool{manifestName: true}
	for _, seg := range m.segs {
		keep[path.Base(s.segmentPath(seg.id))] = true
	}
	inside, err := s.Root.ReadDir(s.version)
	beside, berr := s.Root.ReadDir(".")
	errs := []error{err, berr}
	for _, e := range inside {
		if !keep[e.Name()] {
			errs = append(errs, s.Root.RemoveAll("index.sweep", path.Join(s.version, e.Name())))
		}
	}
	for _, e := range beside {
		if n := e.Name(); n != s.version && len(n) > 1 && n[0] == 'v' && '0' <= n[1] && n[1] <= '9' {
			errs = append(errs, s.Root.RemoveAll("index.sweep", n))
		}
	}
	return errors.Join(errs...)
}

// Alive reports whether the folder is still the one that was opened: a person
// may delete the index at any time.
func (s *Folder) Alive() bool {
	held, err := s.Root.Lstat(".")
	if err != nil {
		return false
	}
	now, err := os.Lstat(s.Root.Abs("."))
	return err == nil && os.SameFile(held, now)
}
