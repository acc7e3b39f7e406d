package store

import (
	"errors"
	"fmt"
	"path"
	"sync"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// ErrIgnored reports a rule of the repository by which git, and stet, pass over a path.
var ErrIgnored = errors.New("hidden by an ignore rule")

// An UntrackedError is an [ErrIgnored] for a path that git ignores and does not hold. What a transaction does to a
// file that Stands there would commit it first.
type UntrackedError struct {
	Path Path
	Rule gitstore.Rule
	// Stands is set where a file is there.
	Stands bool
}

func (e *UntrackedError) Error() string {
	return fmt.Sprintf("path %q: %v: %s:%d: %s", e.Path, ErrIgnored, e.Rule.File, e.Rule.Line, e.Rule.Text)
}

// Unwrap makes errors.Is(err, ErrIgnored) true.
func (e *UntrackedError) Unwrap() error { return ErrIgnored }

// tracked is what HEAD and the git index hold: no rule hides that, as in git. Both are
// read when a rule first hides something that a walk asks for. What cannot be read of
// them counts as holding nothing, because files are found in a damaged repository too.
type tracked struct {
	store *Store

	mu      sync.Mutex
	read    bool
	index   *gitindex.File
	objects *gitstore.Objects
	tree    gitstore.ID
}

func (t *tracked) file(p Path) bool {
	return t.holds(p, func(name string, in gitstore.TreeEntry) bool {
		_, ok := t.index.Entry(name)
		return ok || IsFile(in.Mode) && !in.ID.IsZero()
	})
}

func (t *tracked) folder(p Path) bool {
	return t.holds(p, func(name string, in gitstore.TreeEntry) bool {
		for range t.index.Under(name + "/") {
			return true
		}
		return in.IsDir()
	})
}

func (t *tracked) holds(p Path, is func(name string, in gitstore.TreeEntry) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.read {
		t.load()
	}
	name := t.store.GitPath(p)
	in, _, err := t.objects.Lookup(t.tree, name)
	if err != nil {
		in = gitstore.TreeEntry{}
	}
	return is(name, in)
}

func (t *tracked) load() {
	t.read, t.index, t.objects = true, gitindex.Empty(), t.store.repo.Stage()
	head, err := t.store.repo.Head()
	if err != nil {
		return
	}
	if index, _, err := t.store.repo.ReadGitIndex(head.ID); err == nil {
		t.index = index
	}
	if tree, err := t.objects.TreeOf(head.ID); err == nil {
		t.tree = tree
	}
}

// checkIgnored refuses new files at paths that git ignores: nothing would find them
// again. Files that stand there outside git are neither written nor removed: their bytes
// would be committed first. The transaction's own ignore files count.
func (t *Tx) checkIgnored() error {
	known := map[string]*gitstore.Ignore{}
	for _, g := range t.Groups {
		for _, p := range g.Paths {
			at := t.touched[p]
			if g.Files[p].Remove && !at.Disk.Exists || at.inGit || !at.InHead.ID.IsZero() {
				continue
			}
			in, err := t.rulesIn(known, p.Dir())
			if err != nil {
				return err
			}
			if rule, hidden := in.Match(t.store.GitPath(p), false); hidden {
				err := &UntrackedError{Path: p, Rule: rule, Stands: at.Disk.Exists}
				return WithHint(err, "remove or narrow that rule, or choose another place; nothing was written")
			}
		}
	}
	return nil
}

// rulesIn are the ignore rules that will hold in a folder once the transaction is committed.
func (t *Tx) rulesIn(known map[string]*gitstore.Ignore, dir string) (in *gitstore.Ignore, err error) {
	if in = known[dir]; in != nil {
		return in, nil
	}
	full := trimSlash(t.store.GitPath(Path(dir)))
	if dir == "." {
		full = trimSlash(t.store.prefix)
		in, _, err = t.store.IgnoreRules()
	} else {
		in, err = t.rulesIn(known, path.Dir(dir))
	}
	if err != nil {
		return nil, err
	}
	if rule, hidden := in.Match(full, true); hidden && full != "" {
		in = in.Everything(rule)
	}
	file := Path(path.Join(dir, ".gitignore"))
	data, err := readSmall(t.store.tree, string(file))
	if staged, ok := t.layer.kept[file]; ok {
		data = staged.Data
	}
	known[dir] = in.In(full, data)
	return known[dir], err
}
