package durabletest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"stet/vault/durable"
)

// A Disk follows the steps made in some folders and tells what may be left of
// them when the power fails. It models inodes as POSIX does: fsync of a file
// keeps the bytes of the inode and no name; fsync of a folder keeps its names
// and no bytes.
//
// It believes that an announced step happens, so a run that meets real errors
// of the file system (other than names that exist, are missing or are not
// empty, which it knows) is followed wrongly; [Disk.Check] finds that out, and
// writes that bypass package durable. Time stamps, owners, FIFOs, sockets and
// devices are not modelled, nor are linked git worktrees, whose files hold the
// absolute path of the original folder. It is safe for concurrent use.
type Disk struct {
	mu       sync.Mutex
	roots    []root
	steps    []StepInfo
	epochs   []*epoch
	sabotage func(durable.Step) bool
}

// A root is one followed folder, by the name it was given and by its real one.
type root struct{ dir, real string }

// An epoch is the time between two moments at which everything on the disk is
// taken to be durable.
type epoch struct {
	start int // steps recorded before it
	tops  map[string]*inode
	names []*nameEffect
	ids   int
}

// NewDisk reads the folders, which must not contain one another, and takes
// them as they are to be on stable storage.
func NewDisk(dirs ...string) (*Disk, error) {
	d := &Disk{}
	for _, dir := range dirs {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		real, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return nil, err
		}
		for _, other := range d.roots {
			if within(real, other.real) || within(other.real, real) {
				return nil, fmt.Errorf("simulate disk: %q and %q contain one another", abs, other.dir)
			}
		}
		d.roots = append(d.roots, root{dir: abs, real: real})
	}
	if err := d.Resync(); err != nil {
		return nil, err
	}
	return d, nil
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+string(filepath.Separator))
}

// Resync reads the folders again and takes what they hold now to be on stable
// storage. It folds in what others changed without steps, such as git or a test
// that plays a person with an editor.
func (d *Disk) Resync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := &epoch{start: len(d.steps), tops: make(map[string]*inode, len(d.roots))}
	for _, r := range d.roots {
		top, err := e.scan(r.real)
		if err != nil {
			return fmt.Errorf("read %q: %w", r.dir, err)
		}
		e.tops[r.dir] = top
	}
	d.epochs = append(d.epochs, e)
	return nil
}

// Wrap returns the hook that records the steps which next (nil lets all happen)
// lets happen. Of a write that next cuts short, the half that is written is
// recorded.
func (d *Disk) Wrap(next durable.Hook) durable.Hook {
	return func(s durable.Step) error {
		err := ask(next, s)
		switch {
		case err == nil:
			d.record(s)
		case s.Op == durable.OpWrite && errors.Is(err, durable.ErrShortWrite):
			s.Data = s.Data[:len(s.Data)/2]
			d.record(s)
		}
		return err
	}
}

// Sabotage makes the fsyncs of files and folders that match (which sees steps
// without data) count for nothing, in steps recorded before and after this call
// alike, so that one run serves every sabotage. nil ends it.
func (d *Disk) Sabotage(match func(durable.Step) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sabotage = match
}

// Len is the number of steps recorded. Steps outside the folders are not.
func (d *Disk) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.steps)
}

// Steps returns a copy of what was recorded, in order.
func (d *Disk) Steps() []StepInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]StepInfo(nil), d.steps...)
}

// lastSync is the last step before n that brought i to stable storage, or -1.
func (d *Disk) lastSync(i *inode, n int) int {
	for k := len(i.syncs) - 1; k >= 0; k-- {
		at := i.syncs[k]
		if at >= n {
			continue
		}
		s := d.steps[at]
		if d.sabotage == nil || !d.sabotage(durable.Step{Op: s.Op, Label: s.Label, Path: s.Path, To: s.To}) {
			return at
		}
	}
	return -1
}

func (d *Disk) record(s durable.Step) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.epochs[len(d.epochs)-1]
	from, fromIn := d.find(e, s.Path)
	to, toIn := d.find(e, s.To)
	if !fromIn && !toIn {
		return
	}
	e.apply(len(d.steps), s, from, to)
	d.steps = append(d.steps, infoOf(s))
}

// find says which followed folder p lies in and where.
func (d *Disk) find(e *epoch, p string) (place, bool) {
	for _, r := range d.roots {
		for _, dir := range []string{r.dir, r.real} {
			if p != "" && within(p, dir) {
				rel, err := filepath.Rel(dir, p)
				if err == nil {
					return place{top: e.tops[r.dir], real: r.real, rel: filepath.ToSlash(rel)}, true
				}
			}
		}
	}
	return place{}, false
}
