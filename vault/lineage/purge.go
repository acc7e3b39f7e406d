package lineage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stet/templates"
	"stet/vault"
)

// An Erasure is what a purge leaves for the person to do, because stet never
// rewrites history: the steps that take the text out of it and out of every
// copy.
type Erasure struct {
	// Names are all names the files ever had, as git has them.
	Names []string `json:"names"`
	// Commits changed them; their messages may quote the text.
	Commits []vault.Revision `json:"commits"`
	Steps   []Step           `json:"steps"`
}

// A Step says what to do and, where a command does it, how.
type Step struct {
	What    string   `json:"what"`
	Command []string `json:"command,omitempty"` // lines for a POSIX shell
}

// A Purging is a purge that is ready to be carried out.
type Purging struct {
	Memories []vault.Memory // to be removed
	Erasure  Erasure
	warnings []string
}

// PlanPurge finds what a purge is to remove. Each ref must be a whole id or a
// path, so that nothing else is met by a slip; a memory may lie in the tree and in
// the archive at once. Cost: every file is read.
func PlanPurge(ctx context.Context, v *vault.Vault, refs []string) (*Purging, error) {
	f, err := look(ctx, v, refs)
	if err != nil {
		return nil, err
	}
	p := &Purging{warnings: f.unread}
	for n, ref := range refs {
		met := f.met[f.keys[n]]
		if len(met) == 0 {
			err := fmt.Errorf("purge %q: no memory has this id or path: %w", ref, vault.ErrNotFound)
			return nil, vault.WithHint(err, `a purge takes the whole id or the path, nothing shorter; `+
				`"stet list --all --paths" has the paths`)
		}
		for _, m := range met {
			switch m.Class {
			case vault.ClassMemory, vault.ClassNote, vault.ClassArchive, vault.ClassSession:
			default:
				return nil, vault.WithHint(fmt.Errorf("purge %q: %w: it is a %s file", m.Path, vault.ErrRefused, m.Class), "edit it by hand")
			}
			if !slices.ContainsFunc(p.Memories, func(o vault.Memory) bool { return o.Path == m.Path }) {
				p.Memories = append(p.Memories, m)
			}
		}
	}
	p.Erasure, err = erasure(ctx, v, p.Memories)
	return p, err
}

// Run removes the memories from tree and archive in one commit that names nothing
// but their ids, and leaves tombstones of ids only. History keeps the text until
// the person takes the steps of Erasure. A file that changed since it was looked
// at is vault.ErrConflict.
func (p *Purging) Run(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
	var ids []string
	var nameless []vault.Path
	for _, m := range p.Memories {
		switch {
		case m.ID == "":
			nameless = append(nameless, m.Path)
		case !slices.Contains(ids, m.ID):
			ids = append(ids, m.ID)
		}
	}
	// The subject must not say what is to be gone, whatever the caller wants.
	w.Message = ""
	subject := "purge one file"
	if len(p.Memories) > 1 {
		subject = fmt.Sprintf("purge %s", templates.Plural(len(p.Memories), "file"))
	}
	why := w.Why(vault.OpForget, subject)
	why.Memories = ids
	why.Trail("Stet-Mode", "purge")
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *vault.Tx) error {
		for _, m := range p.Memories {
			if err := tx.Remove(m.Path, m.Hash); err != nil {
				return err
			}
		}
		return tx.RejectPurged(ids, nameless)
	})
	if err != nil {
		return nil, err
	}
	res.Memories, res.Warnings = p.Memories, append(res.Warnings, p.warnings...)
	return res, nil
}

// A lookup is what one pass over the files found.
type lookup struct {
	keys   []string // for each ref the id, or the path of a file without one
	met    map[string][]vault.Memory
	unread []string // what nobody could look into
}

func look(ctx context.Context, v *vault.Vault, refs []string) (lookup, error) {
	files, err := v.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return lookup{}, err
	}
	out := lookup{met: map[string][]vault.Memory{}}
	wanted := map[string]bool{}
	for _, ref := range refs {
		key := strings.ToLower(ref)
		if !vault.IsID(ref) {
			if key, err = keyOf(v, files, ref); err != nil {
				return lookup{}, err
			}
		}
		out.keys = append(out.keys, key)
		wanted[key] = true
	}
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return lookup{}, err
		}
		data, _, err := v.ReadFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // since it was listed
		}
		if err != nil {
			out.unread = append(out.unread, fmt.Sprintf("%q was not looked into and may hold it too: %v", f.Path, err))
			continue
		}
		m := vault.ReadMemory(f.Path, data)
		if key := cmp.Or(m.ID, string(m.Path)); wanted[key] {
			out.met[key] = append(out.met[key], m)
		}
	}
	return out, nil
}

// keyOf is the id of the file at a path, or the path when it has none. A file that
// is to be purged must be readable.
func keyOf(v *vault.Vault, files []vault.File, ref string) (string, error) {
	if !slices.ContainsFunc(files, func(f vault.File) bool { return string(f.Path) == ref }) {
		return ref, nil
	}
	data, _, err := v.ReadFile(vault.Path(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return ref, nil
	}
	if err != nil {
		return "", fmt.Errorf("purge %q: %w", ref, err)
	}
	return cmp.Or(vault.ReadMemory(vault.Path(ref), data).ID, ref), nil
}

// erasure makes the plan from what history knows of the files.
func erasure(ctx context.Context, v *vault.Vault, found []vault.Memory) (Erasure, error) {
	plan := Erasure{Names: []string{}, Commits: []vault.Revision{}}
	name := func(p vault.Path) {
		if git := v.GitPath(p); p != "" && !slices.Contains(plan.Names, git) {
			plan.Names = append(plan.Names, git)
		}
	}
	for _, m := range found {
		name(m.Path)
		for version, err := range v.History().Versions(ctx, "", m.Path) {
			if err != nil {
				return plan, err
			}
			name(version.Path)
			name(version.From)
			if rev := version.Commit.Rev; !slices.Contains(plan.Commits, rev) {
				plan.Commits = append(plan.Commits, rev)
			}
		}
	}
	filter := "git filter-repo --force --invert-paths"
	for _, n := range plan.Names {
		filter += " --path " + templates.Quote(n)
	}
	plan.Steps = []Step{
		{What: "Look whether anything else repeats it, transcripts and other notes first.", Command: []string{"git grep -n 'WORDS'", "git log --all --oneline -S 'WORDS'"}},
		{What: "End every other process of stet that has this vault open (stet watch, an agent's server) until all is done: its index and its view of the files would go on with the old ones."},
		{What: "Make a copy of the repository, then take every version out of all branches and tags (needs git-filter-repo; every commit after the first touched one gets a new id).", Command: []string{filter}},
		{What: fmt.Sprintf("Take the words out of commit messages as well: stet makes subjects from first words. Commits that changed these files: %d. Put lines of the form WORDS==>*** into a file.", len(plan.Commits)),
			Command: []string{"git filter-repo --force --replace-message FILE"}},
		{What: "Drop what still refers to the old commits in this repository.", Command: []string{"git reflog expire --expire=now --all", "git gc --prune=now"}},
		{What: "filter-repo forgets the remotes. Add each again and overwrite it; ask its operator to drop caches, forks and pull requests that hold the old commits.", Command: []string{"git remote add NAME URL", "git push --force --all NAME", "git push --force --tags NAME"}},
		{What: "Delete every other clone and worktree and clone anew: a pull or a push from an old one brings everything back."},
		{What: "Remove it from backups, file-system snapshots, synchronised folders, and the swap and undo files of editors."},
	}
	return plan, nil
}
