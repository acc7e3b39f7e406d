package durabletest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"stet/vault/durable"
)

// An inode is a file, folder or symbolic link, whatever its names are.
type inode struct {
	id    int
	kind  fs.FileMode // type bits
	perm  fs.FileMode // when the epoch began, or as it was made
	exact bool        // perm was read from a disk, so no umask applies
	base  []byte      // contents when the epoch began; the target of a link
	log   []dataEffect
	syncs []int // steps that fsynced it
	born  map[string]*inode
	live  map[string]*inode
}

// A dataEffect is a write, truncate or chmod of one inode.
type dataEffect struct {
	step int
	op   durable.Op
	data []byte
	off  int64
	perm fs.FileMode
}

// A nameEffect changes one or two names in one atomic step.
type nameEffect struct {
	step int
	sets []assign
}

// An assign gives a name in a folder to an inode, or to nobody.
type assign struct {
	key
	to *inode
}

type key struct {
	dir  *inode
	name string
}

// A place is a path inside a followed folder; the zero place is outside.
type place struct {
	top  *inode
	real string // of the followed folder
	rel  string // slash-separated
}

func (e *epoch) node(kind, perm fs.FileMode) *inode {
	e.ids++
	i := &inode{id: e.ids, kind: kind, perm: perm}
	if kind == fs.ModeDir {
		i.born, i.live = map[string]*inode{}, map[string]*inode{}
	}
	return i
}

// sameFile finds the inode of a file with several names. os.SameFile has no
// key to look up by, so candidates are gathered by size and time first.
type sameFile map[fileStamp][]seenFile

type fileStamp struct {
	size int64
	time time.Time
}

type seenFile struct {
	info fs.FileInfo
	node *inode
}

func (e *epoch) scan(dir string) (*inode, error) {
	return e.scanDir(dir, sameFile{})
}

func (e *epoch) scanDir(dir string, seen sameFile) (*inode, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	d := e.node(fs.ModeDir, info.Mode().Perm())
	d.exact = true
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		name := filepath.Join(dir, entry.Name())
		var i *inode
		if entry.IsDir() {
			i, err = e.scanDir(name, seen)
		} else {
			i, err = e.scanFile(name, seen)
		}
		if err != nil {
			return nil, err
		}
		if i != nil {
			d.born[entry.Name()], d.live[entry.Name()] = i, i
		}
	}
	return d, nil
}

// scanFile returns nil for what is not modelled.
func (e *epoch) scanFile(name string, seen sameFile) (*inode, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		target, err := os.Readlink(name)
		i := e.node(fs.ModeSymlink, 0)
		i.base = []byte(target)
		return i, err
	case 0:
	default:
		return nil, nil
	}
	stamp := fileStamp{info.Size(), info.ModTime()}
	for _, other := range seen[stamp] {
		if os.SameFile(info, other.info) {
			return other.node, nil
		}
	}
	i := e.node(0, info.Mode().Perm())
	i.exact = true
	i.base, err = os.ReadFile(name)
	seen[stamp] = append(seen[stamp], seenFile{info, i})
	return i, err
}

// maxLinks bounds the symbolic links followed on one path, as Linux does.
const maxLinks = 40

// resolve finds the folder and name that p leads to now. Symbolic links on the
// way are followed inside the folder, and the last one too when follow is set.
// What the real disk has and the model does not, somebody made without a step:
// it enters the model as made just now and not synced.
func (e *epoch) resolve(step int, p place, follow bool) (k key, ok bool) {
	if p.top == nil {
		return key{}, false
	}
	rel := path.Clean(p.rel)
	for range maxLinks {
		dir, parts := p.top, strings.Split(rel, "/")
		jump := ""
		for n, name := range parts {
			last := n == len(parts)-1
			k = key{dir, name}
			i := dir.live[name]
			if i == nil && !last {
				i = e.stray(step, k, filepath.Join(p.real, filepath.Join(parts[:n+1]...)))
			}
			if i != nil && i.kind == fs.ModeSymlink && (!last || follow) {
				jump = path.Join(append([]string{path.Join(parts[:n]...), string(i.base)}, parts[n+1:]...)...)
				break
			}
			if last {
				return k, true
			}
			if i == nil || i.kind != fs.ModeDir {
				return key{}, false
			}
			dir = i
		}
		if rel = jump; !fs.ValidPath(rel) {
			return key{}, false
		}
	}
	return key{}, false
}

// stray brings something into the model that was made without a step.
func (e *epoch) stray(step int, k key, real string) *inode {
	info, err := os.Lstat(real)
	if err != nil {
		return nil
	}
	var i *inode
	if info.IsDir() {
		i = e.node(fs.ModeDir, info.Mode().Perm())
	} else if i, err = e.scanFile(real, sameFile{}); err != nil || i == nil {
		return nil
	}
	step-- // it was there before the step that met it
	if i.kind == 0 {
		i.log, i.base = []dataEffect{{step: step, op: durable.OpWrite, data: i.base}}, nil
	}
	e.set(step, assign{k, i})
	return i
}

// existing is resolve for a path that must name something.
func (e *epoch) existing(step int, p place, follow bool) (key, *inode) {
	if p.top != nil && path.Clean(p.rel) == "." {
		return key{}, p.top
	}
	k, ok := e.resolve(step, p, follow)
	if !ok {
		return key{}, nil
	}
	i := k.dir.live[k.name]
	if i == nil {
		i = e.stray(step, k, filepath.Join(p.real, filepath.FromSlash(p.rel)))
	}
	return k, i
}

func (e *epoch) set(step int, sets ...assign) {
	for _, a := range sets {
		if a.to == nil {
			delete(a.dir.live, a.name)
		} else {
			a.dir.live[a.name] = a.to
		}
	}
	e.names = append(e.names, &nameEffect{step: step, sets: sets})
}

// apply makes step number n happen in the model. from and to are where its
// paths lie.
func (e *epoch) apply(n int, s durable.Step, from, to place) {
	switch s.Op {
	case durable.OpCreate, durable.OpMkdir, durable.OpLock:
		e.make(n, s, from)
	case durable.OpWrite, durable.OpTruncate, durable.OpChmod:
		if _, i := e.existing(n, from, true); i != nil {
			data := append([]byte(nil), s.Data...)
			i.log = append(i.log, dataEffect{step: n, op: s.Op, data: data, off: s.Offset, perm: s.Perm})
		}
	case durable.OpSync, durable.OpSyncDir:
		if _, i := e.existing(n, from, true); i != nil {
			i.syncs = append(i.syncs, n)
		}
	case durable.OpRename, durable.OpLink:
		e.move(n, s, from, to)
	case durable.OpExchange:
		a, i := e.existing(n, from, false)
		b, j := e.existing(n, to, false)
		if i != nil && j != nil && a.dir != nil && b.dir != nil {
			e.set(n, assign{a, j}, assign{b, i})
		}
	case durable.OpRemove:
		k, i := e.existing(n, from, false)
		if i != nil && k.dir != nil && len(i.live) == 0 {
			e.set(n, assign{k, nil})
		}
	default:
		panic("durabletest: unknown operation " + string(s.Op))
	}
}

// lockPerm is what package filelock makes its files with.
const lockPerm = 0o600

func (e *epoch) make(n int, s durable.Step, at place) {
	k, ok := e.resolve(n, at, s.Op != durable.OpMkdir)
	if !ok || k.dir.live[k.name] != nil {
		return
	}
	kind, perm := fs.FileMode(0), s.Perm
	switch s.Op {
	case durable.OpMkdir:
		kind = fs.ModeDir
	case durable.OpLock:
		perm = lockPerm
	}
	e.set(n, assign{k, e.node(kind, perm)})
}

func (e *epoch) move(n int, s durable.Step, from, to place) {
	src, i := e.existing(n, from, false)
	if from.top == nil { // from a folder that is not followed: whole and synced
		i, _ = e.scanFile(s.Path, sameFile{}) // an error means that the step fails, too
	}
	dst, ok := e.resolve(n, to, false)
	if i == nil || to.top != nil && !ok {
		return
	}
	var sets []assign
	if to.top != nil {
		old := dst.dir.live[dst.name]
		switch {
		case old == i, old != nil && (s.Exclusive || s.Op == durable.OpLink):
			return
		case old != nil && (old.kind == fs.ModeDir) != (i.kind == fs.ModeDir), old != nil && len(old.live) > 0:
			return
		}
		sets = append(sets, assign{dst, i})
	}
	if s.Op == durable.OpRename && src.dir != nil {
		sets = append([]assign{{src, nil}}, sets...)
	}
	if len(sets) > 0 {
		e.set(n, sets...)
	}
}
