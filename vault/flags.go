package vault

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/guard"
)

const mayOutdate = "may_outdate"

// unflag takes back the flags of other memories on what the transaction archives, removes
// or words anew: their reason is gone. Where the words that they are about still stand, they
// stay. A revert brings flags back with the bytes they stood in.
func (t *Tx) unflag(ctx context.Context) error {
	if find := t.v.o.Flagging; find == nil || !t.why.Op.known().unflags {
		return nil
	}
	var before, after []Memory
	for p := range t.tx.Staged() {
		if was := t.tx.Touched()[p].Disk; was.Exists && ClassOf(p) == ClassMemory {
			before = append(before, ReadMemory(p, was.Data))
		}
	}
	for p := range t.tx.Staged() {
		if len(before) == 0 || ClassOf(p) != ClassMemory {
			continue
		}
		if data, hash, err := t.Read(p); err != nil {
			return err
		} else if hash != "" {
			after = append(after, ReadMemory(p, data))
		}
	}
	for _, was := range before {
		left := slices.IndexFunc(after, func(m Memory) bool { return m.ID == was.ID })
		var now []byte
		if left >= 0 {
			now = after[left].Body
		}
		if was.ID == "" || left >= 0 && stands(was.Body, now) {
			continue
		}
		for _, p := range t.v.o.Flagging(ctx, was.ID) {
			if err := t.unflagIn(ctx, p, was.ID, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// unflagIn takes the flag on the memory with an id, which says now from now on, out of the file
// at p, unless the words that it is about still stand.
func (t *Tx) unflagIn(ctx context.Context, p Path, id string, now []byte) error {
	data, hash, err := t.Read(p)
	m := ReadMemory(p, data)
	if err != nil || hash == "" || !slices.Contains(m.MayOutdate, id) {
		return err
	}
	if len(now) > 0 {
		said, err := t.v.flaggedFor(ctx, m, id)
		if err != nil || said != nil && stands(said, []byte(guard.Elided(string(now)))) {
			return err
		}
	}
	_, err = t.Link(m, mayOutdate, true, id)
	return err
}

// flagTrailer says in a commit what a memory may outdate: "NEW OLD 0.62 The port is 8080.", by
// ids, and the words of the old one that it is about.
const flagTrailer = "May-Outdate"

// flaggedFor are the words for which m flagged the memory with an id, nil where no commit
// tells.
func (v *Vault) flaggedFor(ctx context.Context, m Memory, id string) ([]byte, error) {
	for version, err := range v.History().Versions(ctx, "", m.Path) {
		if err != nil {
			return nil, err
		}
		for _, line := range version.Commit.Trailers.All(flagTrailer) {
			if f := strings.SplitN(line, " ", 4); len(f) == 4 && f[0] == m.ID && f[1] == id {
				return []byte(f[3]), nil
			}
		}
	}
	return nil, nil
}

// stands reports whether the old text is still in the new one, perhaps with more around it;
// white space does not count.
func stands(was, now []byte) bool {
	spaced := func(b []byte) []byte { return bytes.Join(bytes.Fields(b), []byte(" ")) }
	return bytes.Contains(spaced(now), spaced(was))
}

// dropFlags takes the flags out of a document in which the text that raised them no longer
// stands.
func dropFlags(doc *markdown.Document, was []byte) error {
	if _, flagged := doc.Meta(mayOutdate); !flagged || stands(markdown.Parse(was).Body(), doc.Body()) {
		return nil
	}
	return doc.RemoveMeta(mayOutdate)
}

// namesIn are the names, as [History.Writers] takes them, of what a commit wrote or pinned; true for those that it says
// it linked with what it wrote: their front matter changed, and their words were there before.
func namesIn(gc gitstore.Commit) (names map[string]bool) {
	if !strings.Contains(gc.Message, "Stet-Memory: ") {
		return nil
	}
	c, what := commitOf(gc), ""
	if c.Op == OpPin {
		what = "pin "
	} else if !c.Op.known().words {
		return nil
	}
	links := slices.Concat(c.Trailers.All("Conflicts-With"), c.Trailers.All("Supersedes"))
	names = map[string]bool{}
	for _, name := range c.Trailers.All("Stet-Memory") {
		if !strings.Contains(name, "\t") {
			names[what+name] = slices.Contains(links, name)
		}
	}
	return names
}
