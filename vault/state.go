package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/vault/durable"
	"stet/vault/filelock"
)

// State is the part of a vault that never travels: open sessions, queues of
// work, counters and marks of what was seen. It is shared by the worktrees of a repository and lives in
// its git folder, so a clone starts without it. Every method is safe for
// concurrent use by any number of processes and durable when it returns.
type State struct {
	v    *Vault
	dir  string        // relative to the git dir
	wait time.Duration // for another process; a reader that keeps what it found out sets 0
}

// State gives access to the vault's local state.
func (v *Vault) State() *State {
	return &State{v: v, dir: "stet/" + filepath.Base(v.StateDir()), wait: v.o.LockWait} // the vault's own key
}

// stateName accepts what may be a file name in the state folder.
func stateName(kind, name string) error {
	ok := name != "" && len(name) <= 128
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	if !ok {
		return fmt.Errorf("%s %q: %w: letters, digits, dashes and underscores only", kind, name, ErrInvalid)
	}
	return nil
}

// locked runs fn under the lock of one kind of state, which is never held
// together with another.
func (s *State) locked(ctx context.Context, kind string, fn func() error) (err error) {
	dir := path.Join(s.dir, kind)
	root := s.v.store.Repo().Root()
	if !root.Exists(dir) {
		// A write that had nothing to do leaves the folders above it unsynced.
		if err := errors.Join(root.MkdirAll("state", s.dir, 0o777), s.v.store.Repo().SyncFolders("state", s.dir)); err != nil {
			return s.v.store.Explain(err)
		}
	}
	if err := root.MkdirAll("state", dir, 0o700); err != nil {
		return s.v.store.Explain(err)
	}
	lock, err := filelock.Acquire(ctx, root, path.Join(s.dir, kind+".lock"), filelock.Options{Wait: s.wait})
	if err != nil {
		return s.v.store.Explain(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return s.v.store.Explain(fn())
}

// A stateFile is one file of a kind of state.
type stateFile struct {
	s               *State
	kind, name, ext string
}

func (f stateFile) path() string { return path.Join(f.s.dir, f.kind, f.name+f.ext) }

// read returns what the file holds, nil when there is none.
func (f stateFile) read() ([]byte, error) {
	if err := stateName(f.kind, f.name); err != nil {
		return nil, err
	}
	data, _, err := f.s.v.store.Repo().Root().ReadFile(f.path(), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// locked runs fn under the lock of the kind.
func (f stateFile) locked(ctx context.Context, fn func() error) error {
	if err := stateName(f.kind, f.name); err != nil {
		return err
	}
	return f.s.locked(ctx, f.kind, fn)
}

// put writes the whole file in place of an older one; nil removes it. Its kind is locked.
func (f stateFile) put(data []byte) error {
	root, temp := f.s.v.store.Repo().Root(), f.path()+".unfinished"
	if data == nil {
		return errors.Join(root.Remove(f.kind, f.path()), root.SyncDir(f.kind, path.Dir(temp)))
	}
	if err := durable.PutWhole(root, f.kind, temp, f.path(), data, 0o600); err != nil {
		return err
	}
	return root.SyncDir(f.kind, path.Dir(temp))
}

func (s *State) session(id string) stateFile { return stateFile{s, "sessions", id, ".jsonl"} }

// AppendSession adds one line to an open session, making it when needed. The
// line must hold no newline.
func (s *State) AppendSession(ctx context.Context, id string, line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("session %q: %w: a line cannot hold a newline", id, ErrInvalid)
	}
	f := s.session(id)
	return f.locked(ctx, func() error {
		return s.v.store.Repo().Root().Append(f.kind, f.path(), append(bytes.Clone(line), '\n'), 0o600, true)
	})
}

// Session returns the whole lines of an open session; a torn last line of a
// killed writer was never acknowledged and is left out. It fails with
// [ErrNotFound].
func (s *State) Session(id string) ([][]byte, error) {
	data, err := s.session(id).read()
	if err == nil && data == nil {
		err = fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	var lines [][]byte
	for line := range bytes.Lines(data) {
		if text, whole := bytes.CutSuffix(line, []byte{'\n'}); whole && len(text) > 0 {
			lines = append(lines, text)
		}
	}
	return lines, err
}

// Sessions lists the open sessions by id.
func (s *State) Sessions() ([]string, error) { return s.names("sessions", ".jsonl") }

// RewriteSession replaces the lines of an open session by what change makes of
// them, all at once; without any left the session is closed. Nobody appends
// meanwhile.
func (s *State) RewriteSession(ctx context.Context, id string, change func(lines [][]byte) [][]byte) error {
	return s.RenameSession(ctx, id, id, func(lines [][]byte) ([][]byte, error) { return change(lines), nil })
}

// RenameSession is [State.RewriteSession] of a session that then goes by another id. A killed process leaves it as it
// was, or rewritten under its old id. It changes nothing where change fails, and fails with [ErrConflict] where one of
// that id is open.
func (s *State) RenameSession(
	ctx context.Context, id, to string, change func(lines [][]byte) ([][]byte, error),
) error {
	f, other := s.session(id), s.session(to)
	if err := stateName(f.kind, to); err != nil {
		return err
	}
	return f.locked(ctx, func() error {
		root := s.v.store.Repo().Root()
		if to != id && root.Exists(other.path()) {
			return fmt.Errorf("session %q: %w: it is open", to, ErrConflict)
		}
		lines, err := s.Session(id)
		if err == nil {
			lines, err = change(lines)
		}
		if err != nil {
			return err
		}
		var data []byte
		for _, line := range lines {
			data = append(append(data, line...), '\n')
		}
		if err := f.put(data); err != nil || data == nil || to == id {
			return err
		}
		return errors.Join(root.Rename(f.kind, f.path(), other.path()), root.SyncDir(f.kind, path.Dir(f.path())))
	})
}

// Alone runs fn while no other process runs anything under that name. Without
// wait another one is an [ErrBusy] at once. fn may take the vault's lock.
func (s *State) Alone(ctx context.Context, name string, wait bool, fn func() error) (err error) {
	if err := stateName("name", name); err != nil {
		return err
	}
	root := s.v.store.Repo().Root()
	if err := root.MkdirAllLazy("state", s.dir, 0o777); err != nil {
		return s.v.store.Explain(err)
	}
	o := filelock.Options{Holder: s.v.o.Holder}
	if wait {
		o.Wait = s.v.o.LockWait
	}
	lock, err := filelock.Acquire(ctx, root, path.Join(s.dir, name+".lock"), o)
	if err != nil {
		return s.v.store.Explain(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return fn()
}

// Enqueue stores a job durably and returns its id. Jobs come out in the order
// they went in.
func (s *State) Enqueue(ctx context.Context, queue string, job []byte) (id string, err error) {
	if err := stateName("queue", queue); err != nil {
		return "", err
	}
	err = s.locked(ctx, "queue", func() error {
		names, err := s.names("queue", "."+queue)
		if err != nil {
			return err
		}
		id = newID(s.v.o.Now())
		// A clock that went back must not let a later job overtake.
		if len(names) > 0 && names[len(names)-1] >= id {
			if id, err = nextID(names[len(names)-1]); err != nil {
				return err
			}
		}
		return s.job(queue, id).put(job)
	})
	return id, err
}

// Spool is [State.Enqueue] for a job that must wait for nobody, whoever holds the lock; jobs come out by the clock.
func (s *State) Spool(queue string, job []byte) error {
	if err := stateName("queue", queue); err != nil {
		return err
	}
	root := s.v.store.Repo().Root()
	if err := root.MkdirAllLazy("state", path.Join(s.dir, "queue"), 0o700); err != nil {
		return s.v.store.Explain(err)
	}
	return s.v.store.Explain(s.job(queue, newID(s.v.o.Now())).put(job))
}

// Note adds a line to a log, from which the older half is cut beyond most bytes. Nothing is locked: of two at once
// one may be lost, and what it noted is no part of the vault.
func (s *State) Note(name, line string, most int64) error {
	if err := stateName("log", name); err != nil {
		return err
	}
	root, file := s.v.store.Repo().Root(), path.Join(s.dir, name+".log")
	if err := root.MkdirAllLazy("state", s.dir, 0o777); err != nil {
		return s.v.store.Explain(err)
	}
	data, _, err := root.ReadFile(file, 0)
	if int64(len(data)) > most && err == nil {
		half := data[len(data)/2:]
		half = half[bytes.IndexByte(half, '\n')+1:]
		err = durable.PutWhole(root, "log", file+".unfinished", file, half, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.v.store.Explain(err)
	}
	return s.v.store.Explain(root.Append("log", file, []byte(line+"\n"), 0o600, false))
}

// Notes are the lines of a log, oldest first.
func (s *State) Notes(name string) ([]string, error) {
	data, _, err := s.v.store.Repo().Root().ReadFile(path.Join(s.dir, name+".log"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), err
}

func (s *State) job(queue, id string) stateFile { return stateFile{s, "queue", id, "." + queue} }

// nextID is the ULID after one: its number plus one.
func nextID(after string) (string, error) {
	u, err := ulid.ParseStrict(after)
	if err != nil {
		return "", err
	}
	for i := len(u) - 1; i >= 0; i-- {
		if u[i]++; u[i] != 0 {
			break
		}
	}
	return strings.ToLower(u.String()), nil
}

// A Job is one entry of a queue.
type Job struct {
	ID   string
	Data []byte
}

// Jobs lists a queue, oldest first.
func (s *State) Jobs(queue string) ([]Job, error) {
	if err := stateName("queue", queue); err != nil {
		return nil, err
	}
	names, err := s.names("queue", "."+queue)
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for _, id := range names {
		data, err := s.job(queue, id).read()
		if err != nil {
			return nil, err
		}
		if data != nil { // else done by somebody else meanwhile
			jobs = append(jobs, Job{ID: id, Data: data})
		}
	}
	return jobs, nil
}

// Queued is the number of jobs of a queue.
func (s *State) Queued(queue string) (int, error) {
	if err := stateName("queue", queue); err != nil {
		return 0, err
	}
	names, err := s.names("queue", "."+queue)
	return len(names), err
}

// Done removes a job. Removing it twice is no error.
func (s *State) Done(ctx context.Context, queue, id string) error {
	f := s.job(queue, id)
	return f.locked(ctx, func() error { return f.put(nil) })
}

// Seen reads a mark of how far somebody has looked, nil when there is none.
func (s *State) Seen(name string) ([]byte, error) { return stateFile{s, "seen", name, ""}.read() }

// SetSeen sets a mark to what change makes of it.
func (s *State) SetSeen(ctx context.Context, name string, change func(now []byte) ([]byte, error)) error {
	f := stateFile{s, "seen", name, ""}
	return f.locked(ctx, func() error {
		now, err := f.read()
		if err != nil {
			return err
		}
		data, err := change(now)
		if err != nil || bytes.Equal(data, now) {
			return err
		}
		return f.put(data)
	})
}

// SeenNames lists the marks whose names begin with prefix.
func (s *State) SeenNames(prefix string) ([]string, error) {
	names, err := s.names("seen", "")
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) }), err
}

func (s *State) names(kind, ext string) ([]string, error) {
	entries, err := s.v.store.Repo().Root().ReadDir(path.Join(s.dir, kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ext); ok && e.Type().IsRegular() && stateName(kind, name) == nil {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}
