package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// update makes golden tests write what they would otherwise compare.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

var _ = flag.Bool("update", false, "rewrite golden files and script expectations")

// TestScripts runs every script of testdata/script against the command in its
// own process, and after each checks every vault it made.
func TestScripts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the scripts use a POSIX shell")
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       update(),
		Setup:               setupScript,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":           cmdExits,
			"crash":           cmdCrash,
			"full":            cmdFull,
			"checkvault":      cmdCheckVault,
			"expect-problems": cmdExpectProblems,
			"jsoncmp":         cmdJSON,
			"as-nobody":       cmdAsNobody,
			"mksock":          cmdSocket,
			"fill":            cmdFill,
			"model":           cmdModel,
			"asked":           cmdAsked,
			"embedder":        cmdEmbedder,
			"embedded":        cmdEmbedded,
		},
	})
}

// scripts lists the scripts; without the real git only those that do not use it.
func scripts(t *testing.T) []string {
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if hasGit() {
		return all
	}
	usesGit := regexp.MustCompile(`(?m)^[!?]? *exec (git |sh .*\bgit )|^\S+ .*\bgit (status|log|rev-parse)`)
	var kept []string
	for _, name := range all {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !usesGit.Match(data) {
			kept = append(kept, name)
		}
	}
	t.Logf("skip: %d of %d scripts need the real git", len(all)-len(kept), len(all))
	return kept
}

type expectKey struct{}

// setupScript gives a script a home of its own with a git identity, and
// registers the check that ends it.
func setupScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	config := "[user]\n\tname = Test Person\n\temail = person@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o666); err != nil {
		return err
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(env.WorkDir), "TZ": "UTC", "LC_ALL": "C.UTF-8",
		"GIT_MERGE_AUTOEDIT": "no", "GIT_TERMINAL_PROMPT": "0",
		"STET_SESSIONS_TRACK": "true", // init would keep transcripts out of git
	} {
		env.Setenv(k, v)
	}
	// The scripts that run as another user must be able to get here.
	command, err := exec.LookPath("stet")
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(env.WorkDir), env.WorkDir, filepath.Dir(filepath.Dir(command))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			return err
		}
	}
	expected := ""
	env.Values[expectKey{}] = &expected
	env.Values[askedKey{}] = &servers{}
	env.Values[embeddedKey{}] = &atomic.Int64{}
	env.Defer(func() {
		if expected != "" {
			env.T().Log("check skipped: the script expects problems: " + expected)
			return
		}
		if err := checkVaultsBelow(env.WorkDir); err != nil {
			env.T().Log(err.Error())
			env.T().FailNow()
		}
	})
	return nil
}

func condition(cond string) (bool, error) {
	switch cond {
	case "git":
		return hasGit(), nil
	case "nobody":
		_, err := exec.LookPath("setpriv")
		return err == nil && os.Getuid() == 0, nil
	case "mount":
		return exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// cmdExits runs a command and wants that exit code: exits 4 stet show nosuch.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE CMD [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func exitCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	ts.Fatalf("run %q: %v", args[0], err)
	return -1
}

// cmdCrash kills a command before its Nth mutating step: crash 7 stet ...
// A command that ends before that step is a failure of the script.
func cmdCrash(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: crash N CMD [ARG...]")
	}
	ts.Setenv("STET_TEST_CRASH", args[0])
	defer ts.Setenv("STET_TEST_CRASH", "")
	if code := exitCode(ts, args[1:]); code != -1 {
		ts.Fatalf("the command ended with exit code %d before step %s", code, args[0])
	}
}

// cmdFull runs a command whose disk is full from the first step on whose label
// begins with LABEL: full LABEL CMD...
func cmdFull(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: full LABEL CMD [ARG...]")
	}
	ts.Setenv("STET_TEST_ERRNO", args[0])
	defer ts.Setenv("STET_TEST_ERRNO", "")
	if code := exitCode(ts, args[1:]); code != 1 {
		ts.Fatalf("exit code %d, want 1", code)
	}
}

func cmdCheckVault(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: checkvault [DIR]")
	}
	dir := "."
	if len(args) == 1 {
		dir = args[0]
	}
	ts.Check(checkVault(ts.MkAbs(dir)))
}

// cmdExpectProblems says why the check that ends the script would fail.
func cmdExpectProblems(ts *testscript.TestScript, _ bool, args []string) {
	why, ok := ts.Value(expectKey{}).(*string)
	if !ok || len(args) == 0 {
		ts.Fatalf("usage: expect-problems WHY")
	}
	*why = strings.Join(args, " ")
}

// cmdJSON compares one field of a JSON file, or the length of a list or map:
// jsoncmp stdout result.hits.0.path memories/a.md; jsoncmp stdout result.hits.len 1.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsoncmp FILE FIELD VALUE")
	}
	var value any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &value); err != nil {
		ts.Fatalf("%s is no JSON: %v", args[0], err)
	}
	got, err := field(value, strings.Split(args[1], "."))
	if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s = %q, want %q (negated: %v)", args[1], got, args[2], neg)
	}
}

func field(value any, path []string) (string, error) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			if key == "len" {
				return strconv.Itoa(len(v)), nil
			}
			next, ok := v[key]
			if !ok {
				return "", fmt.Errorf("no key %q", key)
			}
			value = next
		case []any:
			if key == "len" {
				return strconv.Itoa(len(v)), nil
			}
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return "", fmt.Errorf("no element %q of %d", key, len(v))
			}
			value = v[i]
		default:
			return "", fmt.Errorf("%q is below a %T", key, value)
		}
	}
	if s, ok := value.(string); ok {
		return s, nil
	}
	text, err := json.Marshal(value)
	return string(text), err
}

// cmdAsNobody runs a command without root's power to write anywhere.
func cmdAsNobody(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: as-nobody CODE CMD [ARG...]")
	}
	cmdExits(ts, false, append([]string{args[0], "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"},
		args[1:]...))
}

// cmdSocket makes a Unix socket that nobody listens on.
func cmdSocket(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: mksock FILE")
	}
	// A socket's path may be 108 bytes at most, so it is made by a short one.
	dir, err := os.MkdirTemp("", "s")
	ts.Check(err)
	defer func() { ts.Check(os.RemoveAll(dir)) }()
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	ts.Check(err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	ts.Check(os.Rename(filepath.Join(dir, "s"), ts.MkAbs(args[0])))
	ts.Check(l.Close())
}

// cmdFill writes a file of the words between BEGIN and END, SIZE times a line:
// fill FILE COUNT LINE.
func cmdFill(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: fill FILE COUNT LINE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, strings.ReplaceAll(args[2], "#", strconv.Itoa(i)))
	}
	_, err = f.WriteString(b.String())
	ts.Check(errors.Join(err, f.Close()))
}

// checkVaultsBelow checks every vault in a folder, however it got there.
func checkVaultsBelow(dir string) error {
	var errs []error
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case filepath.ToSlash(strings.TrimPrefix(p, filepath.Dir(filepath.Dir(p)))) == "/.stet/config.yaml":
			if err := checkVault(filepath.Dir(filepath.Dir(p))); err != nil {
				errs = append(errs, err)
			}
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
