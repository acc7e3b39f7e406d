package imports

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/session"
)

// deposit writes the transcripts of a batch into the repository, where they wait
// for the run's commit, out of memory.
func (w *writer) deposit(batch []*item) error {
	err := w.depositOnce(batch)
	if errors.Is(err, errNameWaits) {
		if err := w.publish(); err != nil {
			return err
		}
		err = w.depositOnce(batch)
	}
	return err
}

// errNameWaits reports a new transcript with the name of one that waits.
var errNameWaits = errors.New("the name waits for its commit")

func (w *writer) depositOnce(batch []*item) error {
	list, contents, err := w.staged(batch)
	if err != nil {
		return err
	}
	var paths []vault.Path
	for _, one := range list {
		for _, p := range one.puts {
			paths = append(paths, p.path)
		}
	}
	hashes, err := w.v.State().WriteBlobs(w.ctx, paths, contents)
	if err != nil {
		return err
	}
	for _, one := range list {
		for i := range one.puts {
			one.puts[i].hash, hashes = hashes[0], hashes[1:]
		}
		w.waiting[hashPart(one.id)] = true
		if len(one.puts) > 0 {
			w.paths[markdown.Fold(string(one.puts[0].path))] = true
			if one.puts[0].was == "" {
				w.placed[one.puts[0].path.Dir()]++
			}
		}
	}
	w.queue = append(w.queue, list...)
	return nil
}

// publish makes one commit of what waits. A transcript that somebody changed
// meanwhile is left for the next run.
func (w *writer) publish() error {
	list := w.queue
	w.queue, w.queued = nil, 0
	clear(w.waiting)
	clear(w.paths)
	clear(w.placed)
	if len(list) == 0 {
		w.settled(true)
		return nil
	}
	left, res, err := w.commit(list)
	if err != nil {
		w.settled(false)
		return err
	}
	return w.wrote(list, left, res)
}

func (w *writer) commit(list []*waiting) (left []bool, res *vault.Result, err error) {
	if by := w.o.Write.Writer; (by.Actor == "" || by.Actor == vault.ActorUser) && by.Via == "" {
		var changes [][2]vault.Hash
		for _, one := range list {
			if len(one.puts) > 0 {
				changes = append(changes, [2]vault.Hash{one.puts[0].was, one.puts[0].hash})
			}
		}
		if err := session.Imports(w.ctx, w.v, changes); err != nil {
			return nil, nil, err
		}
	}
	why := w.o.Write.Why(vault.OpImport, subject(list, w.source.Name))
	res, err = w.v.Transact(w.ctx, why, false, func(tx *vault.Tx) error {
		if w.id == "" {
			w.id = tx.NewID()
		}
		tx.Why().Run = w.id
		left = make([]bool, len(list))
		for i, one := range list {
			if left[i] = len(one.puts) == 0; left[i] {
				continue
			}
			_, now, err := tx.Read(one.puts[0].path)
			if err != nil {
				return err
			}
			if left[i] = now != one.puts[0].was; left[i] {
				continue
			}
			for _, p := range one.puts {
				if err := tx.PutStored(p.path, p.was, p.hash); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return left, res, err
}

// wrote takes down what stands in the vault now; left are those that do not.
func (w *writer) wrote(list []*waiting, left []bool, res *vault.Result) error {
	w.settled(!slices.Contains(left, true))
	for i, one := range list {
		if left[i] {
			w.report.Unchanged++
			continue
		}
		w.count(one, one.puts[0].path)
		w.holds(one.open)
		if one.puts[0].was == "" {
			if err := w.known.see(one.puts[0].path); err != nil {
				return err
			}
		}
	}
	for _, c := range res.Commits {
		w.report.Commits = append(w.report.Commits, c.Rev)
	}
	if w.o.Committed != nil {
		return w.o.Committed(res)
	}
	return nil
}

func subject(list []*waiting, source string) string {
	if len(list) == 1 {
		return fmt.Sprintf("%s, from %s", cmp.Or(list[0].title, list[0].origin), source)
	}
	return fmt.Sprintf("%s from %s", templates.Plural(len(list), "conversation"), source)
}

func (w *writer) count(one *waiting, p vault.Path) {
	switch one.state {
	case StateAdded:
		w.report.Added++
	case StateGrown:
		w.report.Grown++
	default:
		w.report.Changed++
	}
	w.report.Messages += one.messages
	w.report.Written = append(w.report.Written, Written{State: one.state, Path: p, ID: one.id, Title: one.title})
}

// A waiting is a transcript that is in the repository and in no commit yet.
type waiting struct {
	id, title, origin string
	state             string
	messages          int // that are new
	puts              []put
	open              openPart
}

// A put is one file of it, the transcript first.
type put struct {
	path      vault.Path
	was, hash vault.Hash
}

// staged finds names for transcripts, and what stands there now. It writes nothing.
func (w *writer) staged(batch []*item) (list []*waiting, contents [][]byte, err error) {
	_, err = w.v.Transact(w.ctx, vault.Why{Op: vault.OpImport}, false, func(tx *vault.Tx) error {
		list, contents = nil, nil
		w.placing = map[string]int{}
		for _, it := range batch {
			one, data, err := w.stage(tx, it)
			if err != nil {
				return err
			}
			list, contents = append(list, one), append(contents, data...)
		}
		return nil
	})
	w.placing = nil
	return list, contents, err
}

// writeIgnored writes the transcripts of a vault that keeps them out of git
// (sessions.track is false) one by one; there is no commit. Those that are in one from before are handed back.
func (w *writer) writeIgnored(batch []*item) (tracked []*item, err error) {
	var all []*waiting
	var left []bool
	res := &vault.Result{}
	head, err := w.v.History().View(w.ctx, "")
	if err != nil {
		return nil, err
	}
	for i, it := range batch {
		if _, hash, err := head.Read(it.path); it.path != "" && (hash != "" || err != nil) {
			if err != nil {
				return nil, err
			}
			tracked = append(tracked, it)
			continue
		}
		list, contents, err := w.staged(batch[i : i+1])
		if err != nil {
			return nil, err
		}
		puts := list[0].puts
		for k := range puts {
			k = len(puts) - 1 - k // the transcript last
			if err := w.v.State().PutIgnored(w.ctx, puts[k].path, puts[k].was, contents[k]); err != nil {
				return nil, err
			}
		}
		all, left = append(all, list[0]), append(left, len(puts) == 0)
		if len(puts) > 0 {
			res.Changes = append(res.Changes, vault.Change{Status: vault.Added, Path: puts[0].path})
		}
	}
	if len(tracked) > 0 {
		w.settled(false)
	}
	return tracked, w.wrote(all, left, res)
}

// A besideFile stands in the folder beside a transcript.
type besideFile struct {
	path vault.Path
	data []byte
}

// files are the bytes of the item's transcript at p, where have stands now, and
// of what stands beside it; nil when there is nothing left to do.
func (w *writer) files(it *item, p vault.Path, have []byte, was vault.Hash) ([]byte, []besideFile, error) {
	if p.Base() != it.made.base {
		made, err := w.censor.render(it.s, p.Base())
		if err != nil {
			return nil, nil, err
		}
		it.made = made
	}
	data, from := it.made.text, 0
	if it.path != "" {
		if was == "" || !bytes.Equal(have, it.have) {
			return nil, nil, nil // somebody was faster; the next import looks again
		}
		grown, err := it.grow(have, it.s, it.made)
		if err != nil {
			return nil, nil, err
		}
		data, from = grown, it.from
	}
	var beside []besideFile
	for _, a := range it.made.attached {
		var n int
		if _, err := fmt.Sscanf(a.Name, "%d-", &n); err == nil && n > from {
			at := p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + a.Name
			beside = append(beside, besideFile{vault.Path(at), a.Data})
		}
	}
	return data, beside, nil
}

// stage says which files a conversation becomes, and with which contents; none
// when there is nothing left to do.
func (w *writer) stage(tx *vault.Tx, it *item) (*waiting, [][]byte, error) {
	one := it.waits()
	p := it.path
	if p == "" {
		at := w.place(it)
		free, err := tx.FreeName(at.Dir(), at.Base(), it.s.ID)
		if err != nil {
			return nil, nil, err
		}
		w.placing[free.Dir()]++
		if p = free; w.paths[markdown.Fold(string(p))] {
			return nil, nil, errNameWaits
		}
	}
	have, was, err := tx.Read(p)
	if err != nil {
		return nil, nil, err
	}
	data, beside, err := w.files(it, p, have, was)
	if err != nil || data == nil {
		return one, nil, err
	}
	one.puts = []put{{path: p, was: was}}
	contents := [][]byte{data}
	for _, a := range beside {
		_, old, err := tx.Read(a.path)
		if err != nil {
			return nil, nil, err
		}
		one.puts, contents = append(one.puts, put{path: a.path, was: old}), append(contents, a.data)
	}
	return one, contents, nil
}

func (it *item) waits() *waiting {
	return &waiting{id: it.s.ID, title: it.s.Title, origin: it.s.Origin, state: it.state,
		messages: len(it.s.Messages) - it.from, open: it.open}
}
