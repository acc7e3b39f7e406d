package vault_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"stet/vault"
	"stet/vault/gitstore"
	"stet/vault/lineage"
	"stet/vault/links"
	"stet/vault/vaulttest"
)

// operations are stet's own.
func (m *machine) operations() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"remember": m.remember, "update": m.update, "forget": m.forget, "replace": m.replace, "move": m.move,
		"restore": m.restore, "restore a version": m.restoreVersion, "purge": m.purge,
		"undo": m.undo, "redo": m.redo, "revert": m.revert, "adopt": m.adopt, "reopen": m.reopen,
	}
}

func (m *machine) remember(rt *rapid.T) {
	var notes []vault.Note
	for range rapid.IntRange(1, 3).Draw(rt, "notes") {
		notes = append(notes, vault.Note{Text: text(rt) + "x", Scope: rapid.SampledFrom([]string{"", "/a", "/a/b"}).Draw(rt, "scope")})
	}
	each := rapid.Bool().Draw(rt, "each")
	res, err := m.v.Remember(context.Background(), notes, vault.Write{Each: each})
	if err != nil {
		rt.Fatal(err)
	}
	// What was rejected before is no longer: that is a change as well. A plain
	// "git revert" that nobody has read yet is a commit of its own.
	changes := slices.DeleteFunc(slices.Clone(res.Changes), func(c vault.Change) bool { return vault.IsTombstone(c.Path) })
	commits := slices.DeleteFunc(slices.Clone(res.Commits), func(c vault.Commit) bool { return c.Op == vault.OpAdopt })
	if len(changes) != len(notes) || each && len(commits) != len(notes) {
		rt.Fatalf("%d notes: %d changes, %d commits", len(notes), len(changes), len(commits))
	}
	for i, mem := range res.Memories {
		if _, there := m.disk[string(mem.Path)]; there {
			rt.Fatalf("remember took the place of %s", mem.Path)
		}
		if got := strings.TrimSuffix(string(mem.Body), "\n"); got != strings.TrimSuffix(notes[i].Text, "\n") {
			rt.Fatalf("stored %q, want %q", got, notes[i].Text)
		}
	}
	m.done(rt, res, true)
}

func (m *machine) update(rt *rapid.T) {
	p := pick(rt, m.paths(isMemory))
	was := m.disk[p]
	var patch vault.Patch
	added := text(rt) + "!"
	kind := rapid.SampledFrom([]string{"text", "append", "kind", "scope"}).Draw(rt, "patch")
	switch kind {
	case "text":
		patch.Text = &added
	case "append":
		patch.Append = &added
	case "kind":
		patch.Kind = &[]string{"fact" + added[:1]}[0]
	case "scope":
		patch.Scope = &[]string{rapid.SampledFrom([]string{"/", "/a", "/c"}).Draw(rt, "to")}[0]
	}
	res, err := m.v.UpdateMemory(context.Background(), p, patch, vault.Write{})
	if refused(rt, "update", err, vault.ErrInvalid) {
		return
	}
	now, data := res.Memories[0], ""
	if !res.Unchanged {
		read, _, err := m.v.ReadFile(now.Path)
		if err != nil {
			rt.Fatal(err)
		}
		data = string(read)
		old := string(vault.ReadMemory(vault.Path(p), []byte(was)).Body)
		switch body := string(now.Body); {
		case kind == "append" && !strings.HasPrefix(body, strings.TrimRight(old, "\r\n")),
			kind == "append" && !strings.Contains(plainEnds(body), plainEnds(added)),
			(kind == "kind" || kind == "scope") && body != old,
			kind == "text" && plainEnds(body) != plainEnds(added):
			rt.Fatalf("%s %q: body %q became %q in %q", kind, added, old, body, data)
		}
	}
	m.done(rt, res, true)
}

// plainEnds is a text but for its line endings, which become the file's own.
func plainEnds(s string) string {
	return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

func (m *machine) forget(rt *rapid.T) {
	p := pick(rt, m.paths(isMemory))
	was := m.disk[p]
	res, err := m.v.Forget(context.Background(), []string{p}, vault.Write{})
	if err != nil {
		rt.Fatal(err)
	}
	m.done(rt, res, true)
	if _, still := m.disk[p]; still {
		rt.Fatalf("%s is still there", p)
	}
	found := false
	for q, data := range m.disk {
		found = found || strings.HasPrefix(q, "archive/"+strings.TrimSuffix(p, filepath.Ext(p))) && data == was
	}
	if !found {
		rt.Fatalf("%s is not in the archive as it was", p)
	}
}

func isArchived(p vault.Path) bool { return vault.ClassOf(p) == vault.ClassArchive }

// restore changes no byte and takes no place.
func (m *machine) restore(rt *rapid.T) {
	p := pick(rt, m.paths(isArchived))
	was, others := m.disk[p], maps.Clone(m.disk)
	res, err := lineage.Restore(context.Background(), m.v, p, "", vault.Write{})
	if refused(rt, "restore", err, vault.ErrConflict) {
		return
	}
	m.done(rt, res, true)
	to := string(res.Memories[0].Path)
	if _, still := m.disk[p]; still || m.disk[to] != was || isArchived(vault.Path(to)) {
		rt.Fatalf("%s was restored to %s as %q, want %q", p, to, m.disk[to], was)
	}
	if _, taken := others[to]; taken {
		rt.Fatalf("restore took the place of %s", to)
	}
}

func (m *machine) restoreVersion(rt *rapid.T) {
	p := pick(rt, m.paths(isMemory))
	var revs []string
	for version, err := range m.v.History().Versions(context.Background(), "", vault.Path(p)) {
		if err != nil {
			rt.Fatal(err)
		}
		if version.New != "" {
			revs = append(revs, string(version.Commit.Rev))
		}
	}
	at := pick(rt, revs)
	res, err := lineage.Restore(context.Background(), m.v, p, at, vault.Write{})
	if refused(rt, "restore "+p+" at "+at, err, vault.ErrNotFound) {
		return
	}
	m.done(rt, res, true)
}

func (m *machine) purge(rt *rapid.T) {
	p := pick(rt, m.paths(isMemory))
	res, erase, err := purge(context.Background(), m.v, []string{p}, vault.Write{})
	if err != nil {
		rt.Fatal(err)
	}
	m.done(rt, res, true)
	m.last.purge = true
	if _, still := m.disk[p]; still || !slices.Contains(erase.Names, p) {
		rt.Fatalf("%s is still there, or not in the plan %q", p, erase.Names)
	}
}

// move changes nothing but names and the targets of links.
func (m *machine) move(rt *rapid.T) {
	p := pick(rt, m.paths(isMemory))
	was := vault.ReadMemory(vault.Path(p), []byte(m.disk[p]))
	to := vault.Path(rapid.SampledFrom([]string{"memories", "memories/a", "memories/c/d"}).Draw(rt, "to"))
	res, err := links.Move(context.Background(), m.v, links.Request{From: []vault.Memory{was}, To: to}, vault.Write{})
	if err != nil {
		rt.Fatal(err)
	}
	m.done(rt, res.Result, true)
	for _, moved := range res.Moves {
		if _, still := m.disk[string(moved[0])]; still || moved[0] != vault.Path(p) {
			rt.Fatalf("%s is still there: %v", p, res.Moves)
		}
		if now, ok := m.disk[string(moved[1])]; !ok || len(res.Rewritten) == 0 && now != m.lastBefore(p) {
			rt.Fatalf("%s became %q", p, now)
		}
	}
}

// lastBefore is what stood at p before the newest operation.
func (m *machine) lastBefore(p string) string {
	if m.last == nil {
		return ""
	}
	return m.last.before[p]
}

func (m *machine) replace(rt *rapid.T) {
	p := pick(rt, m.paths(isMine))
	data := text(rt)
	was := vault.Hash(gitstore.HashBlob([]byte(m.disk[p])).String())
	if _, err := m.v.Replace(context.Background(), vault.Path(p), vault.Hash(strings.Repeat("1", 40)), []byte(data), vault.Write{}); !refused(rt, "replace of a stale hash", err, vault.ErrConflict) {
		rt.Fatal("replaced what was not seen")
	}
	res, err := m.v.Replace(context.Background(), vault.Path(p), was, []byte(data), vault.Write{})
	if err != nil {
		rt.Fatal(err)
	}
	m.done(rt, res, true)
	if m.disk[p] != data {
		rt.Fatalf("%s is %q, want %q", p, m.disk[p], data)
	}
}

func (m *machine) undo(rt *rapid.T) {
	last := m.last
	if last != nil && !m.untouched(last) {
		last = nil // newer edits are kept, so there is no saying what comes out
	}
	res, err := m.v.History().Undo(context.Background(), 1, vault.Write{})
	if refused(rt, "undo", err, vault.ErrNothingToUndo, vault.ErrConflict, vault.ErrRefused) {
		if last != nil && !(last.purge && errors.Is(err, vault.ErrRefused)) {
			rt.Fatalf("undo of the newest operation: %v", err)
		}
		return
	}
	if last != nil && last.purge {
		rt.Fatal("undo brought back what was purged")
	}
	m.done(rt, res, false)
	if last != nil {
		m.wants(rt, "undo", last.before)
	}
}

// untouched reports whether nobody changed an operation's files since.
func (m *machine) untouched(op *operation) bool {
	for p := range op.before {
		if m.head[p] != m.disk[p] {
			return false
		}
	}
	return true
}

func (m *machine) redo(rt *rapid.T) {
	res, err := m.v.History().Redo(context.Background(), 1, vault.Write{})
	if refused(rt, "redo", err, vault.ErrNothingToUndo, vault.ErrConflict, vault.ErrRefused) {
		return
	}
	m.done(rt, res, false)
}

func (m *machine) revert(rt *rapid.T) {
	var commits []vault.Commit
	for c, err := range m.v.History().Log(context.Background(), vault.LogOptions{Changes: true}) {
		if err != nil {
			rt.Fatal(err)
		}
		commits = append(commits, c)
	}
	c := commits[rapid.IntRange(0, len(commits)-1).Draw(rt, "commit")]
	res, err := m.v.History().Revert(context.Background(), vault.RevertOptions{Revs: []string{string(c.Rev)}})
	if refused(rt, "revert of "+c.Subject, err, vault.ErrConflict, vault.ErrRefused) {
		return
	}
	if len(res.Changes) > 2*len(c.Changes) {
		rt.Fatalf("revert of %+v changed %+v", c.Changes, res.Changes)
	}
	m.done(rt, res, true)
}

func (m *machine) adopt(rt *rapid.T) {
	res, err := m.v.Adopt(context.Background(), vault.AdoptOptions{All: true, Yes: true})
	if err != nil {
		rt.Fatal(err)
	}
	m.done(rt, res, false)
	same(rt, "HEAD after adopt", m.disk, m.head)
}

// people change files with editors and file managers.
func (m *machine) people() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"edit": func(rt *rapid.T) {
			p := pick(rt, m.paths(isMine))
			m.write(rt, p, rapid.SampledFrom([]string{m.disk[p], ""}).Draw(rt, "keep")+text(rt))
		},
		"create": func(rt *rapid.T) {
			m.dirs++
			dir := rapid.SampledFrom([]string{"memories", "memories/a", "notes", "notes/deep/er", "."}).Draw(rt, "dir")
			m.write(rt, filepath.ToSlash(filepath.Join(dir, fmt.Sprintf("by hand %d.md", m.dirs))), text(rt))
		},
		"delete": func(rt *rapid.T) {
			p := pick(rt, m.paths(isMine))
			m.must(rt, os.Remove(filepath.Join(m.dir, p)))
			delete(m.disk, p)
		},
		"rename": func(rt *rapid.T) {
			p := pick(rt, m.paths(isMine))
			m.dirs++
			to := fmt.Sprintf("moved/%d.md", m.dirs)
			m.must(rt, os.MkdirAll(filepath.Join(m.dir, "moved"), 0o755))
			m.must(rt, os.Rename(filepath.Join(m.dir, p), filepath.Join(m.dir, to)))
			m.disk[to] = m.disk[p]
			delete(m.disk, p)
		},
		"rename folder": func(rt *rapid.T) {
			dir := rapid.SampledFrom([]string{"memories/a", "notes", "moved", "memories"}).Draw(rt, "dir")
			m.dirs++
			to := fmt.Sprintf("folder%d", m.dirs)
			if err := os.Rename(filepath.Join(m.dir, dir), filepath.Join(m.dir, to)); err != nil {
				rt.Skip("no such folder")
			}
			for p, data := range maps.Clone(m.disk) {
				if rest, ok := strings.CutPrefix(p, dir+"/"); ok {
					delete(m.disk, p)
					m.disk[to+"/"+rest] = data
				}
			}
		},
		"touch": func(rt *rapid.T) { // every stat in the git index is out of date
			now := time.Now()
			for p := range m.disk {
				m.must(rt, os.Chtimes(filepath.Join(m.dir, p), now, now))
			}
		},
	}
}

func (m *machine) must(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

// git is what people do with the real git.
func (m *machine) git() map[string]func(*rapid.T) {
	run := func(rt *rapid.T, args ...string) {
		if out, err := vaulttest.Git(m.dir, args...); err != nil {
			rt.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return map[string]func(*rapid.T){
		"git add": func(rt *rapid.T) { run(rt, "add", "--", pick(rt, m.paths(isMine))) },
		"git commit": func(rt *rapid.T) {
			if out, err := vaulttest.Git(m.dir, "commit", "-q", "-am", "by hand"); err != nil && !strings.HasPrefix(out, "On branch") {
				rt.Fatalf("git commit: %v\n%s", err, out)
			}
			m.last = nil
			now := m.readHead(rt)
			for p, data := range m.head { // what was in both places stays
				if m.disk[p] == data && now[p] != data {
					rt.Errorf("git commit changed %s to %q", p, now[p])
				}
			}
			m.head = now
		},
		"git checkout": func(rt *rapid.T) { // another branch and its files, where git lets go
			branch := rapid.SampledFrom([]string{"main", "side", "other"}).Draw(rt, "branch")
			if _, err := vaulttest.Git(m.dir, "rev-parse", "-q", "--verify", "refs/heads/"+branch); err != nil {
				run(rt, "branch", branch)
			}
			if out, err := vaulttest.Git(m.dir, "checkout", "-q", branch); err != nil {
				rt.Skipf("git checkout: %s", out)
			}
			m.head, m.disk, m.last = m.readHead(rt), m.readDisk(rt), nil
		},
		"git gc": func(rt *rapid.T) { run(rt, "gc", "-q") },
	}
}
