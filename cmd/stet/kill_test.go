package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/cmd/stet/console"
)

// A victim is one command that is killed at each of its mutating steps.
type victim struct {
	name    string
	files   map[string]string // that stand in the folder before, those called *.sh executable
	prepare [][]string
	args    []string
	// done is what standard output begins with once the write is acknowledged.
	done string
	// before holds exactly of the old state, after of the new one.
	before, after func(dir string) bool
}

// talkFile holds two conversations, beside every vault of a sweep.
const talkFile = "talks.jsonl"

func victims() []victim {
	has := func(name, text string) func(string) bool {
		return func(dir string) bool {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			return err == nil && strings.Contains(string(data), text)
		}
	}
	none := func(name string) func(string) bool {
		return func(dir string) bool {
			_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
			return errors.Is(err, fs.ErrNotExist)
		}
	}
	both := func(a, b func(string) bool) func(string) bool { return func(d string) bool { return a(d) && b(d) } }
	// One that is there in part is none.
	waiting := func(n int) func(string) bool {
		return func(dir string) bool {
			found, err := filepath.Glob(filepath.Join(dir, ".stet", "proposals", "*.md"))
			return err == nil && len(found) == n && !slices.ContainsFunc(found, func(name string) bool {
				data, err := os.ReadFile(name)
				return err != nil || !strings.HasSuffix(string(data), "\nproposed text\n")
			})
		}
	}
	stones := func(dir string) bool {
		found, err := filepath.Glob(filepath.Join(dir, ".stet", "tombstones", "*.yaml"))
		return err == nil && len(found) == 1
	}
	talks := func(n int) func(string) bool {
		return func(dir string) bool {
			found, err := filepath.Glob(filepath.Join(dir, "sessions", "2026", "03", "*.md"))
			return err == nil && len(found) == n && !slices.ContainsFunc(found, func(name string) bool {
				data, err := os.ReadFile(name)
				return err != nil || !strings.HasSuffix(string(data), "\nThe ferry leaves.\n")
			})
		}
	}
	first := []string{"remember", "first text", "--title", "First"}
	stage := []string{"config", "set", "memory.write_approval", "stage"}
	propose := []string{"remember", "proposed text", "--title", "Third", "--as", "robo"}
	return []victim{
		{
			name: "remember", prepare: [][]string{first},
			args: []string{"remember", "second text", "--title", "Second", "--scope", "/deep/down"},
			done: "remembered", before: none("memories/deep/down/second.md"),
			after: has("memories/deep/down/second.md", "second text"),
		},
		{
			name: "supersede", prepare: [][]string{{"remember", "We use PostgreSQL"}},
			args: []string{"remember", "We switched to MySQL"}, done: "remembered",
			before: both(has("memories/we-use-postgresql.md", "We use"), none("memories/we-switched-to-mysql.md")),
			after: both(has("memories/we-switched-to-mysql.md", "supersedes: ["),
				both(none("memories/we-use-postgresql.md"), has("archive/memories/we-use-postgresql.md", "We use"))),
		},
		{
			name: "move", prepare: [][]string{first},
			args: []string{"update", "first", "--scope", "/moved", "--append", "more"}, done: "updated",
			before: both(has("memories/first.md", "first text"), none("memories/moved/first.md")),
			after:  both(has("memories/moved/first.md", "more"), none("memories/first.md")),
		},
		{
			name: "revert", prepare: [][]string{first, {"update", "first", "--text", "changed text"}},
			args: []string{"revert", "HEAD"}, done: "diff", before: has("memories/first.md", "changed text"),
			after: has("memories/first.md", "first text"),
		},
		{ // its transcripts are in the repository before the commit is begun
			name: "import", args: []string{"import", "jsonl", filepath.Join("..", talkFile)},
			done: "added", before: talks(0), after: talks(2),
		},
		{
			name: "propose", prepare: [][]string{first, stage}, args: propose,
			done: "proposed", before: waiting(0), after: both(waiting(1), none("memories/third.md")),
		},
		{
			name: "accept", prepare: [][]string{first, stage, propose, {"review", "--proposed"}},
			args: []string{"review", "--proposed", "--accept-all"},
			done: "accepted", before: both(waiting(1), none("memories/third.md")),
			after: both(waiting(0), has("memories/third.md", "proposed text")),
		},
		{
			name: "reject", prepare: [][]string{first, stage, propose},
			args: []string{"review", "--proposed", "--reject-all"},
			done: "rejected", before: both(waiting(1), func(dir string) bool { return !stones(dir) }),
			after: both(waiting(0), stones),
		},
		{
			name: "archive a skill", files: skillFiles(), prepare: [][]string{{"adopt"}},
			args: []string{"skill", "archive", "deploy"}, done: "archived",
			before: holdsSkill("skills", "archive"), after: holdsSkill("archive/skills", "skills"),
		},
		{
			name: "patch a skill", files: skillFiles(), prepare: [][]string{{"adopt"}},
			args: []string{"skill", "edit", "deploy", "scripts/run.sh", "--match", "bin/sh", "--text", "bin/bash"},
			done: "edited", before: holdsSkill("skills", "archive"),
			after: has("skills/deploy/scripts/run.sh", "bin/bash"),
		},
		{
			name: "restore a skill", files: skillFiles(),
			prepare: [][]string{{"adopt"}, {"skill", "archive", "deploy"}},
			args:    []string{"skill", "restore", "deploy"}, done: "restored",
			before: holdsSkill("archive/skills", "skills"), after: holdsSkill("skills", "archive"),
		},
	}
}

// skillFiles are a skill with a script and bytes that are no text; two of its files are the same.
func skillFiles() map[string]string {
	return map[string]string{
		"skills/deploy/SKILL.md":       "---\nname: deploy\ndescription: d\n---\n",
		"skills/deploy/scripts/run.sh": "#!/bin/sh\n",
		"skills/deploy/logo.bin":       "\x00\xff", "skills/deploy/twin": "\x00\xff",
	}
}

// holdsSkill reports whether a folder holds the whole skill, with the permissions of its script, and
// another one no file.
func holdsSkill(folder, empty string) func(dir string) bool {
	return func(dir string) bool {
		err := filepath.WalkDir(filepath.Join(dir, empty), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				err = fs.ErrExist
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		for name, want := range skillFiles() {
			file := filepath.Join(dir, filepath.FromSlash(strings.Replace(name, "skills", folder, 1)))
			info, err := os.Stat(file)
			data, err2 := os.ReadFile(file)
			if err != nil || err2 != nil || string(data) != want ||
				(info.Mode().Perm()&0o100 != 0) != strings.HasSuffix(name, ".sh") {
				return false
			}
		}
		return true
	}
}

// Killed before any mutating step, a write has happened or has not; what was
// acknowledged has; the next command repairs, and the write can be done again.
func TestKillSweepOfTheCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the sweep needs SIGKILL")
	}
	for _, v := range victims() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			v.sweep(t)
		})
	}
}

// Ctrl-C before the commit point undoes (exit 130), after it the write is
// finished (exit 0); at no step is the vault left in between.
func TestInterruptSweepOfTheCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("skip: the sweep sends SIGINT")
	}
	v := victims()[slices.IndexFunc(victims(), func(v victim) bool { return v.name == "move" })]
	home, model := v.model(t)
	stride := 1
	if testing.Short() {
		stride = 7
		t.Log("short: every seventh step")
	}
	stopped, finished := 0, 0
	for step := 1; ; step += stride {
		dir := v.copy(t, home, model, step)
		out, code := child(t, home, dir, fmt.Sprint("STET_TEST_INTERRUPT=", step), v.args...)
		if !strings.Contains(out, interrupted) {
			break // the command has fewer steps
		}
		switch {
		case code == 130 && v.before(dir) && !v.after(dir):
			stopped++
		case code == 0 && v.after(dir):
			finished++
		default:
			t.Fatalf("step %d: exit %d, old state %v, new state %v\n%s", step, code, v.before(dir), v.after(dir), out)
		}
		// What an interrupted write leaves in the state folder, the next command clears.
		if out, code := here(t.Context(), environ(home), dir, "", "list"); code != 0 {
			t.Fatalf("step %d: list: exit %d\n%s", step, code, out)
		}
		if err := checkVault(dir); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	if stopped == 0 || finished == 0 {
		t.Errorf("stopped %d times, finished %d times: the sweep missed the commit point", stopped, finished)
	}
}

// model makes the vault that each step starts from.
func (v victim) model(t *testing.T) (home, model string) {
	home = t.TempDir()
	model = filepath.Join(home, "model")
	lines := ""
	for _, s := range []string{"a", "b"} {
		lines += `{"session":"` + s + `","date":"2026-03-02","speaker":"user","text":"The ferry leaves."}` + "\n"
	}
	if err := os.WriteFile(filepath.Join(home, talkFile), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range v.files {
		file, mode := filepath.Join(model, filepath.FromSlash(name)), fs.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(model, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range append([][]string{{"init"}}, v.prepare...) {
		if out, code := here(t.Context(), environ(home), model, "", args...); code != 0 {
			t.Fatalf("prepare %q: exit %d\n%s", args, code, out)
		}
	}
	return home, model
}

func (v victim) copy(t *testing.T, home, model string, step int) string {
	dir := filepath.Join(home, fmt.Sprint("at", step))
	if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (v victim) sweep(t *testing.T) {
	home, model := v.model(t)
	stride := 1
	if testing.Short() {
		stride = 5
		t.Log("short: every fifth step")
	}
	killed, sawOld, sawNew := 0, false, false
	for step := 1; ; step += stride {
		dir := v.copy(t, home, model, step)
		out, code := child(t, home, dir, fmt.Sprint("STET_TEST_CRASH=", step), v.args...)
		if code == 0 {
			break // the command has fewer steps
		}
		if code != -1 {
			t.Fatalf("step %d: exit %d, want a kill\n%s", step, code, out)
		}
		killed++
		isNew := v.check(t, home, dir, step, strings.HasPrefix(out, v.done))
		sawOld, sawNew = sawOld || !isNew, sawNew || isNew
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if killed < 20/stride || !sawOld || !sawNew {
		t.Errorf("killed %d times, saw the old state %v, the new state %v: the sweep missed the write", killed, sawOld,
			sawNew)
	}
}

// check looks at a vault after a kill and reports whether the write happened.
func (v victim) check(t *testing.T, home, dir string, step int, acknowledged bool) bool {
	if out, code := here(t.Context(), environ(home), dir, "", "list"); code != 0 {
		t.Fatalf("step %d: list after the kill: exit %d\n%s", step, code, out)
	}
	// A reader leaves nothing half done behind; whether it repaired the disk or
	// only looked past it, the next writer must.
	isNew := v.after(dir)
	if isNew == v.before(dir) {
		t.Fatalf("step %d: neither the old nor the new state", step)
	}
	if acknowledged && !isNew {
		t.Fatalf("step %d: acknowledged and gone", step)
	}
	if err := checkVault(dir); err != nil {
		t.Fatalf("step %d: %v", step, err)
	}
	if !isNew {
		if out, code := here(t.Context(), environ(home), dir, "", v.args...); code != 0 || !v.after(dir) {
			t.Fatalf("step %d: the second try: exit %d\n%s", step, code, out)
		}
		if err := checkVault(dir); err != nil {
			t.Fatalf("step %d, second try: %v", step, err)
		}
	}
	return isNew
}

// child runs the command in a process of its own, with a fault when one is
// given. The exit code of a killed process is -1.
func child(t *testing.T, home, dir, fault string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("stet", args...)
	if args[0] == "init" {
		dir = home
	}
	cmd.Dir = dir
	for key, value := range environ(home) {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	cmd.Env = append(cmd.Env, strings.Fields(fault)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// environ is that of [child] and [here].
func environ(home string) map[string]string {
	return map[string]string{"PATH": os.Getenv("PATH"), "HOME": home, "TMPDIR": home, "STET_SESSIONS_TRACK": "true",
		"GIT_AUTHOR_NAME": "Test Person", "GIT_AUTHOR_EMAIL": "person@example.com"}
}

// here runs the command in this process, for tests that are not about its own: to start one costs more than most
// commands do.
func here(ctx context.Context, env map[string]string, dir, input string, args ...string) (string, int) {
	var out bytes.Buffer
	code := run(ctx, append([]string{"stet"}, args...), console.Host{
		Stdio:  console.Stdio{In: strings.NewReader(input), Out: &out, Err: &out},
		Getenv: func(key string) string { return env[key] }, Dir: dir, PID: os.Getpid(), Now: time.Now,
		Spawn: func(...string) error { return nil }})
	return out.String(), code
}
