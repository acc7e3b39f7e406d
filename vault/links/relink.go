package links

import (
	"fmt"
	"path"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// A Rewrite is one link that no longer leads where it did.
type Rewrite struct {
	Path vault.Path `json:"path"` // after the move
	Line int        `json:"line"`
	Old  string     `json:"old"` // the target as it stood
	New  string     `json:"new"` // "" when nothing could name the file there
	Why  string     `json:"why,omitempty"`
}

// relink returns the bytes of p with its links rewritten, nil when none had to
// be or when the file is not ours to change.
func (m *mover) relink(p vault.Path, before, after *table) ([]byte, error) {
	data, err := m.read(p)
	if err != nil || data == nil {
		return nil, err
	}
	next, done, left, err := m.retarget(p, data, before, after)
	if err != nil {
		return nil, err
	}
	if _, moves := m.to[p]; !moves && len(done) > 0 {
		now, why := m.leave(p)
		if why != "" {
			for i := range done {
				done[i].Why = why
			}
			m.out.Listed = append(append(m.out.Listed, done...), left...)
			return nil, nil
		}
		// What is written must come from the bytes that the transaction compares
		// with: the file may have been saved since it was looked at.
		if next, done, left, err = m.retarget(p, now, before, after); err != nil {
			return nil, err
		}
	}
	m.out.Rewritten = append(m.out.Rewritten, done...)
	m.out.Listed = append(m.out.Listed, left...)
	if len(done) == 0 {
		return nil, nil
	}
	return next, nil
}

// retarget rewrites the links in the bytes of p that the move breaks, as far as
// a link of their kind can name the file where it will be.
func (m *mover) retarget(p vault.Path, data []byte, before, after *table) (next []byte, done, left []Rewrite, err error) {
	at := m.moved(p)
	newTarget := func(l markdown.Link) (string, bool) {
		want, broken := m.broken(p, l, before, after)
		if !broken {
			return "", false
		}
		r := Rewrite{Path: at, Line: l.Line, Old: l.Target}
		names, why := m.candidates(p, l, before.resolve(p, l).Path, want)
		for _, candidate := range names {
			named := l
			named.Target = candidate
			if l.CanHold(candidate) && after.resolve(at, named).Path == want.Path {
				r.New = candidate
				done = append(done, r)
				return candidate, true
			}
		}
		r.Why = why
		left = append(left, r)
		return "", false
	}
	if p.IsCanvas() {
		next, err = rewriteCanvas(data, newTarget)
	} else {
		doc := markdown.Parse(data)
		err = doc.RewriteLinks(newTarget)
		next = doc.Bytes()
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("rewrite links of %q: %w", p, err)
	}
	return next, done, left, nil
}

// read returns what the transaction would change for files that it will change;
// others are only looked at, so that they stay out of it.
func (m *mover) read(p vault.Path) ([]byte, error) {
	if _, moves := m.to[p]; moves {
		data, _, err := m.tx.Read(p)
		if !p.IsMarkdown() && !p.IsCanvas() {
			data = nil
		}
		return data, err
	}
	data, _, err := m.v.ReadFile(p)
	if err != nil {
		return nil, nil // the survey had no links of it either
	}
	return data, nil
}

// NoteOfYours is the [Rewrite.Why] of links in notes, which [Request.RewriteNotes] rewrites.
const NoteOfYours = "it is a note of yours"

// leave says why a file's links are listed and not rewritten; where they are
// rewritten why is "", and data is what the transaction has of the file.
func (m *mover) leave(p vault.Path) (data []byte, why string) {
	switch c := vault.ClassOf(p); c {
	case vault.ClassCore, vault.ClassProfile, vault.ClassMemory, vault.ClassSkill:
	case vault.ClassNote:
		if !m.r.RewriteNotes {
			return nil, NoteOfYours
		}
	default:
		return nil, fmt.Sprintf("it is a %s file", c)
	}
	data, _, err := m.tx.Read(p)
	if err != nil {
		return nil, err.Error()
	}
	return data, ""
}

// broken reports whether a link would not lead where it does now, and where
// that will be. A wiki link that names the file is broken too where the new name is another one and only a title or
// an alias of the file still is the old one: in Obsidian it would lead nowhere. Links that lead nowhere count when they
// are Markdown links of a moved file: they go on naming the same place.
func (m *mover) broken(p vault.Path, l markdown.Link, before, after *table) (Target, bool) {
	was := before.resolve(p, l)
	wiki := isWiki(l)
	at := m.moved(p)
	if was.State == Self || was.Path == "" || at == p && !was.leads() || wiki && !was.leads() {
		return was, false
	}
	want, now := Target{Path: m.moved(was.Path), State: was.State}, after.resolve(at, l)
	return want, now.Path != want.Path || now.called && !was.called
}

// candidates are the ways to name want, which stood at was, in a link of p, the one most like what stands there
// first, and why none of them may do. Where p is not private a private file is named by its id alone: whoever reads p
// knows its old name, and not the new one.
func (m *mover) candidates(p vault.Path, l markdown.Link, was vault.Path, want Target) (names []string, why string) {
	if want.Path != was && document(m.v, was).Private() && !document(m.v, p).Private() {
		for _, name := range m.s.called[was] {
			if vault.IsID(name) && isWiki(l) {
				names = append(names, name)
			}
		}
		return names, "the file there is private, and its new name would stand in one that is not"
	}
	return candidates(m.moved(p), l, want), "no link of this kind can name the file there"
}

// candidates are the names for any file.
func candidates(at vault.Path, l markdown.Link, want Target) []string {
	to := string(want.Path)
	if l.Kind == fileCard {
		return []string{to}
	}
	bare := to
	if want.Path.IsMarkdown() {
		bare = strings.TrimSuffix(to, path.Ext(to))
	}
	whole, short := to, bare
	if vault.Path(l.Target).IsMarkdown() {
		short = to // the extension was written out
	}
	near := relativeTo(at.Dir(), short)
	if isWiki(l) {
		switch {
		case strings.HasPrefix(l.Target, "./") || strings.HasPrefix(l.Target, "../"):
			if !strings.HasPrefix(near, "../") {
				near = "./" + near
			}
			return []string{near, short, whole}
		case !strings.Contains(l.Target, "/"):
			return []string{path.Base(short), short, whole}
		}
		return []string{short, whole}
	}
	if strings.HasSuffix(l.Target, "/") {
		near, short = near+"/", short+"/"
	}
	if strings.HasPrefix(l.Target, "./") && !strings.HasPrefix(near, "../") {
		near = "./" + near
	}
	if strings.HasPrefix(l.Target, "/") {
		return []string{"/" + short, "/" + whole}
	}
	return []string{near, relativeTo(at.Dir(), whole), "/" + short, "/" + whole}
}

// relativeTo is the way from a folder to a path, both seen from the root; the
// path may begin with "../".
func relativeTo(dir, to string) string {
	if dir == "." {
		return to
	}
	from, parts := strings.Split(dir, "/"), strings.Split(to, "/")
	for len(from) > 0 && len(parts) > 1 && from[0] == parts[0] {
		from, parts = from[1:], parts[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(parts, "/")
}
