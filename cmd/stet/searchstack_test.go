package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stet/cmd/stet/console"
)

// The calls from the command line to the look into Bluge's dictionaries may become fewer, and
// not more. No hook is there, so a second goroutine looks at the stacks while searches run.
func TestTheWayToThePostingsIsShort(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	host := console.Host{
		Stdio:  console.Stdio{In: strings.NewReader(""), Out: t.Output(), Err: t.Output()},
		Getenv: func(key string) string { return map[string]string{"HOME": home}[key] }, Dir: home, Now: time.Now,
		PID: os.Getpid(),
	}
	if code := run(t.Context(), []string{"stet", "init"}, host); code != console.ExitDone {
		t.Fatalf("init exits %d", code)
	}
	if err := os.WriteFile(filepath.Join(home, "gate.md"), []byte("The gate code is 4711.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	seen := make(chan []string, 1)
	go func() {
		defer close(done)
		room := make([]byte, 1<<20)
		for len(seen) == 0 && t.Context().Err() == nil {
			for _, stack := range strings.Split(string(room[:runtime.Stack(room, true)]), "\n\n") {
				if strings.Contains(stack, "bluge/index.(*Snapshot).PostingsIterator(") &&
					strings.Contains(stack, "stet/cmd/stet.run.func") {
					seen <- oursIn(stack)
					return
				}
			}
		}
	}()
	// All of them are in the file: what may be misspelt is looked up another way, which a sample would meet at times.
	words := strings.Repeat("the gate code is 4711 ", 16)
	for start := time.Now(); len(seen) == 0 && time.Since(start) < time.Minute; {
		if code := run(t.Context(), []string{"stet", "search", words}, host); code != console.ExitDone {
			t.Fatalf("search exits %d", code)
		}
	}
	if len(seen) == 0 {
		t.Fatal("no search was seen in Bluge")
	}
	<-done
	const most = 12
	if frames := <-seen; len(frames) < 8 || len(frames) > most {
		t.Errorf("%d frames:\n%s", len(frames), strings.Join(frames, "\n"))
	}
}

// oursIn lists the functions of this module in a printed stack, the innermost first.
func oursIn(stack string) (out []string) {
	lines := strings.Split(stack, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "stet/") && i+1 < len(lines) && !strings.Contains(lines[i+1], "_test.go") {
			out = append(out, line)
		}
	}
	return out
}
