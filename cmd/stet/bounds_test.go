package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// readers are what is interrupted; "-" is the text, and TALK a file of conversations that holds it.
func readers() []string {
	return []string{"search a", "list", "show n", "reindex", "context", "status", "remember -", "import jsonl TALK",
		"remember --batch -", "doctor", "links n", "adopt --all", "observe --session s --role user -"}
}

// A command ends when it is told to, in the middle of a megabyte of anything, and the vault is
// as it was or as it was to be. It has 200 ms for it; on a busy machine ten times as long.
func TestEveryCommandHearsTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the test sends SIGTERM")
	}
	const size, heard = 1 << 20, 2 * time.Second
	texts, after := nasty(), []time.Duration{50, 200, 500}
	if os.Getenv("STET_FULL") == "" {
		texts, after = []string{"a\n", "password: a1" + "b2c3\n", "[![a](b)](c)"}, after[1:2]
		t.Log("each command with one of 3 texts, 1 of the times (STET_FULL=1 takes all)")
	}
	home := t.TempDir()
	model := filepath.Join(home, "model")
	if out, code := child(t, home, home, "", "init", model); code != 0 {
		t.Fatalf("init: exit %d\n%s", code, out)
	}
	interrupted, worst, which := 0, time.Duration(0), ""
	for i, unit := range texts {
		text := []byte(strings.Repeat(unit, size/len(unit)))
		for k, line := range readers() {
			if (i+k)%3 != 0 && os.Getenv("STET_FULL") == "" {
				continue
			}
			for _, ms := range after {
				dir := filepath.Join(home, fmt.Sprint(i, "-", k, "-", int(ms)))
				if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
					t.Fatal(err)
				}
				took, code := endAfter(t, dir, text, strings.Fields(line), ms*time.Millisecond)
				if took > 0 {
					interrupted++
				}
				if took > worst {
					worst, which = took, fmt.Sprintf("%q, stet %s, exit %d", unit, line, code)
				}
				if took > heard || took > 0 && code != 130 && code != 0 {
					t.Errorf("%q, stet %s, ended after %d ms: took %v more, exit %d", unit, line, ms, took, code)
				}
				if out, code := child(t, home, dir, "", "status"); code != 0 {
					t.Errorf("%q, status after stet %s: exit %d\n%s", unit, line, code, out)
				}
				if err := checkVault(dir); err != nil {
					t.Errorf("%q, after stet %s: %v", unit, line, err)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d ended early, the slowest after %v: %s", interrupted, worst, which)
	if interrupted == 0 {
		t.Error("no command was ended before its end")
	}
}

// endAfter runs a command over a text, sends SIGTERM after a while, and returns how long
// the process took then, 0 when it had ended before.
func endAfter(t *testing.T, dir string, text []byte, args []string, after time.Duration) (time.Duration, int) {
	t.Helper()
	beside := dir + ".txt"
	cmd := exec.Command("stet", args...)
	if args[0] == "import" {
		line, err := json.Marshal(map[string]string{"session": "s", "speaker": "user", "date": "2026-03-02",
			"text": string(text)})
		if err == nil {
			err = os.WriteFile(beside, append(line, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args[len(cmd.Args)-1] = beside
	} else if slices.Contains(args, "--batch") {
		cmd.Stdin = strings.NewReader(batch(string(text)))
	} else if args[len(args)-1] == "-" {
		cmd.Stdin = bytes.NewReader(text)
	} else if err := os.WriteFile(filepath.Join(dir, "n.md"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir + ".home", "GIT_AUTHOR_NAME=A",
		"GIT_AUTHOR_EMAIL=a@example.com"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit code says it
		close(ended)
	}()
	select {
	case <-ended:
		return 0, cmd.ProcessState.ExitCode()
	case <-time.After(after):
	}
	began := time.Now()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	return time.Since(began), cmd.ProcessState.ExitCode()
}
