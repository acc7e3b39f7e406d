package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"stet/vault"
	"stet/vault/vaulttest"
)

func TestAnOverflowOfTheRealQueueLosesNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/deaf/a.md", "one\n", "memories/b.md", "one\n")
	var deaf atomic.Bool
	deaf.Store(true)
	var here atomic.Pointer[tree]
	w := start(t, f, func(_ *Subject, o *Options) {
		o.source = func(ctx context.Context, s Subject, h *hints) (closer, error) {
			tr, err := follow(ctx, s.Vault, h, func(w *fsnotify.Watcher, name string) error {
				if deaf.Load() && strings.HasSuffix(name, "deaf") {
					return nil // no event from there is ever seen
				}
				return w.Add(name)
			})
			here.Store(tr)
			return tr, err
		}
	})
	f.Write("memories/deaf/a.md", "an unheard edit\n")
	f.Write("memories/deaf/new/deeper/c.md", "an unheard edit\n")
	f.Write("memories/b.md", "a heard edit\n")
	w.await("the edit that was heard", func(e Event) bool { return e.Kind == Indexed })
	deaf.Store(false)
	here.Load().w.Errors <- fsnotify.ErrEventOverflow
	w.settled()
	w.finds("unheard", "memories/deaf/a.md", "memories/deaf/new/deeper/c.md")
	f.Write("memories/deaf/new/deeper/c.md", "a second edit\n") // followed by now
	w.settled()
	w.stop()
}

func TestAtTheRealLimitTheWatcherLooksByItself(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/x/a.md", "one\n", "memories/y/b.md", "one\n")
	for _, left := range []int64{0, 500} { // at the start, and in the middle
		var n atomic.Int64
		n.Store(left)
		w := launch(t, f, func(_ *Subject, o *Options) {
			o.add = func(w *fsnotify.Watcher, name string) error {
				if n.Add(-1) < 0 {
					return syscall.ENOSPC
				}
				return w.Add(name)
			}
		})
		if left > 0 {
			w.await("the start", func(e Event) bool { return e.Kind == Started })
			n.Store(0)
			write(t, f.Dir, "memories/z/c.md", "one\n")
		}
		e := w.await("a warning", func(e Event) bool { return e.Kind == Warning })
		if !strings.Contains(e.Hint, "fs.inotify.max_user_watches") || strings.Contains(e.Text, "\n") {
			t.Errorf("warning %q, hint %q", e.Text, e.Hint)
		}
		for i := range 3 {
			f.Write("memories/x/a.md", fmt.Sprintf("edit %d after %d\n", i, left))
			f.Write(fmt.Sprintf("memories/new/%d/%d.md", left, i), "an edit in a new folder\n")
			w.settled()
		}
		w.finds("after", "memories/x/a.md")
		w.stop()
	}
}

// A vault that is moved away takes nothing with it: no deletion is committed,
// and the watcher goes on when it is back.
func TestAVaultThatIsMovedAwayAndBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("skip: it takes a heartbeat of ten seconds")
	}
	f := vaulttest.New(t, "memories/a.md", "one\n", "memories/b.md", "one\n")
	w := start(t, f)
	head, err := w.v.Head()
	must(t, err)
	aside := f.Dir + "-aside"
	must(t, os.Rename(f.Dir, aside))
	must(t, os.Mkdir(f.Dir, 0o755)) // an empty mount point
	w.await("a warning", func(e Event) bool { return e.Kind == Warning && strings.Contains(e.Text, "away") })
	must(t, os.Remove(f.Dir))
	must(t, os.Rename(aside, f.Dir))
	w.await("the second start", func(e Event) bool { return e.Kind == Started })
	f.Write("memories/a.md", "an edit\n")
	w.settled()
	w.finds("edit", "memories/a.md")
	w.stop()
	if got := w.subjects(); len(got) != 1 || got[0] != "adopt: memories/a.md" {
		t.Errorf("committed %q since %s", got, head)
	}
}

// Many gone at once leave the index, not the history; the rest goes on.
func TestAMassDeletionOnTheRealDisk(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 120 {
		files = append(files, fmt.Sprintf("memories/many/%d.md", i), fmt.Sprintf("one of many %d\n", i))
	}
	f := vaulttest.New(t, files...)
	f.LeaveDirty()
	w := start(t, f)
	must(t, os.RemoveAll(filepath.Join(f.Dir, "memories/many")))
	e := w.await("a warning", func(e Event) bool { return e.Kind == Warning })
	if !strings.Contains(e.Hint, "stet adopt --yes") {
		t.Errorf("warning %q, hint %q", e.Text, e.Hint)
	}
	w.finds("many")
	f.Write("memories/kept.md", "an edit that counts\n")
	w.await("the commit of another file", func(e Event) bool { return e.Kind == Committed && e.Commit.Subject == "adopt: memories/kept.md" })
	st, err := w.v.Status(t.Context())
	must(t, err)
	deleted := 0
	for _, c := range st.Changed {
		if c.Status == vault.Deleted {
			deleted++
		}
	}
	if deleted != 120 || len(st.Changed) != 120 {
		t.Errorf("%d deletions are open, want all 120; %d changes", deleted, len(st.Changed))
	}
	w.stop()
}

// Ignored and hidden folders are not followed, and begin to be when the rule
// goes away.
func TestIgnoredFoldersAreNotFollowed(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, ".gitignore", "build/\n", "build/deep/x.md", "ignored\n", "a.md", "one\n")
	var here atomic.Pointer[tree]
	w := start(t, f, func(_ *Subject, o *Options) {
		o.source = func(ctx context.Context, s Subject, h *hints) (closer, error) {
			tr, err := follow(ctx, s.Vault, h, nil)
			here.Store(tr)
			return tr, err
		}
	})
	watched := func(part string) bool {
		for _, name := range here.Load().w.WatchList() {
			if strings.Contains(name, part) {
				return true
			}
		}
		return false
	}
	must(t, os.MkdirAll(filepath.Join(f.Dir, ".hidden/deep"), 0o755))
	f.Write("seen/a.md", "an edit\n")
	w.settled()
	if watched("build") || watched(".hidden") || watched("objects") || !watched("seen") {
		t.Errorf("watched: %v", here.Load().w.WatchList())
	}
	f.Write(".gitignore", "\n")
	deadline := time.Now().Add(patience)
	for !watched("build/deep") && time.Now().Before(deadline) {
		select {
		case e := <-w.events:
			w.seen = append(w.seen, e)
		case <-time.After(20 * time.Millisecond):
		}
	}
	w.settled()
	f.Write("build/deep/x.md", "no longer hidden edit\n")
	w.settled()
	w.finds("longer", "build/deep/x.md")
	if testing.Verbose() {
		t.Log(w.story())
	}
	w.stop()
	f.LeaveDirty() // .gitignore is nobody's Markdown
}
