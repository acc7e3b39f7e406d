package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

// saves are the ways in which editors write a file that is there.
func saves() map[string]func(t *testing.T, file string, text []byte) {
	return map[string]func(*testing.T, string, []byte){
		// nano, VS Code, Obsidian: the file is empty for a moment.
		"truncate": func(t *testing.T, file string, text []byte) {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o644)
			must(t, err)
			half := len(text) / 2
			_, err = f.Write(text[:half])
			must(t, err)
			time.Sleep(30 * time.Millisecond) // a slow disk; nothing is waited for
			_, err = f.Write(text[half:])
			must(t, errors.Join(err, f.Close()))
		},
		// gedit, sed -i and most that call themselves safe.
		"rename": func(t *testing.T, file string, text []byte) {
			temp := filepath.Join(filepath.Dir(file), ".goutputstream-AB12CD")
			must(t, os.WriteFile(temp, text, 0o644))
			must(t, os.Rename(temp, file))
		},
		// vim with backupcopy=no: the old file becomes a backup first.
		"backup": func(t *testing.T, file string, text []byte) {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(file), "4913"), nil, 0o644))
			must(t, os.Remove(filepath.Join(filepath.Dir(file), "4913")))
			must(t, os.Rename(file, file+"~"))
			must(t, os.WriteFile(file, text, 0o644))
			must(t, os.Remove(file+"~"))
		},
		// JetBrains: a copy is written, the old one moved aside.
		"aside": func(t *testing.T, file string, text []byte) {
			must(t, os.WriteFile(file+"___jb_tmp___", text, 0o644))
			must(t, os.Rename(file, file+"___jb_old___"))
			must(t, os.Rename(file+"___jb_tmp___", file))
			must(t, os.Remove(file+"___jb_old___"))
		},
		"remove": func(t *testing.T, file string, text []byte) {
			must(t, os.Remove(file))
			must(t, os.WriteFile(file, text, 0o644))
		},
	}
}

func TestEveryWayOfSavingIsFoundAndCommittedWhole(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	var files []string
	for name := range saves() {
		files = append(files, "memories/"+name+".md", "before "+name+"\n")
	}
	f := vaulttest.New(t, files...)
	w := start(t, f)
	for round := range 3 {
		for name, save := range saves() {
			text := fmt.Sprintf("edit %d by %s\n%s", round, name, strings.Repeat("line\n", 2000))
			save(t, filepath.Join(f.Dir, "memories", name+".md"), []byte(text))
		}
		w.settled()
	}
	for name := range saves() {
		w.finds("edit", "memories/truncate.md", "memories/rename.md", "memories/backup.md", "memories/aside.md", "memories/remove.md")
		never(t, f, "memories/"+name+".md", func(text string) bool {
			return text == "before "+name+"\n" || len(text) > 10_000
		})
	}
	if out := f.Git("log", "--name-only", "--format="); strings.ContainsAny(out, "~#") || strings.Contains(out, "___") || strings.Contains(out, "4913") || strings.Contains(out, "goutput") {
		t.Errorf("temporary files were committed:\n%s", out)
	}
	if out := f.Git("log", "-1", "--format=%an%n%(trailers)"); !strings.HasPrefix(out, "Ada\n") || !strings.Contains(out, "Stet-Door: watch") {
		t.Errorf("the last commit is not the person's own by way of the watcher:\n%s", out)
	}
	w.stop()
}

// count is smaller where short tests were asked for.
func count(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func TestABurstInNewFolders(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "edit none\n")
	w := start(t, f)
	n := count(2000)
	for i := range n {
		write(t, f.Dir, fmt.Sprintf("memories/%d/%d/%d/m.md", i%10, i%100, i), fmt.Sprintf("burst edit %d\n", i))
	}
	w.settled()
	if st, err := w.v.Status(t.Context()); err != nil || st.Counts[vault.ClassMemory] != n {
		t.Errorf("%v memories, %v", st.Counts, err)
	}
	// Every one of the new folders is followed.
	write(t, f.Dir, fmt.Sprintf("memories/%d/%d/%d/m.md", 7, 17, 17), "later edit\n")
	w.settled()
	w.finds("later", "memories/7/17/17/m.md")
	w.stop()
}

func TestATreeThatIsRenamedIsFollowedUnderItsNewName(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	var files []string
	for i := range 120 { // more than are believed to be deleted
		files = append(files, fmt.Sprintf("memories/old/%d/m.md", i), fmt.Sprintf("tree edit %d\n", i))
	}
	f := vaulttest.New(t, files...)
	w := start(t, f)
	must(t, os.Rename(filepath.Join(f.Dir, "memories/old"), filepath.Join(f.Dir, "memories/new")))
	w.settled()
	must(t, os.MkdirAll(filepath.Join(f.Dir, "deep/down"), 0o755))
	must(t, os.Rename(filepath.Join(f.Dir, "memories/new"), filepath.Join(f.Dir, "deep/down/here")))
	w.settled()
	for _, i := range []int{0, 60, 119} {
		write(t, f.Dir, fmt.Sprintf("deep/down/here/%d/m.md", i), fmt.Sprintf("moved word%d\n", i))
	}
	w.settled()
	w.finds("moved", "deep/down/here/0/m.md", "deep/down/here/60/m.md", "deep/down/here/119/m.md")
	if out := f.Git("log", "--follow", "--format=%s", "--", "deep/down/here/5/m.md"); strings.Count(out, "\n") < 3 {
		t.Errorf("the moves are no renames:\n%s", out)
	}
	w.stop()
}

func TestCheckoutsOfManyFiles(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "a.md", "edit one\n")
	f.Git("checkout", "-q", "-b", "many")
	for i := range count(2000) {
		write(t, f.Dir, fmt.Sprintf("n/%d/m%d.md", i%40, i), fmt.Sprintf("flood edit %d\n", i))
	}
	f.Git("add", ".")
	f.Git("commit", "-q", "-m", "many")
	head := f.Git("rev-parse", "HEAD")
	w := start(t, f)
	for range 3 {
		checkout(t, f, "main")
		checkout(t, f, "many")
	}
	checkout(t, f, "main")
	w.settled()
	w.finds("flood")
	checkout(t, f, "many")
	w.settled()
	if got := f.Git("rev-parse", "HEAD"); got != head {
		t.Errorf("the checkouts made commits: HEAD %s, was %s\n%s", got, head, w.story())
	}
	w.stop()
	for _, s := range w.subjects() {
		t.Errorf("committed %q", s)
	}
}

// checkout does as a person does when another program holds git's lock: again.
func checkout(t *testing.T, f *vaulttest.Fixture, branch string) {
	t.Helper()
	for range 100 {
		out, err := vaulttest.Git(f.Dir, "checkout", "-q", branch)
		if err == nil {
			return
		}
		if !strings.Contains(out, "index.lock") {
			t.Fatalf("git checkout %s: %v\n%s", branch, err, out)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("git checkout %s: the lock stayed for two seconds", branch)
}

func TestOneWatcherAVault(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\n")
	w := start(t, f)
	second := launch(t, f)
	err := <-second.ended
	second.end = nil
	if !errors.Is(err, vault.ErrBusy) || !strings.Contains(fmt.Sprint(err), "pid 1 stet watch") {
		t.Errorf("a second watcher: %v", err)
	}
	w.stop()
	start(t, f).stop()
}

func TestWithoutCommitNothingIsCommitted(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\n")
	f.LeaveDirty()
	w := start(t, f, noCommit)
	head, err := w.v.Head()
	must(t, err)
	f.Write("memories/x.md", "an edit\n")
	w.await("the index", func(e Event) bool { return e.Kind == Indexed })
	f.Write("memories/y.md", "another edit\n")
	w.await("the index", func(e Event) bool { return e.Kind == Indexed })
	w.finds("edit", "memories/x.md", "memories/y.md")
	w.stop()
	if now, err := w.v.Head(); now != head || err != nil {
		t.Errorf("HEAD moved to %s, %v", now, err)
	}
}

// A linked working tree, a vault in a folder of it, and an outside gc.
func TestALinkedWorktreeAndAnOutsideGC(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "memories/a.md", "one\n")
	dir := filepath.Join(t.TempDir(), "linked")
	f.Git("worktree", "add", "-q", "-b", "side", dir)
	linked := vaulttest.At(t, dir)
	main, side := start(t, f), start(t, linked)
	for round := range 3 {
		f.Write("memories/a.md", fmt.Sprintf("edit %d on main\n", round))
		linked.Write("memories/a.md", fmt.Sprintf("edit %d on side\n", round))
		main.settled()
		side.settled()
		f.Git("gc", "-q", "--prune=now")
	}
	linked.Git("merge", "-q", "-X", "theirs", "-m", "both", "main")
	side.settled()
	side.finds("main", "memories/a.md")
	main.stop()
	side.stop()
}

// Without commits no moved branch tells of a file whose event was missed: what
// is made while a new folder gets its watch must be found by listing it.
func TestABurstIsFoundByItselfWhereNothingIsCommitted(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\n")
	f.LeaveDirty()
	w := start(t, f, noCommit)
	for i := range 100 {
		write(t, f.Dir, fmt.Sprintf("memories/%d/%d/%d/m.md", i%10, i%20, i), fmt.Sprintf("burst edit %d\n", i))
	}
	deadline := time.Now().Add(patience)
	for why := "no look yet"; why != ""; time.Sleep(20 * time.Millisecond) {
		if why = w.unindexed(); why != "" && time.Now().After(deadline) {
			t.Fatalf("not indexed: %s", why)
		}
	}
	w.stop()
}
