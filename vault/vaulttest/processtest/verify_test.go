package processtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stet/vault"
	"stet/vault/vaulttest"
)

// verify checks what the writers were told against the history.
func (f *field) verify() {
	v := f.open()
	history, contents := f.history(v)
	for _, l := range f.lines {
		if l.acked && !history[l.rev] {
			f.t.Errorf("%s was told that step %d is commit %s, which is no ancestor of HEAD", l.writer, l.step, l.rev)
		}
	}
	kept := f.kept()
	for id := range f.owed {
		if !contents[id] && !kept[id] {
			f.t.Errorf("the editor's save %s was replaced and stands neither in the history nor in lost/", id)
		}
	}
	head, err := v.History().View(f.t.Context(), "")
	if err != nil {
		f.t.Fatal(err)
	}
	f.verifyShared(head)
	f.verifyLast(head)
}

// kept is the set of all contents in lost/, where "stet doctor" shows them.
func (f *field) kept() map[string]bool {
	files, err := filepath.Glob(filepath.Join(f.dir, ".git", "stet", "*", "lost", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		out[gitID(string(data))] = true
	}
	f.t.Logf("%d files in lost/", len(out))
	return out
}

// history is the set of HEAD's ancestors and of all contents that the
// contested file ever had in them.
func (f *field) history(v *vault.Vault) (revs, contents map[string]bool) {
	revs, contents = map[string]bool{}, map[string]bool{}
	for c, err := range v.History().Log(f.t.Context(), vault.LogOptions{Changes: true}) {
		if err != nil {
			f.t.Fatal(err)
		}
		revs[string(c.Rev)] = true
		for _, ch := range c.Changes {
			if ch.Path == contestedFile {
				contents[string(ch.New)] = true
			}
		}
	}
	if !vaulttest.HaveGit() {
		return revs, contents
	}
	out, err := vaulttest.Git(f.dir, "rev-list", "HEAD")
	if err != nil {
		f.t.Fatalf("git rev-list: %v %s", err, out)
	}
	if n := len(strings.Fields(out)); n != len(revs) {
		f.t.Errorf("git counts %d commits, the vault %d", n, len(revs))
	}
	return revs, contents
}

// verifyShared wants every acknowledged line of every writer in the file that
// all of them append to.
func (f *field) verifyShared(head *vault.Snapshot) {
	data, _, err := head.Read(sharedFile)
	if err != nil {
		f.t.Fatal(err)
	}
	found := 0
	for _, l := range f.lines {
		if !l.acked || l.path != sharedFile {
			continue
		}
		found++
		if token := "begin " + l.writer + "-" + strconv.Itoa(l.step) + "\n"; !strings.Contains(string(data), token) {
			f.t.Errorf("%s lost %q", sharedFile, token)
		}
	}
	if found == 0 {
		f.t.Error("no writer reached the shared file: the test has not run")
	}
}

// verifyLast wants at each path of a writer's own what it was told last. An
// operation announced after that and cut short by a kill may have happened.
func (f *field) verifyLast(head *vault.Snapshot) {
	last, open := map[string]line{}, map[string]bool{}
	for _, l := range f.lines {
		switch {
		case l.path == sharedFile || l.path == contestedFile || l.path == diaryFile:
		case l.acked:
			last[l.path], open[l.path] = l, false
		default:
			open[l.path] = true
		}
	}
	for p, l := range last {
		_, hash, err := head.Read(vault.Path(p))
		if err != nil {
			f.t.Fatal(err)
		}
		if hash == "" {
			hash = "-"
		}
		if string(hash) != l.hash && !open[p] {
			f.t.Errorf("%s: HEAD has %s, %s was told %s at step %d", p, hash, l.writer, l.hash, l.step)
		}
	}
}
