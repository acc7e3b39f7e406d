package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"stet/index/store"
	"stet/vault"
)

// Six readers beside a process that remembers, edits, forgets and reindexes:
// no search fails, none is wrong, and nothing is left open.
func TestSoak(t *testing.T) {
	t.Parallel()
	seconds := 3
	if os.Getenv("STET_FULL") == "1" {
		seconds = 60
	}
	src := damageVault(t)
	churn := helper(t, src, "churn:0")
	stop, err := churn.StdinPipe() // its end ends the writer
	if err != nil {
		t.Fatal(err)
	}
	var trouble strings.Builder
	churn.Stderr = &trouble
	if err := churn.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	soak := helper(t, src, fmt.Sprintf("soak:%d", seconds))
	soak.Stdout, soak.Stderr = &said, &said
	err = soak.Run()
	stop.Close()
	if werr := churn.Wait(); werr != nil {
		t.Errorf("writer: %v\n%s", werr, trouble.String())
	}
	if err != nil {
		t.Fatalf("readers: %v\n%s", err, said.String())
	}
	t.Log(strings.TrimSpace(said.String()))
	q := Query{Text: "database churn", Limit: -1, Archived: true}
	x := open(t, src)
	sameAnswer(t, "in the end", ask(t, x, q), fromFiles(t, src, q))
	if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("check: %v %v", bad, err)
	}
}

// An epoch is a number in a file beside the vault: odd while the writer changes
// a file, one step further after every change. What was searched and read
// between two looks at one even number was the same vault.
type epoch string

func epochOf(src *folder) epoch { return epoch(src.state + ".epoch") }

func (e epoch) set(n int) error {
	if err := os.WriteFile(string(e)+".new", []byte(strconv.Itoa(n)), 0o600); err != nil {
		return err
	}
	return os.Rename(string(e)+".new", string(e))
}

// quiet is the number, or false while something changes.
func (e epoch) quiet() (int, bool) {
	data, err := os.ReadFile(string(e))
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(data))
	return n, err == nil && n%2 == 0
}

// churn changes the vault until its standard input ends.
func churn(ctx context.Context, x *Index, src *folder) error {
	var over atomic.Bool
	go func() {
		io.Copy(io.Discard, os.Stdin)
		over.Store(true)
	}()
	r := rand.New(rand.NewPCG(11, 12))
	words := vocabulary()
	for n := 0; !over.Load(); n++ {
		if err := epochOf(src).set(2*n + 1); err != nil {
			return err
		}
		touched, err := change(src, r, words, n)
		if err != nil {
			return err
		}
		if err := epochOf(src).set(2*n + 2); err != nil {
			return err
		}
		switch {
		case n%40 == 39:
			_, err = x.Rebuild(ctx)
		case n%7 == 6:
			_, err = x.CatchUp(ctx)
		case n%3 > 0:
			_, err = x.Touch(ctx, touched)
		}
		// A reader that has to rebuild holds the lock for a moment.
		if err != nil && !errors.Is(err, store.ErrBusy) {
			return fmt.Errorf("round %d: %w", n, err)
		}
		pause := r.IntN(30)
		if n%10 == 0 {
			pause = 400 // long enough to read all files, however slow the machine
		}
		<-time.After(time.Duration(pause) * time.Millisecond)
	}
	return nil
}

// change remembers or edits a memory, moves one to the archive, deletes one, or
// adds to a conversation.
func change(src *folder, r *rand.Rand, words []string, n int) ([]vault.Path, error) {
	name := fmt.Sprintf("memories/churn/%d.md", r.IntN(25))
	full := func(p string) string { return filepath.Join(src.dir, filepath.FromSlash(p)) }
	for _, dir := range []string{"memories/churn", "archive/memories/churn", "sessions"} {
		if err := os.MkdirAll(full(dir), 0o755); err != nil {
			return nil, err
		}
	}
	text := fmt.Sprintf("---\nkind: fact\n---\nchurn %s %s number%d\n", words[r.IntN(len(words))], words[r.IntN(len(words))], n)
	switch r.IntN(8) {
	case 0:
		err := os.Remove(full(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return []vault.Path{vault.Path(name)}, err
	case 1, 2:
		err := os.Rename(full(name), full("archive/"+name))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return []vault.Path{vault.Path(name), vault.Path("archive/" + name)}, err
	case 3:
		name, text = fmt.Sprintf("sessions/churn%d.md", r.IntN(4)), strings.Repeat("churn told ", 1+r.IntN(5))+text
	}
	return []vault.Path{vault.Path(name)}, os.WriteFile(full(name), []byte(text), 0o644)
}

// soak lets six readers search for some seconds, and compares what the process
// holds after the first third with what it holds in the end.
func soak(ctx context.Context, src *folder, seconds int) error {
	readers := make([]*soaker, 6)
	for i := range readers {
		x, err := Open(src, Options{Now: time.Now})
		if err != nil {
			return err
		}
		defer x.Close()
		// The first half live long, the others open anew every time.
		readers[i] = &soaker{src: src, long: x, anew: i >= 3, rand: rand.New(rand.NewPCG(13, uint64(i)))}
	}
	span := time.Duration(seconds) * time.Second
	if err := together(ctx, readers, span/3); err != nil {
		return err
	}
	before := holdings()
	if err := together(ctx, readers, span-span/3); err != nil {
		return err
	}
	after := holdings()
	searches, checked := 0, 0
	for i, r := range readers {
		searches, checked = searches+r.searches, checked+r.checked
		if r.searches == 0 {
			return fmt.Errorf("reader %d never searched", i)
		}
	}
	if checked == 0 {
		return fmt.Errorf("none of %d answers could be compared with the files", searches)
	}
	fmt.Printf("%d searches, %d compared with the files; held %v, then %v\n", searches, checked, before, after)
	return before.leaked(after)
}

func together(ctx context.Context, readers []*soaker, span time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	errs := make([]error, len(readers))
	var wg sync.WaitGroup
	for i, r := range readers {
		wg.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = r.once()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

type soaker struct {
	src               *folder
	long              *Index
	anew              bool
	rand              *rand.Rand
	searches, checked int
}

// once searches and, where the vault stood still meanwhile, reads the files for
// the same answer.
func (s *soaker) once() (err error) {
	ctx := context.Background()
	queries := []string{"mysql production", "churn database", "number1* -told", `"churn the"`, "runing churm", "kind:fact running", "in:sessions churn told"}
	q := Query{Text: queries[s.rand.IntN(len(queries))], Limit: -1, Archived: s.rand.IntN(4) == 0}
	x := s.long
	if s.anew {
		if x, err = Open(s.src, Options{Now: time.Now}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.Close()) }()
	}
	began, quiet := epochOf(s.src).quiet()
	got, err := x.Search(ctx, q)
	if err != nil {
		return fmt.Errorf("search %q: %w", q.Text, err)
	}
	s.searches++
	// No change touches this one: it is found at every moment.
	if q.Text == queries[0] && (len(got.Hits) == 0 || got.Hits[0].Path != "memories/db/mysql.md") {
		return fmt.Errorf("search %q found %v", q.Text, brief(got))
	}
	if !quiet {
		return nil
	}
	want, werr := readFiles(ctx, s.src, q)
	if now, still := epochOf(s.src).quiet(); !still || now != began {
		return nil
	}
	if werr != nil {
		return werr
	}
	s.checked++
	if !alike(got, want) {
		return fmt.Errorf("search %q (archived %v, degraded %q):\ngot  %d %v\nwant %d %v",
			q.Text, q.Archived, got.Degraded, got.Total, brief(got), want.Total, brief(want))
	}
	return nil
}

// A holding is what a process has open.
type holding struct {
	known       bool // there is a /proc to ask
	files, maps int
	goroutines  int
	anon        int // KiB of memory of its own
}

func holdings() (h holding) {
	for range 3 { // what a cleanup lets go of goes at the next collection
		debug.FreeOSMemory()
	}
	h.goroutines = runtime.NumGoroutine()
	fds, err := os.ReadDir("/proc/self/fd")
	maps, merr := os.ReadFile("/proc/self/maps")
	status, serr := os.ReadFile("/proc/self/status")
	if h.known = errors.Join(err, merr, serr) == nil; !h.known {
		return h
	}
	h.files, h.maps = len(fds), strings.Count(string(maps), "\n")
	fields := strings.Fields(string(status))
	if i := slices.Index(fields, "RssAnon:"); i >= 0 {
		h.anon, _ = strconv.Atoi(fields[i+1])
	}
	return h
}

// String is for the log.
func (h holding) String() string {
	if !h.known {
		return fmt.Sprintf("%d goroutines (no /proc to ask for more)", h.goroutines)
	}
	return fmt.Sprintf("%d files, %d maps, %d goroutines, %d KiB", h.files, h.maps, h.goroutines, h.anon)
}

// leaked allows memory what the collector and six stacks may differ by, maps
// those of the heap's arenas, and files and goroutines nothing.
func (h holding) leaked(later holding) error {
	if later.files > h.files || later.goroutines > h.goroutines || later.maps > h.maps+16 || later.anon > h.anon+h.anon/4+8<<10 {
		return fmt.Errorf("a leak: held %v, then %v", h, later)
	}
	return nil
}
