package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"stet/vault"
)

// closer is a source of events that can be ended. Close returns when no more
// hints will come.
type closer interface{ Close() error }

// A tree reports what happens in every folder that the vault looks after, and at
// the few places in git's folder that decide. Folders are watched, never files:
// editors replace files, and a watch would stay with the old one.
type tree struct {
	w     *fsnotify.Watcher
	v     Vault
	h     *hints
	root  string
	git   vault.GitState
	ctx   context.Context
	end   context.CancelFunc
	ended sync.WaitGroup
	// dirs are the folders that should have a watch. fsnotify's own list decides
	// where it matters: a moved folder keeps the watch of its old name.
	dirs map[vault.Path]bool
	// stale is set when folders may be without a watch.
	stale bool
	add   func(name string) error // for tests; the watcher's own
}

// follow starts a tree. The error is a [LimitError] where the system allows no
// more watches.
func follow(ctx context.Context, v Vault, h *hints, add func(*fsnotify.Watcher, string) error) (*tree, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, asLimit(err, 0)
	}
	t := &tree{w: w, v: v, h: h, root: v.Root(), git: v.Git(), dirs: map[vault.Path]bool{}, add: w.Add}
	if add != nil {
		t.add = func(name string) error { return add(w, name) }
	}
	t.ctx, t.end = context.WithCancel(ctx)
	if err := t.start(); err != nil {
		t.end()
		return nil, errors.Join(err, w.Close())
	}
	t.ended.Go(t.run)
	return t, nil
}

func (t *tree) start() error {
	if err := t.watch(t.root); err != nil {
		return err
	}
	t.watchGit()
	return t.enter("")
}

// Close ends the events.
func (t *tree) Close() error {
	t.end()
	err := t.w.Close()
	t.ended.Wait()
	return err
}

// folders counts what is followed.
func (t *tree) folders() int { return len(t.w.WatchList()) }

// watch adds one folder. One that is gone, or that may not be read, is no
// error: whoever removed or locked it reports that by itself.
func (t *tree) watch(dir string) error {
	err := t.add(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return asLimit(err, len(t.dirs))
}

// watchGit watches what tells that the branch moved, or that git has finished
// something: HEAD, index and packed-refs in git's folder, and the folders of
// branches. Losing one costs a look at the next heartbeat.
func (t *tree) watchGit() {
	dirs := []string{t.git.Dir}
	if t.git.Common != t.git.Dir {
		dirs = append(dirs, t.git.Common)
	}
	heads := filepath.Join(t.git.Common, "refs", "heads")
	_ = filepath.WalkDir(heads, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, p)
		}
		return nil
	})
	for _, d := range dirs {
		if err := t.watch(d); err != nil {
			return // the limit; the folders of the vault will meet it as well
		}
	}
}

// enter watches a folder and everything below it. A folder is watched first and
// listed then, until nothing new is found: what is made in between is either in
// the list or reported.
func (t *tree) enter(under vault.Path) error {
	fresh := map[vault.Path]bool{}
	for {
		found, err := t.v.Survey(t.ctx, under, under != "")
		if err != nil {
			return err
		}
		added := false
		for _, p := range found.Folders {
			if fresh[p] {
				continue
			}
			// Again, also where there should be a watch: a folder that was
			// removed and made anew has lost it. It costs one call.
			if err := t.watch(t.name(p)); err != nil {
				return err
			}
			fresh[p], t.dirs[p], added = true, true, true
		}
		if added {
			continue
		}
		if len(found.Files) > 0 {
			paths := make([]vault.Path, len(found.Files))
			for i, f := range found.Files {
				paths[i] = f.Path
			}
			t.h.changed(paths...)
		}
		return nil
	}
}

func (t *tree) name(p vault.Path) string { return filepath.Join(t.root, filepath.FromSlash(string(p))) }

// settle is the pause after which folders without a watch are looked for: moved
// trees and changed ignore rules come in bursts.
const settle = 100 * time.Millisecond

func (t *tree) run() {
	timer := time.NewTimer(settle)
	timer.Stop()
	for {
		select {
		case ev, ok := <-t.w.Events:
			if !ok {
				return
			}
			was := t.stale
			t.fail(t.handle(ev))
			if t.stale && !was {
				timer.Reset(settle)
			}
		case err, ok := <-t.w.Errors:
			if !ok {
				return
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				t.h.warn("the system's events: " + err.Error())
			}
			t.h.lost()
			if !t.stale {
				t.stale = true
				timer.Reset(settle)
			}
		case <-timer.C:
			t.stale = false
			t.fail(t.resync())
		}
	}
}

// fail ends the tree where it can report no more, and passes on what else went
// wrong.
func (t *tree) fail(err error) {
	var limit *LimitError
	switch {
	case err == nil || t.ctx.Err() != nil:
	case errors.As(err, &limit):
		t.h.fail(err)
	default:
		t.h.warn("follow new folders: " + err.Error())
		t.h.lost()
	}
}

// resync gives a watch to every folder that should have one and takes it from
// all others.
func (t *tree) resync() error {
	want, err := t.v.Survey(t.ctx, "", false)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, name := range t.w.WatchList() {
		have[name] = true
	}
	t.dirs = map[vault.Path]bool{}
	missing := false
	for _, p := range want.Folders {
		t.dirs[p] = true
		missing = missing || !have[t.name(p)]
		delete(have, t.name(p))
	}
	for name := range have {
		if p, ours := t.path(name); ours && p != "" {
			_ = t.w.Remove(name) // it may have ended by itself meanwhile
		}
	}
	t.watchGit()
	if err := t.watch(t.root); err != nil || !missing {
		return err
	}
	t.h.lost()
	return t.enter("")
}

// path is the vault's name of a file; ours is false for what is not in the
// vault or has no name there.
func (t *tree) path(name string) (p vault.Path, ours bool) {
	if t.atGit(name) {
		return "", false
	}
	if name == t.root {
		return "", true
	}
	rest, below := strings.CutPrefix(name, t.root+string(filepath.Separator))
	if !below {
		return "", false
	}
	p, err := vault.ParsePath(filepath.ToSlash(rest))
	return p, err == nil
}

func (t *tree) atGit(name string) bool {
	for _, dir := range [...]string{t.git.Dir, t.git.Common} {
		if name == dir || strings.HasPrefix(name, dir+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// handle turns one event into hints.
func (t *tree) handle(ev fsnotify.Event) error {
	if t.atGit(ev.Name) {
		return t.handleGit(ev)
	}
	p, ours := t.path(ev.Name)
	if !ours || p == "" {
		if strings.HasSuffix(ev.Name, string(filepath.Separator)+".git") {
			t.stale = true // a folder became a repository of its own, or is none any more
			t.h.lost()
		}
		return nil
	}
	gone := ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename)
	switch base := p.Base(); {
	case base == ".gitignore":
		t.stale = true
		t.h.lost()
		return nil
	case base == ".stet" && p != ".stet":
		t.stale = true // a vault inside the vault
		t.h.lost()
		return nil
	case gone && t.dirs[p]:
		t.leave(p, ev.Has(fsnotify.Rename))
		t.h.lost()
		return nil
	case gone:
	case ev.Has(fsnotify.Create):
		if info, err := os.Lstat(ev.Name); err == nil && info.IsDir() {
			return t.enter(p)
		}
	case t.dirs[p]:
		return nil // the description of a folder
	}
	if !concerns(p) {
		return nil
	}
	if ev.Op == fsnotify.Chmod {
		t.h.touched(p)
	} else {
		t.h.changed(p)
	}
	return nil
}

// leave forgets a folder that went away. One that was moved keeps its watches,
// under names that are wrong now, until they are taken away; where it went to
// is found when it is reported there, or by looking for it.
func (t *tree) leave(dir vault.Path, moved bool) {
	delete(t.dirs, dir)
	if !moved {
		return
	}
	t.stale = true
	_ = t.w.Remove(t.name(dir)) // the library may have done so
	for p := range t.dirs {
		if strings.HasPrefix(string(p), string(dir)+"/") {
			delete(t.dirs, p)
			_ = t.w.Remove(t.name(p))
		}
	}
}

// handleGit tells what matters in git's folder from what happens there all the
// time.
func (t *tree) handleGit(ev fsnotify.Event) error {
	rel := strings.TrimPrefix(strings.TrimPrefix(ev.Name, t.git.Dir), t.git.Common)
	rel = filepath.ToSlash(strings.TrimPrefix(rel, string(filepath.Separator)))
	switch {
	case strings.HasPrefix(rel, "refs/"):
		if info, err := os.Lstat(ev.Name); err == nil && info.IsDir() {
			t.watchGit()
		}
		t.h.atGit()
	case rel == "HEAD", rel == "index", rel == "packed-refs", strings.HasSuffix(rel, "_HEAD"),
		strings.HasPrefix(rel, "rebase-"), rel == "sequencer", rel == "BISECT_START":
		t.h.atGit()
	case rel == "index.lock" && ev.Has(fsnotify.Remove):
		t.h.atGit()
	}
	return nil
}
