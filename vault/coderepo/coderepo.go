// Package coderepo reads who committed what in a repository of code that is no vault.
//
//	commits, name, err := coderepo.Commits(ctx, ".", "main.go", os.Getenv)
package coderepo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stet/vault/gitstore"
)

// A Commit is one that changed a file.
type Commit struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"` // of the committer, UTC
	Author  string    `json:"author"`
	Subject string    `json:"subject"`
}

// ErrNone says that the folder is in no repository, or that the repository has no such file.
var ErrNone = errors.New("no such file in a repository of code")

// Commits lists the commits that changed a file, the newest first, and names the file as the repository does, from its
// root. A relative path is one from the folder or else from the root. It fails with [ErrNone], or as gitstore does,
// which refuses the repository of another user. Cost: of each commit one tree for each folder of the path.
func Commits(ctx context.Context, folder, file string, env func(string) string) (
	out []Commit, name string, err error) {
	loc, err := gitstore.Locate(folder)
	if err != nil {
		return nil, "", ErrNone
	}
	repo, err := gitstore.Open(loc, env, nil, loc.Worktree)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	if name = tracked(loc.Worktree, folder, file); name == "" {
		return nil, "", ErrNone
	}
	head, err := repo.Head()
	if err != nil || head.ID.IsZero() {
		return nil, name, err
	}
	walk, objects := repo.WalkFile(nil), repo.Stage()
	from, err := walk.At(head.ID, name)
	if err != nil {
		return nil, name, err
	}
	for step, err := range walk.History(from) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return out, name, err
		}
		c, err := objects.Commit(step.Commit)
		if err != nil {
			return out, name, err
		}
		subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		out = append(out, Commit{c.ID.String(), c.Committed.UTC(), c.Author.Name, subject})
	}
	return out, name, nil
}

// tracked is the path of a file from the root of its repository, "" for one that does not stand there.
func tracked(root, folder, file string) string {
	for _, at := range []string{folder, root} {
		full := file
		if !filepath.IsAbs(file) {
			full = filepath.Join(at, file)
		}
		if full, err := filepath.Abs(full); err == nil {
			if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
				full = filepath.Join(dir, filepath.Base(full))
			}
			rel, err := filepath.Rel(root, full)
			if _, gone := os.Lstat(full); err == nil && gone == nil && filepath.IsLocal(rel) && rel != "." {
				return filepath.ToSlash(rel)
			}
		}
	}
	return ""
}
