package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stet/cmd/stet/console"
	"stet/vault/durable"
)

// What reads is given up at once; what has committed is waited for, but not without end: a server that wrote
// once may be reading for long.
func TestAnInterruptedCommandIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		commits     bool
		least, most time.Duration
	}{{false, 0, time.Second}, {true, time.Second, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			var i interrupter
			step := durable.Step{Label: "lock", Op: durable.OpRename}
			if c.commits {
				step.Label = "ref"
			}
			if err := i.hook(nil)(step); err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			began, ended := time.Now(), make(chan bool, 1)
			go func() { ended <- i.wait(ctx, &console.Env{}, nil) }()
			select {
			case <-ended:
			case <-time.After(time.Hour):
				i.mu.Lock() // for good: the goroutine is of no use
				t.Fatal("it is waited for without end")
			}
			if took := time.Since(began); took < c.least || took > c.most {
				t.Errorf("commits %v: given up after %v", c.commits, took)
			}
		})
	}
}

// A slowWriter is a terminal that takes its time for the last word.
type slowWriter struct {
	began chan struct{}
	once  sync.Once
}

func (w *slowWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "nothing is committed") {
		w.once.Do(func() { close(w.began) })
	}
	if strings.HasPrefix(string(p), "stopped") {
		time.Sleep(5 * grace)
	}
	return len(p), nil
}

// A watcher ends when it is told to: on a machine under load, too, that is no failure.
func TestAWatcherHasTimeToEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	out := &slowWriter{began: make(chan struct{})}
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		<-out.began
		time.Sleep(grace)
		interrupt()
	}()
	code := run(ctx, []string{"stet", "reindex", "--watch"}, console.Host{
		Stdio:  console.Stdio{In: strings.NewReader(""), Out: out, Err: out},
		Getenv: func(k string) string { return s.env[k] }, Dir: s.dir, PID: os.Getpid(), Now: time.Now,
	})
	if code != 0 {
		t.Errorf("exit %d", code)
	}
}
