// Package links knows what the links between the files of a vault mean: where
// each one leads, what leads to a file, which lead nowhere. It moves files so
// that every link which led somewhere still leads there.
//
// A wiki link names a file by its name without extension, a path or the end of
// one, else by title, alias or id; of several files the live one, the one in the
// same folder, the one nearest to the root wins. What names a file that is no
// Markdown has its extension. A Markdown link is a path from
// its file's folder, else from the vault's root. Nothing inside code is a link.
//
//	g, err := links.Load(ctx, v)
//	for _, e := range g.Back("memories/infra/db.md") { … }
package links

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// A State says whether a link leads anywhere.
type State string

// The states of a link.
const (
	Live     State = "live"
	Archived State = "archived" // to what was forgotten
	Dead     State = "dead"     // to nothing
	Outside  State = "outside"  // of the vault; nobody looked
	Self     State = "self"     // to a place in its own file
	// Attachment is a file of the vault's folder that is no Markdown: a picture, say.
	Attachment State = "attachment"
)

// A Target is where a link leads. Path is set for Live, Archived and Attachment; for Dead
// and Outside it is where a Markdown link would lead, from the vault's root.
type Target struct {
	Path  vault.Path
	State State
	// called is set where the file was found by what stands in it, not by its own name: Obsidian and others
	// know only that.
	called bool
}

// A table knows every file by all the names that links may use.
type table struct {
	files  []vault.Path
	called names
	// Both are made when they are first asked for: a vault without links needs neither.
	paths  map[vault.Path]bool
	bases  map[string][]vault.Path // folded last name, with and without the Markdown extension
	titles map[string][]vault.Path // folded title, alias, id
	// exists knows folders and the files that stet does not look after.
	exists func(vault.Path) bool
}

// names are what a file is called beside its path.
type names map[vault.Path][]string

func newTable(files []vault.Path, called names, exists func(vault.Path) bool) *table {
	return &table{files: files, called: called, exists: exists}
}

func (t *table) fillPaths() {
	if t.paths != nil {
		return
	}
	t.paths, t.bases = make(map[vault.Path]bool, len(t.files)), make(map[string][]vault.Path, 2*len(t.files))
	for _, p := range t.files {
		t.paths[p] = true
		base := markdown.Fold(p.Base())
		t.bases[base] = append(t.bases[base], p)
		if p.IsMarkdown() {
			stem := strings.TrimSuffix(base, path.Ext(base))
			t.bases[stem] = append(t.bases[stem], p)
		}
	}
}

// titled are the files that call themselves by a name.
func (t *table) titled(name string) []vault.Path {
	if t.titles == nil {
		t.titles = map[string][]vault.Path{}
		for _, p := range t.files {
			for _, name := range t.called[p] {
				if key := markdown.Fold(name); !slices.Contains(t.titles[key], p) {
					t.titles[key] = append(t.titles[key], p)
				}
			}
		}
	}
	return t.titles[markdown.Fold(name)]
}

// resolve finds where a link of the file from leads.
func (t *table) resolve(from vault.Path, l markdown.Link) Target {
	if l.Target == "" {
		return Target{Path: from, State: Self}
	}
	t.fillPaths()
	switch {
	case isWiki(l):
		return t.wiki(from, l.Target)
	case l.Kind == fileCard:
		return t.relative(from, "/"+l.Target)
	}
	return t.relative(from, l.Target)
}

func (t *table) wiki(from vault.Path, target string) Target {
	if strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		if p, ok := t.byPath(from, path.Join(from.Dir(), target)); ok {
			return reached(p)
		}
		if p := path.Join(from.Dir(), target); p != ".." && !strings.HasPrefix(p, "../") && t.exists(vault.Path(p)) {
			return Target{Path: vault.Path(p), State: Live}
		}
		return Target{State: Dead}
	}
	target = strings.TrimPrefix(target, "/")
	if strings.Contains(target, "/") {
		if p, ok := t.byPath(from, path.Clean(target)); ok {
			return reached(p)
		}
		end := "/" + markdown.Fold(path.Clean(target))
		found := slices.DeleteFunc(slices.Clone(t.bases[markdown.Fold(path.Base(target))]), func(p vault.Path) bool {
			at := markdown.Fold(string(p))
			return !strings.HasSuffix(at, end) && !strings.HasSuffix(strings.TrimSuffix(at, path.Ext(at)), end)
		})
		if len(found) > 0 {
			return reached(choose(from, target, found))
		}
	} else if found := t.bases[markdown.Fold(target)]; len(found) > 0 {
		return reached(choose(from, target, found))
	}
	if found := t.titled(target); len(found) > 0 {
		to := reached(choose(from, target, found))
		to.called = true
		return to
	}
	return Target{State: Dead}
}

// byPath finds a file by its whole path, with or without extension, as it is
// written, else without regard to case.
func (t *table) byPath(from vault.Path, p string) (vault.Path, bool) {
	for _, q := range []vault.Path{vault.Path(p), vault.Path(p + ".md"), vault.Path(p + ".markdown")} {
		if t.paths[q] {
			return q, true
		}
	}
	want := markdown.Fold(p)
	found := slices.DeleteFunc(slices.Clone(t.bases[markdown.Fold(path.Base(p))]), func(q vault.Path) bool {
		at := markdown.Fold(string(q))
		return at != want && (!q.IsMarkdown() || strings.TrimSuffix(at, path.Ext(at)) != want)
	})
	if len(found) == 0 {
		return "", false
	}
	return choose(from, p, found), true
}

// choose takes the one file that a person would mean.
func choose(from vault.Path, written string, found []vault.Path) vault.Path {
	base := path.Base(written)
	rank := func(p vault.Path) int {
		n := 0
		if vault.ClassOf(p) == vault.ClassArchive {
			n += 4
		}
		if p.Base() != base && strings.TrimSuffix(p.Base(), path.Ext(p.Base())) != base {
			n += 2
		}
		if p.Dir() != from.Dir() {
			n++
		}
		return n
	}
	return slices.MinFunc(found, func(a, b vault.Path) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(strings.Count(string(a), "/"), strings.Count(string(b), "/")), cmp.Compare(a, b))
	})
}

func reached(p vault.Path) Target {
	if vault.ClassOf(p) == vault.ClassArchive {
		return Target{Path: p, State: Archived}
	}
	return Target{Path: p, State: Live}
}

// relative follows a Markdown link: from its folder, else from the root, else
// into the archive, where its file may have gone.
func (t *table) relative(from vault.Path, target string) Target {
	at := path.Join(from.Dir(), target)
	if strings.HasPrefix(target, "/") {
		at = strings.TrimPrefix(path.Clean(target), "/")
	}
	if at == ".." || strings.HasPrefix(at, "../") {
		return Target{Path: vault.Path(at), State: Outside}
	}
	for i, p := range []string{at, path.Clean(strings.TrimPrefix(target, "/"))} {
		if i > 0 && p == at {
			break // its folder is the root
		}
		if q, ok := t.byPath(from, p); ok && !strings.HasSuffix(target, "/") {
			return reached(q)
		}
		if !strings.HasPrefix(p, "..") && t.exists(vault.Path(p)) {
			return Target{Path: vault.Path(p), State: Live}
		}
	}
	if q, ok := t.byPath(from, "archive/"+at); ok {
		return Target{Path: q, State: Archived}
	}
	return Target{Path: vault.Path(at), State: Dead}
}
