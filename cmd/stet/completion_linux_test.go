package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/vault/vaulttest"
)

// Tab in a real shell on a terminal takes nothing away that was typed where several names fit, and puts the only one in
// its place, whatever letters were typed.
func TestTabInAShellKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	w := newWorld(t)
	w.file("people/Anne Berg.md", "x\n")
	w.file("meetings/2025-04-02 Anne Berg.md", "x\n")
	w.file("meetings/2025-01-15 Anne Berg.md", "x\n")
	w.file("meetings/2025-01-15 Jour fixe.md", "x\n")
	w.file("meetings/2025-01-22 Jour fixe.md", "x\n") // both begin with what was not typed
	w.do("stet", "adopt", "--yes")
	for name, start := range map[string][]string{
		"bash": {"--norc", "-i", "source <(stet completion bash); complete -o default -F _stet say"},
		"zsh":  {"-f", "-i", "autoload -U compinit; compinit -u -D; source <(stet completion zsh); compdef _stet say"},
	} {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Logf("skip: no %s", name)
			continue
		}
		master, slave := terminal(t)
		c := w.command(program, start[0], start[1])
		c.Env = append(c.Env, "PS1=> ", "LC_ALL=C.UTF-8", "INPUTRC="+filepath.Join(w.home, "none"))
		c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		s := &typewriter{t, name, master, make(chan string, 100)}
		go s.listen()
		s.enter(start[2] + `; say() { printf '[%s]' "$@"; }; echo re""ady` + "\r")
		s.until("ready\r\n")
		for _, x := range [][2]string{ // what is typed, and the words that the line then holds
			{"anne\t\t", "[anne]"}, {"Anne\\ B\t\t", "[Anne B]"}, {"\"anne b\t\t\"", "[anne b]"},
			{"berg\t\t", "[berg]"}, {"jour\t\t", "[jour]"},
			{"PLANTS\t", "[plants]"}, {"2025-04\t", "[2025-04-02 Anne Berg]"},
		} {
			s.enter("say show " + x[0] + "\r")
			s.until("[show]" + x[1])
		}
		s.enter("exit\r")
		_ = c.Wait()
	}
}

// A typewriter types at a shell and reads what it prints.
type typewriter struct {
	t      *testing.T
	shell  string
	master *os.File
	said   chan string
}

func (s *typewriter) listen() {
	defer close(s.said)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf)
		if err != nil {
			return
		}
		s.said <- string(buf[:n])
	}
}

func (s *typewriter) enter(keys string) {
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

func (s *typewriter) until(text string) {
	s.t.Helper()
	const patience = time.Minute
	all, late := "", time.After(patience)
	for !strings.Contains(all, text) {
		select {
		case more, open := <-s.said:
			if all += more; !open {
				s.t.Fatalf("%s ended before it said %q: %q", s.shell, text, all)
			}
		case <-late:
			s.t.Fatalf("%s does not say %q: %q", s.shell, text, all)
		}
	}
}
