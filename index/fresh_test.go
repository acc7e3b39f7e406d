package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"stet/vault"
)

// counting counts the files that are read.
type counting struct {
	*folder
	reads atomic.Int64
}

func (c *counting) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	c.reads.Add(1)
	return c.folder.ReadFile(p)
}

// A change within one tick of the clock leaves size and time alike; the hash
// tells.
func TestAChangeThatLeavesSizeAndTimeAlikeIsSeen(t *testing.T) {
	t.Parallel()
	src := &counting{folder: newFolder(t, map[string]string{"a.md": "alpha\n"})}
	full := filepath.Join(src.dir, "a.md")
	at := time.Now().Truncate(time.Microsecond).Add(7 * time.Nanosecond)
	stamp := func() {
		if err := os.Chtimes(full, at, at); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	clock := &sharedClock{now: at.Add(5 * time.Millisecond)}
	x := open(t, src, func(o *Options) { o.Now = clock.Now })
	if got := paths(t, x, "alpha"); len(got) != 1 {
		t.Fatalf("alpha: %v", got)
	}
	src.write(t, "a.md", "gamma\n")
	stamp()
	if got := paths(t, x, "gamma"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("gamma: %v", got)
	}
	if got := paths(t, x, "alpha"); len(got) != 0 {
		t.Errorf("alpha: %v", got)
	}
	// Later the file is no longer looked at: a search that had to read every
	// file of a fresh import would never become quick.
	clock.mu.Lock()
	clock.now = at.Add(time.Hour)
	clock.mu.Unlock()
	paths(t, x, "gamma")
	before := src.reads.Load()
	if got := paths(t, x, "zeta"); len(got) > 0 || src.reads.Load() > before {
		t.Errorf("zeta: %v; the file is still read every time", got)
	}
}

// Edits by any program are seen by the very next search.
func TestEveryKindOfChangeIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{"a.md": "alpha\n", "b.md": "beta\n", "c.md": "gamma\n"})
	x := open(t, src)
	paths(t, x, "alpha")
	src.write(t, "a.md", "omega changed\n")
	src.remove(t, "b.md")
	if err := os.Rename(filepath.Join(src.dir, "c.md"), filepath.Join(src.dir, "d.md")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{"alpha": {}, "beta": {}, "omega": {"a.md"}, "gamma": {"d.md"}} {
		if got := paths(t, x, text); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// A file without permission has no text, and is found once it has.
func TestAnUnreadableFileIsTriedAgain(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{"a.md": "alpha\n", "b.md": "alpha beta\n"})
	deny := &denied{folder: src, path: "b.md"}
	x := open(t, deny)
	if got := paths(t, x, "alpha"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("denied: %v", got)
	}
	deny.path = ""
	if got := paths(t, x, "beta"); !slices.Equal(got, []string{"b.md"}) {
		t.Errorf("allowed again: %v", got)
	}
	deny.path = "b.md"
	res := ask(t, x, Query{Text: "beta"})
	if len(res.Hits) != 0 {
		t.Errorf("a file that cannot be read is a hit: %v", hitPaths(res))
	}
}

type denied struct {
	*folder
	path vault.Path
}

func (d *denied) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	if p == d.path {
		return nil, vault.File{}, os.ErrPermission
	}
	return d.folder.ReadFile(p)
}

// A hit whose file changes between the comparison and the cut of its snippet
// is shown as it is now, or not at all.
func TestAFileThatChangesMidSearch(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{"a.md": "alpha one\n", "b.md": "alpha two\n", "c.md": "alpha three\n"})
	x := open(t, src)
	paths(t, x, "alpha")
	old, err := src.Files(t.Context(), vault.WalkOptions{})
	if err != nil {
		t.Fatal(err)
	}
	src.write(t, "a.md", "nothing of it\n")
	src.write(t, "b.md", "new first line\nalpha moved\n")
	src.remove(t, "c.md")
	late := open(t, &still{src, old})
	late.src = &still{src, old}
	res := ask(t, late, Query{Text: "alpha"})
	if len(res.Hits) != 1 || res.Hits[0].Path != "b.md" || res.Hits[0].Line != 2 || res.Total != 1 {
		t.Errorf("hits %+v of %d", res.Hits, res.Total)
	}
}

func TestReadOnlyNeverWrites(t *testing.T) {
	t.Parallel()
	src := newFolder(t, smallVault())
	x := open(t, src, func(o *Options) { o.ReadOnly = true })
	res := ask(t, x, Query{Text: "mysql"})
	sameAnswer(t, "read-only", res, fromFiles(t, src, Query{Text: "mysql"}))
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := x.Touch(t.Context(), []vault.Path{"USER.md"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(src.state); !os.IsNotExist(err) {
		t.Errorf("the state folder was made: %v", err)
	}
	ask(t, open(t, src), Query{Text: "mysql"})
	before := indexFiles(t, src)
	src.write(t, "new.md", "more on mysql\n")
	res = ask(t, x, Query{Text: "mysql"})
	sameAnswer(t, "read-only with a change", res, fromFiles(t, src, Query{Text: "mysql"}))
	if res.Degraded != "" || !slices.Equal(indexFiles(t, src), before) {
		t.Errorf("degraded %q, files %v, before %v", res.Degraded, indexFiles(t, src), before)
	}
}

// A word that only a file had which is gone is no guess at what was typed: it would highlight its stem elsewhere.
func TestAWordOfADeletedFileIsNoGuess(t *testing.T) {
	t.Parallel()
	src := newFolder(t, map[string]string{"a.md": "alpha beta\n\nA gamma runs.\n", "b.md": "running\n"})
	for i := range 20 { // so that the part of the index with the deleted file is not written anew
		src.write(t, fmt.Sprintf("n/%d.md", i), "of no interest\n")
	}
	x := open(t, src)
	ask(t, x, Query{Text: "warm up"})
	if err := os.Remove(filepath.Join(src.dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	q := Query{Text: "alpha runningx", Limit: -1}
	sameAnswer(t, q.Text, ask(t, x, q), fromFiles(t, src, q))
	if h := ask(t, x, Query{Text: "gamma runningx"}).Hits[0]; len(h.Highlights) != 1 {
		t.Errorf("%q is highlighted at %v, want gamma alone", h.Snippet, h.Highlights)
	}
}
