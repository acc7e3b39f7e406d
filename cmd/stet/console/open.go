package console

import (
	"context"
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

// Index opens the search index of the vault. It costs nothing until it is used.
func (e *Env) Index(_ *vault.Vault, readOnly bool) (*index.Index, error) {
	return e.app.Index(readOnly)
}

// LiveIndex opens the search index of v over another source of its files, which
// it never writes down.
func (e *Env) LiveIndex(_ *vault.Vault, src index.Source) (*index.Index, error) {
	return e.app.SourceIndex(src, time.Time{})
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
