package index

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/vaulttest"
)

// The test binary is its own helper process: see TestMain.
const (
	roleVar  = "STET_INDEX_TEST_ROLE"
	dirVar   = "STET_INDEX_TEST_DIR"
	stateVar = "STET_INDEX_TEST_STATE"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		vaulttest.InMemory()
		os.Exit(m.Run())
	}
	src := &folder{dir: os.Getenv(dirVar), state: os.Getenv(stateVar)}
	if err := play(role, src); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play is what a helper process does.
func play(role string, src *folder) error {
	ctx := context.Background()
	name, arg, _ := strings.Cut(role, ":")
	n, _ := strconv.Atoi(arg)
	o := Options{Now: time.Now}
	if name == "die" {
		// Killed before the n-th step, as kill -9 would.
		o.Hook = func(durable.Step) error {
			if n--; n < 0 {
				p, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = p.Kill()
				}
				if err != nil {
					return err
				}
				select {}
			}
			return nil
		}
	}
	x, err := Open(src, o)
	if err != nil {
		return err
	}
	defer x.Close()
	switch name {
	case "churn":
		return churn(ctx, x, src)
	case "soak":
		return soak(ctx, src, n)
	case "write":
		for i := range n {
			p := fmt.Sprintf("w/%d.md", i%7)
			text := fmt.Sprintf("database writer note %d\n", i)
			if err := os.WriteFile(filepath.Join(src.dir, p), []byte(text), 0o644); err != nil {
				return err
			}
			if _, err := x.Touch(ctx, []vault.Path{vault.Path(p)}); err != nil {
				return err
			}
			if i%10 == 9 {
				if _, err := x.Rebuild(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	case "die":
		if _, err := x.Search(ctx, Query{Text: "database"}); err != nil {
			return err
		}
		_, err := x.Rebuild(ctx)
		if err == nil {
			fmt.Println("survived")
		}
		return err
	case "search":
		res, err := x.Search(ctx, Query{Text: arg, Limit: -1})
		if err != nil {
			return err
		}
		fmt.Println("degraded:", res.Degraded)
		for _, h := range res.Hits {
			fmt.Println(h.Path)
		}
		return nil
	}
	return fmt.Errorf("no role %q", role)
}

func helper(t *testing.T, src *folder, role string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+src.dir, stateVar+"="+src.state)
	return cmd
}

// kill -9 before any single step of indexing: the next search is right.
func TestKilledWhileIndexing(t *testing.T) {
	t.Parallel()
	q := Query{Text: "database mysql running", Limit: -1}
	for step := range 120 {
		src := damageVault(t)
		src.write(t, "n/new.md", "one more database\n")
		src.write(t, "sessions/new.md", "one more database, told\n")
		out, err := helper(t, src, fmt.Sprintf("die:%d", step)).Output()
		if strings.Contains(string(out), "survived") {
			if err != nil {
				t.Fatal(err)
			}
			return // every step was tried
		}
		x := open(t, src)
		res := ask(t, x, q)
		sameAnswer(t, fmt.Sprintf("killed before step %d", step), res, fromFiles(t, src, q))
		if res.Degraded != "" {
			t.Errorf("killed before step %d: degraded: %s", step, res.Degraded)
		}
		if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
			t.Errorf("killed before step %d: %v %v", step, bad, err)
		}
		if testing.Short() && step >= 20 {
			return
		}
	}
	t.Error("indexing takes more than 120 steps")
}

// Readers beside a writer that updates, merges and rebuilds all the time.
func TestReadersNeverFailBesideAWriter(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	if err := os.MkdirAll(filepath.Join(src.dir, "w"), 0o755); err != nil {
		t.Fatal(err)
	}
	rounds := 150
	if testing.Short() {
		rounds = 40
	}
	cmd := helper(t, src, fmt.Sprintf("write:%d", rounds))
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for reader := range 3 {
		wg.Go(func() {
			// One reader lives long, the others open anew every time.
			long := open(t, src)
			for n := 0; ; n++ {
				select {
				case <-stop:
					if n == 0 {
						t.Errorf("reader %d never searched", reader)
					}
					return
				default:
				}
				x := long
				if reader > 0 {
					x = open(t, src)
				}
				res, err := x.Search(t.Context(), Query{Text: "mysql production", Limit: -1})
				if err != nil || len(res.Hits) == 0 || res.Hits[0].Path != "memories/db/mysql.md" {
					t.Errorf("reader %d: %v %v", reader, res, err)
					return
				}
			}
		})
	}
	err := <-done
	close(stop)
	wg.Wait()
	if err != nil {
		t.Fatalf("writer: %v\n%s", err, errs.String())
	}
	q := Query{Text: "database", Limit: -1}
	sameAnswer(t, "in the end", ask(t, open(t, src), q), fromFiles(t, src, q))
}

// While another process holds the lock, changed files are searched from memory.
func TestABusyLockDoesNotHideChanges(t *testing.T) {
	t.Parallel()
	src := damageVault(t)
	root, err := durable.OpenRoot(filepath.Join(src.state, "index"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := filelock.Acquire(t.Context(), root, lockName, filelock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	src.write(t, "n/new.md", "one more database about mysql\n")
	src.write(t, "memories/db/mysql.md", "nothing of the kind any more\n")
	src.remove(t, "n/0.md")
	q := Query{Text: "mysql database", Limit: -1}
	x := open(t, src)
	for range 2 {
		res := ask(t, x, q)
		sameAnswer(t, "lock busy", res, fromFiles(t, src, q))
		if res.Degraded != "" {
			t.Errorf("degraded: %s", res.Degraded)
		}
	}
	if stats, err := x.Touch(t.Context(), []vault.Path{"n/new.md"}); err != nil || stats.Added != 0 {
		t.Errorf("Touch beside a writer: %+v %v", stats, err)
	}
	// Without any index the files themselves answer.
	empty := &folder{dir: src.dir, state: t.TempDir()}
	if err := os.Mkdir(filepath.Join(empty.state, "index"), 0o700); err != nil {
		t.Fatal(err)
	}
	root2, err := durable.OpenRoot(filepath.Join(empty.state, "index"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root2.Close()
	lock2, err := filelock.Acquire(t.Context(), root2, lockName, filelock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer lock2.Release()
	res := ask(t, open(t, empty), q)
	sameAnswer(t, "no index and lock busy", res, fromFiles(t, src, q))
	if !strings.Contains(res.Degraded, "another process") {
		t.Errorf("degraded: %q", res.Degraded)
	}
}

// A state folder that cannot be written: root may write anywhere, so the
// search runs as another user.
func TestAReadOnlyStateFolder(t *testing.T) {
	t.Parallel()
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("skip: needs root and setpriv(1)")
	}
	src := damageVault(t)
	src.write(t, "n/new.md", "one more database about mysql\n")
	// The test's own folders must be reachable for the other user.
	for _, dir := range []string{src.dir, src.state} {
		for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range append(indexFiles(t, src), filepath.Join(src.state, "index", lockName)) {
		if err := os.Chmod(p, 0o444); err != nil {
			t.Fatal(err)
		}
		for d := filepath.Dir(p); d != src.state; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o555); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The compiled test lies in a folder of root's: run a copy beside the vault.
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	twin := filepath.Join(src.dir, "twin.test")
	if err := os.WriteFile(twin, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{src.state, filepath.Join(src.state, "nothing", "here")} {
		cmd := helper(t, &folder{dir: src.dir, state: state}, "search:mysql")
		cmd.Args = []string{setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", twin}
		cmd.Path = setpriv
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("search as another user: %v\n%s", err, out)
		}
		lines := bufio.NewScanner(strings.NewReader(string(out)))
		var hits []string
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), ".md") {
				hits = append(hits, lines.Text())
			}
		}
		want := hitPaths(fromFiles(t, src, Query{Text: "mysql", Limit: -1}))
		if strings.Join(hits, " ") != strings.Join(want, " ") {
			t.Errorf("state %s: found %v, want %v\n%s", state, hits, want, out)
		}
	}
}
