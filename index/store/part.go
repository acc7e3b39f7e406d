package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"stet/index/document"
	"stet/index/segfile"
	"stet/vault"
	"stet/vault/durable"
)

// Options are what a part needs of its surroundings, as in [Options].
type Options struct {
	Now      func() time.Time
	Logger   *slog.Logger
	Progress func(vault.Event)
	Hook     durable.Hook
	ReadOnly bool
}

// New prepares the index in a folder. It touches nothing.
func New(src document.FileReader, o Options, lang *document.Language, dir string, byMessage bool) *Index {
	return &Index{src: src, o: o, lang: lang, dir: dir, byMessage: byMessage}
}

// An Index is one of the two indexes of a vault, each in a folder and with
// statistics of its own: mem has one document per file, talk one per message
// of a transcript. Messages are many and short; among notes they would drown
// the notes and bend the weight of every word.
type Index struct {
	src       document.FileReader
	o         Options
	lang      *document.Language
	dir       string
	byMessage bool

	mu    sync.Mutex // guards what follows; not held while a query is evaluated
	store *Folder    // nil until used
	st    *State     // the newest published state seen

	rebuilt string // why the search under way had to rebuild the index
}

func (x *Index) builder(nextSeg uint64, done func(int)) *builder {
	return &builder{src: x.src, now: x.o.Now, split: splitter(x.byMessage), lang: x.lang, nextSeg: nextSeg, done: done, out: segfile.NewWriter()}
}

// A splitFunc takes a file apart into documents and the record for them.
type splitFunc func(a *document.Analyzer, data []byte, f vault.File) ([]*document.Document, document.Record)

func splitter(byMessage bool) splitFunc {
	if byMessage {
		return (*document.Analyzer).Transcript
	}
	return (*document.Analyzer).File
}

// Close lets go of the folder.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.st = nil
	if x.store == nil {
		return nil
	}
	err := x.store.Close()
	x.store = nil
	return err
}

// Exists reports whether there is an index on disk.
func (x *Index) Exists() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, err := x.use(false)
	return err == nil
}

// InMemory indexes the terms of files that keep accepts, and writes nothing.
func InMemory(
	ctx context.Context, src document.FileReader, now func() time.Time, lang *document.Language, files []vault.File, byMessage bool,
	keep func(field int, term string) bool,
) (*State, error) {
	b := New(src, Options{Now: now}, lang, "", byMessage).builder(0, nil)
	b.keep = keep
	ch := &changes{read: InOrder(files)}
	d, mem, err := ch.gather(ctx, b)
	if err != nil {
		return nil, err
	}
	st := &State{byMessage: byMessage, man: (&manifest{}).apply(d), mem: mem}
	return st, st.open(nil, nil)
}
