package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/vault/names"
	"stet/vault/store"
)

// minPrefix and minSuffix are the shortest parts of an id that name a memory:
// the first characters of a ULID are a coarse time, so a short prefix would
// match a whole day's memories.
const (
	minPrefix = 6
	minSuffix = names.LeastEnd
)

// Resolve finds the one file that ref names: a path, an id, a unique slug, a
// unique prefix of an id of at least six characters or suffix of at least four,
// or a title or alias. The archive is searched as well. It fails with a
// [NotFoundError], which says what has ref as a part of its name, or an [AmbiguousError], and as
// [Vault.ReadFile] does. Cost: without an index, parts of ids, titles and aliases need every file's front matter.
func (v *Vault) Resolve(ctx context.Context, ref string) (Memory, error) {
	m, err := v.resolve(ctx, v.Whole(), ref)
	if err != nil || !v.hidesNow(m.Path) {
		return m, err
	}
	files, err := v.Whole().Files(ctx, WalkOptions{Archive: true})
	if err != nil {
		return Memory{}, v.store.Explain(err)
	}
	return Memory{}, withheld(ref, v.nearest(files, ref)...)
}

// resolve looks among all files of a vault, and names those that v shows.
func (v *Vault) resolve(ctx context.Context, whole *Vault, ref string) (Memory, error) {
	if m, err := whole.placed(ref); m.Path != "" || err != nil {
		return m, err
	}
	if found := whole.identified(ctx, ref); len(found) > 0 {
		return pick(ref, v.listed(found))
	}
	files, err := whole.Files(ctx, WalkOptions{Archive: true})
	if err != nil {
		return Memory{}, v.store.Explain(err)
	}
	var called []Memory
	folded := markdown.Fold(ref)
	named := files
	if IsID(ref) {
		named = nil // no name of a file stands before the id of another
	}
	for _, f := range named {
		if markdown.Fold(slugOf(f.Path)) == folded || markdown.Fold(f.Path.Base()) == folded {
			data, _, err := whole.ReadFile(f.Path)
			if err != nil {
				return Memory{}, pathErrorf("read", f.Path, err)
			}
			called = append(called, ReadMemory(f.Path, data))
		}
	}
	if len(called) > 0 {
		return pick(ref, v.listed(preferLive(called)))
	}
	c, err := whole.called(ctx, files, ref, v.o.Reader == "")
	if err != nil {
		return Memory{}, err
	}
	if found := whole.read(c.exact()); len(found) > 0 {
		if len(c.whole)+len(c.ends) == 0 {
			found = preferLive(found)
		}
		return pick(ref, v.listed(found))
	}
	if m, err := whole.placed(ref + ".md"); m.Path != "" || err != nil {
		return m, err // one that git ignores is in no list
	}
	none := &NotFoundError{Ref: ref}
	if v.o.Reader == "" { // an agent names what it means
		none.Words, none.Parts = preferLive(c.words), preferLive(c.within)
	}
	for _, m := range none.Words[:min(len(none.Words), mostNear)] {
		none.Near = append(none.Near, string(m.Path))
	}
	none.Near = distinct(append(none.Near, v.nearest(files, ref)...))
	none.Near = none.Near[:min(len(none.Near), mostNear)]
	return Memory{}, none
}

// placed is the file that ref is the path of; the zero Memory, which has no path, where there is none. A path with a
// folder may lack its ending. A name alone may not: a file elsewhere may have that name as well as one at the top.
func (v *Vault) placed(ref string) (Memory, error) {
	p, err := ParsePath(ref)
	if err != nil {
		return Memory{}, nil
	}
	paths := []Path{p, p + ".md"}
	if !strings.Contains(ref, "/") {
		paths = paths[:1]
	}
	for _, p := range paths {
		data, _, err := v.ReadFile(p)
		if err == nil {
			return ReadMemory(p, data), nil
		}
		if !store.Absent(err) && !errors.Is(err, ErrNotRegular) {
			return Memory{}, pathErrorf("read", p, err)
		}
	}
	return Memory{}, nil
}

// read are the memories at the paths, but for those that went meanwhile.
func (v *Vault) read(paths []Path) (found []Memory) {
	for _, p := range paths {
		if data, _, err := v.ReadFile(p); err == nil {
			found = append(found, ReadMemory(p, data))
		}
	}
	return found
}

// distinct are names in their order, each once.
func distinct(names []string) (out []string) {
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// resolveAll is [Vault.Resolve] of several refs, each file once; check may refuse one.
func (v *Vault) resolveAll(ctx context.Context, refs []string, check func(Memory) error) (found []Memory, _ error) {
	for _, ref := range refs {
		m, err := v.Resolve(ctx, ref)
		if err == nil {
			err = check(m)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(found, func(f Memory) bool { return f.Path == m.Path }) {
			found = append(found, m)
		}
	}
	return found, nil
}

// Pick finds what ref names: by its whole id or as also says (nil says nothing), else by the
// beginning of an id of at least six characters or the end of at least four. It fails with a
// [NotFoundError], or with an [AmbiguousError] of what as makes of the candidates.
func Pick[T any](ref string, all []T, as func(T) Memory, also func(T) bool) (one T, err error) {
	found := named(ref, all, as, also)
	switch len(found) {
	case 0:
		return one, notFound(ref)
	case 1:
		return found[0], nil
	}
	many := &AmbiguousError{Ref: ref}
	for _, x := range found {
		many.Candidates = append(many.Candidates, as(x))
	}
	return one, many
}

// named are those of all that ref names, as [Pick] says.
func named[T any](ref string, all []T, as func(T) Memory, also func(T) bool) []T {
	var whole, parts []T
	folded := strings.ToLower(ref)
	for _, x := range all {
		switch id := as(x).ID; {
		case id != "" && id == folded, also != nil && also(x):
			whole = append(whole, x)
		case isPart(folded, id):
			parts = append(parts, x)
		}
	}
	if len(whole) > 0 {
		return whole
	}
	return parts
}

// isPart reports whether what was typed, in lower case, is enough of an id to name it.
func isPart(typed, id string) bool {
	return len(typed) >= minPrefix && strings.HasPrefix(id, typed) ||
		len(typed) >= minSuffix && strings.HasSuffix(id, typed)
}

// matchID finds memories by the whole id, else by a part of it.
func matchID(all []Memory, ref string) []Memory {
	return named(ref, all, func(m Memory) Memory { return m }, nil)
}

// preferLive leaves the archive out while anything else matches.
func preferLive(found []Memory) []Memory {
	live := slices.DeleteFunc(slices.Clone(found), Memory.Archived)
	if len(live) > 0 {
		return live
	}
	return found
}

// listed are those of found that may be listed: an agent learns the name of a private one only by
// knowing it.
func (v *Vault) listed(found []Memory) []Memory {
	if len(found) < 2 || v.o.Reader == "" {
		return found
	}
	public := slices.DeleteFunc(slices.Clone(found), func(m Memory) bool { return v.hidesNow(m.Path) })
	if len(public) > 0 {
		return public
	}
	return found[:1]
}

func pick(ref string, found []Memory) (Memory, error) {
	if len(found) == 1 {
		return found[0], nil
	}
	slices.SortFunc(found, func(a, b Memory) int { return cmp.Compare(a.Path, b.Path) })
	return Memory{}, &AmbiguousError{Ref: ref, Candidates: found}
}

// containsFold is a cheap test that leaves out files which cannot name ref: a
// title or id stands in the file as text. Letters outside ASCII are not folded
// here, so a ref with any is not prefiltered.
func containsFold(data []byte, ref string) bool {
	for i := range len(ref) {
		if ref[i] >= 0x80 {
			return true
		}
	}
	return bytes.Contains(bytes.ToLower(data), []byte(strings.ToLower(ref)))
}

// readAll reads and parses files on all processors, in the order given. Files
// that vanish, cannot be read or are refused by want are left out; of those that
// cannot be read skipped is told, unless it is nil.
func (v *Vault) readAll(ctx context.Context, files []File, want func([]byte) bool, skipped func(Path, error)) ([]Memory, error) {
	out, errs := make([]Memory, len(files)), make([]error, len(files))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(files) && ctx.Err() == nil; i += workers {
				data, _, err := v.ReadFile(files[i].Path)
				if errs[i] = err; err == nil && want(data) {
					out[i] = ReadMemory(files[i].Path, data)
				}
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil && skipped != nil && !store.Absent(err) && !errors.Is(err, ErrRefused) {
			skipped(files[i].Path, err)
		}
	}
	return slices.DeleteFunc(out, func(m Memory) bool { return m.Path == "" }), context.Cause(ctx)
}

// nearest lists up to three file names that look like ref.
func (v *Vault) nearest(files []File, ref string) []string {
	type near struct {
		name string
		d    int
	}
	var found []near
	for _, f := range files {
		if f.Path == Path("archive/"+ref) && !v.hidesNow(f.Path) {
			return []string{string(f.Path)}
		}
		slug := slugOf(f.Path)
		most := max(1, len(ref)/4)
		if d := markdown.Edits(strings.ToLower(ref), strings.ToLower(slug), most); d <= most && !v.hidesNow(f.Path) {
			found = append(found, near{string(f.Path), d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	var out []string
	for _, n := range found[:min(3, len(found))] {
		out = append(out, n.name)
	}
	return out
}
