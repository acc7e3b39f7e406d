package links

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"stet/markdown"
	"stet/vault"
)

// An Edge is one link of one file.
type Edge struct {
	From   vault.Path
	Link   markdown.Link
	Target Target
}

// A Graph is every link of a vault's live files, as they are on disk.
type Graph struct {
	files []vault.Path // live Markdown files, in path order
	edges []Edge       // by file, then by place
	all   *surveyed
	root  string
	// hidden reports what is withheld from whom the graph is for.
	hidden func(vault.Path) bool
}

// Load reads the links of every live file but of those that v withholds: a link to one of these leads to nothing.
func Load(ctx context.Context, v *vault.Vault) (g *Graph, err error) {
	s, err := survey(ctx, v.Whole())
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(v.Root())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	attached := sync.OnceValue(func() map[string][]vault.Path { return Attachments(root.FS()) })
	t := newTable(s.files, s.called, existing(root))
	known := map[vault.Path]bool{}
	hidden := func(p vault.Path) bool {
		is, ok := known[p]
		if !ok && v != v.Whole() && p != "" {
			is = withheld(v, p)
			known[p] = is
		}
		return is
	}
	g = &Graph{all: s, root: v.Root(), hidden: hidden}
	count := 0
	for _, l := range s.links {
		count += len(l)
	}
	g.edges = make([]Edge, 0, count)
	for i, p := range s.files {
		if !isSource(p) || hidden(p) {
			continue
		}
		g.files = append(g.files, p)
		for _, l := range s.links[i] {
			e := Edge{From: p, Link: l, Target: t.resolve(p, l)}
			if to, ok := t.attachment(p, l, e.Target, attached); ok {
				e.Target = to
			}
			if hidden(e.Target.Path) { // as if nothing stood there: a link that is left out would tell that there is
				e.Target = Target{State: Dead}
			}
			g.edges = append(g.edges, e)
		}
	}
	return g, nil
}

// withheld reports whether v does not give the file at p.
func withheld(v *vault.Vault, p vault.Path) bool {
	_, _, err := v.ReadFile(p)
	return errors.Is(err, vault.ErrRefused)
}

// isSource is true for files whose links are a person's business now.
func isSource(p vault.Path) bool { return p.IsMarkdown() && vault.ClassOf(p) != vault.ClassArchive }

// Of lists the links of one file.
func (g *Graph) Of(p vault.Path) []Edge {
	return g.filter(func(e Edge) bool { return e.From == p })
}

// Back lists the links of other files to one file.
func (g *Graph) Back(p vault.Path) []Edge {
	return g.filter(func(e Edge) bool { return e.Target.Path == p && e.Target.leads() && e.From != p })
}

// All lists every link.
func (g *Graph) All() []Edge { return slices.Clone(g.edges) }

// Dead lists the links that lead to nothing.
func (g *Graph) Dead() []Edge { return g.filter(func(e Edge) bool { return e.Target.State == Dead }) }

// Orphans lists the memories and notes that no other file links to.
func (g *Graph) Orphans() []vault.Path {
	linked := map[vault.Path]bool{}
	for _, e := range g.edges {
		if e.Target.leads() && e.From != e.Target.Path {
			linked[e.Target.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.files), func(p vault.Path) bool {
		c := vault.ClassOf(p)
		return linked[p] || c != vault.ClassMemory && c != vault.ClassNote
	})
}

func (t Target) leads() bool { return t.State == Live || t.State == Archived }

func (g *Graph) filter(want func(Edge) bool) (out []Edge) {
	for _, e := range g.edges {
		if want(e) {
			out = append(out, e)
		}
	}
	return out
}

// A surveyed vault is its files with the names and links in them. Only a wiki link asks what files are called:
// where none stands, the names of no file are read.
type surveyed struct {
	files  []vault.Path
	called names
	links  [][]markdown.Link // of files[i]
}

// below reports whether a folder holds any of the files.
func (s *surveyed) below(folder string) bool {
	return slices.ContainsFunc(s.files, func(p vault.Path) bool { return strings.HasPrefix(string(p), folder+"/") })
}

// survey reads every file once, on all processors. A file that vanishes or cannot be read
// has no links and only its path for a name.
func survey(ctx context.Context, v *vault.Vault) (*surveyed, error) {
	listed, err := v.Files(ctx, vault.WalkOptions{Archive: true, All: true})
	if err != nil {
		return nil, err
	}
	s := &surveyed{called: names{}, links: make([][]markdown.Link, len(listed))}
	for _, f := range listed {
		s.files = append(s.files, f.Path)
	}
	called, named := make([][]string, len(listed)), make([]bool, len(listed))
	var wiki atomic.Bool // a wiki link was seen
	var alone sync.Mutex // a large file takes a hundred times its size while it is read
	workers := runtime.GOMAXPROCS(0)
	for again := true; again; { // the second time those files that were read before the first wiki link
		var wg sync.WaitGroup
		before := wiki.Load()
		for w := range workers {
			wg.Go(func() {
				for i := w; i < len(listed) && ctx.Err() == nil; i += workers {
					if p := s.files[i]; (p.IsMarkdown() || p.IsCanvas()) && !named[i] {
						s.links[i], called[i], named[i] = look(v, p, &alone, &wiki)
					}
				}
			})
		}
		wg.Wait()
		again = wiki.Load() && !before
	}
	for i, p := range s.files {
		s.called[p] = called[i]
	}
	return s, context.Cause(ctx)
}

// largeFile is the size from which a file is read while no other such is.
const largeFile = 1 << 17

// look reads a file, and its names once a wiki link was seen.
func look(v *vault.Vault, p vault.Path, alone *sync.Mutex, wiki *atomic.Bool,
) (links []markdown.Link, called []string, named bool) {
	data, _, err := v.ReadFile(p)
	if err != nil {
		return nil, nil, true
	}
	if len(data) >= largeFile {
		alone.Lock()
		defer alone.Unlock()
		defer runtime.GC() // else the next one is read before this is gone
	}
	d := &markdown.Document{} // a canvas calls itself nothing
	switch {
	case !p.IsCanvas():
		if d = markdown.Parse(data); isSource(p) {
			links = d.Links()
		}
	case vault.ClassOf(p) != vault.ClassArchive:
		links = canvasLinks(data)
	}
	if slices.ContainsFunc(links, isWiki) {
		wiki.Store(true)
	}
	if wiki.Load() {
		return links, namesIn(d), true
	}
	return links, nil, false
}

func isWiki(l markdown.Link) bool { return l.Kind == markdown.WikiLink || l.Kind == markdown.WikiEmbed }

// document is the Markdown at p; what cannot be read is empty.
func document(v *vault.Vault, p vault.Path) *markdown.Document {
	var data []byte
	if p.IsMarkdown() {
		data, _, _ = v.ReadFile(p)
	}
	return markdown.Parse(data)
}

// namesIn are what a file calls itself.
func namesIn(d *markdown.Document) []string {
	called := []string{d.Title()}
	for _, key := range []string{"id", "aliases", "alias"} {
		if value, ok := d.Meta(key); ok {
			called = append(called, value.List()...)
		}
	}
	return slices.DeleteFunc(called, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// existing looks for a file or folder below root, never through a link that
// leaves it. What the list of its folder does not have, it does not look for: a text
// may name a hundred thousand files that are not there.
func existing(root *os.Root) func(vault.Path) bool {
	listed := map[string]map[string]bool{} // by folder, folded names
	var may func(p string) bool
	may = func(p string) bool {
		if p == "." {
			return true
		}
		dir := path.Dir(p)
		names, known := listed[dir]
		if !known {
			if may(dir) {
				names = namesBelow(root, dir)
			}
			listed[dir] = names
		}
		return names[markdown.Fold(path.Base(p))]
	}
	return func(p vault.Path) bool {
		if len(p) > longestPath || !may(string(p)) {
			return false
		}
		_, err := root.Stat(filepath.FromSlash(string(p)))
		return err == nil
	}
}

// longestPath is more than any system opens.
const longestPath = 1 << 15

// namesBelow are the folded names in a folder; what cannot be listed has none.
func namesBelow(root *os.Root, dir string) map[string]bool {
	f, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	list, _ := f.Readdirnames(-1)
	_ = f.Close() // it was read
	names := map[string]bool{}
	for _, name := range list {
		names[markdown.Fold(name)] = true
	}
	return names
}

// attachment is the file that is no Markdown to which a link leads that has its extension: a Markdown link by its
// path, a wiki link by its name or the end of its path.
func (t *table) attachment(
	from vault.Path, l markdown.Link, to Target, attached func() map[string][]vault.Path,
) (Target, bool) {
	written := to.Path
	wiki := isWiki(l)
	if wiki {
		written = vault.Path(strings.TrimPrefix(l.Target, "/"))
		if strings.HasPrefix(l.Target, "./") || strings.HasPrefix(l.Target, "../") {
			written = vault.Path(path.Join(from.Dir(), l.Target))
		}
	}
	if t.paths[to.Path] || to.State == Self || to.State == Dead && !wiki || path.Ext(string(written)) == "" {
		return to, false
	}
	found := slices.DeleteFunc(slices.Clone(attached()[markdown.Fold(written.Base())]), func(p vault.Path) bool {
		end := strings.HasSuffix("/"+markdown.Fold(string(p)), "/"+markdown.Fold(string(written)))
		return !end || !wiki && p != written
	})
	if len(found) == 0 {
		return to, false
	}
	return Target{Path: choose(from, string(written), found), State: Attachment}, true
}

// Attachments lists all files of a tree that are not hidden, Markdown as well, by folded name. Cost: a walk.
func Attachments(tree fs.FS) map[string][]vault.Path {
	found := map[string][]vault.Path{}
	// What cannot be listed is not there for a link either.
	_ = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return skipDir(d)
		case p != "." && strings.HasPrefix(d.Name(), "."):
			return skipDir(d)
		case !d.IsDir():
			name := markdown.Fold(d.Name())
			found[name] = append(found[name], vault.Path(p))
		}
		return nil
	})
	return found
}

func skipDir(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
