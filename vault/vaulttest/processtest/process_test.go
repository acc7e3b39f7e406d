package processtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

// A line is one operation that a writer announced or finished on one path.
type line struct {
	writer string
	acked  bool
	rev    string
	path   string
	hash   string
	step   int
}

// A field is the vault with everybody who works on it.
type field struct {
	t       *testing.T
	dir     string
	mu      sync.Mutex
	lines   []line // per writer in order
	acked   int    // how many of them are finished
	running map[string]*exec.Cmd
	kills   int
	owed    map[string]bool // the editor's saves that somebody else took off the disk
}

func TestKilledWritersLoseNothingBesideGitAnEditorAndAReader(t *testing.T) {
	t.Parallel()
	writers, count, every := 2, 50, 300*time.Millisecond
	switch {
	case os.Getenv("STET_FULL") != "":
		writers, count, every = 8, 100, time.Second
	case testing.Short():
		count, every = 20, 200*time.Millisecond
	}
	fx := vaulttest.New(t, sharedFile, "shared\n", contestedFile, "contested\n", diaryFile, block("diary-0"))
	f := &field{t: t, dir: fx.Dir, running: map[string]*exec.Cmd{}, owed: map[string]bool{}}
	ctx, stop := context.WithCancel(t.Context())
	var disturbers, working sync.WaitGroup
	for _, disturb := range []func(context.Context){f.git, f.edit, f.read, func(ctx context.Context) { f.kill(ctx, every) }} {
		disturbers.Go(func() { disturb(ctx) })
	}
	for i := range writers {
		working.Go(func() { f.write(fmt.Sprintf("w%d", i), count) })
	}
	working.Go(func() { f.write(adopter, count/2) })
	beside := f.linked()
	if beside != nil {
		disturbers.Go(func() { beside.kill(ctx, every) })
		working.Go(func() { beside.write("s0", count/2) })
	}
	working.Wait()
	stop()
	disturbers.Wait()
	f.settle()
	f.verify()
	if beside != nil {
		beside.settle()
		beside.verify()
		t.Logf("in the linked worktree %d kills, %d lines", beside.kills, len(beside.lines))
	}
	t.Logf("%d writers × %d operations, %d kills, %d lines, %d of the editor's saves replaced by others",
		writers, count, f.kills, len(f.lines), len(f.owed))
}

// linked is a second worktree of the vault's repository, on a branch of its own:
// its writers share the lock, the refs and the objects with the first. It is nil
// where there is no git to make one.
func (f *field) linked() *field {
	if !vaulttest.HaveGit() {
		return nil
	}
	side := vaulttest.At(f.t, filepath.Join(f.t.TempDir(), "side"))
	const tries = 50 // somebody is at work in the first one already
	for n := range tries {
		out, err := vaulttest.Git(f.dir, "worktree", "add", "-q", "-b", "side", side.Dir)
		if err == nil {
			break
		}
		if n == tries-1 {
			f.t.Fatalf("git worktree add: %v\n%s", err, out)
		}
	}
	return &field{t: f.t, dir: side.Dir, running: map[string]*exec.Cmd{}, owed: map[string]bool{}}
}

// write runs one writer until its operations are done, again after each kill.
func (f *field) write(name string, count int) {
	for next := 0; next < count; {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{f.dir, name, strconv.Itoa(next), strconv.Itoa(count)}, "\n"))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			f.t.Error(err)
			return
		}
		f.mu.Lock()
		err = cmd.Start()
		f.running[name] = cmd
		f.mu.Unlock()
		if err != nil {
			f.t.Error(err)
			return
		}
		failed := ""
		for scan := bufio.NewScanner(out); scan.Scan(); {
			switch word, rest, _ := strings.Cut(scan.Text(), " "); word {
			case "done":
				if done, err := strconv.Atoi(rest); err == nil {
					next = done + 1
				}
			case "failed":
				failed = rest
			default:
				f.note(name, scan.Text())
			}
		}
		f.mu.Lock()
		delete(f.running, name) // from here on nobody may kill it
		f.mu.Unlock()
		if err := cmd.Wait(); failed != "" || err == nil && next < count {
			f.t.Errorf("writer %s stopped at %d: %s (%v)", name, next, failed, err)
			return
		}
	}
}

// note keeps a "try STEP PATH…" or "ack STEP REV PATH HASH" line.
func (f *field) note(name, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	words := strings.Fields(text)
	if len(words) < 3 {
		f.t.Errorf("writer %s said %q", name, text)
		return
	}
	step, err := strconv.Atoi(words[1])
	if err != nil {
		f.t.Errorf("writer %s said %q", name, text)
		return
	}
	if words[0] == "try" {
		for _, p := range words[2:] {
			f.lines = append(f.lines, line{writer: name, path: p, step: step})
		}
		return
	}
	if len(words) != 5 || words[0] != "ack" {
		f.t.Errorf("writer %s said %q", name, text)
		return
	}
	f.acked++
	f.lines = append(f.lines, line{writer: name, acked: true, step: step, rev: words[2], path: words[3], hash: words[4]})
}

// kill ends a random writer the hard way, again and again. Where nobody got
// anything done since the last kill it leaves twice the time: on a busy machine a
// writer may need longer to start than the pace allows.
func (f *field) kill(ctx context.Context, every time.Duration) {
	random := rand.New(rand.NewPCG(7, 7))
	pause, done := every, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		f.mu.Lock()
		names := slices.Sorted(maps.Keys(f.running))
		if pause *= 2; f.acked > done {
			pause = every
		}
		done = f.acked
		if len(names) > 0 {
			if err := f.running[names[random.IntN(len(names))]].Process.Kill(); err == nil {
				f.kills++
			}
		}
		f.mu.Unlock()
	}
}

// git commits whatever there is, as a person with a shell loop does. It may
// find a lock, a moved branch or nothing to commit; nothing else.
func (f *field) git(ctx context.Context) {
	if !vaulttest.HaveGit() {
		return
	}
	for i := 0; ctx.Err() == nil; i++ {
		for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", fmt.Sprintf("by hand %d", i)}} {
			out, err := vaulttest.Git(f.dir, args...)
			if err == nil {
				continue
			}
			// A status instead of a commit: there was nothing to commit.
			harmless := out == "" || args[0] == "commit" && strings.HasPrefix(out, "On branch main\n")
			for _, text := range []string{"index.lock", "cannot lock ref", "No such file or directory", "short read while indexing"} {
				harmless = harmless || strings.Contains(out, text)
			}
			if !harmless {
				f.t.Errorf("git %v: %v\n%s", args, err, out)
			}
			break
		}
	}
}

// edit saves two files the way editors do: a whole new file in the place of the old one.
func (f *field) edit(ctx context.Context) {
	pace := time.NewTicker(15 * time.Millisecond)
	defer pace.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		f.save(diaryFile, block(fmt.Sprintf("diary-%d", i)), durable.Move.Replace)
		if i%8 == 0 { // a person leaves some time between two saves of one file
			text := block(fmt.Sprintf("editor-%d", i))
			if err := f.save(contestedFile, text, durable.Move.Exchange); err == nil {
				f.owed[gitID(text)] = true
			}
		}
	}
}

func gitID(s string) string { return gitstore.HashBlob([]byte(s)).String() }

// save puts content at p. Where that is done by a swap, what the editor itself took off the disk
// is nobody else's to keep: a save that a transaction puts back stands there only until the next.
func (f *field) save(p, content string, put func(durable.Move) error) error {
	const temp = "editor.tmp" // beside the vault
	root, err := durable.OpenRoot(filepath.Dir(f.dir), nil)
	if err != nil {
		f.t.Error(err)
		return err
	}
	defer root.Close()
	if err := os.WriteFile(root.Abs(temp), []byte(content), 0o644); err != nil {
		f.t.Error(err)
	}
	m := durable.Move{Temp: root, TempPath: temp, Target: root, Path: filepath.Base(f.dir) + "/" + p}
	err = put(m)
	if errors.Is(err, durable.ErrNoExchange) {
		return errors.Join(err, m.Replace())
	}
	if err != nil {
		f.t.Errorf("editor: %v", err)
	}
	if over, rerr := os.ReadFile(root.Abs(temp)); rerr == nil {
		delete(f.owed, gitID(string(over)))
	}
	return err
}

// read looks at every file, on disk and in HEAD, and wants it whole.
func (f *field) read(ctx context.Context) {
	o := options()
	o.ReadOnly = true
	for round := 0; ctx.Err() == nil; round++ {
		v, err := vault.Open(context.Background(), f.dir, o)
		if err != nil {
			f.t.Errorf("reader: open: %v", err)
			return
		}
		f.readAll(v, round)
		if err := v.Close(); err != nil {
			f.t.Errorf("reader: close: %v", err)
		}
	}
}

func (f *field) readAll(v *vault.Vault, round int) {
	files, err := v.Files(context.Background(), vault.WalkOptions{Archive: true})
	if err != nil {
		f.t.Errorf("reader: list: %v", err)
		return
	}
	for _, file := range files {
		data, _, err := v.ReadFile(file.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // forgotten since it was listed
		}
		if err == nil {
			err = whole(string(data))
		}
		if m := vault.ReadMemory(file.Path, data); err == nil && m.Problem != "" {
			err = errors.New(m.Problem)
		}
		if err != nil {
			f.t.Errorf("reader: %s: %v", file.Path, err)
		}
	}
	if round%4 != 0 {
		return
	}
	head, err := v.History().View(context.Background(), "")
	if err != nil {
		f.t.Errorf("reader: HEAD: %v", err)
		return
	}
	for p := range head.Files() {
		data, _, err := head.Read(p)
		if err == nil {
			err = whole(string(data))
		}
		if err != nil {
			f.t.Errorf("reader: HEAD:%s: %v", p, err)
		}
	}
}

// settle commits what the editor saved last, as the person would in the end.
func (f *field) settle() {
	v := f.open()
	if _, err := v.Adopt(f.t.Context(), vault.AdoptOptions{}); err != nil {
		f.t.Errorf("adopt at the end: %v", err)
	}
}

func (f *field) open() *vault.Vault {
	v, err := vault.Open(f.t.Context(), f.dir, options())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := v.Close(); err != nil {
			f.t.Error(err)
		}
	})
	return v
}
