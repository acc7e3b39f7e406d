package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/settings"
)

// Options is everything an [App] may learn from outside.
type Options struct {
	// Dir is the current folder, absolute.
	Dir string
	// At is the folder that the user named, absolute. "" searches for a vault from Dir up, then
	// takes the one of the setting default_vault.
	At string
	// Agent is the agent that acts, "" for the user: what is private is not shown to it.
	Agent string
	// Via is the agent among whose tools this runs: commits by anybody else name it. "" for none.
	Via string
	// Tool says that an agent runs the command, so that the environment is its own: of that only those
	// settings count which write, publish or cost no more, see [settings.Key.Agents].
	Tool bool
	// Door is the front end that commits name, "cli" for the command line.
	Door string
	// Process describes this process to others that wait for the vault's lock.
	Process string
	PID     int
	Now     func() time.Time
	Getenv  func(string) string
	// Flags are settings that outweigh all others.
	Flags settings.Layer
	// Hook sees every step that changes the file system; nil for none.
	Hook durable.Hook
	// Hold is told when an interrupted use case has work to save, and must be waited for; nil is
	// nobody.
	Hold func()
	// Model makes the client of a configured model; nil is [llm.New].
	Model func(llm.Options) (llm.Client, error)
	// Tools makes the tools of a review over a vault that was opened for an agent.
	Tools func(*App, ToolsOptions) learn.Toolbox
	// Progress reports long work; nil for nobody. total is 0 while it is unknown.
	Progress func(phase string, done, total int)
	// Ask asks the user a question; nil where nobody is there to answer.
	Ask func(question string) (bool, error)
	// Unasked is set where nobody can be asked: a vault that the current folder led to, and that the user
	// has not agreed to write to, gives way to the one that is named.
	Unasked bool
	// Hints says that the user reads what Notify receives, so that what is told once in a vault is told now.
	Hints bool
	// Notify receives what happens beside the use case itself; nil for nobody.
	Notify func(Notice)
}

// A Notice is something to know that is no part of a result: an edit that was committed first, a
// session that was sealed, or, as a Warning, that something failed which the use case can do
// without.
type Notice struct {
	Warning bool
	Text    string
}

// An Environment is the user's side of stet, with or without a vault: configuration, the ledger
// of model calls, and where the vault is. It is used by one goroutine.
type Environment struct {
	o      Options
	layers []settings.Layer // read once
	policy []Rule
}

// NewEnvironment returns the environment that o describes. Nothing is read yet.
func NewEnvironment(o Options) *Environment { return &Environment{o: o, policy: Policy()} }

func (e *Environment) warn(format string, args ...any) { e.notify(true, format, args) }
func (e *Environment) note(format string, args ...any) { e.notify(false, format, args) }

func (e *Environment) notify(warning bool, format string, args []any) {
	if e.o.Notify != nil {
		e.o.Notify(Notice{warning, fmt.Sprintf(format, args...)})
	}
}

// closed closes what was read from, or what has made its writes durable: a failure is a
// warning, for what was done is done.
func (e *Environment) closed(what string, c io.Closer) {
	if err := c.Close(); err != nil {
		e.warn("close %s: %v", what, err)
	}
}

// A Place is a vault and how it was found.
type Place struct {
	Root string
	// Fallback is set when neither At nor the current folder led to the vault
	// but STET_VAULT or the user's configuration did.
	Fallback bool
	// Beats says what names another vault, although the current folder led to this one; "" is
	// nothing. A write asks about it once.
	Beats string
}

// Locate finds the vault in question: at [Options].At, else the nearest one at or above the
// current folder, else the one that STET_VAULT or default_vault of the user's configuration
// names. It fails with [vault.ErrNotVault].
func (e *Environment) Locate() (Place, error) {
	if e.o.At != "" {
		// A misspelt folder below a vault would otherwise lead up to that vault.
		if info, err := os.Stat(e.o.At); err != nil || !info.IsDir() {
			return Place{}, fmt.Errorf("%q: no such folder: %w", e.o.At, vault.ErrNotVault)
		}
		root, err := vault.Find(e.o.At)
		return Place{Root: root}, err
	}
	root, err := vault.Find(e.o.Dir)
	if err != nil && !errors.Is(err, vault.ErrNotVault) {
		return Place{}, err
	}
	s, serr := e.Settings()
	key, _ := settings.Find(string(settings.DefaultVault))
	named := s.Entry(key)
	if err == nil {
		place := Place{Root: root}
		if other, ferr := vault.Find(e.expand(named.Value)); named.Value != "" && ferr == nil && other != root {
			known, _, err := e.agreements()
			if e.o.Unasked && err == nil && !slices.Contains(known, root) {
				return Place{Root: other, Fallback: true}, nil
			}
			place.Beats = named.Origin
		}
		return place, nil
	}
	if serr != nil {
		return Place{}, serr
	}
	if named.Value == "" {
		return Place{}, err
	}
	root, err = vault.Find(e.expand(named.Value))
	if err != nil {
		return Place{}, fmt.Errorf("vault named by %s: %w", named.Origin, err)
	}
	return Place{Root: root, Fallback: true}, nil
}

// expand makes a path from the environment or the configuration absolute: "~/"
// is the home folder, anything else relative is seen from the current one.
func (e *Environment) expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(e.o.Getenv("HOME"), rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.o.Dir, name)
}

// Settings is the configuration without a vault's file: flags, environment variables, the user's
// file. It fails with [ErrUsage] when one of them says something impossible.
func (e *Environment) Settings() (settings.Settings, error) {
	layers, err := e.readLayers()
	return settings.Resolve(layers...), err
}

func (e *Environment) readLayers() ([]settings.Layer, error) {
	if e.layers != nil {
		return e.layers, nil
	}
	env, err := settings.FromEnvironment(e.o.Getenv)
	if err != nil {
		return nil, asUsage(err)
	}
	user, problems, err := e.userLayer()
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, asUsage(problems[0])
	}
	if e.o.Tool {
		env = env.OfAgent()
	}
	flags := e.o.Flags
	flags.Source = settings.Flag
	e.layers = []settings.Layer{flags, env, user}
	return e.layers, nil
}

// lockWait is how long to wait for another writer. An error in the configuration has been
// reported before anything is locked.
func (e *Environment) lockWait() time.Duration {
	s, err := e.Settings()
	if err != nil {
		s = settings.Resolve(e.o.Flags)
	}
	return s.Duration(settings.LockWait)
}

// UserFile is the user's own configuration file, "" when the environment names no home.
func (e *Environment) UserFile() string {
	dir := e.o.Getenv("XDG_CONFIG_HOME")
	if dir == "" {
		home := e.o.Getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "stet", "config.yaml")
}

// userLayer reads the user's file; a missing one is empty. Its problems are errors, because a
// misspelt setting that is silently ignored does the opposite of what was wished.
func (e *Environment) userLayer() (settings.Layer, []settings.Problem, error) {
	empty := settings.Layer{Source: settings.User}
	file := e.UserFile()
	if file == "" {
		return empty, nil, nil
	}
	info, err := os.Stat(file)
	if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return empty, nil, Usagef("%s is a pipe, which nobody may ever write to", file).Suggest("put a file there")
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
		return l, nil, Usagef("%v", err).Suggest("fix the file in an editor")
	}
	return l, problems, nil
}

// asUsage turns a [settings.Problem] into a usage error that names the nearest key.
func asUsage(err error) error {
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

// unknownKey is the error for a setting that does not exist.
func unknownKey(key string) error {
	return Usagef("unknown key %q", key).Suggest("%s", nearestKey(key))
}

// editUserFile replaces the user's configuration file by what edit makes of it, durably; a file
// that is a symbolic link stays one. It reports whether anything changes; dry, it makes no folder,
// takes no lock and writes nothing.
func (e *Environment) editUserFile(
	ctx context.Context, edit func([]byte) ([]byte, error), dry bool,
) (changed bool, err error) {
	file := e.UserFile()
	if file == "" {
		return false, Usagef("there is no place for your configuration").Suggest("set HOME or XDG_CONFIG_HOME")
	}
	if dry {
		before, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		after, err := edit(before)
		return err == nil && !bytes.Equal(before, after), err
	}
	if real, rerr := filepath.EvalSymlinks(file); rerr == nil {
		file = real
	}
	unlock, err := e.lockFile(ctx, "config", file+".lock", 0o777)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return e.rewrite("config", file, 0o666, edit)
}

// lockFile waits for a lock in a folder that is made where it is missing.
func (e *Environment) lockFile(
	ctx context.Context, label, file string, perm fs.FileMode,
) (unlock func() error, err error) {
	if err := durable.MakeFolder(label, filepath.Dir(file), perm, e.o.Hook); err != nil {
		return nil, err
	}
	root, err := durable.OpenRoot(filepath.Dir(file), e.o.Hook)
	if err != nil {
		return nil, err
	}
	lock, err := filelock.Acquire(ctx, root, filepath.Base(file), filelock.Options{Wait: e.lockWait()})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return func() error { return errors.Join(lock.Release(), root.Close()) }, nil
}

// rewrite is [durable.Rewrite]; what somebody keeps saving is a [vault.ErrConflict].
func (e *Environment) rewrite(
	label, file string, perm fs.FileMode, edit func([]byte) ([]byte, error),
) (changed bool, err error) {
	changed, err = durable.Rewrite(label, file, perm, edit, e.o.Hook)
	if errors.Is(err, durable.ErrLink) {
		err = fmt.Errorf("%w: %w", vault.ErrInvalid, err)
	}
	return changed, saved(label, err)
}

// swap is [durable.Swap]; what somebody saved meanwhile is a [vault.ErrConflict].
func (e *Environment) swap(label, file string, perm fs.FileMode, was, now []byte) error {
	temp := fmt.Sprintf(".%s.stet-%d", filepath.Base(file), e.o.PID)
	return saved(label, durable.Swap(label, temp, file, perm, was, now, e.o.Hook))
}

func saved(label string, err error) error {
	if errors.Is(err, durable.ErrSaved) {
		err = vault.WithHint(fmt.Errorf("%s: %w: %w", label, vault.ErrConflict, err),
			"nothing of it was changed; try again")
	}
	return err
}

// followable reports what keeps a file from being written where its links lead: one that leads nowhere and, whoever
// made a project, one that leads out of it to what is the user's own.
func followable(file, project string) (err error) {
	top, terr := filepath.EvalSymlinks(project)
	for at := file; at != project && at != filepath.Dir(at); at = filepath.Dir(at) {
		to, eerr := filepath.EvalSymlinks(at)
		if errors.Is(eerr, fs.ErrNotExist) {
			if now, lerr := os.Lstat(at); lerr == nil && now.Mode()&fs.ModeSymlink != 0 {
				return vault.WithHint(fmt.Errorf("%q: the link leads nowhere: %w", at, vault.ErrInvalid),
					"nothing was changed; mend the link")
			}
			continue
		}
		if eerr != nil {
			return eerr
		}
		rel, rerr := filepath.Rel(top, to)
		if project != "" && terr == nil && (rerr != nil || !filepath.IsLocal(rel)) {
			err = vault.WithHint(
				fmt.Errorf("%q: %w: the link leads out of the project, to %q", at, vault.ErrRefused, to),
				"nothing was changed; see who made the link, and remove it; without --project your own files are told")
		}
	}
	return err
}
