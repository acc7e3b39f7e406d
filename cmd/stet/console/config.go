package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/settings"
)

// layers are the sources of configuration that are not a vault's: flags, the
// environment, the person's file. They are read once.
func (e *Env) layers() ([]settings.Layer, error) {
	if e.mine != nil {
		return e.mine, nil
	}
	env, err := settings.FromEnvironment(e.Getenv)
	if err != nil {
		return nil, e.asUsage(err)
	}
	user, problems, err := e.userLayer()
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, e.asUsage(problems[0])
	}
	e.mine = []settings.Layer{e.flags, env, user}
	return e.mine, nil
}

// UserFile is the person's own configuration file, "" when the environment
// names no home.
func (e *Env) UserFile() string {
	dir := e.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := e.Getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "stet", "config.yaml")
}

// userLayer reads the person's file; a missing one is empty. Its problems are
// errors, because a misspelt setting that is silently ignored does the opposite
// of what was wished.
func (e *Env) userLayer() (settings.Layer, []settings.Problem, error) {
	empty := settings.Layer{Source: settings.User}
	file := e.UserFile()
	if file == "" {
		return empty, nil, nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil, nil
	}
	if err != nil {
		return empty, nil, err
	}
	l, problems, err := settings.Read(settings.User, file, data)
	if err != nil {
		return l, nil, Usagef("%v", err).Suggest("mend the file in an editor")
	}
	return l, problems, nil
}

// asUsage turns a [settings.Problem] into a usage error that names the nearest
// key.
func (e *Env) asUsage(err error) error {
	var p settings.Problem
	if !errors.As(err, &p) {
		return err
	}
	usage := Usagef("%v", err)
	if p.Kind != settings.UnknownKey {
		return usage.Suggest("%q says what each key may be", "stet config --json")
	}
	return usage.Suggest("%s", nearestKey(p.Key))
}

func nearestKey(key string) string {
	if near := Nearest(key, settings.Names()); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return `"stet config" lists the keys`
}

// UnknownKey is the error for a key that does not exist.
func UnknownKey(key string) error {
	return Usagef("unknown key %q", key).Suggest("%s", nearestKey(key))
}

// ConfigWarning is a problem of a vault's file in words for a warning.
func ConfigWarning(p settings.Problem) string {
	text := p.Error() + "; it is ignored"
	if p.Kind == settings.UnknownKey {
		if near := Nearest(p.Key, settings.Names()); near != "" {
			text += fmt.Sprintf(" (did you mean %q?)", near)
		}
	}
	return text
}

// Settings is the configuration without a vault's file.
func (e *Env) Settings() (settings.Settings, error) {
	layers, err := e.layers()
	return settings.Resolve(layers...), err
}

// EditUserFile replaces the person's configuration file by what edit makes of
// it, durably; a file that is a symbolic link stays one. It reports whether
// anything changed.
func (e *Env) EditUserFile(ctx context.Context, edit func([]byte) ([]byte, error)) (changed bool, err error) {
	file, err := e.ownFile()
	if err != nil {
		return false, err
	}
	if real, rerr := filepath.EvalSymlinks(file); rerr == nil {
		file = real
	}
	if err := durable.MakeFolder("config", filepath.Dir(file), 0o777, e.Hook); err != nil {
		return false, err
	}
	root, err := durable.OpenRoot(filepath.Dir(file), e.Hook)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	lock, err := filelock.Acquire(ctx, root, filepath.Base(file)+".lock", filelock.Options{Wait: e.lockWait()})
	if err != nil {
		return false, err
	}
	// The kernel drops the lock with the process at the latest.
	defer func() { _ = lock.Release() }()
	name, perm := filepath.Base(file), fs.FileMode(0o666)
	before, info, err := root.ReadFile(name, 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if info != nil {
		perm = info.Mode().Perm()
	}
	after, err := edit(before)
	if err != nil || string(after) == string(before) {
		return false, err
	}
	temp := name + ".tmp"
	err = errors.Join(
		root.Remove("config", temp), // of a process that was killed
		root.CreateSync("config", temp, after, perm))
	if err == nil && info != nil {
		err = root.Chmod("config", temp, perm) // whatever the umask took away
	}
	if err == nil {
		err = root.Rename("config", temp, name)
	}
	if err != nil {
		return false, errors.Join(err, root.Remove("config", temp))
	}
	return true, root.SyncDir("config", ".")
}

// TryUserFile says whether [Env.EditUserFile] would change anything. It makes no
// folder and takes no lock.
func (e *Env) TryUserFile(edit func([]byte) ([]byte, error)) (changes bool, err error) {
	file, err := e.ownFile()
	if err != nil {
		return false, err
	}
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	after, err := edit(before)
	return err == nil && !bytes.Equal(before, after), err
}

func (e *Env) ownFile() (string, error) {
	file := e.UserFile()
	if file == "" {
		return "", Usagef("there is no place for your configuration").Suggest("set HOME or XDG_CONFIG_HOME")
	}
	return file, nil
}
