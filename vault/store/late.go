package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// A program that has a file open writes into it even after the file was displaced by a
// newer one. So a displaced file is removed only when nobody has it open for writing.
// One that stays open waits as lost/late-<name>, with its path and the id of the bytes
// it was displaced with in lost/late-<name>.for. Every command looks at it again and
// brings what was written since into the file that took its place, as a hand edit. What it
// cannot bring back stays as kept-<name>, and "stet doctor" shows it.

const (
	latePrefix = "late-"
	keptPrefix = "kept-"
	lateFor    = ".for"
)

// patience bounds how long one transaction waits for displaced files to be closed.
const patience = time.Second

// awaitClose waits until nobody has the displaced file open for writing, and reports
// whether somebody still has. Where the system does not say, nobody has.
func (pl *placement) awaitClose() (open bool) {
	root, temp := pl.temp()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		open, _ := durable.Written(root, temp)
		if !open || pl.patience == nil || *pl.patience <= 0 {
			return open
		}
		time.Sleep(pause)
		*pl.patience -= pause
	}
}

// keepLate keeps a displaced file that somebody has open. It was displaced with the bytes
// of id, which stood at p; zero for bytes that stand nowhere else.
func (s *Store) keepLate(temp string, p Path, id gitstore.ID) error {
	root, dir := s.repo.Root(), s.lostDir()
	if err := root.MkdirAll("lost", dir, 0o777); err != nil {
		return err
	}
	name := s.freeLost(latePrefix + path.Base(temp))
	if err := root.CreateSync("lost", name+lateFor, []byte(id.String()+" "+string(p)+"\n"), 0o666); err != nil {
		return err
	}
	return errors.Join(root.Rename("lost", temp, name), root.SyncDir("lost", dir))
}

// keepCopy keeps a person's bytes that are about to be given back to p until they are committed, as those that were
// brought back: for a moment what stet had placed stands there, and an editor that reads it may save over them. Where
// there is no room for the copy they are given back all the same.
func (s *Store) keepCopy(m durable.Move, p Path, known map[gitstore.ID]bool) {
	root, dir := s.repo.Root(), s.lostDir()
	data, _, err := m.Temp.ReadFile(m.TempPath, MaxFileSize)
	if err != nil || root.MkdirAll("lost", dir, 0o777) != nil {
		return
	}
	was := gitstore.ID{} // what they were made of, where they only add to it
	for id := range known {
		if base, err := s.repo.Stage().Blob(id); err == nil && bytes.HasPrefix(data, base) {
			was = id
		}
	}
	name := s.freeLost(latePrefix + path.Base(m.TempPath))
	note := fmt.Sprintf("%s %s\n%s\n", was, p, gitstore.HashBlob(data))
	if root.CreateSync("lost", name+lateFor, []byte(note), 0o666) != nil ||
		durable.PutWhole(root, "lost", s.tmp("copy"), name, data, 0o666) != nil {
		return
	}
	_ = root.SyncDir("lost", dir)
}

// freeLost is a name in lost that no file has: a killed process may have left the note alone.
func (s *Store) freeLost(base string) string {
	first := path.Join(s.lostDir(), base)
	name := first
	for n := 2; s.repo.Root().Exists(name) || s.repo.Root().Exists(name+lateFor); n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	return name
}

// late lists the displaced files that were open when they were last looked at, and those
// of which a killed process left the note alone.
func (s *Store) late() []string {
	names, err := s.repo.Root().Names(s.lostDir())
	if err != nil {
		return nil // there is no such folder in all but a few vaults
	}
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, latePrefix) {
			out = append(out, path.Join(s.lostDir(), strings.TrimSuffix(name, lateFor)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// bringLate looks at the displaced files again. The vault lock is held.
func (s *Store) bringLate(ctx context.Context) error {
	for _, name := range s.late() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := s.bringOne(name); err != nil {
			return fmt.Errorf("bring back %q: %w", name, err)
		}
	}
	return nil
}

func (s *Store) bringOne(name string) error {
	root := s.repo.Root()
	if open, _ := durable.Written(root, name); open {
		return nil
	}
	note, _, err := root.ReadFile(name+lateFor, 2*maxJournal)
	first, brought, again := strings.Cut(strings.TrimSuffix(string(note), "\n"), "\n")
	hex, at, _ := strings.Cut(first, " ")
	was, perr := gitstore.ParseID(hex)
	p, aerr := ParsePath(at)
	data, _, rerr := root.ReadFile(name, MaxFileSize)
	switch {
	case again && errors.Join(aerr, rerr) == nil:
		if there, err := s.stillThere(p, was, data, brought); err != nil || there == waits {
			return err
		} else if there == replaced {
			return s.giveUpLate(name, at)
		}
	case errors.Is(rerr, fs.ErrNotExist): // the note stands alone
	case errors.Join(err, perr, rerr) == nil && gitstore.HashBlob(data) == was:
	case errors.Join(err, perr, aerr, rerr) != nil:
		return s.giveUpLate(name, at)
	default:
		want, err := s.bringBytes(p, was, data)
		if errors.Is(err, errRetry) {
			return nil // the next command tries again
		}
		if err != nil || want.IsZero() {
			return errors.Join(err, s.giveUpLate(name, at))
		}
		s.tell(fmt.Sprintf("brought back what was written into %s while it was replaced, as a hand edit of yours", p))
		line := first + "\n" + want.String() + "\n"
		return durable.PutWhole(root, "lost", s.tmp("late"), name+lateFor, []byte(line), 0o666)
	}
	return errors.Join(root.Remove("lost", name), root.Remove("lost", name+lateFor))
}

// The states of bytes that were brought back.
const (
	committed = iota
	waits     // uncommitted: an editor that read the file before may still save over them
	replaced  // gone from the file, and in no commit
)

// stillThere says what became of bytes that were brought back into p, which had the id of brought then.
func (s *Store) stillThere(p Path, was gitstore.ID, late []byte, brought string) (int, error) {
	id, err := gitstore.ParseID(brought)
	if err != nil {
		return replaced, nil
	}
	if s.inHistory(p, id) {
		return committed, nil
	}
	disk, err := s.Look(p)
	if err != nil || !disk.Exists {
		return replaced, err
	}
	base, _ := s.repo.Stage().Blob(was)
	added, ok := bytes.CutPrefix(late, base)
	switch holds := ok && bytes.Contains(disk.Data, added); {
	case holds && s.inHistory(p, disk.ID):
		return committed, nil
	case holds || disk.ID == id:
		return waits, nil
	}
	return replaced, nil
}

// inHistory reports whether p had the bytes of id in one of the newest commits. An object alone tells nothing: a commit
// that was begun with it may have been given up since the file changed again.
func (s *Store) inHistory(p Path, id gitstore.ID) bool {
	const newest = 1000
	head, err := s.repo.Head()
	if err != nil || head.ID.IsZero() {
		return false
	}
	walk := s.repo.WalkFile(nil)
	node, err := walk.At(head.ID, string(p))
	for n := 0; err == nil && n < newest; n++ {
		if node.Blob == id {
			return true
		}
		parents, _, perr := walk.Parents(node)
		if perr != nil || len(parents) == 0 {
			return false
		}
		node = parents[0]
	}
	return false
}

// giveUpLate leaves a displaced file to the person: "stet doctor" shows it.
func (s *Store) giveUpLate(name, at string) error {
	root := s.repo.Root()
	kept := s.freeLost(keptPrefix + strings.TrimPrefix(path.Base(name), latePrefix))
	if err := root.Rename("lost", name, kept); err != nil {
		return err
	}
	s.tell(fmt.Sprintf("kept what was written into %q while it was replaced, in %s", at, root.Abs(kept)))
	if err := root.Rename("lost", name+lateFor, kept+lateFor); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// bringBytes brings bytes that were written into a displaced file into the one that
// stands at p now, and returns the id of that then: zero where a person must do it. It fails with errRetry
// where somebody saved that one at the same time.
func (s *Store) bringBytes(p Path, was gitstore.ID, late []byte) (none gitstore.ID, _ error) {
	disk, err := s.Look(p)
	if err != nil || !disk.Exists {
		return none, nil
	}
	base, err := s.repo.Stage().Blob(was)
	if err != nil {
		return none, nil
	}
	if endsWith(base, disk.Data, late) {
		return none, nil
	}
	want, ok := joinLate(base, disk.Data, late), true
	if want == nil {
		want, ok = s.o.Merge(base, disk.Data, late)
	}
	if !ok || len(want) > MaxFileSize {
		return none, nil
	}
	pl := &placement{store: s, path: p, exists: true, perm: disk.perm, stat: disk.stat,
		want:  Content{Data: want, ID: gitstore.HashBlob(want), Mode: disk.mode()},
		known: map[gitstore.ID]bool{disk.ID: true}}
	if err := pl.putAlone(); err != nil || !pl.left {
		return pl.want.ID, err
	}
	return none, errRetry
}

// endsWith reports whether the lines that were added at the end of base stand at the end of
// now already: a process died after it brought them, or the same was written twice. Only a
// person can tell.
func endsWith(base, now, late []byte) bool {
	end := append([]byte{'\n'}, late[min(len(late), bytes.LastIndexByte(base, '\n')+1):]...)
	return bytes.HasPrefix(late, base) && bytes.HasSuffix(append([]byte{'\n'}, now...), end)
}

// joinLate puts what was added at the end of base at the end of now; nil where something
// else was done.
func joinLate(base, now, late []byte) []byte {
	added, ok := bytes.CutPrefix(late, base)
	if !ok {
		return nil
	}
	out := bytes.Clone(now)
	if len(out) > 0 && out[len(out)-1] != '\n' && len(base) > 0 && base[len(base)-1] == '\n' {
		out = append(out, '\n')
	}
	return append(out, added...)
}

// putAlone places a file outside of a transaction.
func (pl *placement) putAlone() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	if err := errors.Join(pl.stage(&batch), batch.Sync()); err != nil {
		return errors.Join(err, pl.discard())
	}
	if err := pl.ready(); err != nil {
		return errors.Join(err, pl.discard())
	}
	if err := pl.place(); err != nil {
		return err
	}
	return pl.store.tree.SyncDir("file", pl.path.Dir())
}
