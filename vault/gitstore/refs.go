package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Head is where HEAD points.
type Head struct {
	Ref      string // "refs/heads/main", or "HEAD" when detached
	ID       ID     // zero before the first commit
	Detached bool
}

// Branch is the short name of the branch, "" when detached.
func (h Head) Branch() string { return strings.TrimPrefix(h.branchRef(), "refs/heads/") }

func (h Head) branchRef() string {
	if h.Detached {
		return ""
	}
	return h.Ref
}

// symrefDepth is git's own bound on chains of symbolic refs.
const symrefDepth = 5

// Head reads HEAD.
func (r *Repo) Head() (Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := plumbing.HEAD
	for range symrefDepth {
		ref, err := r.reference(name)
		if errors.Is(err, plumbing.ErrReferenceNotFound) && name != plumbing.HEAD {
			return Head{Ref: string(name)}, nil
		}
		if err != nil {
			return Head{}, fmt.Errorf("read %s: %w", name, err)
		}
		if ref.Type() == plumbing.HashReference {
			return Head{Ref: string(name), ID: ID(ref.Hash()), Detached: name == plumbing.HEAD}, nil
		}
		name = ref.Target()
	}
	return Head{}, fmt.Errorf("read HEAD: %w: symbolic refs go too deep", ErrUnsupported)
}

// ReadRef is the value of a full ref name, zero when it does not exist.
func (r *Repo) ReadRef(name string) (ID, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ref, err := r.reference(plumbing.ReferenceName(name))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return ID{}, nil
	}
	if err != nil {
		return ID{}, fmt.Errorf("read %s: %w", name, err)
	}
	return ID(ref.Hash()), nil
}

// reference reads a ref; r.mu is held. The ordinary file is read here, in three
// system calls instead of a dozen, whatever else by go-git.
func (r *Repo) reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	data, _, err := r.root.ReadFile(r.RefPath(string(name)), maxRef)
	text := strings.TrimRight(string(data), " \t\r\n")
	if id, perr := ParseID(text); err == nil && perr == nil && !id.IsZero() {
		return plumbing.NewHashReference(name, plumbing.Hash(id)), nil
	}
	if target, ok := strings.CutPrefix(text, "ref: "); err == nil && ok {
		return plumbing.NewSymbolicReference(name, plumbing.ReferenceName(strings.TrimSpace(target))), nil
	}
	return r.storage.Reference(name)
}

// maxRef bounds a ref's file: a path's length and some more.
const maxRef = 8 << 10

// RefPath is the file of a ref relative to the repository's root: HEAD and its like
// belong to the worktree, and so do three folders (git-worktree(1), "REFS");
// branches belong to all.
func (r *Repo) RefPath(name string) string {
	own := !strings.HasPrefix(name, "refs/")
	for _, folder := range [...]string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		own = own || strings.HasPrefix(name, folder)
	}
	if own {
		return r.Own(name)
	}
	return name
}

// A RefUpdate moves a branch, or HEAD itself when it is detached.
type RefUpdate struct {
	Head     Head // as it was read; Head.ID is what the ref must still hold
	New      ID
	By       Signature
	When     time.Time
	Message  string // one line for the reflog
	TempPath string // a file that holds New and a newline
}

// PublishRef moves the ref. The caller holds the ref's lock file, so the
// compare and the rename cannot be parted by any process that honours git's
// protocol. It fails with [ErrMoved]. This rename is the commit point.
func (r *Repo) PublishRef(u RefUpdate) error {
	now, err := r.ReadRef(u.Head.Ref)
	if err != nil {
		return err
	}
	if now != u.Head.ID {
		return fmt.Errorf("%s: %w", u.Head.Ref, ErrMoved)
	}
	file := r.RefPath(u.Head.Ref)
	// The lines go first: a crash in between leaves a reflog line for a commit
	// that exists but was not published, which is harmless and true to git.
	if err := r.appendReflog(u); err != nil {
		return err
	}
	return r.root.Rename("ref", u.TempPath, file)
}

// SyncFolders makes the names in folder dir, and of dir and those above it,
// durable. Folders that do not exist are passed over.
func (r *Repo) SyncFolders(label, dir string) error {
	for ; ; dir = path.Dir(dir) {
		if err := r.root.SyncDir(label, dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir == "." {
			return nil
		}
	}
}

// appendReflog writes the lines git would, unless core.logAllRefUpdates is
// off and no log exists.
func (r *Repo) appendReflog(u RefUpdate) error {
	zone := u.When.Format("-0700")
	old := u.Head.ID.String()
	if old == "" {
		old = strings.Repeat("0", 40)
	}
	line := fmt.Sprintf("%s %s %s <%s> %d %s\t%s\n", old, u.New, u.By.Name, u.By.Email, u.When.Unix(), zone, u.Message)
	logs := []string{r.Own("logs/HEAD")}
	if !u.Head.Detached {
		logs = append(logs, "logs/"+u.Head.Ref)
	}
	for _, p := range logs {
		if !r.config.Bool("core", "logallrefupdates", true) && !r.root.Exists(p) {
			continue
		}
		if err := r.root.MkdirAllLazy("reflog", path.Dir(p), 0o777); err != nil {
			return err
		}
		if err := r.root.Append("reflog", p, []byte(line), 0o666, false); err != nil {
			return err
		}
	}
	return nil
}

// IsAncestor reports whether old is next or one of its ancestors. Cost: the
// commits between them, or the whole history when it is not.
func (o *Objects) IsAncestor(old, next ID) (bool, error) {
	if old == next || old.IsZero() {
		return true, nil
	}
	seen, queue := map[ID]bool{}, []ID{next}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if id == old {
			return true, nil
		}
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		c, err := o.Commit(id)
		if err != nil {
			return false, err
		}
		queue = append(queue, c.Parents...)
	}
	return false, nil
}

// exists is os.IsExist for wrapped errors.
func exists(err error) bool { return errors.Is(err, fs.ErrExist) }
