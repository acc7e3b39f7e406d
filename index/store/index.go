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

// Options wire an index to its surroundings.
type Options struct {
	Now      func() time.Time  // required
	Logger   *slog.Logger      // required
	Progress func(vault.Event) // told about long work; may be nil
	Hook     durable.Hook      // sees every mutating step; for tests
	ReadOnly bool              // nothing is written
}

// New prepares the index in folder dir: of files, or of their messages. It touches nothing.
func New(src document.FileReader, o Options, lang *document.Language, dir string, byMessage bool) *Index {
	return &Index{src: src, o: o, lang: lang, dir: dir, byMessage: byMessage}
}

// An Index is a search index in a folder. It is safe for concurrent use, by any number of
// goroutines and processes.
type Index struct {
	src       document.FileReader
	o         Options
	lang      *document.Language
	dir       string
	byMessage bool

	mu    sync.Mutex // guards what follows; not held while a query is evaluated
	store *Folder    // nil until used
	st    *State     // the newest published state seen
}

func (x *Index) builder(nextSeg uint64, done func(int)) *builder {
	b := &builder{
		src: x.src, now: x.o.Now, split: splitter(x.byMessage), lang: x.lang, nextSeg: nextSeg, done: done,
		full: segmentText, out: segfile.NewWriter(),
	}
	if x.byMessage {
		b.full = segmentTalk
	}
	return b
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
	st, err := ch.onto(ctx, newState(&manifest{}, byMessage), b)
	if err != nil {
		return nil, err
	}
	return st, st.open(nil, nil)
}
