package index

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
)

// indexFiles lists every file below the index folder but the lock.
func indexFiles(t testing.TB, src *folder) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(src.state, "index"), func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && e.Name() != lockName {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// damaged copies src's index, lets spoil loose on one of its files, and
// searches with a fresh Index, as a new process would.
func searchDamaged(t *testing.T, src *folder, file string, spoil func([]byte) []byte, q Query) *Result {
	t.Helper()
	hurt := &folder{dir: src.dir, state: filepath.Join(t.TempDir(), "state")}
	if err := os.CopyFS(hurt.state, os.DirFS(src.state)); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(src.state, file)
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(hurt.state, rel)
	data, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, spoil(slices.Clone(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := Open(hurt, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	res := ask(t, x, q)
	if again := ask(t, x, q); again.Degraded != "" {
		t.Fatalf("%s: still degraded at the second search: %s", rel, again.Degraded)
	}
	if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Fatalf("%s: after a search the index still has problems: %v %v", rel, bad, err)
	}
	return res
}

// damageVault has, in both of its indexes, several segments and dead documents.
func damageVault(t testing.TB) *folder {
	t.Helper()
	src := newFolder(t, smallVault())
	day := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	src.write(t, "sessions/first.md", talkFile(t, day, "", turn{"user", "Does MySQL run the database?"}, turn{"assistant", "It does, since January."}))
	x := open(t, src)
	ask(t, x, Query{Text: "x"})
	for i := range 5 {
		p, q := fmt.Sprintf("n/%d.md", i%3), fmt.Sprintf("sessions/%d.md", i%3)
		src.write(t, p, fmt.Sprintf("database note %d about MySQL and running\n", i))
		src.write(t, q, talkFile(t, day, "", turn{"user", fmt.Sprintf("database talk %d", i)}, turn{"user", "running MySQL"}))
		if _, err := x.Touch(t.Context(), []vault.Path{vault.Path(p), vault.Path(q)}); err != nil {
			t.Fatal(err)
		}
	}
	return src
}

func TestFlippedBitsNeverChangeAnAnswer(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	files := indexFiles(t, src)
	q := Query{Text: "which database runs mysql", Limit: -1}
	want := fromFiles(t, src, q)
	r := rand.New(rand.NewPCG(3, 4))
	trials := 300
	if testing.Short() {
		trials = 60
	}
	for i := range trials {
		file := files[i%len(files)]
		got := searchDamaged(t, src, file, func(b []byte) []byte {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			return b
		}, q)
		sameAnswer(t, "bit flipped in "+filepath.Base(file), got, want)
	}
}

func TestTruncationsNeverChangeAnAnswer(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	files := indexFiles(t, src)
	q := Query{Text: "which database runs mysql", Limit: -1}
	want := fromFiles(t, src, q)
	r := rand.New(rand.NewPCG(5, 6))
	trials := 100
	if testing.Short() {
		trials = 30
	}
	for i := range trials {
		file := files[i%len(files)]
		got := searchDamaged(t, src, file, func(b []byte) []byte { return b[:r.IntN(len(b))] }, q)
		sameAnswer(t, "cut "+filepath.Base(file), got, want)
		if strings.HasSuffix(file, segmentExt) && (got.Rebuilt == "" || strings.Contains(got.Rebuilt, "\n")) {
			t.Errorf("cut %s: the answer says %q of the rebuild", filepath.Base(file), got.Rebuilt)
		}
	}
}

// Without its checksum a flipped bit does reach Bluge: the verification is
// what protects, and this test would notice if it stopped mattering.
func TestAFlippedBitIsNoticedInEverySegment(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	for _, file := range indexFiles(t, src) {
		if !strings.HasSuffix(file, segmentExt) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 4
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		x := open(t, src)
		bad, err := x.Check(t.Context())
		if err != nil || len(bad) != 1 || bad[0].ID != "search-index" {
			t.Errorf("%s: Check gave %v, %v", filepath.Base(file), bad, err)
		}
		data[len(data)/2] ^= 4
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAMissingPieceIsMadeAnew(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	q := Query{Text: "database mysql", Limit: -1}
	want := fromFiles(t, src, q)
	for _, file := range indexFiles(t, src) {
		hurt := &folder{dir: src.dir, state: filepath.Join(t.TempDir(), "state")}
		if err := os.CopyFS(hurt.state, os.DirFS(src.state)); err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(src.state, file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(hurt.state, rel)); err != nil {
			t.Fatal(err)
		}
		x := open(t, hurt)
		sameAnswer(t, "without "+rel, ask(t, x, q), want)
	}
}

func TestTheIndexFolderMayVanishAtAnyTime(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	q := Query{Text: "database mysql", Limit: -1}
	want := fromFiles(t, src, q)
	x := open(t, src)
	sameAnswer(t, "before", ask(t, x, q), want)
	if err := os.RemoveAll(filepath.Join(src.state, "index")); err != nil {
		t.Fatal(err)
	}
	res := ask(t, x, q)
	sameAnswer(t, "after", res, want)
	if res.Degraded != "" {
		t.Errorf("degraded: %s", res.Degraded)
	}
}

// A full disk at any step of indexing: the answer is right, and the next
// search with room succeeds.
func TestAFullDiskNeverChangesAnAnswer(t *testing.T) {
	t.Parallel()
	q := Query{Text: "database mysql running", Limit: -1}
	for step := range 40 {
		src := damageVault(t)
		src.write(t, "n/new.md", "one more database\n")
		want := fromFiles(t, src, q)
		n, failed := 0, false
		hook := func(durable.Step) error {
			n++
			if n > step {
				failed = true
				return syscall.ENOSPC
			}
			return nil
		}
		x := open(t, src, func(o *Options) { o.Hook = hook })
		sameAnswer(t, fmt.Sprintf("full at step %d", step), ask(t, x, q), want)
		x = open(t, src)
		sameAnswer(t, fmt.Sprintf("room again after step %d", step), ask(t, x, q), want)
		if !failed {
			return // every step was tried
		}
	}
	t.Error("indexing one file takes more than 40 steps")
}

// A short write leaves half a manifest, or half a segment, beside those that count.
func TestAShortWriteIsNotAnUpdate(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	q := Query{Text: "database mysql running", Limit: -1}
	src.write(t, "n/new.md", "one more database\n")
	want := fromFiles(t, src, q)
	for _, label := range []string{"index.manifest", "index.segment"} {
		x := open(t, src, func(o *Options) {
			o.Hook = func(s durable.Step) error {
				if s.Label == label && s.Op == durable.OpWrite {
					return durable.ErrShortWrite
				}
				return nil
			}
		})
		sameAnswer(t, "short write of "+label, ask(t, x, q), want)
	}
	x := open(t, src)
	res := ask(t, x, q)
	sameAnswer(t, "afterwards", res, want)
	if res.Indexed != 1 {
		t.Errorf("afterwards %d files were read, want 1", res.Indexed)
	}
	if res := ask(t, open(t, src), q); res.Indexed != 0 || res.Rebuilt != "" {
		t.Errorf("the manifest was not repaired: %d files were read again, rebuilt %q", res.Indexed, res.Rebuilt)
	}
}

// panicking panics at the next file that is read.
type panicking struct {
	*folder
	next atomic.Bool
}

func (p *panicking) ReadFile(at vault.Path) ([]byte, vault.File, error) {
	if p.next.CompareAndSwap(true, false) {
		panic("index out of range")
	}
	return p.folder.ReadFile(at)
}

func TestAPanicWhileAnsweringIsSurvived(t *testing.T) {
	t.Parallel()
	src := &panicking{folder: damageVault(t)}
	q := Query{Text: "database mysql in:memories", Limit: -1}
	time.Sleep(50 * time.Millisecond) // the files are no longer racy and are not read to be compared
	ask(t, open(t, src), q)
	// Read-only, so that no update replaces the state.
	x := open(t, src, func(o *Options) { o.ReadOnly = true })
	ask(t, x, q)
	src.next.Store(true)
	res := ask(t, x, q)
	sameAnswer(t, "after a panic", res, fromFiles(t, src, q))
	if res.Degraded == "" {
		t.Error("the answer does not say why the files were searched")
	}
	if res = ask(t, x, q); res.Degraded != "" {
		t.Errorf("still degraded: %s", res.Degraded)
	}
}

// A mapped segment is cut short under a reader that has it open: touching it
// faults, and the files answer.
func TestASegmentCutShortUnderAReader(t *testing.T) {
	t.Parallel()
	src := newFolder(t, nil)
	for i := range 40 {
		var b strings.Builder
		for j := range 4000 {
			fmt.Fprintf(&b, "word%d ", (i*7919+j*104729)%60000)
		}
		src.write(t, fmt.Sprintf("n/%d.md", i), b.String())
	}
	x := open(t, src, func(o *Options) { o.ReadOnly = true })
	ask(t, open(t, src), Query{Text: "word7"})
	for _, q := range []string{"word7 word8 word9", "word77*", "wurd123456 wordd77"} {
		query := Query{Text: q, Limit: 5}
		want := fromFiles(t, src, query)
		sameAnswer(t, "before", ask(t, x, query), want)
		if !slices.ContainsFunc(indexFiles(t, src), func(p string) bool { return size(t, p) >= mapAbove }) {
			t.Fatal("no segment is large enough to be mapped")
		}
		for _, file := range indexFiles(t, src) {
			if !strings.HasSuffix(file, segmentExt) {
				continue
			}
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(file, 0); err != nil {
				t.Fatal(err)
			}
			sameAnswer(t, q+" with a segment cut short", ask(t, x, query), want)
			if err := os.WriteFile(file, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
