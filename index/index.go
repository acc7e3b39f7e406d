package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"stet/index/document"
	"stet/index/store"
	"stet/vault"
)

// An Index answers searches over one vault. It is safe for concurrent use, by
// any number of goroutines and processes.
type Index struct {
	src  Source
	o    Options
	lang *document.Language
	// notes has one document for each file, messages one for each message of a transcript.
	// Messages are many and short: among notes they would bend the weight of every word.
	notes, messages *store.Index
	meaning         *semantics // nil unless an embedder is configured
}

// Open prepares the index of src. It is cheap and touches nothing: files are
// opened at the first use.
func Open(src Source, o Options) (*Index, error) {
	if o.Now == nil {
		return nil, errors.New("open search index: Options.Now is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	lang, err := document.LanguageOf(o.Language)
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	dir := filepath.Join(src.StateDir(), "index")
	po := store.Options{Now: o.Now, Logger: o.Logger, Progress: o.Progress, Hook: o.Hook, ReadOnly: o.ReadOnly}
	return &Index{
		src: src, o: o, lang: lang,
		notes:    store.New(src, po, lang, dir, false),
		messages: store.New(src, po, lang, filepath.Join(dir, "talk"), true),
		meaning:  newMeaning(src, o, filepath.Join(dir, "vectors")),
	}, nil
}

// Close lets go of the index folders. Searches that are running finish.
func (x *Index) Close() error {
	return errors.Join(x.notes.Close(), x.messages.Close(), x.meaning.close())
}

// CatchUp brings the index up to date with the files on disk. A writer in
// another process is no error: it does the same work. Without one the errors
// are those of the disk. With Options.ReadOnly it does nothing.
func (x *Index) CatchUp(ctx context.Context) (store.Stats, error) {
	if x.o.ReadOnly {
		return store.Stats{}, nil
	}
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return store.Stats{}, fmt.Errorf("catch up: %w", err)
	}
	return x.both(files, func(p *store.Index, files []vault.File) (store.Stats, error) { return p.CatchUp(ctx, files) })
}

// Rebuild makes the index anew from every file. It fails with [ErrBusy] while
// another process writes it.
func (x *Index) Rebuild(ctx context.Context) (store.Stats, error) {
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return store.Stats{}, fmt.Errorf("rebuild search index: %w", err)
	}
	if x.o.ReadOnly {
		return store.Stats{}, fmt.Errorf("rebuild: %w", store.ErrReadOnly)
	}
	stats, err := x.both(files, func(p *store.Index, files []vault.File) (store.Stats, error) { return p.Rebuild(ctx, files) })
	if err == nil {
		err = x.embedAll(ctx, files, &stats)
	}
	return stats, err
}

// Touch brings the given files up to date without looking at any other: for
// the writer that has just written them. Where there is no usable index yet,
// or another process is writing it, Touch leaves everything to the next search.
// It may count a new file as a changed one: it does not look.
func (x *Index) Touch(ctx context.Context, paths []vault.Path) (store.Stats, error) {
	files := make([]vault.File, 0, len(paths))
	for _, p := range paths {
		if class := vault.ClassOf(p); p.IsMarkdown() && class != vault.ClassConfig && class != vault.ClassReport {
			files = append(files, vault.File{Path: p})
		}
	}
	if len(files) == 0 || x.o.ReadOnly {
		return store.Stats{}, nil
	}
	slices.SortFunc(files, func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
	return x.both(files, func(p *store.Index, files []vault.File) (store.Stats, error) {
		if len(files) == 0 {
			return store.Stats{}, nil
		}
		return p.Touch(ctx, files)
	})
}

// Check reads the whole index and reports what is wrong with it. Every
// problem goes away by itself at the next search; Rebuild does it at once.
func (x *Index) Check(ctx context.Context) ([]vault.Problem, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	problems, err := x.notes.Check()
	more, merr := x.messages.Check()
	return append(problems, more...), errors.Join(err, merr)
}

// Refresh brings the named paths up to date and looks at no other: files are
// those of them that stand there now, the rest is gone. What the index knows
// already is told by its stat and costs nothing more. Where there is no index
// yet it does what [Index.CatchUp] does. It fails with [ErrBusy] while another
// process writes the index.
func (x *Index) Refresh(ctx context.Context, paths []vault.Path, files []vault.File) (sum store.Stats, err error) {
	if x.o.ReadOnly {
		return store.Stats{}, nil
	}
	notes, sessions := divide(store.InOrder(files))
	var notePaths, sessionPaths []vault.Path
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if vault.ClassOf(p) == vault.ClassSession {
			sessionPaths = append(sessionPaths, p)
		} else {
			notePaths = append(notePaths, p)
		}
	}
	for _, r := range []struct {
		part  *store.Index
		paths []vault.Path
		files []vault.File
	}{{x.notes, notePaths, notes}, {x.messages, sessionPaths, sessions}} {
		if len(r.paths) == 0 || len(r.files) == 0 && !r.part.Exists() {
			continue
		}
		stats, err := r.part.Refresh(ctx, r.paths, r.files)
		if errors.Is(err, store.ErrNone) || errors.Is(err, store.ErrDamaged) {
			return x.CatchUp(ctx)
		}
		sum.Add(stats)
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// both does one thing to each part and adds up what it did. Where there are
// no transcripts and never were, there is no index of them.
func (x *Index) both(files []vault.File, f func(*store.Index, []vault.File) (store.Stats, error)) (store.Stats, error) {
	notes, sessions := divide(files)
	sum, err := f(x.notes, notes)
	if err != nil || len(sessions) == 0 && !x.messages.Exists() {
		return sum, err
	}
	more, err := f(x.messages, sessions)
	sum.Add(more)
	return sum, err
}

// divide sorts files, which are in path order, into those of the two parts.
func divide(files []vault.File) (notes, sessions []vault.File) {
	first, last := -1, 0
	for i := range files {
		if vault.ClassOf(files[i].Path) == vault.ClassSession {
			if first < 0 {
				first = i
			}
			last = i + 1
		}
	}
	if first < 0 {
		return files, nil
	}
	notes = append(make([]vault.File, 0, len(files)-1), files[:first]...)
	for _, f := range files[first:last] {
		if vault.ClassOf(f.Path) == vault.ClassSession {
			sessions = append(sessions, f)
		} else {
			notes = append(notes, f)
		}
	}
	return append(notes, files[last:]...), sessions
}
