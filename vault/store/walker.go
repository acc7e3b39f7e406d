package store

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// walker lists a tree with a few goroutines, one folder at a time each.
type walker struct {
	store  *Store
	ctx    context.Context
	filter Filter

	mu    sync.Mutex
	dirs  []Path // the folders listed, without the one the walk began in
	errs  []error
	shut  []Problem // folders that may not be listed
	slots chan struct{}
	told  func(Path, error) // of folders that may not be listed; may be nil
	git   *tracked
	wg    sync.WaitGroup
}

// walkers bounds the folders listed at once: listing waits for the kernel, so
// a few more than the usual two to eight processors pay.
const walkers = 8

func (w *walker) run(under Path) ([]File, error) {
	if _, err := w.store.tree.Lstat(string(under)); under != "" && Absent(err) {
		return nil, nil
	}
	ignore, err := w.store.repo.Ignore()
	if err != nil {
		return nil, err
	}
	dir := "."
	if under != "" {
		dir = string(under)
	}
	if ignore, err = w.store.above(ignore, dir); err != nil {
		return nil, err
	}
	w.slots = make(chan struct{}, walkers)
	found := &listing{}
	w.list(dir, ignore, found)
	w.wg.Wait()
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}
	if err := context.Cause(w.ctx); err != nil {
		return nil, err
	}
	return found.flat(), nil
}

// above loads the ignore files between the working tree's top and dir, which
// itself is read by list.
func (s *Store) above(ignore *gitstore.Ignore, dir string) (*gitstore.Ignore, error) {
	full := trimSlash(s.prefix)
	if dir != "." {
		full = path.Join(full, dir)
	}
	at := ""
	for part := range strings.SplitSeq(full, "/") {
		if full == "" {
			break
		}
		data, err := readSmall(s.top, path.Join(at, ".gitignore"))
		if err != nil {
			return nil, err
		}
		ignore = ignore.In(at, data)
		at = path.Join(at, part)
	}
	return ignore, nil
}

// readSmall reads an ignore file; what is absent or not a file has no rules.
func readSmall(root *durable.Root, p string) ([]byte, error) {
	data, _, err := root.ReadFile(p, 1<<20)
	if Absent(err) || errors.Is(err, durable.ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return data, err
}

func (w *walker) list(dir string, ignore *gitstore.Ignore, into *listing) {
	if w.ctx.Err() != nil {
		return
	}
	var below []func()
	err := w.store.tree.Entries(dir, func(in []durable.Entry) { below = w.sift(dir, in, ignore, into) })
	switch {
	case err == nil:
		for _, descend := range below {
			descend()
		}
	case Absent(err): // gone since its parent was listed
	case errors.Is(err, fs.ErrPermission) && dir != ".":
		w.pass(Path(dir), err)
	default:
		w.fail(err)
	}
}

// sift takes up the files of folder dir and returns how to go on to its folders.
func (w *walker) sift(dir string, in []durable.Entry, ignore *gitstore.Ignore, into *listing,
) (below []func()) {
	if dir != "." && w.store.nested(in, dir) {
		w.passed(Path(dir), false)
		return nil
	}
	at := ""
	if dir != "." {
		at = dir + "/"
	}
	ignore, err := w.rules(at, in, ignore)
	if err != nil {
		w.fail(err)
		return nil
	}
	if slices.ContainsFunc(in, func(e durable.Entry) bool { return e.IsDir() }) {
		slices.SortFunc(in, func(a, b durable.Entry) int { return byPath(a.Name, a.IsDir(), b.Name, b.IsDir()) })
	}
	into.files = slices.Grow(into.files, len(in))
	rules, paths := ignore.Below(trimSlash(w.store.prefix+at)), joined(at, in)
	for i := range in {
		e := &in[i]
		p := Path(paths[:len(at)+len(e.Name)])
		paths = paths[len(p):]
		if simpleName(e.Name) && len(p) <= 4096 {
			// Below a folder that was parsed nothing is left to check.
		} else if _, err := ParsePath(string(p)); err != nil {
			if e.Name != ".git" {
				w.pass(p, err)
				w.passed(p, false)
			}
			continue
		}
		if e.IsDir() {
			if in, ok := w.enters(ignore, rules, p); ok {
				sub := into.folder()
				below = append(below, func() { w.descend(string(p), in, sub) })
			} else if w.filter.Enter(p) {
				w.passed(p, true)
			}
			continue
		}
		keep := e.Regular() && w.filter.Keep(p) && !strings.HasPrefix(e.Name, TempPrefix)
		switch {
		case e.Regular() && !keep:
		case !w.sees(rules, p, e.Name):
			w.passed(p, true)
		case keep:
			into.files = append(into.files, fileOf(p, e))
		default:
			w.passed(p, false)
		}
	}
	if dir != "." {
		w.mu.Lock()
		w.dirs = append(w.dirs, Path(dir))
		w.mu.Unlock()
	}
	return below
}

// joined is at and a name, for every name: the paths share one piece of memory.
func joined(at string, in []durable.Entry) string {
	size := 0
	for i := range in {
		size += len(at) + len(in[i].Name)
	}
	var out strings.Builder
	out.Grow(size)
	for i := range in {
		out.WriteString(at)
		out.WriteString(in[i].Name)
	}
	return out.String()
}

// sees reports that the ignore rules of its folder do not keep the file p with that name out of sight.
func (w *walker) sees(rules gitstore.Below, p Path, name string) bool {
	_, hidden := rules.Match(name, false)
	return !hidden || w.filter.Shown != nil && w.filter.Shown(p) || w.git.file(p)
}

// enters reports whether the walk goes into the folder p, and the rules that hold there.
// In a folder that is ignored as a whole only what git tracks is seen.
func (w *walker) enters(ignore *gitstore.Ignore, rules gitstore.Below, p Path) (*gitstore.Ignore, bool) {
	if !w.filter.Enter(p) {
		return nil, false
	}
	rule, hidden := rules.Match(p.Base(), true)
	switch {
	case !hidden, w.filter.Shown != nil && w.filter.Shown(p):
		return ignore, true
	case w.git.folder(p):
		return ignore.Everything(rule), true
	}
	return nil, false
}

// rules adds the ignore file of the folder with that prefix, if there is one in it.
func (w *walker) rules(at string, in []durable.Entry, ignore *gitstore.Ignore) (*gitstore.Ignore, error) {
	byName := func(e durable.Entry, name string) int { return strings.Compare(e.Name, name) }
	i, ok := slices.BinarySearchFunc(in, ".gitignore", byName)
	if !ok || !in[i].Regular() {
		return ignore, nil
	}
	data, err := readSmall(w.store.tree, at+".gitignore")
	if err != nil {
		return nil, err
	}
	return ignore.In(trimSlash(w.store.prefix+at), data), nil
}

// descend lists a folder in a goroutine of its own while there is a free slot,
// else at once.
func (w *walker) descend(dir string, ignore *gitstore.Ignore, into *listing) {
	select {
	case w.slots <- struct{}{}:
		w.wg.Go(func() {
			defer func() { <-w.slots }()
			w.list(dir, ignore, into)
		})
	default:
		w.list(dir, ignore, into)
	}
}

func (w *walker) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

// pass notes a folder that this user may not read: what is in it is neither
// found nor taken for gone.
func (w *walker) pass(dir Path, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told != nil && errors.Is(err, fs.ErrPermission) {
		w.told(dir, err)
	}
	w.shut = append(w.shut, Problem{ID: "unreadable", Path: Path(strings.ToValidUTF8(string(dir), "\ufffd")),
		Text: err.Error(), Hint: "its files are left as they are and not searched"})
}

func (w *walker) passed(p Path, ignored bool) {
	if w.filter.Passed != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.filter.Passed(p, ignored)
	}
}

// nested reports whether a folder is a repository or a vault of its own.
func (s *Store) nested(in []durable.Entry, dir string) bool {
	for i := range in {
		switch e := &in[i]; {
		case e.Name == ".git":
			return true
		case e.IsDir() && e.Name == s.o.Marker.Dir() && s.tree.Exists(path.Join(dir, string(s.o.Marker))):
			return true
		}
	}
	return false
}

// admits reports whether a walk from the vault's root would list dir, and the
// ignore rules that hold in it.
func (w *walker) admits(dir string) (gitstore.Below, bool, error) {
	ignore, err := w.store.repo.Ignore()
	if err != nil {
		return gitstore.Below{}, false, err
	}
	if ignore, err = w.store.above(ignore, "."); err != nil {
		return gitstore.Below{}, false, err
	}
	at, rules, ok := "", gitstore.Below{}, false
	for part := range strings.SplitSeq(path.Join(".", dir)+"/", "/") {
		data, err := readSmall(w.store.tree, path.Join(at, ".gitignore"))
		if err != nil {
			return gitstore.Below{}, false, err
		}
		in := trimSlash(w.store.prefix + at)
		ignore = ignore.In(in, data)
		rules = ignore.Below(in)
		if part == "" || dir == "." {
			break
		}
		at = path.Join(at, part)
		info, err := w.store.tree.Lstat(at)
		if err != nil || !info.IsDir() {
			return gitstore.Below{}, false, nil
		}
		if ignore, ok = w.enters(ignore, rules, Path(at)); !ok || w.store.isForeign(at) {
			return gitstore.Below{}, false, nil
		}
	}
	return rules, true, nil
}
