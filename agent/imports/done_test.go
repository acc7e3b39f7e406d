package imports_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"stet/agent/imports"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// later is after every file of these tests was left alone for long enough.
func later() time.Time { return time.Now().Add(time.Hour) }

func runLater(t testing.TB, v *vault.Vault, at string, o imports.Options) *imports.Report {
	t.Helper()
	if o.Now.IsZero() {
		o.Now = later()
	}
	r, err := imports.Run(context.Background(), v, source(t, "jsonl"), []string{at}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// counts is what a report says of conversations, whether files were opened or
// not.
func counts(r *imports.Report) imports.Report {
	c := *r
	c.Unread, c.Commits, c.Written = 0, nil, nil
	return c
}

func TestAnUnchangedFileIsNotOpened(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	at := place(t, "talk.jsonl", chat(5, 4)+"nonsense\n")
	if r := runLater(t, v, at, imports.Options{}); r.Added != 5 || r.Unread != 0 || r.Malformed != 1 {
		t.Fatalf("first: %+v", r)
	}
	want, before := tree(t, f.Dir), head(t, v)
	again := runLater(t, v, at, imports.Options{})
	forced := runLater(t, v, at, imports.Options{Reread: true})
	if again.Unread != 1 || forced.Unread != 0 || again.Unchanged != 5 || !reflect.DeepEqual(counts(again), counts(forced)) {
		t.Errorf("again: %+v\nforced: %+v", again, forced)
	}
	since := imports.Options{Since: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)}
	again = runLater(t, v, at, since)
	since.Reread = true
	if forced = runLater(t, v, at, since); again.Unread != 1 || again.Skipped != 2 || !reflect.DeepEqual(counts(again), counts(forced)) {
		t.Errorf("since, again: %+v\nforced: %+v", again, forced)
	}
	sameTree(t, tree(t, f.Dir), want)
	if now := head(t, v); now != before {
		t.Error("HEAD moved")
	}

	// It grows, keeping its time: another size. It changes, keeping its size: another time.
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, at, chat(5, 5), info.ModTime())
	if r := runLater(t, v, at, imports.Options{}); r.Unread != 0 || r.Grown != 5 {
		t.Errorf("grown: %+v", r)
	}
	rewrite(t, at, chat(5, 5), info.ModTime().Add(time.Second))
	if r := runLater(t, v, at, imports.Options{}); r.Unread != 0 || r.Unchanged != 5 {
		t.Errorf("touched: %+v", r)
	}
}

func rewrite(t testing.TB, at, text string, mtime time.Time) {
	t.Helper()
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(at, mtime, mtime); err != nil {
		t.Fatal(err)
	}
}

// A file counts as read only while all that came out of it is in the vault, and
// one that may still be written to not at all.
func TestAFileIsReadAgainWhenItsTalksAreGone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	first, second := chat(2, 2), chat(2, 4)
	at := place(t, "talk.jsonl", first)
	if runLater(t, v, at, imports.Options{Now: time.Now()}); runLater(t, v, at, imports.Options{Now: time.Now()}).Unread != 0 {
		t.Error("a file of this second is trusted")
	}
	rewrite(t, at, second, time.Now())
	grown := runLater(t, v, at, imports.Options{})
	if grown.Grown != 2 || runLater(t, v, at, imports.Options{}).Unread != 1 {
		t.Fatalf("grown: %+v", grown)
	}
	want := tree(t, f.Dir)
	f.Git("reset", "-q", "--hard", "HEAD~1")
	if r := runLater(t, v, at, imports.Options{}); r.Unread != 0 || r.Grown != 2 {
		t.Errorf("after going back: %+v", r)
	}
	sameTree(t, tree(t, f.Dir), want)

	// A person's edit, another name and the archive are no reason to read it.
	p := string(grown.Written[0].Path)
	text := f.Read(p)
	if err := os.Remove(filepath.Join(f.Dir, p)); err != nil {
		t.Fatal(err)
	}
	f.Write("sessions/gate.md", text+"\nA remark.\n")
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := runLater(t, v, at, imports.Options{}); r.Unread != 1 || r.Unchanged != 2 {
		t.Errorf("edited and renamed: %+v", r)
	}
}

// Whenever a run ends, what it had not committed is read by the next one.
func TestAnInterruptedRunRemembersOnlyWhatIsCommitted(t *testing.T) {
	t.Parallel()
	clean := vaulttest.New(t)
	dir := t.TempDir()
	for i, name := range []string{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"} {
		text := []byte(`{"session":"` + name + `","date":"2026-03-02","speaker":"user","text":"The ferry leaves."}` + "\n")
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err, i)
		}
	}
	runLater(t, clean.Open(), dir, imports.Options{CommitBytes: 1})
	want := tree(t, clean.Dir)
	for stop := 1; stop <= 4; stop++ {
		f := vaulttest.New(t)
		v := f.Open()
		ctx, cancel := context.WithCancel(t.Context())
		commits := 0
		o := imports.Options{CommitBytes: 1, Now: later(), Committed: func(*vault.Result) error {
			if commits++; commits == stop {
				cancel()
			}
			return nil
		}}
		_, err := imports.Run(ctx, v, source(t, "jsonl"), []string{dir}, o)
		if (err == nil) != (stop == 4) {
			t.Errorf("stopped after %d: %v", stop, err)
		}
		r := runLater(t, v, dir, imports.Options{})
		if r.Added != 4-stop || r.Unread+r.Added > 4 || r.Unread < stop-1 {
			t.Errorf("stopped after %d, then: %+v", stop, r)
		}
		sameTree(t, tree(t, f.Dir), want)
		if r = runLater(t, v, dir, imports.Options{}); r.Unread != 4 {
			t.Errorf("stopped after %d, at last: %+v", stop, r)
		}
		cancel()
	}
}

// A run of which any step fails, with two files to commit at once and its memory to
// write down, leaves a vault that the next run completes: no file counts as read of which
// something is missing.
func TestAFileIsRememberedOnlyOnceItIsCommitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		line := `{"session":"` + name + `","date":"2026-03-02","speaker":"user","text":"The ferry leaves."}` + "\n"
		rewrite(t, filepath.Join(dir, name), line, time.Now().Add(-time.Minute))
	}
	clean := vaulttest.New(t)
	runLater(t, clean.Open(), dir, imports.Options{CommitBytes: 1})
	want := tree(t, clean.Dir)
	stride := 4
	if testing.Short() {
		stride = 11
	}
	remembered := 0
	for n := 1; ; n += stride {
		f, step := vaulttest.New(t), 0
		o := f.Options()
		o.Hook = func(durable.Step) error {
			if step++; step == n { // one alone: what comes after it can still write its memory down
				return syscall.ENOSPC
			}
			return nil
		}
		v, err := vault.Open(t.Context(), f.Dir, o)
		if err == nil {
			_, err = imports.Run(t.Context(), v, source(t, "jsonl"), []string{dir}, imports.Options{Now: later()})
			err = errors.Join(err, v.Close())
		}
		v = f.Open()
		r := runLater(t, v, dir, imports.Options{})
		sameTree(t, tree(t, f.Dir), want)
		if r.Unread > 0 {
			remembered++
		}
		if r = runLater(t, v, dir, imports.Options{}); r.Unread != 2 || r.Unchanged != 2 || len(r.Commits) != 0 {
			t.Errorf("step %d (%v), at last: %+v", n, err, r)
		}
		if step < n {
			t.Logf("%d steps, %d runs remembered something", step, remembered)
			return
		}
	}
}

func TestLookSaysWhatARunWouldBring(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	dir := t.TempDir()
	write := func(name, text string) { rewrite(t, filepath.Join(dir, name), text, time.Now().Add(-time.Minute)) }
	look := func() imports.Survey {
		t.Helper()
		s, err := imports.Look(t.Context(), v, source(t, "jsonl"), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	line := `{"session":"x","date":"2026-03-02","speaker":"user","text":"The ferry leaves."}` + "\n"
	write("a.jsonl", chat(3, 2))
	if s := look(); s.New != 1 || s.Files != 1 || s.Bytes == 0 || s.Grown+s.Unchanged != 0 {
		t.Errorf("before: %+v", s)
	}
	runLater(t, v, dir, imports.Options{})
	write("b.jsonl", line)
	if s := look(); s.New != 1 || s.Unchanged != 3 || s.Grown != 0 {
		t.Errorf("one more: %+v", s)
	}
	runLater(t, v, dir, imports.Options{})
	write("a.jsonl", chat(3, 3))
	if s := look(); s.New != 0 || s.Unchanged != 1 || s.Grown != 3 {
		t.Errorf("grown: %+v", s)
	}
}
