package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"stet/templates"
	"stet/vault/durable"
)

// A Repo is an open repository.
type Repo struct {
	loc    Location
	root   *durable.Root // the common git dir; the worktree's lies inside it
	own    string        // the worktree's git dir relative to root, "" or "worktrees/x"
	config *Config

	mu      sync.Mutex
	storage *filesystem.Storage
	packs   packSet
	deflate *compressor // kept: a new one takes longer than a small object
	// recent are the objects of the newest commit that was published here: the
	// next one builds on them.
	recent map[ID]stagedObject
	// known are objects that were read: a command asks for the same commits, trees and texts again and again, each
	// time with objects of its own.
	known map[ID]packObject
	held  int // bytes of them
}

// maxKnown bounds the bytes kept of what was read.
const maxKnown = 4 << 20

// objectCache bounds the decoded objects kept in memory: a vault's trees and
// recent blobs, while "ordinary commands stay under 60 MB" leaves room.
const objectCache = 16 * cache.MiByte

// Open opens the repository at loc after checking that its format can be
// handled, before anything is written; it fails with [ErrUnsupported]. It fails with an
// [OwnerError] where it, or one of the folders also, belongs to another user.
func Open(loc Location, env func(string) string, hook durable.Hook, also ...string) (*Repo, error) {
	root, err := durable.OpenRoot(loc.Common, hook)
	if err != nil {
		return nil, err
	}
	r := &Repo{loc: loc, root: root, packs: packSet{root: root}}
	if err := r.open(env, also); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return r, nil
}

func (r *Repo) open(env func(string) string, also []string) (err error) {
	own, err := filepath.Rel(r.loc.Common, r.loc.GitDir)
	if err != nil || strings.HasPrefix(own, "..") {
		return fmt.Errorf("git dir %q: %w: it lies outside %q", r.loc.GitDir, ErrUnsupported, r.loc.Common)
	}
	if own != "." {
		r.own = filepath.ToSlash(own)
	}
	if r.config, err = loadConfig(r.root, r.loc, env, also); err != nil {
		return err
	}
	if err := r.config.checkFormat(); err != nil {
		return err
	}
	git := osfs.New(r.loc.GitDir)
	if r.own != "" {
		git = dotgit.NewRepositoryFilesystem(git, osfs.New(r.loc.Common))
	}
	r.storage = filesystem.NewStorageWithOptions(git, cache.NewObjectLRU(objectCache), filesystem.Options{
		// go-git never closes packs that are gone: other processes merge theirs all day.
		MaxOpenDescriptors: 8,
		AlternatesFS:       osfs.New("/"),
	})
	return nil
}

// Close releases files.
func (r *Repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.packs.close()
	return errors.Join(r.storage.Close(), r.root.Close())
}

// Location says where the repository is.
func (r *Repo) Location() Location { return r.loc }

// Root is the common git dir.
func (r *Repo) Root() *durable.Root { return r.root }

// Own is p inside this worktree's git dir, relative to [Repo.Root].
func (r *Repo) Own(p string) string {
	if r.own == "" {
		return p
	}
	return path.Join(r.own, p)
}

// Config is the repository's configuration as it was at Open.
func (r *Repo) Config() *Config { return r.config }

// InProgress names the person's unfinished git operation by what git leaves in
// its folder, "" when there is none. Cost: eight lstat calls.
func (r *Repo) InProgress() string {
	for _, op := range [...]struct{ file, name string }{
		{"MERGE_HEAD", "merge"},
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick"}, // between two picks of several, or two reverts
		// "git bisect reset" would leave a commit made now behind.
		{"BISECT_START", "bisect"},
	} {
		if !r.root.Exists(r.Own(op.file)) {
			continue
		}
		todo, _, err := r.root.ReadFile(r.Own("sequencer/todo"), 0)
		if err == nil && bytes.HasPrefix(todo, []byte("revert")) {
			return "revert"
		}
		return op.name
	}
	return ""
}

// Ends says how an unfinished git operation ends; "" where op is "".
func Ends(r *Repo, op string) string {
	if op == "" {
		return ""
	}
	if op == "bisect" {
		return `end it with "git bisect reset"`
	}
	first := nameFirst(r) + decideFirst(r)
	return fmt.Sprintf(`%s"git %s --continue" finishes it, "git %s --abort" takes it back`, first, op, op)
}

// decideFirst is what to do with files in conflict before git goes on; "" where there are none, or nothing is known.
func decideFirst(r *Repo) string {
	index, _, err := r.ReadGitIndex(ID{})
	if err != nil {
		return ""
	}
	var files []string
	for e := range index.All() {
		if e.Stage > 0 && (len(files) == 0 || files[len(files)-1] != e.Path) {
			files = append(files, e.Path)
		}
	}
	switch len(files) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(`edit %s, "git add %s", then `, files[0], templates.Quote(files[0]))
	}
	return fmt.Sprintf(`edit %s and %d more ("git status" names them), "git add" each, then `, files[0], len(files)-1)
}

// StoppedRevert says how a revert ends that "git revert" staged and could not commit, as it does where it knows no
// name: no other file of git's tells of it. It is "" where none was prepared.
func StoppedRevert(r *Repo) string {
	message, _, err := r.root.ReadFile(r.Own("MERGE_MSG"), 0)
	if err != nil || !bytes.HasPrefix(message, []byte(`Revert "`)) || r.InProgress() != "" {
		return ""
	}
	return nameFirst(r) + `"git commit --no-edit" finishes it, "git reset --merge" takes it back`
}

// nameFirst is the first step where git knows no name to commit with.
func nameFirst(r *Repo) string {
	if r.config.Identity("COMMITTER") != Fallback() {
		return ""
	}
	return `git needs to know you, "git config user.name NAME" and "git config user.email ADDRESS"; then `
}

// maxLists bounds how often packs are listed for one object.
const maxLists = 8

// object reads one object. A list of packs gone stale is read again, and as long
// as packs go while they are looked at: another process that puts packs together
// has a new one before the old go, which may be right behind the list.
func (r *Repo) object(kind plumbing.ObjectType, id ID) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := r.read(kind, id)
	for n := 0; err != nil && (n == 0 || r.packs.gone && n < maxLists); n++ {
		r.newPacks()
		data, err = r.read(kind, id)
	}
	switch {
	case err == nil:
		return data, nil
	case isMachines(err):
		return nil, fmt.Errorf("read %s %s: %w", kind, id, err)
	}
	return nil, fmt.Errorf("%s %s: %w: %w", kind, id, ErrMissing, err)
}

// isMachines reports whether an object could not be read by the machine's fault:
// it may well be there and whole.
func isMachines(err error) bool {
	var pathErr *fs.PathError
	return errors.As(err, &pathErr) && !errors.Is(err, fs.ErrNotExist)
}

// newPacks makes the next read list the packs anew.
func (r *Repo) newPacks() {
	r.packs.forget()
	r.storage.Reindex()
}

func (r *Repo) read(kind plumbing.ObjectType, id ID) ([]byte, error) {
	if obj, ok := r.recent[id]; ok && obj.kind == kind {
		return obj.data, nil
	}
	if obj, ok := r.known[id]; ok && obj.kind == kind {
		return obj.data, nil
	}
	// Packs first: what stet writes is there, and a file that is not there costs
	// as much as one that is.
	for _, look := range [...]func(ID) (packObject, bool){r.packs.object, r.packs.loose} {
		if obj, found := look(id); found && obj.kind == kind && hashOf(kind, obj.data) == id {
			r.keep(id, obj)
			return obj.data, nil
		}
	}
	return r.readElsewhere(kind, id)
}

// keep notes what was read, unless it would take the place of all else.
func (r *Repo) keep(id ID, obj packObject) {
	const most = maxKnown / 4
	if len(obj.data) > most {
		return
	}
	if r.held += len(obj.data) + len(id); r.known == nil || r.held > maxKnown {
		r.known, r.held = map[ID]packObject{}, len(obj.data)+len(id)
	}
	r.known[id] = obj
}

// readElsewhere reads an object that is large and loose, in an alternate, or in
// a file that only go-git can make sense of.
func (r *Repo) readElsewhere(kind plumbing.ObjectType, id ID) (data []byte, err error) {
	obj, err := r.storage.EncodedObject(kind, plumbing.Hash(id))
	if err != nil {
		return nil, err
	}
	rd, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rd.Close()) }()
	data, err = io.ReadAll(rd)
	if err != nil {
		return nil, err
	}
	// go-git trusts what a file is called; a torn or flipped object must not
	// become somebody's memory.
	if hashOf(kind, data) != id {
		return nil, errors.New("contents do not match the id")
	}
	return data, nil
}

// hashOf is the object id of data. Objects are hashed with go-git's
// collision-detecting SHA-1.
func hashOf(kind plumbing.ObjectType, data []byte) ID {
	return ID(plumbing.ComputeHash(kind, data))
}

// HashBlob is the id that data has as a blob.
func HashBlob(data []byte) ID { return hashOf(plumbing.BlobObject, data) }
