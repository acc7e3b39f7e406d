package watch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault/vaulttest"
)

// farmFiles are edited each, several times over, while branches change.
const farmFiles = 500

// A farm is editors at work on one vault. Saves share the lock, a checkout has
// it alone: git itself loses an edit that is saved while it replaces the file.
type farm struct {
	t       *testing.T
	f       *vaulttest.Fixture
	saving  sync.RWMutex
	mu      sync.Mutex
	last    map[string]string // what was saved last, by file
	editors []editor
}

type editor struct {
	name string
	save func(file, text string) error
}

func farmText(i, n int, by string) string {
	return fmt.Sprintf("edit%dx%d by %s\n%sEND\n", i, n, by, strings.Repeat("the same line\n", 300))
}

// hands are the editors that are here: three that are imitated, and the real
// ones, driven without a screen.
func hands(t *testing.T) []editor {
	all := []editor{
		{"vscode", func(file, text string) error { return os.WriteFile(file, []byte(text), 0o644) }},
		{"jetbrains", func(file, text string) error {
			return errors.Join(os.WriteFile(file+"___jb_tmp___", []byte(text), 0o644), os.Rename(file, file+"___jb_old___"),
				os.Rename(file+"___jb_tmp___", file), os.Remove(file+"___jb_old___"))
		}},
		{"obsidian", func(file, text string) error {
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0o644)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text[:20])
			time.Sleep(5 * time.Millisecond) // a slow disk; nothing is waited for
			if _, werr := f.WriteString(text[20:]); err == nil {
				err = werr
			}
			return errors.Join(err, f.Close())
		}},
	}
	// The real ones read the new text into the old buffer and save it their way.
	for name, args := range map[string]func(file, from string) []string{
		"vim": func(file, from string) []string {
			return []string{"-es", "-u", "NONE", "-i", "NONE", "-c", "%d", "-c", "0r " + from, "-c", "wq", file}
		},
		"emacs": func(file, from string) []string {
			return []string{"-Q", "--batch", file, "--eval", fmt.Sprintf("(progn (erase-buffer) (insert-file-contents %q) (save-buffer))", from)}
		},
	} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("skip: there is no %s here", name)
			continue
		}
		all = append(all, editor{name, func(file, text string) error {
			from := filepath.Join(t.TempDir(), "text")
			if err := os.WriteFile(from, []byte(text), 0o644); err != nil {
				return err
			}
			out, err := exec.Command(program, args(file, from)...).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", name, err, out)
			}
			return nil
		}})
	}
	return all
}

func TestAnEditorFarmBesideCheckouts(t *testing.T) {
	if os.Getenv("STET_FULL") == "" {
		t.Skip("skip: STET_FULL=1 runs it; it takes minutes")
	}
	vaulttest.NeedGit(t)
	var files []string
	for i := range farmFiles {
		files = append(files, fmt.Sprintf("memories/farm/%d/%d.md", i%20, i), farmText(i, 0, "nobody"))
	}
	for i := range 100 {
		files = append(files, fmt.Sprintf("memories/here/%d.md", i), fmt.Sprintf("moving %d\n", i))
	}
	fm := &farm{t: t, f: vaulttest.New(t, files...), last: map[string]string{}, editors: hands(t)}
	fm.f.Git("checkout", "-q", "-b", "many")
	for i := range 2000 {
		write(t, fm.f.Dir, fmt.Sprintf("n/%d/m%d.md", i%40, i), fmt.Sprintf("flood %d\n", i))
	}
	fm.f.Git("add", ".")
	fm.f.Git("commit", "-q", "-m", "many")
	fm.f.Git("checkout", "-q", "main")
	w := start(t, fm.f)
	stop, done := make(chan struct{}), make(chan int)
	go func() { done <- fm.disturb(stop) }()
	fm.edit()
	close(stop)
	checkouts := <-done
	w.settled()
	t.Logf("%d checkouts and moves beside %d edits by %d editors; %s commits", checkouts, 3*farmFiles, len(fm.editors),
		strings.TrimSpace(fm.f.Git("rev-list", "--all", "--count")))
	if checkouts < 4 {
		t.Errorf("only %d checkouts and moves came through: the test shows nothing", checkouts)
	}
	fm.check()
	w.stop()
}

// edit changes every file three times, two editors at once.
func (fm *farm) edit() {
	var wg sync.WaitGroup
	for hand := range 2 {
		wg.Go(func() {
			for n := 1; n <= 3; n++ {
				for i := hand; i < farmFiles; i += 2 {
					ed := fm.editors[(i+n)%len(fm.editors)]
					file, text := fmt.Sprintf("memories/farm/%d/%d.md", i%20, i), farmText(i, n, ed.name)
					fm.saving.RLock()
					err := ed.save(filepath.Join(fm.f.Dir, file), text)
					fm.saving.RUnlock()
					if err != nil {
						fm.t.Errorf("%s saves %s: %v", ed.name, file, err)
					}
					fm.mu.Lock()
					fm.last[file] = text
					fm.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

// disturb changes branches and moves a folder until stop, and counts what came
// through: git refuses a checkout that would overwrite an edit, or while stet
// commits.
func (fm *farm) disturb(stop chan struct{}) (n int) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return n
		case <-time.After(300 * time.Millisecond):
		}
		fm.saving.Lock()
		var err error
		switch i % 3 {
		case 0:
			_, err = vaulttest.Git(fm.f.Dir, "checkout", "-q", "many")
		case 1:
			_, err = vaulttest.Git(fm.f.Dir, "checkout", "-q", "main")
		default:
			here, there := filepath.Join(fm.f.Dir, "memories/here"), filepath.Join(fm.f.Dir, "memories/there")
			if err = os.Rename(here, there); err != nil {
				err = os.Rename(there, here)
			}
		}
		fm.saving.Unlock()
		if err == nil {
			n++
		}
	}
}

// check reads every version of every file that was ever committed on any
// branch: each is whole, and the last edit of each file is among them.
func (fm *farm) check() {
	fm.t.Helper()
	seen := map[string]bool{}
	for line := range strings.Lines(fm.f.Git("rev-list", "--all", "--objects", "--", "memories/farm")) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasSuffix(name, ".md") {
			if strings.ContainsAny(name, "~#") || strings.Contains(name, "___") || strings.Contains(name, ".sw") {
				fm.t.Errorf("%s was committed", name)
			}
			continue
		}
		text := fm.f.Git("cat-file", "blob", id)
		seen[name+"\x00"+text] = true
		if strings.Count(text, "\n") != 302 || !strings.HasSuffix(text, "END\n") || !strings.HasPrefix(text, "edit") {
			fm.t.Errorf("%s was committed half saved: %d bytes", name, len(text))
		}
	}
	for file, text := range fm.last {
		if !seen[file+"\x00"+text] {
			fm.t.Errorf("the last edit of %s is lost: %.20q", file, text)
		}
	}
}

// Real editors, as a person uses them: in a terminal, left open after the save.
func TestRealEditorsInATerminal(t *testing.T) {
	if os.Getenv("STET_FULL") == "" {
		t.Skip("skip: STET_FULL=1 runs it; it needs tmux, vim, nano and emacs")
	}
	vaulttest.NeedGit(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("skip: there is no tmux here")
	}
	f := vaulttest.New(t, "vim.md", "first of vim\n", "nano.md", "first of nano\n", "emacs.md", "first of emacs\n")
	w := start(t, f)
	for name, c := range map[string]struct{ open, keys, leave []string }{
		"vim":   {[]string{"vim", "-u", "NONE", "-i", "NONE", "vim.md"}, []string{"Goedit by vim", "Escape", ":w", "Enter"}, []string{":q", "Enter"}},
		"nano":  {[]string{"nano", "-I", "nano.md"}, []string{"edit by nano ", "C-o", "Enter"}, []string{"C-x"}},
		"emacs": {[]string{"emacs", "-nw", "-Q", "emacs.md"}, []string{"edit by emacs ", "C-x", "C-s"}, []string{"C-x", "C-c"}},
	} {
		if _, err := exec.LookPath(name); err != nil {
			t.Logf("skip: there is no %s here", name)
			continue
		}
		term := terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux"), dir: f.Dir}
		term.do(append([]string{"new-session", "-d", "-s", "e", "-x", "100", "-y", "30", "-c", f.Dir, "-e", "TERM=xterm"}, c.open...)...)
		term.until("first of " + name)
		for _, k := range c.keys {
			term.do("send-keys", "-t", "e", k)
			time.Sleep(200 * time.Millisecond) // a person types no faster; nothing is waited for
		}
		w.await("the commit of "+name+".md", func(e Event) bool { return e.Kind == Committed && strings.Contains(e.Commit.Subject, name+".md") })
		w.settled()
		for _, k := range c.leave {
			term.do("send-keys", "-t", "e", k)
		}
		term.ended()
		if text := f.Git("show", "HEAD:"+name+".md"); !strings.Contains(text, "edit by "+name) || !strings.Contains(text, "first of "+name) {
			t.Errorf("%s saved %q", name, text)
		}
	}
	w.settled()
	if out := f.Git("log", "--name-only", "--format="); strings.ContainsAny(out, "~#") || strings.Contains(out, ".sw") {
		t.Errorf("temporary files were committed:\n%s", out)
	}
	w.stop()
}

// A terminal is one tmux server with one window.
type terminal struct {
	t           *testing.T
	socket, dir string
}

func (x terminal) run(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", x.socket, "-f", os.DevNull}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (x terminal) do(args ...string) {
	x.t.Helper()
	if out, err := x.run(args...); err != nil {
		x.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
}

// until waits for a text on the screen.
func (x terminal) until(text string) {
	x.t.Helper()
	var out string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if out, _ = x.run("capture-pane", "-p", "-t", "e"); strings.Contains(out, text) {
			return
		}
	}
	x.t.Fatalf("%q never came on the screen:\n%s", text, out)
}

// ended waits until the editor, and with it the server, is gone.
func (x terminal) ended() {
	x.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err := x.run("has-session", "-t", "e"); err != nil {
			return
		}
	}
	x.t.Fatal("the editor does not end")
}
