package gitstore

import (
	"fmt"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"

	"stet/vault/durable"
)

// Create makes an empty repository in dir/.git on branch main, as "git init"
// would with files as its ref format. The folder is built under another name
// and renamed, so a crash leaves no half-made repository.
func Create(dir string, hook durable.Hook) (err error) {
	root, err := durable.OpenRoot(dir, hook)
	if err != nil {
		return err
	}
	const temp = ".stet-tmp-git"
	defer func() {
		if err != nil {
			_ = root.RemoveAll("init", temp) // the error itself says more
		}
		err = joinClose(err, root)
	}()
	if err := root.RemoveAll("init", temp); err != nil {
		return err
	}
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags", "info"} {
		if err := root.MkdirAll("init", temp+"/"+d, 0o777); err != nil {
			return err
		}
	}
	for _, f := range []struct{ name, text string }{
		{"HEAD", "ref: refs/heads/main\n"},
		{"config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"},
		{"info/exclude", "# Paths that git ignores in this clone only.\n"},
	} {
		if err := root.CreateSync("init", temp+"/"+f.name, []byte(f.text), 0o666); err != nil {
			return err
		}
	}
	for _, d := range []string{"info", "."} {
		if err := root.SyncDir("init", filepath.ToSlash(filepath.Join(temp, d))); err != nil {
			return err
		}
	}
	if err := verify(filepath.Join(dir, temp)); err != nil {
		return err
	}
	if err := root.Rename("init", temp, ".git"); err != nil {
		return err
	}
	return root.SyncDir("init", ".")
}

// verify reads the new repository back through go-git.
func verify(dir string) error {
	s := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	ref, err := s.Reference(plumbing.HEAD)
	if err != nil {
		return fmt.Errorf("new repository: %w", err)
	}
	if _, err := s.Config(); err != nil {
		return fmt.Errorf("new repository: %w", err)
	}
	if ref.Target() != plumbing.Main {
		return fmt.Errorf("new repository: HEAD is %s", ref.Target())
	}
	return s.Close()
}

func joinClose(err error, root *durable.Root) error {
	if cerr := root.Close(); err == nil {
		return cerr
	}
	return err
}
