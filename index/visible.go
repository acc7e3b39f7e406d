package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/index/document"
	"stet/index/store"
	"stet/vault"
	"stet/vault/names"
)

// visible applies what the query says about classes, archive and supersession.
func (s *searching) visible(r *document.Record, superseded bool) bool {
	class := vault.ClassOf(r.Path)
	if class == vault.ClassArchive && !s.q.Archived && len(s.q.Class) == 0 {
		return false // before anybody reads it
	}
	if s.q.public && (s.secret.has(r) || class == vault.ClassReport) {
		return false
	}
	if len(s.q.Class) > 0 {
		return slices.Contains(s.q.Class, class) && (s.q.Archived || !superseded)
	}
	switch class {
	case vault.ClassArchive:
		return s.q.Archived
	case vault.ClassReport:
		return s.reporting
	case vault.ClassConfig:
		return false
	}
	return s.q.Archived || !superseded
}

// A secret is what is private among records: the ids and paths of what is marked, and the folders of
// skills that are.
type secret struct {
	names  map[string]bool
	skills map[vault.Path]bool
	hides  func(vault.Path) bool // what is kept back besides; nil: nothing
}

// learn adds what is private among records.
func (s *secret) learn(recs []document.Record) {
	if s.names == nil {
		s.names, s.skills = map[string]bool{"": false}, map[vault.Path]bool{}
	}
	for i := range recs {
		if recs[i].Flags&document.FlagPrivate == 0 {
			continue
		}
		s.names[document.ID(recs[i].Meta)], s.names[strings.ToLower(string(recs[i].Path))] = true, true
		s.skills[recs[i].Path] = true
	}
	delete(s.names, "")
}

// has reports whether a record is marked private, or the skill that it belongs to, or is kept back besides.
func (s *secret) has(r *document.Record) bool {
	return r.Flags&document.FlagPrivate != 0 || s.hides != nil && s.hides(r.Path) ||
		len(s.skills) > 0 && vault.SkillFolder(r.Path, func(p vault.Path) bool { return s.skills[p] }) != ""
}

// told is a successor as it is named: one that is private has no name.
func (s *searching) told(successor string) string {
	if s.secret.names[strings.ToLower(successor)] {
		return "private"
	}
	return successor
}

// Private lists the files that are marked private, archived ones and transcripts as well, with their ids, ""
// for none, among those of list, nil for all. It fails where it cannot answer from an index, and as list.
func (x *Index) Private(ctx context.Context, list func() ([]vault.File, error)) (map[vault.Path]string, error) {
	out := map[vault.Path]string{}
	err := x.each(ctx, list, func(r *document.Record) {
		if r.Flags&document.FlagPrivate != 0 {
			out[r.Path] = document.ID(r.Meta)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list private files: %w", err)
	}
	return out, nil
}

// Named tells see what each file of list, nil for all, is called, private ones and transcripts as well. It fails where
// it cannot answer from an index, and as list.
func (x *Index) Named(ctx context.Context, list func() ([]vault.File, error), see func(vault.Path, names.Known)) error {
	return x.each(ctx, list, func(r *document.Record) { see(r.Path, r.Names()) })
}

// Known shows see the record of each file that the index knew when it was last written, in path order, then of each
// transcript, without what is withheld. It fails where there is no index.
func (x *Index) Known(see func(*document.Record)) error {
	secret := secret{hides: x.o.Hides}
	for _, part := range []*store.Index{x.notes, x.messages} {
		st, err := part.Known()
		if errors.Is(err, store.ErrNone) && part == x.messages {
			continue // there are no transcripts
		}
		if err != nil {
			return fmt.Errorf("look into the search index: %w", err)
		}
		recs := st.Records()
		if x.o.Public {
			secret.learn(recs)
		}
		for i := range recs {
			if !x.o.Public || !secret.has(&recs[i]) {
				see(&recs[i])
			}
		}
		runtime.KeepAlive(st)
	}
	return nil
}

// Tags counts the live memories, notes and notebooks that have each tag, in lower case: a category of the front matter
// or a #tag of the text. It fails where it cannot answer from an index. Cost: a look at every file.
func Tags(ctx context.Context, x *Index) (map[string]int, error) {
	hidden := secret{hides: x.o.Hides}
	out := map[string]int{}
	err := x.each(ctx, nil, func(r *document.Record) {
		switch vault.ClassOf(r.Path) {
		case vault.ClassMemory, vault.ClassNote, vault.ClassCore, vault.ClassProfile:
			if x.o.Public && hidden.has(r) {
				return
			}
			for _, tag := range document.Categories(r.Meta) {
				out[tag]++
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("count tags: %w", err)
	}
	return out, nil
}

// Warm loads the index of the files, as it was last written, for who asks it soon.
func (x *Index) Warm() { x.notes.Warm() }

// Built reports whether there is an index of the files, of whatever time.
func (x *Index) Built() bool {
	_, err := x.notes.Known()
	return err == nil
}

// Unread is how many bytes of the files of list the index does not have as they stand on disk; transcripts do not
// count. It fails as list.
func (x *Index) Unread(list func() ([]vault.File, error)) (n int64, err error) {
	files, err := x.warmed(list)
	if err != nil {
		return 0, err
	}
	notes, _ := divide(files)
	st, err := x.notes.Known()
	for _, f := range notes {
		if err != nil || !st.Has(f) {
			n += f.Size
		}
	}
	return n, nil
}

// warmed lists files while the index of them is loaded: neither waits for the other's processor.
func (x *Index) warmed(list func() ([]vault.File, error)) ([]vault.File, error) {
	var warm sync.WaitGroup
	warm.Go(x.Warm)
	defer warm.Wait()
	return list()
}

// each is given the record of every file of list, nil for all. It fails where there is no index of them.
func (x *Index) each(ctx context.Context, list func() ([]vault.File, error), see func(*document.Record)) error {
	if list == nil {
		list = func() ([]vault.File, error) { return x.src.Files(ctx, vault.WalkOptions{Archive: true}) }
	}
	files, err := list()
	if err != nil {
		return err
	}
	s := newSearching(ctx, x, Query{}, x.o.Now())
	notes, sessions := divide(files)
	for _, p := range []part{{x.notes, notes}, {x.messages, sessions}} {
		if len(p.files) == 0 {
			continue
		}
		st, err := s.fresh(p.index, p.files)
		if err != nil {
			return err
		}
		recs := st.Records()
		for i := range recs {
			see(&recs[i])
		}
		runtime.KeepAlive(st)
	}
	return nil
}

// untimely reports a document that is not valid yet, or no longer.
func (s *searching) untimely(r *document.Record) bool {
	return r.Flags&document.FlagTimed != 0 && !document.DecodeMeta(r.Meta).Valid(s.now)
}
