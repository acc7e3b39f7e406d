package lineage

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// Purge removes memories from tree and archive in one commit that names nothing
// but their ids, and leaves tombstones of ids only. Each ref must be a whole id or
// a path, so that nothing else is met by a slip. History keeps the text until
// the person takes the steps that are returned.
func Purge(ctx context.Context, v *vault.Vault, refs []string, w vault.Write) (*vault.Result, Erasure, error) {
	var found []vault.Memory
	for _, ref := range refs {
		more, err := exactly(ctx, v, ref)
		if err != nil {
			return nil, Erasure{}, err
		}
		for _, m := range more {
			if !slices.ContainsFunc(found, func(f vault.Memory) bool { return f.Path == m.Path }) {
				found = append(found, m)
			}
		}
	}
	var ids []string
	var nameless []vault.Path
	for _, m := range found {
		switch {
		case m.ID == "":
			nameless = append(nameless, m.Path)
		case !slices.Contains(ids, m.ID):
			ids = append(ids, m.ID)
		}
	}
	plan, err := erasure(ctx, v, found)
	if err != nil {
		return nil, Erasure{}, err
	}
	// The subject must not say what is to be gone, whatever the caller wants.
	w.Message = ""
	subject := "purge one file"
	if len(found) > 1 {
		subject = fmt.Sprintf("purge %d files", len(found))
	}
	why := w.Why(vault.OpForget, subject)
	why.Memories = ids
	why.Extra = append(why.Extra, vault.TrailerLine{Key: "Stet-Mode", Value: "purge"})
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *vault.Tx) error {
		for _, m := range found {
			_, hash, err := tx.Read(m.Path)
			if err != nil {
				return err
			}
			if err := tx.Remove(m.Path, hash); err != nil {
				return err
			}
		}
		return tx.RejectPurged(ids, nameless)
	})
	if err != nil {
		return nil, Erasure{}, err
	}
	res.Memories = found
	return res, plan, nil
}

// exactly finds the files that a whole id or a path names: a memory may lie in
// the tree and in the archive at once.
func exactly(ctx context.Context, v *vault.Vault, ref string) ([]vault.Memory, error) {
	files, err := v.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return nil, err
	}
	var all []vault.Memory
	id := ""
	if isID(ref) {
		id = strings.ToLower(ref)
	}
	for _, f := range files {
		data, _, err := v.ReadFile(f.Path)
		if err != nil {
			return nil, fmt.Errorf("purge: look for %q: %w", ref, err)
		}
		m := vault.ReadMemory(f.Path, data)
		if string(m.Path) == ref && id == "" {
			if m.ID == "" {
				all = []vault.Memory{m}
				break
			}
			return exactly(ctx, v, m.ID)
		}
		if id != "" && m.ID == id {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		return nil, vault.WithHint(&vault.NotFoundError{Ref: ref}, `a purge takes the whole id or the path, nothing shorter; "stet show NAME --json" has both`)
	}
	for _, m := range all {
		switch m.Class {
		case vault.ClassMemory, vault.ClassNote, vault.ClassArchive, vault.ClassSession:
		default:
			return nil, vault.WithHint(fmt.Errorf("purge %q: %w: it is a %s file", m.Path, vault.ErrRefused, m.Class), "edit it by hand")
		}
	}
	return all, nil
}

// isID reports whether a word is a whole ULID.
func isID(s string) bool {
	const length = 26
	ok := len(s) == length
	for _, r := range s {
		ok = ok && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}
	return ok
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
		for version, err := range v.Versions(ctx, "", m.Path) {
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
		filter += " --path " + shellQuote(n)
	}
	plan.Steps = []Step{
		{What: "Look whether anything else repeats it, transcripts and other notes first.", Command: []string{"git grep -n 'WORDS'", "git log --all --oneline -S 'WORDS'"}},
		{What: "Make a copy of the repository, then take every version out of all branches and tags (needs git-filter-repo; every commit after the first touched one gets a new id).", Command: []string{filter}},
		{What: fmt.Sprintf("Take the words out of commit messages as well: %d commits changed these files, and stet makes subjects from first words. Put lines of the form WORDS==>*** into a file.", len(plan.Commits)),
			Command: []string{"git filter-repo --force --replace-message FILE"}},
		{What: "Drop what still refers to the old commits in this repository.", Command: []string{"git reflog expire --expire=now --all", "git gc --prune=now"}},
		{What: "filter-repo forgets the remotes. Add each again and overwrite it; ask its operator to drop caches, forks and pull requests that hold the old commits.", Command: []string{"git remote add NAME URL", "git push --force --all NAME", "git push --force --tags NAME"}},
		{What: "Delete every other clone and worktree and clone anew: a pull or a push from an old one brings everything back."},
		{What: "Remove it from backups, file-system snapshots, synchronised folders, and the swap and undo files of editors."},
	}
	return plan, nil
}

// shellQuote writes a word so that a POSIX shell reads it as it is.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
