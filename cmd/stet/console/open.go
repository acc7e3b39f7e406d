package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"stet/agent"
	"stet/agent/llm"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
)

// options is this run as the application layer sees it.
func (e *Env) options(flags settings.Layer) agent.Options {
	o := agent.Options{
		Dir: e.Dir, Door: Door, Process: fmt.Sprintf("pid %d stet %s", e.PID, e.Command), PID: e.PID, Now: e.Now, Getenv: e.Getenv,
		Flags: flags, Hook: e.Hook, Progress: e.progress(), Notify: e.notify,
	}
	if e.at != "" {
		o.At = e.Start()
	}
	return o
}

func (e *Env) notify(n agent.Notice) {
	if n.Warning {
		e.Warn("%s", n.Text)
		return
	}
	e.Note("%s", n.Text)
}

// Start is the folder that -C names, else the current one, absolute.
func (e *Env) Start() string {
	if e.at == "" {
		return e.Dir
	}
	return e.Abs(e.at)
}

// App opens the vault in question. Read-only, it never waits for a writer.
func (e *Env) App(ctx context.Context, readOnly bool) (*agent.App, error) {
	a, err := e.Open(ctx, readOnly)
	if err == nil {
		e.app, e.root, e.colour = a, a.Root(), a.Settings().Text(settings.DisplayColor)
	}
	return a, err
}

// Reader opens the vault for looking. It never waits for a writer.
func (e *Env) Reader(ctx context.Context) (*vault.Vault, error) {
	a, err := e.App(ctx, true)
	if err != nil {
		return nil, err
	}
	return a.Store(), nil
}

// Writer opens the vault for writing; no lock is held until something is
// written.
func (e *Env) Writer(ctx context.Context) (*vault.Vault, agent.Place, error) {
	a, err := e.App(ctx, false)
	if err != nil {
		return nil, agent.Place{}, err
	}
	return a.Store(), a.Place(), nil
}

// Beside opens the vault at root and its search index for a goroutine of its own:
// nothing of e changes, and nothing is said.
func (e *Env) Beside(ctx context.Context, root string) (*agent.App, *index.Index, error) {
	o := e.options(e.flags)
	o.Progress, o.Notify = nil, nil
	a, err := agent.NewEnvironment(o).OpenAt(ctx, agent.Place{Root: root}, false)
	if err != nil {
		return nil, nil, err
	}
	x, err := a.WriterIndex(false)
	if err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, x, nil
}

// Follow opens the vault and its index for a command that goes on for long and
// works in several goroutines: neither reports progress. root "" is the vault in
// question.
func (e *Env) Follow(ctx context.Context, root string) (*agent.App, *index.Index, error) {
	if root == "" {
		place, err := e.Locate()
		if err != nil {
			return nil, nil, err
		}
		root = place.Root
	}
	a, x, err := e.Beside(ctx, root)
	if err == nil {
		e.root = root
		a.Greet(e.notify)
	}
	return a, x, err
}

// Index opens the search index of the vault. It costs nothing until it is used.
func (e *Env) Index(_ *vault.Vault, readOnly bool) (*index.Index, error) {
	return e.app.Index(readOnly)
}

// LiveIndex opens the search index of v over another source of its files, which
// it never writes down.
func (e *Env) LiveIndex(_ *vault.Vault, src index.Source) (*index.Index, error) {
	return e.app.SourceIndex(src, time.Time{})
}

// PastIndex searches v as it was at a time, over the files of a commit: nothing is
// written down, and every file is read.
func (e *Env) PastIndex(_ *vault.Vault, src index.Source, at time.Time) (*index.Index, error) {
	return e.app.SourceIndex(src, at)
}

// Lexicon opens the search index of v for a writer.
func (e *Env) Lexicon(_ *vault.Vault, model bool) (*index.Index, error) {
	return e.app.WriterIndex(model)
}

// Auxiliary gives use the model for small tasks, nil where none is configured.
func (e *Env) Auxiliary(_ settings.Settings, use func(llm.Client) error) error {
	return e.app.WithModel(use)
}

// Indexed updates the search index after a write.
func (e *Env) Indexed(ctx context.Context, _ *vault.Vault, changes []vault.Change) {
	e.app.Reindex(ctx, changes)
}

// A Closer is an opened vault.
type Closer interface{ Close() error }

// Close closes a vault and warns when that fails: by then the answer has been given.
func (e *Env) Close(v Closer) {
	if err := v.Close(); err != nil {
		e.Warn("close vault: %v", err)
	}
}

// Where is " in ROOT" when the person does not stand in the vault's root, so
// that every reply to a write says which vault it went to.
func (e *Env) Where() string {
	if e.root == "" || sameFolder(e.root, e.Dir) {
		return ""
	}
	return "  in " + e.root
}

// SetRoot names the vault of an answer that was given without opening one.
func (e *Env) SetRoot(root string) { e.root = root }

func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
