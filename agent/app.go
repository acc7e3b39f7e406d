package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"stet/agent/ingest"
	"stet/index"
	"stet/index/embed"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/names"
	"stet/vault/session"
	"stet/vault/settings"
)

// An App is one opened vault with everything that its use cases need. It is used by one
// goroutine, and closed.
type App struct {
	*Environment
	v       *vault.Vault
	place   Place
	indexes []openedIndex  // closed with the vault
	made    []vault.Commit // by its use cases
}

// An openedIndex is a search index, and what for it was opened.
type openedIndex struct {
	*index.Index
	use indexUse
}

type indexUse struct {
	readOnly, meaning, source bool
	language                  string
}

// Open finds the vault that o means and opens it for reading and writing: no lock is held until
// something is written. It fails with [vault.ErrNotVault] where there is none, with [ErrUsage]
// when the configuration says something impossible, and as [vault.Open] does.
func Open(ctx context.Context, o Options) (*App, error) {
	return NewEnvironment(o).Open(ctx, false)
}

// Open is [Open]. Opened read-only, the vault never waits for a writer, and nothing is written.
func (e *Environment) Open(ctx context.Context, readOnly bool) (*App, error) {
	place, err := e.Locate()
	if err != nil {
		return nil, err
	}
	return e.OpenAt(ctx, place, readOnly)
}

// OpenAt is [Environment.Open] for a vault that was located before.
func (e *Environment) OpenAt(ctx context.Context, place Place, readOnly bool) (*App, error) {
	options, err := e.VaultOptions(readOnly)
	if err != nil {
		return nil, err
	}
	a := &App{Environment: e, place: place}
	options.Flagging, options.Private, options.Identified = a.flagging, a.private, a.identified
	options.Named = a.called
	if a.v, err = vault.Open(ctx, place.Root, options); err != nil {
		return nil, err
	}
	if e.o.Notify != nil {
		a.greet(e.o.Notify)
	}
	if readOnly {
		a.tellBeaten()
	}
	if ingest.Kept(a.v) {
		a.recoverNotes(ctx, readOnly)
	}
	return a, nil
}

// flagging asks the index for the memories that flag one.
func (a *App) flagging(ctx context.Context, id string) []vault.Path {
	x, err := a.openIndex(true, nil)
	if err != nil {
		return nil // what is flagged is found again by "stet conflicts"
	}
	return x.Flagging(ctx, id)
}

// private asks the index for what is private.
func (a *App) private(ctx context.Context, list func() ([]vault.File, error)) (map[vault.Path]string, error) {
	x, err := a.openIndex(true, nil)
	if err != nil {
		return nil, err
	}
	return x.Private(ctx, list)
}

// identified asks the index for the files with an id.
func (a *App) identified(ctx context.Context, id string) ([]vault.Path, error) {
	var found []vault.Path
	err := a.called(ctx, nil, func(p vault.Path, k names.Known) {
		if strings.EqualFold(k.ID, id) {
			found = append(found, p)
		}
	})
	return found, err
}

// called asks the index what files are called.
func (a *App) called(
	ctx context.Context, list func() ([]vault.File, error), see func(vault.Path, names.Known),
) error {
	x, err := a.openIndex(true, nil)
	if err != nil {
		return err
	}
	return x.Named(ctx, list, see)
}

// recoverNotes stores the notes of processes that ended while they asked a model. It is no
// part of the command that does it: a failure is a warning.
func (a *App) recoverNotes(ctx context.Context, readOnly bool) {
	if readOnly { // by a writer that waits for nobody
		options, err := a.VaultOptions(false)
		if err != nil {
			return
		}
		options.LockWait = 1
		v, err := vault.Open(ctx, a.place.Root, options)
		if err != nil {
			return // the next command that writes tells
		}
		writer := &App{Environment: a.Environment, v: v, place: a.place}
		writer.recoverNotes(ctx, false)
		_ = writer.Close() // nothing is written after this
		return
	}
	x, err := a.openIndex(false, nil)
	if err != nil {
		a.warn("store a kept note: %v", err)
		return
	}
	done, err := ingest.Recover(ctx, a.v.Whole(), x)
	if err != nil && ctx.Err() == nil {
		a.warn("%v; the next command tries again", err)
	}
	for _, res := range done {
		a.settle(ctx, res.Result)
		for _, m := range res.Memories {
			a.noteOf(m.Path, "stored a note whose command was interrupted: %s")
		}
	}
}

// noteOf is a note that names a file, unless that is kept from who is acting.
func (a *App) noteOf(p vault.Path, format string) {
	if _, _, err := a.v.ReadFile(p); !errors.Is(err, vault.ErrRefused) {
		a.note(format, p)
	}
}

// greet tells what opening the vault brought to light.
func (a *App) greet(notify func(Notice)) {
	for _, p := range a.v.ConfigProblems() {
		notify(Notice{true, configWarning(p)})
	}
	if done := a.v.Recovered(); done != "" {
		notify(Notice{false, done})
	}
}

// VaultOptions connects a vault to this environment. It fails as [Environment.Settings] does.
func (e *Environment) VaultOptions(readOnly bool) (vault.Options, error) {
	layers, err := e.readLayers()
	if err != nil {
		return vault.Options{}, err
	}
	o := vault.Options{
		// Zero would mean the default there; here it is "do not wait".
		Now: e.o.Now, Env: e.o.Getenv, Hook: e.o.Hook, LockWait: max(e.lockWait(), 1), ReadOnly: readOnly,
		Reader: e.o.Agent, Via: e.o.Via, Settings: layers,
		Holder: e.o.Process + " since " + e.o.Now().Format(time.TimeOnly),
		Warn:   func(text string) { e.warn("%s", text) },
	}
	if show := e.o.Progress; show != nil {
		o.Progress = func(ev vault.Event) { show(ev.Phase, ev.Done, ev.Total) }
	}
	return o, nil
}

// configWarning is a problem of a vault's configuration file in words for a warning.
func configWarning(p settings.Problem) string {
	text := p.Error() + "; it is ignored"
	if near := Nearest(p.Key, settings.Names()); near != "" && p.Kind == settings.UnknownKey {
		text += " (did you mean \"" + near + "\"?)"
	}
	return text
}

// Close closes the vault and the search indexes that were used.
func (a *App) Close() error {
	err := a.v.Close()
	for _, x := range a.indexes {
		err = errors.Join(err, x.Close())
	}
	return err
}

// Root is the vault's top folder, absolute.
func (a *App) Root() string { return a.v.Root() }

// Head is the commit that the vault is at, "" before the first one and where it cannot be read.
func (a *App) Head() vault.Revision {
	head, err := a.v.Head()
	if err != nil {
		return ""
	}
	return head
}

// Agent is the agent that the vault was opened for, "" for the user.
func (a *App) Agent() string { return a.o.Agent }

// Settings is the configuration with the vault's own file.
func (a *App) Settings() settings.Settings { return a.v.Settings() }

// Permit is the vault and w as the vault takes it, where the policy allows the operation: what package curator writes
// with. What is written is settled by [App.Settle].
func (a *App) Permit(w Write, operation, target string) (*vault.Vault, vault.Write, error) {
	out, err := a.permit(w, operation, target)
	return a.v.Whole(), out, err
}

// Settle finishes what was written with [App.Permit].
func (a *App) Settle(ctx context.Context, res *vault.Result) *Written { return a.finish(ctx, res) }

// Now is the time (UTC).
func (a *App) Now() time.Time { return a.o.Now().UTC() }

// Memories holds the use cases of memories.
func (a *App) Memories() Memories { return Memories{a} }

// History holds the use cases of what was done to the vault.
func (a *App) History() History { return History{a} }

// Sessions holds the use cases of conversations.
func (a *App) Sessions() Sessions { return Sessions{a} }

// Index returns the search index, which the App closes. It costs nothing until it is used.
func (a *App) Index(readOnly bool) (*index.Index, error) {
	return a.openIndex(readOnly, a.embedder())
}

// writerIndex opens the search index for a writer. Only one that asks a model looks for memories
// of a similar meaning: without a model, storing a memory sends nothing anywhere.
func (a *App) writerIndex(model bool) (*index.Index, error) {
	if !model {
		return a.openIndex(false, nil)
	}
	return a.Index(false)
}

// openIndex is the one way to the index: opened with another language it would be another index,
// and the two would be rebuilt in turns. An index stays open until the App is closed: what a use
// case read of it before a write need not be read again after it, at 100,000 files a fifth of the
// time of one command.
func (a *App) openIndex(readOnly bool, by embed.Embedder) (*index.Index, error) {
	use := indexUse{readOnly: readOnly, meaning: by != nil, language: a.Settings().Text(settings.SearchLanguage)}
	for _, x := range a.indexes {
		if x.use == use {
			return x.Index, nil
		}
	}
	o := index.Options{Now: a.o.Now, Hook: a.o.Hook, ReadOnly: readOnly, Language: use.language, Embedder: by,
		Changed: func(ctx context.Context) (index.ChangeTime, error) {
			c, err := lineage.Changed(ctx, a.v, true)
			if err != nil {
				return nil, err
			}
			return c.File, nil
		}}
	if err := a.hide(&o); err != nil {
		return nil, err
	}
	if show := a.o.Progress; show != nil {
		o.Progress = func(ev index.Event) { show(ev.Phase, ev.Done, ev.Total) }
	}
	return a.opened(a.v.Whole(), o, use) // it keeps all, and tells by itself who asks
}

// sourceIndex searches the files of another source in place of the vault's, as they stood at a
// time (zero is now). Nothing is written down, and every file is read.
func (a *App) sourceIndex(src index.Source, at time.Time) (*index.Index, error) {
	o := index.Options{Now: a.o.Now, ReadOnly: true, AsOf: at, Language: a.Settings().Text(settings.SearchLanguage)}
	if err := a.hide(&o); err != nil {
		return nil, err
	}
	return a.opened(src, o, indexUse{source: true})
}

// hide makes an index answer an agent without what is kept back from it.
func (a *App) hide(o *index.Options) error {
	if a.o.Agent == "" {
		return nil
	}
	hides, err := a.v.State().Withheld(context.Background())
	o.Public, o.Hides = true, hides
	return err
}

func (a *App) opened(src index.Source, o index.Options, use indexUse) (*index.Index, error) {
	x, err := index.Open(src, o)
	if err == nil {
		a.indexes = append(a.indexes, openedIndex{x, use})
	}
	return x, err
}

// embedder is the endpoint of the user's configuration, nil without one. One that is not usable
// is a warning: search must not depend on it.
func (a *App) embedder() embed.Embedder {
	s := a.Settings()
	o := embed.Options{BaseURL: s.Text(settings.EmbedderURL), Model: s.Text(settings.EmbedderModel)}
	if o.BaseURL == "" && o.Model == "" {
		return nil
	}
	if s.Mixed(settings.EmbedderURL, settings.EmbedderKeyEnv) {
		a.warn("no ranking by meaning: %s and %s: one comes from the environment and one from a file",
			settings.EmbedderURL, settings.EmbedderKeyEnv)
		return nil
	}
	if name := s.Text(settings.EmbedderKeyEnv); name != "" {
		if o.Key = a.o.Getenv(name); o.Key == "" {
			a.warn("no ranking by meaning: %s names a variable that is not set: %s", settings.EmbedderKeyEnv, name)
			return nil
		}
	}
	c, err := embed.NewClient(o)
	if err != nil {
		a.warn("no ranking by meaning: %v; see %s and %s", err, settings.EmbedderURL, settings.EmbedderModel)
		return nil
	}
	return c
}

// settle finishes a write: it updates the search index, seals the sessions that have ended
// meanwhile, and notifies of the write's warnings.
func (a *App) settle(ctx context.Context, res *vault.Result) {
	for _, w := range res.Warnings {
		a.warn("%s", w)
	}
	for _, p := range res.Skipped {
		a.note("left alone: %s", ProblemLine(p))
	}
	if res.DryRun {
		return
	}
	a.made = append(a.made, res.Commits...)
	a.wrote(ctx, res)
	a.updateIndex(ctx, append(res.Changes[:len(res.Changes):len(res.Changes)], a.sealEnded(ctx)...))
}

// sealEnded seals the sessions that have ended since anybody wrote, and returns what that
// changed. It is no part of the write before it: a failure is a warning.
func (a *App) sealEnded(ctx context.Context) []vault.Change {
	sealed, err := session.SealEnded(ctx, a.v.Whole(), a.o.Now(), session.Options{Door: a.o.Door})
	if err != nil && ctx.Err() == nil {
		a.warn("seal sessions that have ended: %v; the next command that writes tries again", err)
	}
	var changes []vault.Change
	for _, s := range sealed {
		changes = append(changes, vault.Change{Status: vault.Modified, Path: s.Path})
		a.noteOf(s.Path, "sealed a session that had ended: %s")
	}
	return changes
}

// updateIndex updates the search index after a write. The index is a cache: when it cannot be
// written the next search catches up, so a failure is a warning.
func (a *App) updateIndex(ctx context.Context, changes []vault.Change) {
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
	x, err := a.openIndex(false, nil)
	if err == nil {
		_, err = x.Touch(ctx, paths)
	}
	if err != nil && ctx.Err() == nil {
		a.warn("search index not updated: %v; the next search will do it", err)
	}
}
