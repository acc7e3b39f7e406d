package main

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"stet/cmd/stet/console"
	"stet/vault/durable"
)

// The calls from the command line to the rename that commits may become fewer, and not more:
// functions of ours, and runs of them in one package.
func TestTheWayToTheCommitIsShort(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
	var frames []string
	host := console.Host{
		Stdio:  console.Stdio{In: strings.NewReader(""), Out: t.Output(), Err: t.Output()},
		Getenv: func(key string) string { return vars[key] }, Dir: home, Now: time.Now, PID: os.Getpid(),
		Hook: func(s durable.Step) error {
			if s.Op == durable.OpRename && strings.Contains(s.To, "refs/heads/") {
				frames = ours()
			}
			return nil
		},
	}
	for _, args := range [][]string{{"stet", "init"}, {"stet", "remember", "The gate code is 4711."}} {
		frames = nil
		if code := run(t.Context(), args, host); code != console.ExitDone {
			t.Fatalf("%q exits %d", args, code)
		}
	}
	var packages []string
	for _, f := range frames {
		name, _, _ := strings.Cut(f[strings.LastIndex(f, "/")+1:], ".")
		if name = f[:strings.LastIndex(f, "/")+1] + name; len(packages) == 0 || packages[len(packages)-1] != name {
			packages = append(packages, name)
		}
	}
	const mostFrames, mostRuns = 20, 8
	if n := len(frames); n < 10 || n > mostFrames || len(packages) > mostRuns {
		t.Errorf("%d frames in %d runs:\n%s", n, len(packages), strings.Join(frames, "\n"))
	}
}

// ours lists the functions of this module on the stack, the innermost first.
func ours() []string {
	pcs := make([]uintptr, 100)
	all := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var out []string
	for {
		f, more := all.Next()
		if strings.HasPrefix(f.Function, "stet/") && !strings.Contains(f.File, "_test.go") {
			out = append(out, strings.TrimPrefix(f.Function, "stet/"))
		}
		if !more {
			return out
		}
	}
}
