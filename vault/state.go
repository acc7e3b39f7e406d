package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/oklog/ulid/v2"

	"stet/vault/filelock"
)

// State is the part of a vault that never travels: open sessions, queues of
// work, counters and marks of what was seen. It is shared by the worktrees of a repository and lives in
// its git folder, so a clone starts without it. Every method is safe for
// concurrent use by any number of processes and durable when it returns.
type State struct {
	v   *Vault
	dir string // relative to the git dir
}

// State gives access to the vault's local state.
func (v *Vault) State() *State {
	own := strings.TrimPrefix(v.store.State(), v.store.Repo().Own("")) // the vault's own key
	return &State{v: v, dir: "stet/" + path.Base(own)}
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
func (s *State) locked(ctx context.Context, kind string, fn func(dir string) error) (err error) {
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
	lock, err := filelock.Acquire(ctx, root, path.Join(s.dir, kind+".lock"), filelock.Options{Wait: s.v.o.LockWait})
	if err != nil {
		return s.v.store.Explain(err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return s.v.store.Explain(fn(dir))
}

// AppendSession adds one line to an open session, making it when needed. The
// line must hold no newline.
func (s *State) AppendSession(ctx context.Context, id string, line []byte) error {
	if err := stateName("session", id); err != nil {
		return err
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		return fmt.Errorf("session %q: %w: a line cannot hold a newline", id, ErrInvalid)
	}
	return s.locked(ctx, "sessions", func(dir string) error {
		return s.v.store.Repo().Root().Append("session", path.Join(dir, id+".jsonl"), append(bytes.Clone(line), '\n'), 0o600, true)
	})
}

// Session returns the whole lines of an open session; a torn last line of a
// killed writer was never acknowledged and is left out. It fails with
// [ErrNotFound].
func (s *State) Session(id string) ([][]byte, error) {
	if err := stateName("session", id); err != nil {
		return nil, err
	}
	data, _, err := s.v.store.Repo().Root().ReadFile(path.Join(s.dir, "sessions", id+".jsonl"), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for line := range bytes.Lines(data) {
		if text, whole := bytes.CutSuffix(line, []byte{'\n'}); whole && len(text) > 0 {
			lines = append(lines, text)
		}
	}
	return lines, nil
}

// Sessions lists the open sessions by id.
func (s *State) Sessions() ([]string, error) { return s.names("sessions", ".jsonl") }

// CloseSession removes an open session's lines, once they are sealed.
func (s *State) CloseSession(ctx context.Context, id string) error {
	return s.remove(ctx, "sessions", id, ".jsonl")
}

// RewriteSession replaces the lines of an open session by what change makes of
// them, all at once; without any left the session is closed. Nobody appends
// meanwhile.
func (s *State) RewriteSession(ctx context.Context, id string, change func(lines [][]byte) [][]byte) error {
	if err := stateName("session", id); err != nil {
		return err
	}
	return s.locked(ctx, "sessions", func(dir string) error {
		lines, err := s.Session(id)
		if err != nil {
			return err
		}
		file := path.Join(dir, id+".jsonl")
		if lines = change(lines); len(lines) > 0 {
			return s.publish("session", file, append(bytes.Join(lines, []byte{'\n'}), '\n'))
		}
		if err := s.v.store.Repo().Root().Remove("session", file); err != nil {
			return err
		}
		return s.v.store.Repo().Root().SyncDir("session", dir)
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
	err = s.locked(ctx, "queue", func(dir string) error {
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
		return s.publish("queue", path.Join(dir, id+"."+queue), job)
	})
	return id, err
}

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
		data, _, err := s.v.store.Repo().Root().ReadFile(path.Join(s.dir, "queue", id+"."+queue), 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // done by somebody else meanwhile
		}
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, Job{ID: id, Data: data})
	}
	return jobs, nil
}

// Done removes a job. Removing it twice is no error.
func (s *State) Done(ctx context.Context, queue, id string) error {
	return s.remove(ctx, "queue", id, "."+queue)
}

// AddCounter adds n to a counter, which starts at 0, and returns its value.
func (s *State) AddCounter(ctx context.Context, name string, n int) (value int, err error) {
	err = s.counter(ctx, name, func(now int) int { value = now + n; return value })
	return value, err
}

// SetCounter sets a counter.
func (s *State) SetCounter(ctx context.Context, name string, n int) error {
	return s.counter(ctx, name, func(int) int { return n })
}

// Counter reads a counter, 0 when it was never set. One that cannot be read
// counts as 0: it is local and rebuilt by use.
func (s *State) Counter(name string) (int, error) {
	if err := stateName("counter", name); err != nil {
		return 0, err
	}
	data, _, err := s.v.store.Repo().Root().ReadFile(path.Join(s.dir, "counters", name+".json"), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(data)))
	if err != nil {
		return 0, nil
	}
	return n, nil
}

func (s *State) counter(ctx context.Context, name string, change func(int) int) error {
	if err := stateName("counter", name); err != nil {
		return err
	}
	return s.locked(ctx, "counters", func(dir string) error {
		now, err := s.Counter(name)
		if err != nil {
			return err
		}
		data, err := json.Marshal(change(now))
		if err != nil {
			return err
		}
		return s.publish("counter", path.Join(dir, name+".json"), data)
	})
}

// Seen reads a mark of how far somebody has looked, nil when there is none.
func (s *State) Seen(name string) ([]byte, error) {
	if err := stateName("mark", name); err != nil {
		return nil, err
	}
	data, _, err := s.v.store.Repo().Root().ReadFile(path.Join(s.dir, "seen", name), 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// SetSeen sets a mark to what change makes of it.
func (s *State) SetSeen(ctx context.Context, name string, change func(now []byte) ([]byte, error)) error {
	if err := stateName("mark", name); err != nil {
		return err
	}
	return s.locked(ctx, "seen", func(dir string) error {
		now, err := s.Seen(name)
		if err != nil {
			return err
		}
		data, err := change(now)
		if err != nil {
			return err
		}
		return s.publish("seen", path.Join(dir, name), data)
	})
}

// publish writes a whole file in place of an older one.
func (s *State) publish(label, file string, data []byte) error {
	root, temp := s.v.store.Repo().Root(), file+".unfinished"
	if err := root.Remove(label, temp); err != nil {
		return err
	}
	if err := root.CreateSync(label, temp, data, 0o600); err != nil {
		return err
	}
	if err := root.Rename(label, temp, file); err != nil {
		return errors.Join(err, root.Remove(label, temp))
	}
	return root.SyncDir(label, path.Dir(file))
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
		if name, ok := strings.CutSuffix(e.Name(), ext); ok && e.Type().IsRegular() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (s *State) remove(ctx context.Context, kind, name, ext string) error {
	if err := stateName(kind, name); err != nil {
		return err
	}
	return s.locked(ctx, kind, func(dir string) error {
		if err := s.v.store.Repo().Root().Remove(kind, path.Join(dir, name+ext)); err != nil {
			return err
		}
		return s.v.store.Repo().Root().SyncDir(kind, dir)
	})
}
