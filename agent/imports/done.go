package imports

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/vault"
	"stet/vault/session"
)

// What was read before is remembered in local state, file by file: a file whose
// size, time and identity are the same is not read again as long as everything
// that came out of it is in the vault. A file is written down only once all of
// that is committed, so that a process that dies leaves too little there, never
// too much. Deleting the state costs one more reading.

// doneVersion is that of the state and of the readers: one that makes more
// messages of a file than before raises it, and every file is read once more. Facts alone do not: a transcript of
// before gets them when it grows.
const doneVersion = 1

// restless is how old a file's time must be to tell it from a later write: some
// file systems count in two seconds.
const restless = 3 * time.Second

// mostRemembered is how many problems of one file are kept to be shown again.
const mostRemembered = 100

// A doneFile is what came out of one file of a source.
type doneFile struct {
	Size      int64                `json:"size"`
	Time      int64                `json:"time"` // of its last change, in nanoseconds
	Identity  uint64               `json:"identity,omitempty"`
	Read      int                  `json:"read"` // conversations
	Malformed int                  `json:"malformed,omitempty"`
	Problems  []Problem            `json:"problems,omitempty"`
	Started   map[string]time.Time `json:"started,omitempty"` // as in reading
	Talks     []doneTalk           `json:"talks,omitempty"`
}

// A doneTalk is one transcript that a file's conversation stands in, or would.
type doneTalk struct {
	ID       string    `json:"id"` // the part of it that is no time
	Messages int       `json:"messages"`
	Size     int64     `json:"size,omitempty"` // of the transcript then, 0 for none
	Ended    time.Time `json:"ended,omitzero"`
	Project  string    `json:"project,omitempty"`
}

type doneState struct {
	V     int                  `json:"v"`
	Files map[string]*doneFile `json:"files"`
}

// A done is the memory of one source.
type done struct {
	v     *vault.Vault
	name  string
	files map[string]*doneFile
	fresh map[string]*doneFile // of this run
	wait  map[string]*doneFile // read, but not all of it committed yet
}

func openDone(v *vault.Vault, s Source) (*done, error) {
	d := &done{v: v, name: "import-" + s.Name, fresh: map[string]*doneFile{}, wait: map[string]*doneFile{}}
	data, err := v.State().Seen(d.name)
	if err != nil {
		return nil, err
	}
	d.files = decodeDone(data)
	return d, nil
}

// decodeDone reads the state; one of another version, or that is damaged, is
// none.
func decodeDone(data []byte) map[string]*doneFile {
	var s doneState
	if json.Unmarshal(data, &s) != nil || s.V != doneVersion || s.Files == nil {
		return map[string]*doneFile{}
	}
	return s.Files
}

// of is what is remembered of a file as it is now, nil for nothing.
func (d *done) of(f file) *doneFile {
	was := d.files[nameOf(f)]
	if was == nil || was.Size != f.size || was.Time != f.time.UnixNano() || was.Identity != f.identity {
		return nil
	}
	return was
}

func nameOf(f file) string {
	if p, err := filepath.Abs(f.path); err == nil {
		return p
	}
	return f.path
}

// committed is told that all that was read up to now is in the vault.
func (d *done) committed() {
	for name, f := range d.wait {
		d.fresh[name] = f
	}
	clear(d.wait)
}

// save writes down the files that this run has read and forgets those that are
// gone.
func (d *done) save(ctx context.Context) error {
	if len(d.fresh) == 0 {
		return nil
	}
	k, err := newKnown(ctx, d.v)
	if err != nil {
		return err
	}
	for _, f := range d.fresh {
		for i := range f.Talks {
			if p := k.named6(f.Talks[i].ID); p != "" {
				f.Talks[i].Size = k.size[p]
			}
		}
	}
	return d.v.State().SetSeen(ctx, d.name, func(now []byte) ([]byte, error) {
		s := doneState{V: doneVersion, Files: decodeDone(now)}
		for name := range s.Files {
			if _, err := os.Lstat(name); err != nil {
				delete(s.Files, name)
			}
		}
		for name, f := range d.fresh {
			s.Files[name] = f
		}
		return json.Marshal(s)
	})
}

// The places where the conversation of a file can be by now.
const (
	lost  = iota // nowhere, or not all of it
	there        // in its transcript
	taken        // taken back or put away by a person
)

// whereabouts looks for a conversation without reading its transcript, unless
// that is not as it was left.
func (k *known) whereabouts(t doneTalk) (int, error) {
	p := k.named6(t.ID)
	switch {
	case p == "" && k.rejected[t.ID]:
		return taken, nil
	case p == "":
		return lost, nil
	case strings.HasPrefix(string(p), "archive/"):
		return taken, nil
	case k.size[p] == t.Size:
		return there, nil
	}
	head, err := session.Head(k.v, p)
	if err != nil || len(head.ID) < 16 || hashPart(head.ID) != t.ID || head.Messages < t.Messages {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return lost, err
	}
	return there, nil
}

// named6 is the transcript that is named for an id, or was found to have it.
func (k *known) named6(hash string) vault.Path {
	if p := k.odd[hash]; p != "" {
		return p
	}
	if list := k.named[hash[len(hash)-6:]]; len(list) == 1 {
		return list[0]
	}
	return ""
}

// unread counts what a file brought before instead of reading it again. It
// reports false where that cannot be relied on.
func (w *writer) unread(f file) (bool, error) {
	if w.done == nil || w.o.Reread {
		return false, nil
	}
	was := w.done.of(f)
	if was == nil {
		return false, nil
	}
	var unchanged, rejected, skipped int
	for _, t := range was.Talks {
		at, err := w.known.whereabouts(t)
		switch {
		case err != nil || at == lost:
			return false, err
		case !w.within(t.Ended, t.Project):
			skipped++
		case at == taken:
			rejected++
		default:
			unchanged++
		}
	}
	w.report.Unread++
	w.report.Unchanged, w.report.Rejected, w.report.Skipped = w.report.Unchanged+unchanged, w.report.Rejected+rejected, w.report.Skipped+skipped
	r := w.r
	r.progress.Bytes, r.progress.Sessions, r.count = r.progress.Bytes+f.size, r.progress.Sessions+was.Read, r.count+was.Malformed
	r.problems = append(r.problems, was.Problems[:min(len(was.Problems), max(0, mostProblems-len(r.problems)))]...)
	for foreign, at := range was.Started {
		r.remember(foreign, at)
	}
	return true, nil
}

// read reads a file and, when it was read whole, lets it wait for its commit.
func (w *writer) read(f file) error {
	r := w.r
	before, skipped, count, problems := r.progress.Sessions, w.report.Skipped, r.count, len(r.problems)
	w.talks, r.broken, r.began = nil, false, nil
	if err := w.source.read(r, f); err != nil {
		return err
	}
	if w.done == nil || r.broken || w.report.Skipped > skipped || !f.time.Before(w.o.Now.Add(-restless)) {
		return nil
	}
	w.done.wait[nameOf(f)] = &doneFile{Size: f.size, Time: f.time.UnixNano(), Identity: f.identity, Read: r.progress.Sessions - before,
		Malformed: r.count - count, Problems: slices.Clone(r.problems[problems:min(len(r.problems), problems+mostRemembered)]), Started: r.began, Talks: w.talks}
	return nil
}

// stat fills in what tells a file from a later one.
func (f *file) stat(info fs.FileInfo) {
	f.size, f.time, f.identity = info.Size(), info.ModTime(), vault.Identity(info)
}
