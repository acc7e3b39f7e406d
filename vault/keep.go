package vault

import (
	"errors"
	"io/fs"
	"path"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// lostDir is the folder of kept bytes in this worktree's state.
func (v *Vault) lostDir() string { return path.Join(v.state, "lost") }

// keep moves a temporary file to where "stet doctor" shows it. It holds bytes
// of a person's that stand nowhere else.
func (v *Vault) keep(root *durable.Root, temp, name string) error {
	data, _, err := root.ReadFile(temp, 0)
	if err != nil {
		return err
	}
	state, dir := v.repo.Root(), v.lostDir()
	if err := state.MkdirAll("lost", dir, 0o777); err != nil {
		return err
	}
	file := path.Join(dir, gitstore.HashBlob(data).String()[:8]+"-"+name)
	err = state.CreateSync("lost", file, data, 0o666)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := state.SyncDir("lost", dir); err != nil {
		return err
	}
	return root.Remove("lost", temp)
}

// checkKept lists kept bytes.
func (v *Vault) checkKept() ([]Problem, error) {
	entries, err := v.repo.Root().ReadDir(v.lostDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, e := range entries {
		out = append(out, Problem{ID: "kept-bytes",
			Text: "an edit that met a write in the same instant was kept in " + v.repo.Root().Abs(path.Join(v.lostDir(), e.Name())),
			Hint: "copy what you need from it, then remove it"})
	}
	return out, nil
}
