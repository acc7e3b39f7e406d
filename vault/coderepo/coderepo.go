// Package coderepo reads who committed what in a repository of code that is no vault.
//
//	name, err := coderepo.Name(".", "main.go")
//	commits, err := coderepo.Commits(ctx, ".", name, since, os.Getenv)
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

// Name is what the repository that holds a folder calls a file, from its root. A relative path is one from the folder
// or else from the root. It fails with [ErrNone].
func Name(folder, file string) (string, error) {
	loc, err := gitstore.Locate(folder)
	if err == nil {
		if name := tracked(loc.Worktree, folder, file); name != "" {
			return name, nil
		}
	}
	return "", ErrNone
}

// Commits lists the commits that changed the file of that [Name] since a time, the newest first. It fails with
// [ErrNone], or as gitstore does, which refuses the repository of another user. Cost: of each commit one tree for each
// folder of the path, back to the first one before that time which changed it.
func Commits(ctx context.Context, folder, name string, since time.Time, env func(string) string) (
	out []Commit, err error) {
	loc, err := gitstore.Locate(folder)
	if err != nil {
		return nil, ErrNone
	}
	repo, err := gitstore.Open(loc, env, nil, loc.Worktree)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	head, err := repo.Head()
	if err != nil || head.ID.IsZero() {
		return nil, err
	}
	walk, objects := repo.WalkFile(nil), repo.Stage()
	from, err := walk.At(head.ID, name)
	if err != nil {
		return nil, err
	}
	for step, err := range walk.History(from) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return out, err
		}
		if step.When().Before(since) {
			break
		}
		c, err := objects.Commit(step.Commit)
		if err != nil {
			return out, err
		}
		subject, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
		out = append(out, Commit{c.ID.String(), c.Committed.UTC(), c.Author.Name, subject})
	}
	return out, nil
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
