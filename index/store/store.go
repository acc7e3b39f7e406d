package store

import (
	"context"
	"errors"
	"fmt"
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
//	<state dir>/index/lock                   kernel lock of the writer, never unlinked
//	<state dir>/index/v1/current             name of the generation and its checksum
//	<state dir>/index/v1/gen-0001/manifest   see codec.go
//	<state dir>/index/v1/gen-0001/0000002a.seg
//
// Segments never change once a manifest names them. An update writes its
// segment and then appends a block to the manifest: that append is the commit
// point. A compaction replaces the manifest by rename, a rebuild writes a new
// generation and replaces current. Nothing is fsynced: every byte is covered
// by a checksum that every process verifies before use, at 100,000 files in 40 ms
// of the 600 that one search takes, and all of it can be made again
// from the vault, so a power failure costs a rebuild and an update does not
// cost a disk flush. A segment that no manifest names is swept by the next
// writer; a reader that loses that race loads again.
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

func (s *Folder) currentPath() string { return path.Join(s.version, "current") }

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
	above, err := nearest(dir, hook)
	if err != nil {
		return nil, fmt.Errorf("make search index: %w", err)
	}
	rel, err := filepath.Rel(above.Dir(), dir)
	if err == nil {
		err = above.MkdirAllLazy("index.mkdir", filepath.ToSlash(rel), dirPerm)
	}
	if err := errors.Join(err, above.Close()); err != nil {
		return nil, fmt.Errorf("make search index: %w", err)
	}
	root, err = durable.OpenRoot(dir, hook)
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

// nearest opens the nearest folder above dir that exists.
func nearest(dir string, hook durable.Hook) (*durable.Root, error) {
	for {
		up := filepath.Dir(dir)
		root, err := durable.OpenRoot(up, hook)
		if err == nil || !errors.Is(err, fs.ErrNotExist) || up == dir {
			return root, err
		}
		dir = up
	}
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

// current is the name of the published generation: [errNone] without one.
func (s *Folder) current() (string, error) {
	b, _, err := s.Root.ReadFile(s.currentPath(), 256)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrNone
	case err != nil:
		return "", fmt.Errorf("search index: %w", err)
	}
	gen, sum, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	if !ok || sum != genSum(gen) || !isGen(gen) {
		return "", fmt.Errorf("search index: current generation: %w", ErrDamaged)
	}
	return gen, nil
}

func genSum(gen string) string { return fmt.Sprintf("%08x", checksum(0, []byte(gen))) }

func genName(n int) string { return fmt.Sprintf("gen-%04d", n) }

func isGen(s string) bool {
	_, err := strconv.ParseUint(strings.TrimPrefix(s, "gen-"), 10, 31)
	return err == nil && strings.HasPrefix(s, "gen-")
}

func (s *Folder) segmentPath(gen string, id uint64) string {
	return path.Join(s.version, gen, fmt.Sprintf("%08x%s", id, segmentExt))
}

func (s *Folder) manifestPath(gen string) string {
	return path.Join(s.version, gen, manifestName)
}

// stamp tells cheaply whether a manifest file is the one that was read.
type stamp struct {
	gen   string
	size  int64
	mtime int64
}

func (s *Folder) stamp() (stamp, error) {
	gen, err := s.current()
	if err != nil {
		return stamp{}, err
	}
	info, err := s.Root.Lstat(s.manifestPath(gen))
	if err != nil {
		return stamp{}, fmt.Errorf("search index: %w: %w", ErrDamaged, err)
	}
	return stamp{gen, info.Size(), info.ModTime().UnixNano()}, nil
}

// load reads the published manifest.
func (s *Folder) load() (*decoded, stamp, error) {
	gen, err := s.current()
	if err != nil {
		return nil, stamp{}, err
	}
	data, info, err := s.Root.ReadFile(s.manifestPath(gen), 0)
	if err != nil {
		return nil, stamp{}, fmt.Errorf("search index: %w: %w", ErrDamaged, err)
	}
	dec, err := decodeManifest(data)
	if err != nil {
		return nil, stamp{}, err
	}
	return dec, stamp{gen, int64(len(data)), info.ModTime().UnixNano()}, nil
}

// loadTail reads what a writer must know of the manifest of gen.
func (s *Folder) loadTail(gen string) (*tail, error) {
	data, _, err := s.Root.ReadFile(s.manifestPath(gen), 0)
	if err != nil {
		return nil, fmt.Errorf("search index: %w: %w", ErrDamaged, err)
	}
	return decodeTail(data)
}

// newGeneration makes the folder of a generation that does not exist yet.
func (s *Folder) newGeneration() (string, error) {
	if err := s.Root.MkdirAllLazy("index.mkdir", s.version, dirPerm); err != nil {
		return "", err
	}
	entries, err := s.Root.ReadDir(s.version)
	if err != nil {
		return "", err
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "gen-")); err == nil {
			last = max(last, n)
		}
	}
	gen := genName(last + 1)
	return gen, s.Root.MkdirAllLazy("index.mkdir", path.Join(s.version, gen), dirPerm)
}

// writeSegment writes a segment file that nothing names yet.
func (s *Folder) writeSegment(gen string, id uint64, data []byte) error {
	p := s.segmentPath(gen, id)
	err := s.Root.Create("index.segment", p, data, filePerm)
	if errors.Is(err, fs.ErrExist) {
		// Left by a writer that died before its commit point.
		if err := s.Root.Remove("index.segment", p); err != nil {
			return err
		}
		err = s.Root.Create("index.segment", p, data, filePerm)
	}
	return err
}

// writeManifest replaces the manifest of gen.
func (s *Folder) writeManifest(gen string, data []byte) error {
	return s.replace("index.manifest", s.manifestPath(gen), data)
}

// appendManifest adds a block: the commit point of an update.
func (s *Folder) appendManifest(gen string, block []byte) error {
	return s.Root.Append("index.delta", s.manifestPath(gen), block, filePerm, false)
}

// publish makes gen the current generation.
func (s *Folder) publish(gen string) error {
	return s.replace("index.current", s.currentPath(), []byte(gen+" "+genSum(gen)+"\n"))
}

func (s *Folder) replace(label, p string, data []byte) error {
	tmp := p + ".tmp"
	if err := s.Root.Remove(label, tmp); err != nil {
		return err
	}
	if err := s.Root.Create(label, tmp, data, filePerm); err != nil {
		return err
	}
	return s.Root.Rename(label, tmp, p)
}

// sweep removes what the published state does not name: segments of writers
// that died, temporary files, generations that were replaced. Only the holder
// of the lock may call it. What cannot be removed stays for the next time.
func (s *Folder) sweep(gen string, m *manifest) error {
	keep := map[string]bool{manifestName: true}
	for _, seg := range m.segs {
		keep[path.Base(s.segmentPath(gen, seg.id))] = true
	}
	errs := []error{
		s.removeExcept(path.Join(s.version, gen), keep),
		s.removeExcept(s.version, map[string]bool{gen: true, "current": true}),
	}
	// What was made for another language serves nobody any more.
	for _, name := range document.Languages() {
		other := versionDir(&document.Language{Name: name})
		if other != s.version && s.Root.Exists(other) {
			errs = append(errs, s.removeExcept(other, nil), s.Root.Remove("index.sweep", other))
		}
	}
	return errors.Join(errs...)
}

func (s *Folder) removeExcept(dir string, keep map[string]bool) error {
	entries, err := s.Root.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if keep[e.Name()] {
			continue
		}
		p := path.Join(dir, e.Name())
		if e.IsDir() {
			errs = append(errs, s.removeExcept(p, nil))
		}
		errs = append(errs, s.Root.Remove("index.sweep", p))
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
	now, err := os.Lstat(s.Root.Dir())
	return err == nil && os.SameFile(held, now)
}
