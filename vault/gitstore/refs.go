package gitstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
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

// Head reads HEAD. It fails with a [BadRefError] also where the branch has lost its file
// and with it commits: nothing may be built on what is left of it.
func (r *Repo) Head() (Head, error) {
	h, err := r.head()
	switch {
	case err != nil || h.Detached:
	case h.ID.IsZero():
		err = r.checkUnborn(h.Ref)
	case !r.root.Exists(r.RefPath(h.Ref)):
		err = r.checkPacked(h)
	}
	return h, err
}

func (r *Repo) head() (Head, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := plumbing.HEAD
	for range symrefDepth {
		ref, err := r.reference(name)
		if errors.Is(err, plumbing.ErrReferenceNotFound) && name != plumbing.HEAD {
			return Head{Ref: string(name)}, nil
		}
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			err = r.badRef(string(name), errors.New("its file is missing"))
		}
		if err != nil {
			return Head{}, err
		}
		if ref.Type() == plumbing.HashReference {
			return Head{Ref: string(name), ID: ID(ref.Hash()), Detached: name == plumbing.HEAD}, nil
		}
		name = ref.Target()
	}
	return Head{}, r.badRef("HEAD", errors.New("symbolic refs go too deep"))
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
		return ID{}, err
	}
	return ID(ref.Hash()), nil
}

// A BadRefError is a ref that exists and cannot be read, or one that has lost what its
// reflog names. It is an [ErrDamaged].
type BadRefError struct {
	Ref  string
	File string // absolute
	Log  string // which names its newest commit, absolute
	Err  error
	hint string // "" for the usual one
}

func (e *BadRefError) Error() string { return fmt.Sprintf("git ref %s is damaged: %v", e.Ref, e.Err) }

// Unwrap is the cause, and what it means.
func (e *BadRefError) Unwrap() []error { return []error{e.Err, ErrDamaged} }

// Hint names the next step.
func (e *BadRefError) Hint() string {
	switch {
	case e.hint != "":
		return e.hint
	case e.Ref == "HEAD":
		return fmt.Sprintf("write \"ref: refs/heads/\" and the name of the branch into %s", e.File)
	}
	return fmt.Sprintf("the last line of %s names its newest commit, second on the line: write that into %s",
		e.Log, e.File)
}

func (r *Repo) badRef(name string, err error) *BadRefError {
	return &BadRefError{Ref: name, File: r.root.Abs(r.RefPath(name)), Log: r.root.Abs(r.logPath(name)), Err: err}
}

// reference reads a ref; r.mu is held. Only a ref without a file of its own may be a
// packed one: behind a damaged file a packed ref is older.
func (r *Repo) reference(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	file := r.RefPath(string(name))
	data, _, err := r.root.ReadFile(file, maxRef)
	if err != nil {
		info, serr := r.root.Lstat(file)
		switch {
		case errors.Is(serr, fs.ErrNotExist), errors.Is(serr, syscall.ENOTDIR), serr == nil && info.IsDir():
			return r.packedRef(name)
		case serr == nil && info.Mode()&fs.ModeSymlink != 0: // the old form of a symbolic ref
			if target, lerr := os.Readlink(r.root.Abs(file)); lerr == nil && strings.HasPrefix(target, "refs/") {
				data, err = []byte("ref: "+target), nil
			}
		}
	}
	if err != nil {
		return nil, r.badRef(string(name), err)
	}
	ref, err := parseRef(name, string(data))
	if err != nil {
		return nil, r.badRef(string(name), err)
	}
	return ref, nil
}

// parseRef reads the file of a ref as git does.
func parseRef(name plumbing.ReferenceName, text string) (*plumbing.Reference, error) {
	if target, ok := strings.CutPrefix(text, "ref:"); ok {
		target = strings.TrimSpace(target)
		if !strings.HasPrefix(target, "refs/") || !fs.ValidPath(target) || !refName(target) {
			return nil, fmt.Errorf("it points to %q, which names no ref", target)
		}
		return plumbing.NewSymbolicReference(name, plumbing.ReferenceName(target)), nil
	}
	id, rest := text[:min(len(text), refDigits)], text[min(len(text), refDigits):]
	parsed, err := ParseID(id)
	if err != nil || parsed.IsZero() || strings.TrimLeft(rest, " \t\r\n") == rest && rest != "" {
		return nil, fmt.Errorf("%q is no commit id", strings.TrimSpace(text[:min(len(text), 2*refDigits)]))
	}
	return plumbing.NewHashReference(name, plumbing.Hash(parsed)), nil
}

// refName follows git-check-ref-format(1).
func refName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	return !strings.ContainsFunc(name, control) && !strings.ContainsAny(name, ` ~^:?*[\`) &&
		!strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.HasSuffix(name, ".")
}

// refDigits is the length of an id in a ref.
const refDigits = 2 * len(ID{})

// packedRef looks a ref up in packed-refs.
func (r *Repo) packedRef(name plumbing.ReferenceName) (*plumbing.Reference, error) {
	data, _, err := r.root.ReadFile("packed-refs", 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, plumbing.ErrReferenceNotFound
	}
	if err != nil {
		return nil, r.badRef(string(name), err)
	}
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		id, at, ok := strings.Cut(line, " ")
		parsed, err := ParseID(id)
		if !ok || err != nil || parsed.IsZero() || !strings.HasSuffix(at, "\n") {
			return nil, r.badRef(string(name), fmt.Errorf("packed-refs is damaged at %q", line))
		}
		if strings.TrimSpace(at) == string(name) {
			return plumbing.NewHashReference(name, plumbing.Hash(parsed)), nil
		}
	}
	return nil, plumbing.ErrReferenceNotFound
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
	return r.root.Rename("ref", u.TempPath, r.RefPath(u.Head.Ref))
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

// Log writes the lines that git would write about an update which [Repo.PublishRef] made,
// unless core.logAllRefUpdates is off and no log exists. A process that dies before leaves
// a log that ends at an older commit; one that is ahead of its ref would say that commits
// were lost.
func (u RefUpdate) Log(r *Repo) error {
	zone := u.When.Format("-0700")
	old := cmp.Or(u.Head.ID.String(), noID)
	line := fmt.Sprintf("%s %s %s <%s> %d %s\t%s\n", old, u.New, u.By.Name, u.By.Email, u.When.Unix(), zone, u.Message)
	logs := []string{r.logPath("HEAD")}
	if !u.Head.Detached {
		logs = append(logs, r.logPath(u.Head.Ref))
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

func isBadRef(err error) bool {
	var bad *BadRefError
	return errors.As(err, &bad)
}
