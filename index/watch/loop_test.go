package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/vault"
)

const ms = time.Millisecond

func TestAnEditIsIndexedAfterTheDebounceAndCommittedAfterTwoQuietSeconds(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(10 * time.Second) // what was dirty at the start is behind
		b.edit("a.md")
		b.after(10 * time.Second)
		if got := b.times("refresh"); !slices.Equal(got, []time.Duration{10*time.Second + 150*ms}) {
			t.Errorf("indexed at %v", got)
		}
		if e := b.of(Indexed); len(e) != 1 || e[0].Took != 150*ms {
			t.Errorf("indexed: %+v", e)
		}
		if got := b.times("commit a.md"); !slices.Equal(got, []time.Duration{12 * time.Second}) {
			t.Errorf("committed at %v", got)
		}
		if len(b.of(Committed)) != 1 || len(b.of(Warning)) != 0 {
			t.Errorf("events: %+v", b.events)
		}
	})
}

func TestAFileBeingTypedWaitsAndDoesNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(10 * time.Second)
		b.edit("done.md")
		for range 20 { // from second 10 to second 30
			b.edit("typed.md")
			b.after(time.Second)
		}
		b.after(10 * time.Second)
		if got := b.times("commit typed.md"); !slices.Equal(got, []time.Duration{31 * time.Second}) {
			t.Errorf("typed.md, last changed at 29s, was committed at %v", got)
		}
		if got := b.times("commit done.md"); len(got) != 1 || got[0] > 19*time.Second {
			t.Errorf("done.md, changed at 10s, was committed at %v", got)
		}
		if n := len(b.times("refresh")); n != 20 {
			t.Errorf("%d times indexed, want 20", n)
		}
	})
}

func TestWhatNobodyWatchedIsTakenUpAtTheStart(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bubble) { b.dirty["old.md"] = vault.Modified }, func(b *bubble) {
		b.after(5 * time.Second)
		if got := b.times("commit old.md"); !slices.Equal(got, []time.Duration{2 * time.Second}) {
			t.Errorf("committed at %v", got)
		}
		if s := b.of(Started); len(s) != 1 || s[0].Files != 7 || !s[0].Commits {
			t.Errorf("started: %+v", s)
		}
	})
}

func TestLostEventsAreAnsweredByLookingAtEverything(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*bubble){
		"overflow": func(b *bubble) { b.h.lost() },
		"a flood":  func(b *bubble) { flood(b) },
		"suspend":  func(b *bubble) { b.set(func() { b.ahead = time.Hour }) },
		"set back": func(b *bubble) { b.set(func() { b.ahead = -time.Hour }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(b *bubble) {
				b.after(15 * time.Second)
				b.set(func() { b.dirty["missed.md"] = vault.Modified })
				lose(b)
				b.after(heartbeat + 6*time.Second)
				if n := len(b.times("catch up")); n < 2 || n > 3 {
					t.Errorf("everything was looked at %d times: %+v", n, b.calls)
				}
				if len(b.times("refresh")) > 0 {
					t.Error("files were looked at one by one")
				}
				if len(b.times("commit missed.md")) != 1 {
					t.Errorf("the edit is not committed: %+v", b.calls)
				}
			})
		})
	}
}

func flood(b *bubble) {
	for i := range 5000 {
		b.h.changed(vault.Path(strings.Repeat("x", i%90+1) + string(rune('a'+i%26)) + ".md"))
	}
}

func TestNothingIsCommittedInTheMiddleOfAMerge(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bubble) { b.git.Operation = "merge" }, func(b *bubble) {
		b.edit("a.md")
		b.after(5 * time.Minute)
		if len(b.times("adopt")) > 0 || len(b.times("refresh")) != 1 {
			t.Errorf("calls: %+v", b.calls)
		}
		if w := b.of(Warning); len(w) != 1 || !strings.Contains(w[0].Text, "unfinished git merge") {
			t.Errorf("warnings: %+v", w)
		}
		b.set(func() { b.git.Operation = "" })
		b.h.atGit() // MERGE_HEAD went away
		b.after(10 * ms)
		if len(b.times("commit a.md")) != 1 {
			t.Errorf("not committed once the merge was over: %+v", b.calls)
		}
	})
}

func TestALockOfGitsIsWaitedForAndAStaleOneIsLeftToTheVault(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bubble) { b.git.Locked = true }, func(b *bubble) {
		b.edit("a.md")
		b.after(8 * time.Second)
		if len(b.times("adopt")) > 0 {
			t.Errorf("tried at %v while git had its lock", b.times("adopt"))
		}
		b.after(8 * time.Second)
		if len(b.times("commit a.md")) != 1 {
			t.Errorf("a lock that does not go away was never left to the vault: %+v", b.calls)
		}
	})
}

func TestAMassDeletionIsIndexedAndNotCommitted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(b *bubble) {
		b.adoptErr = func(o vault.AdoptOptions) error {
			if b.dirty["gone.md"] == vault.Deleted && !o.Leave(vault.Change{Path: "gone.md", Status: vault.Deleted}) {
				return &vault.MassDeletionError{Missing: 60, Total: 100}
			}
			return nil
		}
	}, func(b *bubble) {
		b.after(5 * time.Second)
		b.set(func() { b.dirty["gone.md"] = vault.Deleted })
		b.edit("kept.md")
		b.h.changed("gone.md")
		b.after(5 * time.Second)
		b.edit("other.md")
		b.after(time.Minute)
		if len(b.times("commit gone.md")) > 0 || len(b.times("commit kept.md")) != 1 || len(b.times("commit other.md")) != 1 {
			t.Errorf("calls: %+v", b.calls)
		}
		if w := b.of(Warning); len(w) != 1 || !strings.Contains(w[0].Text, "60 of 100") || !strings.Contains(w[0].Hint, "stet adopt --yes") {
			t.Errorf("warnings: %+v", w)
		}
		if len(b.times("refresh")) == 0 {
			t.Error("the index was not told")
		}
	})
}

func TestACommitThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err      error
		warnings int
		within   time.Duration
	}{
		"busy": {vault.ErrBusy, 0, 3 * time.Second},
		"disk": {syscall.ENOSPC, 1, 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, nil, func(b *bubble) {
				b.after(5 * time.Second)
				b.set(func() { b.adoptErr = func(vault.AdoptOptions) error { return c.err } })
				b.edit("a.md")
				b.after(5 * time.Minute)
				b.set(func() { b.adoptErr = nil })
				b.after(c.within)
				if len(b.times("commit a.md")) != 1 {
					t.Errorf("never committed: %+v", b.calls)
				}
				if w := b.of(Warning); len(w) != c.warnings {
					t.Errorf("warnings: %+v", w)
				}
			})
		})
	}
}

func TestAtALimitTheWatcherLooksByItself(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(5 * time.Second)
		b.h.fail(asLimit(syscall.ENOSPC, 8192))
		b.after(5 * time.Second)
		w := b.of(Warning)
		if len(w) != 1 || !strings.Contains(w[0].Text, "looking every 2s") || !strings.Contains(w[0].Hint, "fs.inotify.max_user_watches") {
			t.Errorf("warnings: %+v", w)
		}
		b.set(func() {
			b.files = []vault.File{{Path: "a.md", Size: 1}, {Path: "b.md", Size: 2}}
			b.dirty["a.md"] = vault.Added
		})
		b.after(5 * time.Second)
		b.set(func() { b.files = []vault.File{{Path: "a.md", Size: 3}} })
		b.after(8 * time.Second)
		if n := b.counts("refresh"); !slices.Equal(n, []int{2, 2}) {
			t.Errorf("files indexed: %v, want 2 and then 2", n)
		}
		if len(b.times("commit a.md")) != 1 {
			t.Errorf("not committed: %+v", b.calls)
		}
	})
}

func (b *bubble) counts(what string) (out []int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if c.what == what {
			out = append(out, c.n)
		}
	}
	return out
}

func TestAVaultThatGoesAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(5 * time.Second)
		b.set(func() { b.gone, b.openErr = true, errors.New("no such folder"); b.dirty["a.md"] = vault.Deleted })
		b.h.lost()
		b.after(time.Minute)
		if len(b.times("commit a.md")) > 0 || len(b.times("catch up")) != 1 {
			t.Errorf("something was concluded from a vault that is away: %+v", b.calls)
		}
		if w := b.of(Warning); len(w) != 1 || !strings.Contains(w[0].Text, "away") {
			t.Errorf("warnings: %+v", w)
		}
		b.set(func() { b.gone, b.openErr = false, nil; delete(b.dirty, "a.md") })
		b.after(5 * time.Second)
		if len(b.of(Started)) != 2 || len(b.times("catch up")) != 2 {
			t.Errorf("it was not taken up again: %+v", b.calls)
		}
	})
}

func TestAChangedConfigurationOpensTheVaultAnew(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(5 * time.Second)
		b.edit(vault.Marker)
		b.after(5 * time.Second)
		if b.opened != 2 || len(b.of(Started)) != 2 || len(b.times("commit "+string(vault.Marker))) != 1 {
			t.Errorf("opened %d times: %+v", b.opened, b.calls)
		}
	})
}

func TestAMovedBranchIsComparedInsteadOfTrusted(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.after(15 * time.Second)
		b.set(func() {
			b.head, b.diff = "2", []vault.Change{{Status: vault.Renamed, From: "a.md", Path: "b.md"}, {Status: vault.Added, Path: "c.md"}}
		})
		b.h.atGit()
		b.after(time.Second)
		if n := b.counts("refresh"); !slices.Equal(n, []int{3}) {
			t.Errorf("files looked at: %v", n)
		}
		b.h.atGit() // again, for nothing
		b.after(time.Second)
		if n := b.counts("refresh"); len(n) != 1 {
			t.Errorf("looked again: %v", n)
		}
	})
}

func TestAnIdleWatcherGivesMemoryBackAndHardlyWakes(t *testing.T) {
	t.Parallel()
	due := 0
	inBubble(t, func(b *bubble) { b.due = func(context.Context) { b.note("due", 0) } }, func(b *bubble) {
		b.after(20 * time.Second)
		if n := len(b.times("close")); n != 1 {
			t.Errorf("memory given back %d times", n)
		}
		b.after(10 * time.Minute)
		if n := len(b.times("catch up")); n != 3 {
			t.Errorf("everything looked at %d times, want at the start and every five minutes", n)
		}
		if due = len(b.times("due")); due < 10 || due > 11 {
			t.Errorf("due work was called %d times in ten minutes", due)
		}
	})
}

func TestDueWorkRunsOnceAtATimeAndEndsWithTheWatcher(t *testing.T) {
	t.Parallel()
	running := 0
	inBubble(t, func(b *bubble) {
		b.due = func(ctx context.Context) {
			b.note("due", 0)
			running++
			<-ctx.Done()
			running--
		}
	}, func(b *bubble) {
		b.after(5 * time.Minute)
		if n := len(b.times("due")); n != 1 {
			t.Errorf("called %d times while it was running", n)
		}
		b.edit("a.md")
		b.after(5 * time.Second)
		if len(b.times("commit a.md")) != 1 {
			t.Error("due work holds up commits")
		}
	})
	if running != 0 {
		t.Error("due work outlives the watcher")
	}
}

// Where no event says so, the file's own time does: it was saved a moment ago.
func TestAFileThatWasJustWrittenIsNotCommittedThoughNoEventSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	must(t, os.WriteFile(file, []byte("half"), 0o644))
	inBubble(t, func(b *bubble) {
		b.root, b.dirty["a.md"] = dir, vault.Modified
		must(t, os.Chtimes(file, time.Time{}, b.began.Add(1500*ms)))
	}, func(b *bubble) {
		b.after(10 * time.Second)
		if got := b.times("commit a.md"); !slices.Equal(got, []time.Duration{3500 * ms}) {
			t.Errorf("written at 1.5s, committed at %v", got)
		}
		// A time in the future must not hold it back for ever.
		must(t, os.Chtimes(file, time.Time{}, b.began.Add(24*time.Hour)))
		b.edit("a.md")
		b.after(10 * time.Second)
		if got := b.times("commit a.md"); len(got) != 2 {
			t.Errorf("committed at %v", got)
		}
	})
}

func TestEditorsTemporaryFilesAreNeverCommitted(t *testing.T) {
	t.Parallel()
	inBubble(t, nil, func(b *bubble) {
		b.edit("memories/.a.md.swp")
		b.edit("memories/a.md___jb_tmp___")
		b.edit("memories/a.md")
		b.after(time.Minute)
		if len(b.times("commit memories/a.md")) != 1 || len(b.dirty) != 2 {
			t.Errorf("calls: %+v", b.calls)
		}
	})
}
