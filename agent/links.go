package agent

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/lineage"
	"stet/vault/links"
)

// ScopesOptions choose scopes.
type ScopesOptions struct {
	Scope    string // this one and those below it; "" is all
	Depth    int    // at most so many levels below it; 0 is all
	Archived bool   // count archived memories instead
}

// A Scope counts the memories of a scope.
type Scope struct {
	Scope string `json:"scope"`
	Here  int    `json:"here"`  // in the scope itself
	Below int    `json:"total"` // and in those below it
}

// Depth is the number of a scope's levels, 0 for "/".
func (s Scope) Depth() int { return strings.Count(strings.TrimSuffix(s.Scope, "/"), "/") }

// A ScopeList is scopes in order.
type ScopeList struct {
	Scopes []Scope `json:"scopes"`
}

// Scopes lists scopes in order, the one that was asked for first. It fails with
// [vault.ErrNotFound] for one that has no memories.
func (m Memories) Scopes(ctx context.Context, o ScopesOptions) (*ScopeList, error) {
	found, err := m.a.countScopes(ctx, o.Archived)
	if err != nil {
		return nil, err
	}
	top := "/" + strings.Trim(o.Scope, "/")
	if found[top] == nil {
		slug := vault.Scope(top).Slug()
		if found[slug] == nil {
			none := &vault.NotFoundError{Ref: top}
			var names []string
			for scope := range found {
				names = append(names, scope)
			}
			slices.Sort(names)
			if near := Nearest(top, names); near != "" {
				none.Near = []string{near}
			}
			return nil, none
		}
		top = slug
	}
	out := &ScopeList{[]Scope{}}
	for scope, s := range found {
		if vault.Scope(scope).In(top) && (o.Depth == 0 || s.Depth()-found[top].Depth() <= o.Depth) {
			out.Scopes = append(out.Scopes, *s)
		}
	}
	slices.SortFunc(out.Scopes, func(a, b Scope) int { // a scope stands behind the one above it
		return slices.Compare(strings.Split(a.Scope, "/"), strings.Split(b.Scope, "/"))
	})
	return out, nil
}

// countScopes counts memories by folder; "/" is always there.
func (a *App) countScopes(ctx context.Context, archived bool) (map[string]*Scope, error) {
	under := vault.Path("memories")
	if archived {
		under = "archive/memories"
	}
	files, err := a.v.Files(ctx, vault.WalkOptions{Archive: archived, Under: under})
	if err != nil {
		return nil, err
	}
	found := map[string]*Scope{"/": {Scope: "/"}}
	for _, f := range files {
		for scope := vault.ScopeOf(f.Path); ; scope = path.Dir(scope) {
			s := found[scope]
			if s == nil {
				s = &Scope{Scope: scope}
				found[scope] = s
			}
			if s.Below++; scope == vault.ScopeOf(f.Path) {
				s.Here++
			}
			if scope == "/" {
				break
			}
		}
	}
	return found, nil
}

// LinksOptions choose links.
type LinksOptions struct {
	Ref  string // those of one memory; "" is all
	Back bool   // those that lead to it
	Dead bool   // those that lead to nothing
}

// A LinkList is links in the order of the files.
type LinkList struct {
	Links []Link `json:"links"`
}

// A Link is one link of a file.
type Link struct {
	From     vault.Path  `json:"from"`
	Line     int         `json:"line"`
	Kind     string      `json:"kind"`
	Target   string      `json:"target"` // as written, decoded
	Fragment string      `json:"fragment,omitempty"`
	Text     string      `json:"text,omitempty"`
	To       vault.Path  `json:"to,omitempty"`
	State    links.State `json:"state"`
}

// Links lists links between files as they are on disk.
func (m Memories) Links(ctx context.Context, o LinksOptions) (*LinkList, error) {
	var p vault.Path
	if o.Ref != "" {
		named, err := m.a.v.Resolve(ctx, m.a.ref(o.Ref))
		if err != nil {
			return nil, err
		}
		p = named.Path
	}
	g, err := links.Load(ctx, m.a.v)
	if err != nil {
		return nil, err
	}
	var edges []links.Edge
	switch {
	case o.Back:
		edges = g.Back(p)
	case p != "":
		edges = g.Of(p)
	default:
		edges = g.All()
	}
	out := &LinkList{make([]Link, 0, len(edges))}
	for _, e := range edges {
		if !o.Dead || e.Target.State == links.Dead {
			out.Links = append(out.Links, viewLink(e))
		}
	}
	return out, nil
}

func viewLink(e links.Edge) Link {
	l := e.Link
	return Link{e.From, l.Line, string(l.Kind), l.Target, l.Fragment, l.Text, e.Target.Path, e.Target.State}
}

// An OrphanList is files that no other file links to.
type OrphanList struct {
	Orphans []vault.Path `json:"orphans"`
}

// Orphans lists memories and notes that no other file links to.
func (m Memories) Orphans(ctx context.Context) (*OrphanList, error) {
	g, err := links.Load(ctx, m.a.v)
	if err != nil {
		return nil, err
	}
	return &OrphanList{append([]vault.Path{}, g.Orphans()...)}, nil
}

// LiveClasses is everything that is neither archived nor a report of stet's own.
func LiveClasses() []vault.Class {
	return []vault.Class{vault.ClassMemory, vault.ClassCore, vault.ClassProfile, vault.ClassSkill, vault.ClassSession,
		vault.ClassNote}
}

// ref turns what a user typed for a memory into what [vault.Vault.Resolve] expects: a file seen
// from the current folder becomes its path in the vault, anything else (an id, a slug, a title,
// a path from the root) stays as it is.
func (a *App) ref(word string) string {
	from := a.o.At
	if from == "" {
		from = a.o.Dir
	}
	abs := word
	if !filepath.IsAbs(word) {
		abs = filepath.Join(from, word)
	}
	if _, err := os.Lstat(abs); err != nil {
		return word
	}
	if rel, ok := within(a.Root(), abs); ok {
		return filepath.ToSlash(rel)
	}
	return word
}

// named is what ref names, for what only reads: also by whole words of a name, where the user asks and one memory or
// note alone has them. It fails as [vault.Vault.Resolve] does.
func (a *App) named(ctx context.Context, ref string) (vault.Memory, error) {
	m, err := a.v.Resolve(ctx, ref)
	none := (*vault.NotFoundError)(nil)
	if !errors.As(err, &none) || a.o.Agent != "" {
		return m, err
	}
	if err := a.gone(ctx, ref, false); err != nil {
		return vault.Memory{}, err
	}
	if len(none.Words) == 1 {
		return a.v.Resolve(ctx, string(none.Words[0].Path))
	}
	return m, err
}

// gone fails with a [vault.NotFoundError] where ref is the name of a file that HEAD has and the disk has not: it
// means that one, and no other of whose name it is a part. With ever it may be one that newer commits deleted.
func (a *App) gone(ctx context.Context, ref string, ever bool) error {
	asked := markdown.Fold(ref)
	for l, err := range lineage.LostFiles(ctx, a.v, a.exists) {
		if err != nil || l.Rev != "" && !ever {
			return err
		}
		name := markdown.Fold(l.Path.Base())
		if name == asked || name == asked+".md" || ever && markdown.Fold(string(l.Path)) == asked {
			how := "removed by hand"
			if l.Rev != "" {
				how = "deleted in " + l.Rev.Short()
			}
			return vault.WithHint(&vault.NotFoundError{Ref: ref},
				"%s was %s; \"stet restore %s\" brings it back", l.Path, how, templates.Quote(l.Path))
		}
	}
	return nil
}

// A Naming is what a word names.
type Naming struct {
	Path vault.Path // of the only file that the word names by itself; "" for none
	// Candidates are all that the word may mean where it names none by itself, or several, with path, id and title
	// alone; none where it means nothing known.
	Candidates []vault.Memory
	Words      bool // the word is whole words of their names
}

// Named is what a word names, also as a part of a name, an address of an entry of a notebook apart. An agent names
// what it means: to it, parts mean nothing. It fails as [vault.Vault.Resolve] does for other reasons than names.
func (a *App) Named(ctx context.Context, word string) (Naming, error) {
	ref := a.ref(word)
	found, err := a.v.Resolve(ctx, ref)
	if err == nil {
		return Naming{Path: found.Path}, nil
	}
	var many *vault.AmbiguousError
	var none *vault.NotFoundError
	switch {
	case errors.As(err, &many):
		return Naming{Candidates: many.Candidates}, nil
	case !errors.As(err, &none) || none.Withheld:
		return Naming{}, err
	}
	if p, bad := vault.ParsePath(ref); bad == nil && a.exists(p) {
		return Naming{}, nil // a file that is no memory
	}
	if _, _, entry := cutAddress("-#" + word); entry {
		return Naming{}, nil
	}
	if err := a.gone(ctx, ref, false); err != nil {
		return Naming{}, err
	}
	if len(none.Words) > 0 {
		return Naming{Candidates: none.Words, Words: true}, nil
	}
	return Naming{Candidates: none.Parts}, nil
}

// refs is [App.ref] of each.
func (a *App) refs(words []string) []string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, a.ref(w))
	}
	return out
}

// path is [App.ref] for what takes paths only. It fails with [vault.ErrBadPath].
func (a *App) path(word string) (vault.Path, error) {
	return vault.ParsePath(strings.TrimSuffix(filepath.ToSlash(a.ref(word)), "/"))
}

// meantTo adds to the error for a move to a word that is no place what the word may be meant for.
func (a *App) meantTo(ctx context.Context, o MoveOptions, err error) error {
	bad, word := (*UsageError)(nil), strings.Trim(o.To, "/")
	if !errors.As(err, &bad) {
		return err
	}
	scope := "/" + word
	if len(o.Refs) == 1 {
		if m, err := a.v.Resolve(ctx, a.ref(o.Refs[0])); err == nil {
			name := word + ".md"
			if !strings.Contains(word, "/") {
				name = path.Join(m.Path.Dir(), name)
			}
			return bad.Suggest("a new name ends with \".md\": %q; a scope begins with \"/\": %q", name, scope)
		}
	}
	return bad.Suggest("a scope begins with \"/\": %q", scope)
}

// exists reports whether the vault has a file or folder of that name now.
func (a *App) exists(p vault.Path) bool {
	_, err := os.Lstat(filepath.Join(a.Root(), filepath.FromSlash(string(p))))
	return err == nil
}

// within returns abs relative to root when it lies below it.
func within(root, abs string) (string, bool) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(real, filepath.Base(abs))
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// cutAddress takes "USER.md#1a2b3c4d" apart; the form of search hits, "USER.md#e:1a2b3c4d", is the
// same.
func cutAddress(word string) (file, hash string, ok bool) {
	i := strings.LastIndexByte(word, '#')
	if i < 1 {
		return "", "", false
	}
	hash = strings.TrimPrefix(word[i+1:], "e:")
	const digits = 8
	return word[:i], hash, len(hash) == digits && strings.Trim(hash, "0123456789abcdef") == ""
}

// Shown is a text as whoever acts may read it. An agent is told neither what is likely meant to be kept from
// others nor a name that holds such a thing: in place of a memory's name stands its id, where it has one. It may
// be called on nil, for what is told to an agent without a vault.
func (a *App) Shown(text string) string {
	if a != nil && a.o.Agent == "" {
		return text
	}
	return longNames().ReplaceAllStringFunc(guard.Masked(text), func(name string) string {
		masked := guard.MaskedName(name)
		if masked == name || a == nil {
			return masked
		}
		p, err := vault.ParsePath(strings.TrimPrefix(name, "/"))
		if err != nil {
			return masked
		}
		data, _, err := a.v.ReadFile(p)
		if id := vault.ReadMemory(p, data).ID; err == nil && id != "" {
			return id
		}
		return masked
	})
}

// longNames are words that are joined as in the names of files, with folders in front of them.
var longNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\pL\pN._/-]*[\pL\pN](?:-[\pL\pN]+){2,}(?:\.md)?`)
})

// marked is a name of something as whoever acts may read it: to an agent, with the rules about orders that it meets.
func (a *App) marked(name string) string {
	if a.o.Agent == "" {
		return name
	}
	if rules := a.orders([]byte(name)); len(rules) > 0 {
		return "[flagged: " + strings.Join(rules, ", ") + "] " + name
	}
	return name
}
