package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stet/index"
	"stet/index/embed"
	"stet/vault"
	"stet/vault/settings"
)

// A Place is a vault and how it was found.
type Place struct {
	Root string
	// Fallback is set when neither -C nor the current folder led to the vault
	// but STET_VAULT or the person's configuration did.
	Fallback bool
}

// Locate finds the vault in question: -C, else the nearest one at or above the
// current folder, else STET_VAULT, else default_vault of the person's
// configuration. It fails with vault.ErrNotVault.
func (e *Env) Locate() (Place, error) {
	if e.at != "" {
		// A misspelt folder below a vault would otherwise lead up to that vault.
		if info, err := os.Stat(e.Start()); err != nil || !info.IsDir() {
			return Place{}, fmt.Errorf("-C %q: no such folder: %w", e.at, vault.ErrNotVault)
		}
		root, err := vault.Find(e.Start())
		return Place{Root: root}, err
	}
	root, err := vault.Find(e.Dir)
	if err == nil || !errors.Is(err, vault.ErrNotVault) {
		return Place{Root: root}, err
	}
	s, serr := e.Settings()
	if serr != nil {
		return Place{}, serr
	}
	key, _ := settings.Find(string(settings.DefaultVault))
	named := s.Entry(key)
	if named.Value == "" {
		return Place{}, err
	}
	root, err = vault.Find(e.expand(named.Value))
	if err != nil {
		return Place{}, fmt.Errorf("vault named by %s: %w", named.Origin, err)
	}
	return Place{Root: root, Fallback: true}, nil
}

// Start is the folder that -C names, else the current one, absolute.
func (e *Env) Start() string {
	if e.at == "" {
		return e.Dir
	}
	return e.Abs(e.at)
}

// expand makes a path from the environment or the configuration absolute: "~/"
// is the home folder, anything else relative is seen from the current one.
func (e *Env) expand(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(e.Getenv("HOME"), rest)
	}
	return e.Abs(name)
}

// Options wires a vault to this host and to the person's configuration. The
// error is an [ErrUsage] of that.
func (e *Env) Options(readOnly bool) (vault.Options, error) {
	layers, err := e.layers()
	if err != nil {
		return vault.Options{}, err
	}
	return vault.Options{
		// Zero would mean the default there; here it is "do not wait".
		Now: e.Now, Env: e.Getenv, Hook: e.Hook, LockWait: max(e.lockWait(), 1), ReadOnly: readOnly, Settings: layers,
		Holder:   fmt.Sprintf("pid %d stet %s since %s", e.PID, e.Command, e.Now().Format(time.TimeOnly)),
		Progress: e.vaultProgress(),
	}, nil
}

// Reader opens the vault for looking. It never waits for a writer.
func (e *Env) Reader(ctx context.Context) (*vault.Vault, error) {
	v, _, err := e.open(ctx, true)
	return v, err
}

// Writer opens the vault for writing; no lock is held until something is
// written.
func (e *Env) Writer(ctx context.Context) (*vault.Vault, Place, error) {
	return e.open(ctx, false)
}

func (e *Env) open(ctx context.Context, readOnly bool) (*vault.Vault, Place, error) {
	place, err := e.Locate()
	if err != nil {
		return nil, place, err
	}
	options, err := e.Options(readOnly)
	if err != nil {
		return nil, place, err
	}
	v, err := vault.Open(ctx, place.Root, options)
	if err != nil {
		return nil, place, err
	}
	e.opened(v)
	return v, place, nil
}

// opened takes up what opening the vault brought to light.
func (e *Env) opened(v *vault.Vault) {
	e.root, e.colour = v.Root(), v.Settings().Text(settings.DisplayColor)
	for _, p := range v.ConfigProblems() {
		e.Warn("%s", ConfigWarning(p))
	}
	if done := v.Recovered(); done != "" {
		e.Note("%s", done)
	}
}

// Beside opens the vault at root and its search index for a goroutine of its own:
// nothing of e changes, and nothing is said.
func (e *Env) Beside(ctx context.Context, root string) (*vault.Vault, *index.Index, error) {
	o, err := e.Options(false)
	if err != nil {
		return nil, nil, err
	}
	o.Progress = nil
	v, err := vault.Open(ctx, root, o)
	if err != nil {
		return nil, nil, err
	}
	x, err := e.openIndex(v, false, nil, nil)
	if err != nil {
		return nil, nil, errors.Join(err, v.Close())
	}
	return v, x, nil
}

// Index opens the search index of v. It costs nothing until it is used.
func (e *Env) Index(v *vault.Vault, readOnly bool) (*index.Index, error) {
	return e.openIndex(v, readOnly, e.indexProgress(), e.embedder(v.Settings()))
}

// LiveIndex opens the search index of v over another source of its files, which
// it never writes down.
func (e *Env) LiveIndex(v *vault.Vault, src index.Source) (*index.Index, error) {
	return index.Open(src, index.Options{Now: e.Now, ReadOnly: true, Language: v.Settings().Text(settings.SearchLanguage)})
}

// PastIndex searches v as it was at a time, over the files of a commit: nothing is
// written down, and every file is read.
func (e *Env) PastIndex(v *vault.Vault, src index.Source, at time.Time) (*index.Index, error) {
	return index.Open(src, index.Options{Now: e.Now, ReadOnly: true, AsOf: at, Language: v.Settings().Text(settings.SearchLanguage)})
}

// Lexicon opens the search index of v for a writer. Only one that asks a model looks
// for what resembles a memory in meaning: without one, storing a memory sends nothing
// anywhere.
func (e *Env) Lexicon(v *vault.Vault, model bool) (*index.Index, error) {
	if !model {
		return e.openIndex(v, false, e.indexProgress(), nil)
	}
	return e.Index(v, false)
}

// openIndex is the one way to the index: opened with another language it would
// be another index, and the two would be made anew in turns.
func (e *Env) openIndex(v *vault.Vault, readOnly bool, progress func(index.Event), by embed.Embedder) (*index.Index, error) {
	return index.Open(v, index.Options{Now: e.Now, Hook: e.Hook, ReadOnly: readOnly, Progress: progress,
		Language: v.Settings().Text(settings.SearchLanguage), Embedder: by})
}

// embedder is the endpoint of the person's configuration, nil without one. One
// that is not usable is a warning: search must not depend on it.
func (e *Env) embedder(s settings.Settings) embed.Embedder {
	o := embed.Options{BaseURL: s.Text(settings.EmbedderURL), Model: s.Text(settings.EmbedderModel)}
	if o.BaseURL == "" && o.Model == "" {
		return nil
	}
	if name := s.Text(settings.EmbedderKeyEnv); name != "" {
		if o.Key = e.Getenv(name); o.Key == "" {
			e.Warn("no ranking by meaning: %s names a variable that is not set: %s", settings.EmbedderKeyEnv, name)
			return nil
		}
	}
	c, err := embed.NewClient(o)
	if err != nil {
		e.Warn("no ranking by meaning: %v; see %s and %s", err, settings.EmbedderURL, settings.EmbedderModel)
		return nil
	}
	return c
}

// Indexed brings the search index up to date with a write that has happened.
// The index is a cache: when it cannot be written the next search catches up,
// so a failure is a warning and never the verdict of the write.
func (e *Env) Indexed(ctx context.Context, v *vault.Vault, changes []vault.Change) {
	var paths []vault.Path
	for _, c := range changes {
		paths = append(paths, c.Path)
		if c.From != "" {
			paths = append(paths, c.From)
		}
	}
	if len(paths) == 0 {
		return
	}
	x, err := e.openIndex(v, false, e.indexProgress(), nil)
	if err == nil {
		_, err = x.Touch(ctx, paths)
		err = errors.Join(err, x.Close())
	}
	if err != nil && ctx.Err() == nil {
		e.Warn("search index not updated: %v; the next search will do it", err)
	}
}

// Close closes v and warns when that fails: by then the answer has been given.
func (e *Env) Close(v *vault.Vault) {
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

// Follow opens the vault and its index for a command that goes on for long and
// works in several goroutines: neither reports progress. root "" is the vault in
// question.
func (e *Env) Follow(ctx context.Context, root string) (*vault.Vault, *index.Index, error) {
	if root == "" {
		place, err := e.Locate()
		if err != nil {
			return nil, nil, err
		}
		root = place.Root
	}
	v, x, err := e.Beside(ctx, root)
	if err == nil {
		e.opened(v)
	}
	return v, x, err
}
