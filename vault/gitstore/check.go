package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

const branches = "refs/heads"

// Check compares each branch with its reflog and returns those that cannot be read, or
// that do not hold the commit at which the log ends or that a line of it went back from,
// by name. It names the objects as well that the history of HEAD and of the branches, and
// git's index, lead to and that are missing;
// contents are looked for and not read. Cost: every commit and every tree once.
func Check(ctx context.Context, r *Repo) (bad []*BadRefError, missing []string, err error) {
	names, err := r.branches()
	if err != nil {
		return nil, nil, err
	}
	h := historyCheck{objects: r.Stage(), seen: map[ID]bool{}}
	for _, name := range append([]string{"HEAD"}, names...) {
		id, err := r.follow(name)
		if err == nil { // what cannot be read is among the bad ones
			h.commits(ctx, id)
		}
	}
	h.staged(ctx)
	return r.badBranches(names), h.missing, context.Cause(ctx)
}

func (r *Repo) badBranches(names []string) []*BadRefError {
	var out []*BadRefError
	for _, name := range names {
		at, err := r.ReadRef(name)
		last, lerr := r.lastLogged(name)
		if err == nil {
			err = lerr
		}
		if err == nil && !last.IsZero() {
			if held, herr := r.Stage().IsAncestor(last, at); herr != nil || !held {
				err = fmt.Errorf("it is at %q, which does not hold commit %s, where its reflog ends", at, last)
			}
		}
		hint := ""
		if lost, lerr := r.lostInLog(name); err == nil && lerr == nil && !lost.IsZero() {
			err = fmt.Errorf("it went back from commit %s, and its reflog does not say why", lost)
			hint = fmt.Sprintf("\"git merge %s\" brings it back, \"git branch kept %s\" keeps it", lost, lost)
		}
		var bad *BadRefError
		if err != nil && !errors.As(err, &bad) {
			bad = r.badRef(name, err)
			bad.hint = hint
		}
		if bad != nil {
			out = append(out, bad)
		}
	}
	return out
}

// branches lists the names of all branches that have a file, a line in packed-refs or a log.
func (r *Repo) branches() ([]string, error) {
	found := map[string]bool{}
	for _, above := range [...]string{"", "logs/"} {
		top := r.root.Abs(above + branches)
		err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && !d.IsDir() && !strings.HasSuffix(p, ".lock") {
				found[branches+filepath.ToSlash(strings.TrimPrefix(p, top))] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	data, _, err := r.root.ReadFile("packed-refs", 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		if _, name, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, branches+"/") {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

type historyCheck struct {
	objects *Objects
	seen    map[ID]bool
	missing []string
}

// new reports whether an object is met for the first time.
func (h *historyCheck) new(id ID) bool {
	was := h.seen[id]
	h.seen[id] = true
	return !was && !id.IsZero()
}

func (h *historyCheck) commits(ctx context.Context, tip ID) {
	for queue := []ID{tip}; len(queue) > 0 && ctx.Err() == nil; {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !h.new(id) {
			continue
		}
		c, err := h.objects.Commit(id)
		if err != nil {
			h.missing = append(h.missing, "commit "+id.String())
			continue
		}
		h.tree(ctx, c.Tree, "", id)
		queue = append(queue, c.Parents...)
	}
}

func (h *historyCheck) tree(ctx context.Context, id ID, dir string, of ID) {
	if !h.new(id) || ctx.Err() != nil {
		return
	}
	entries, err := h.objects.decodeTree(id)
	if err != nil {
		h.missing = append(h.missing, fmt.Sprintf("tree %s (%q in commit %s)", id, dir, of))
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case e.Mode == ModeDir:
			h.tree(ctx, e.ID, name, of)
		case e.Mode != ModeSubmodule && h.new(e.ID) && !h.objects.repo.has(e.ID):
			h.missing = append(h.missing, fmt.Sprintf("blob %s (%q in commit %s)", e.ID, name, of))
		}
	}
}

// staged looks for what git's index names.
func (h *historyCheck) staged(ctx context.Context) {
	index, _, err := h.objects.repo.ReadGitIndex(ID{})
	if err != nil {
		return // another check names it
	}
	for e := range index.All() {
		if ctx.Err() == nil && !e.IntentToAdd && e.Mode != ModeSubmodule && h.new(e.Hash) && !h.objects.repo.has(e.Hash) {
			h.missing = append(h.missing, fmt.Sprintf("blob %s (%q in git's index)", ID(e.Hash), e.Path))
		}
	}
}

// has reports whether an object is there, whole or not.
func (r *Repo) has(id ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := id.String()
	return r.packs.has(id) || r.root.Exists("objects/"+name[:2]+"/"+name[2:]) ||
		r.storage.HasEncodedObject(plumbing.Hash(id)) == nil
}
