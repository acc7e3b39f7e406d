package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stet/cmd/stet/console"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// The test binary is the stet command as well. Only in it can a fault be asked
// for from outside: STET_TEST_CRASH=N kills the process before the Nth mutating
// step, STET_TEST_ERRNO=LABEL (or "any") makes the first step of that label and
// all later ones fail as on a full disk, STET_TEST_INTERRUPT=N presses Ctrl-C
// before the Nth step. STET_TEST_FORK=FAULT is what happens to the process of the curator's model.
// STET_TEST_TERMINAL=1 answers as on a terminal; STET_TEST_NOW is when the command begins.
func TestMain(m *testing.M) {
	testscript.Main(inMemory{m}, map[string]func(){"stet": func() { os.Exit(stetUnderTest()) }})
}

// inMemory runs the tests, and not the command, with their files in memory.
type inMemory struct{ *testing.M }

// Run implements [testscript.TestingM].
func (t inMemory) Run() int {
	vaulttest.InMemory()
	return t.M.Run()
}

func stetUnderTest() int {
	collectLater() // as the command does
	host, err := console.ThisHost(console.Standard())
	if err != nil {
		return console.New(console.Host{Stdio: console.Standard()}).Finish(err)
	}
	host.Hook = faults(host.Getenv)
	if host.Getenv("STET_TEST_TERMINAL") != "" {
		host.InTerminal, host.OutTerminal, host.ErrTerminal = true, true, true
	}
	if now, err := time.Parse(time.RFC3339, host.Getenv("STET_TEST_NOW")); err == nil {
		began := time.Now()
		host.Now = func() time.Time { return now.Add(time.Since(began)) }
	}
	if fault := host.Getenv("STET_TEST_FORK"); fault != "" && slices.Contains(os.Args, "curator-fork") {
		host.In = faultyJob(fault)
	}
	return run(context.Background(), os.Args, host)
}

// A faultyJob does something terrible to the process that reads it.
type faultyJob string

// Read implements [io.Reader].
func (f faultyJob) Read([]byte) (int, error) {
	switch f {
	case "panic":
		panic("it went wrong")
	case "segv":
		if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(syscall.SIGSEGV) == nil {
			select {}
		}
	case "kill":
		kill(os.Getpid())
	case "memory":
		for held := [][]byte{}; len(held) < 2<<10; {
			mb := make([]byte, 1<<20)
			for i := 0; i < len(mb); i += 1 << 12 {
				mb[i] = 1
			}
			held = append(held, mb)
		}
	case "endless":
		for {
			fmt.Println(strings.Repeat("{", 1<<20))
		}
	case "garbage":
		fmt.Println("Here is your plan.")
	case "silence":
	case "sleep":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
	return 0, io.EOF
}

func faults(getenv func(string) string) durable.Hook {
	var mu sync.Mutex
	steps, failing := 0, false
	crashAt, _ := strconv.Atoi(getenv("STET_TEST_CRASH"))
	interruptAt, _ := strconv.Atoi(getenv("STET_TEST_INTERRUPT"))
	full := getenv("STET_TEST_ERRNO")
	if crashAt == 0 && interruptAt == 0 && full == "" {
		return nil
	}
	return func(s durable.Step) error {
		mu.Lock()
		defer mu.Unlock()
		steps++
		if steps == crashAt {
			kill(os.Getpid())
		}
		if steps == interruptAt {
			interrupt()
		}
		if full != "" && (failing || full == "any" || strings.HasPrefix(s.Label, full)) {
			failing = true
			return syscall.ENOSPC
		}
		return nil
	}
}

// kill ends a process the way a power button would: no deferred function runs.
func kill(pid int) {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// interrupted is what the test binary says when it has pressed Ctrl-C.
const interrupted = "test: interrupted here"

// interrupt presses Ctrl-C and gives the command's own handler, which hears of
// the signal at the same moment as this function, time to cancel its context.
func interrupt() {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	defer signal.Stop(heard)
	fmt.Fprintln(os.Stderr, interrupted)
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		panic(err)
	}
	<-heard
	time.Sleep(20 * time.Millisecond)
}

// hasGit says whether the real git may be the referee.
func hasGit() bool {
	_, err := exec.LookPath("git")
	return err == nil && os.Getenv("STET_TEST_NOGIT") == ""
}
