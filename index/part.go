package index

import (
	"sync"

	"stet/index/segfile"
	"stet/vault"
)

// A part is one of the two indexes of a vault, each in a folder and with
// statistics of its own: mem has one document per file, talk one per message
// of a transcript. Messages are many and short; among notes they would drown
// the notes and bend the weight of every word.
type part struct {
	src       Source
	o         Options
	lang      *language
	dir       string
	byMessage bool

	mu    sync.Mutex // guards what follows; not held while a query is evaluated
	store *store     // nil until used
	st    *state     // the newest published state seen

	rebuilt string // why the search under way had to rebuild the index
}

func (x *part) builder(nextSeg uint64, done func(int)) *builder {
	return &builder{src: x.src, now: x.o.Now, split: splitter(x.byMessage), lang: x.lang, nextSeg: nextSeg, done: done, out: segfile.NewWriter()}
}

// A splitFunc takes a file apart into documents and the record for them.
type splitFunc func(a *analyzer, data []byte, f vault.File) ([]*document, record)

func splitter(byMessage bool) splitFunc {
	if byMessage {
		return (*analyzer).transcript
	}
	return (*analyzer).file
}

// close lets go of the folder.
func (x *part) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.st = nil
	if x.store == nil {
		return nil
	}
	err := x.store.close()
	x.store = nil
	return err
}

// exists reports whether there is an index on disk.
func (x *part) exists() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, err := x.use(false)
	return err == nil
}

// divide sorts files, which are in path order, into those of the two parts.
func divide(files []vault.File) (mem, talk []vault.File) {
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
	mem = append(make([]vault.File, 0, len(files)-1), files[:first]...)
	for _, f := range files[first:last] {
		if vault.ClassOf(f.Path) == vault.ClassSession {
			talk = append(talk, f)
		} else {
			mem = append(mem, f)
		}
	}
	return append(mem, files[last:]...), talk
}
