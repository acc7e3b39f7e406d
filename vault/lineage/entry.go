package lineage

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"

	"stet/markdown"
	"stet/vault"
	"stet/vault/tombstone"
)

// An EntryVersion is one state in the history of a notebook's entry: Old and New
// are its texts, "" where there was none.
type EntryVersion struct {
	Commit vault.Commit `json:"-"`
	Status string       `json:"status"` // vault.Added, Modified or Deleted
	Path   vault.Path   `json:"path"`
	Old    string       `json:"old,omitempty"`
	New    string       `json:"new,omitempty"`
}

// EntryVersions yields the versions of the entry that has, or once had, the
// address FILE#HASH, newest first. An entry that was replaced is followed by the
// Supersedes trailer of the commit, else to the removed entry that shares at
// least half of its words. It yields nothing for an address that never was.
func EntryVersions(ctx context.Context, v *vault.Vault, rev string, p vault.Path, hash string) iter.Seq2[EntryVersion, error] {
	return func(yield func(EntryVersion, error) bool) {
		a := v.History().Ancestry()
		started := false
		for version, err := range v.History().Versions(ctx, rev, p) {
			if err != nil {
				yield(EntryVersion{}, err)
				return
			}
			before, err := entriesOf(a, version.Old)
			if err != nil {
				yield(EntryVersion{}, err)
				return
			}
			after, err := entriesOf(a, version.New)
			if err != nil {
				yield(EntryVersion{}, err)
				return
			}
			now, was := withHash(after, hash), withHash(before, hash)
			out := EntryVersion{Commit: version.Commit, Path: version.Path}
			switch {
			case now == nil && was != nil:
				out.Status, out.Old = vault.Deleted, was.Text
				// The address may be of the past: then its end is what is told first.
				if next := successor(version.Commit, p, *was, before, after); next != nil && !started {
					out.Status, out.New = vault.Modified, next.Text
				}
			case now != nil && was == nil:
				out.Status, out.New = vault.Added, now.Text
				if old := ancestor(version.Commit, p, *now, before, after); old != nil {
					out.Status, out.Old, hash = vault.Modified, old.Text, old.Hash()
				}
			default:
				started = started || now != nil
				continue
			}
			started = true
			if !yield(out, nil) {
				return
			}
		}
	}
}

func entriesOf(a *vault.Ancestry, h vault.Hash) ([]markdown.Entry, error) {
	data, err := a.Read(h)
	return markdown.Parse(data).Entries(), err
}

func withHash(entries []markdown.Entry, hash string) *markdown.Entry {
	i := slices.IndexFunc(entries, func(e markdown.Entry) bool { return e.Hash() == hash })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// ancestor is the entry of before that became now: one that after has no more.
func ancestor(c vault.Commit, p vault.Path, now markdown.Entry, before, after []markdown.Entry) *markdown.Entry {
	for _, address := range c.Trailers.All("Supersedes") {
		if hash, ok := strings.CutPrefix(address, string(p)+"#"); ok {
			if e := withHash(before, hash); e != nil && withHash(after, hash) == nil {
				return e
			}
		}
	}
	return likest(now, before, after)
}

// successor is the entry of after that was became: one that before has not.
func successor(c vault.Commit, p vault.Path, was markdown.Entry, before, after []markdown.Entry) *markdown.Entry {
	if slices.Contains(c.Trailers.All("Supersedes"), string(p)+"#"+was.Hash()) {
		for _, address := range c.Trailers.All("Stet-Memory") {
			if hash, ok := strings.CutPrefix(address, string(p)+"#"); ok && withHash(after, hash) != nil {
				return withHash(after, hash)
			}
		}
	}
	return likest(was, after, before)
}

// likest is the entry of from, but not of the other, that shares most words with
// e, half of them at least.
func likest(e markdown.Entry, from, other []markdown.Entry) *markdown.Entry {
	const half = 0.5
	var best *markdown.Entry
	most := half
	for i := range from {
		if withHash(other, from[i].Hash()) != nil {
			continue
		}
		if like := shared(e.Body(), from[i].Body()); like >= most {
			best, most = &from[i], like
		}
	}
	return best
}

// shared is the part of all words of two texts that both have.
func shared(a, b string) float64 {
	words := func(s string) map[string]bool {
		out := map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			out[w] = true
		}
		return out
	}
	return tombstone.Jaccard(words(a), words(b))
}
