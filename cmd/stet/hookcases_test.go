package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/agent/clients"
)

// A hookFixture is an event as a client sends it.
type hookFixture struct {
	Client, Event string
	Input         map[string]any
}

// A hookCase is one thing that is wrong while a client runs its hooks. They share a vault.
type hookCase struct {
	t                     *testing.T
	home, dir, transcript string
	env, as               []string // as is what runs stet
	change                func(key string, v any) any
	more                  map[string]any // beside what the client sends
	torn, open, twice     bool
	release               func() // ends what holds the vault
	mu                    sync.Mutex
	said                  map[string]string // client → what it was given
}

// input is an event of the case: what names its conversation stays, and so does where it is.
func (h *hookCase) input(v any, id string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	maps.Copy(out, h.more)
	for key, v := range m {
		_, deep := v.(map[string]any)
		switch {
		case key == "session_id" || key == "conversation_id":
			v = v.(string) + id
		case deep:
			v = h.input(v, id)
		case key == "cwd":
			v = h.dir
		case key == "workspace_roots":
			v = []string{h.dir}
		case strings.HasSuffix(key, "transcript_path"):
			v = h.transcript
		}
		if h.change != nil && !deep && !strings.HasSuffix(key, "session_id") && key != "conversation_id" {
			if v = h.change(key, v); v == "missing" {
				continue
			}
		}
		out[key] = v
	}
	return out
}

// send runs the hook of an event. It ends well, and gives the client nothing or what that client takes.
func (h *hookCase) send(f hookFixture, id string) {
	data, err := json.Marshal(h.input(f.Input, id))
	if err != nil {
		h.t.Error(err)
		return
	}
	if h.torn {
		data = data[:len(data)/2]
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	args := append(slices.Clone(h.as), "stet", "hook", f.Client, f.Event)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = h.dir, &out, &errs
	cmd.Env = append(stetEnv(h.home), h.env...)
	if cmd.Stdin = bytes.NewReader(data); h.open {
		r, w, perr := os.Pipe()
		if perr != nil {
			h.t.Error(perr)
			return
		}
		defer func() { _ = errors.Join(r.Close(), w.Close()) }()
		if cmd.Stdin = r; len(data) < 4096 { // so that a pipe holds it
			_, err = w.Write(data)
		}
	}
	if err = errors.Join(err, cmd.Run()); err != nil || strings.Contains(errs.String(), "panic") {
		h.t.Errorf("%s %s: %v: %s%s", f.Client, f.Event, err, &out, &errs)
	}
	if out.Len() == 0 {
		return
	}
	c, _ := clients.Find(f.Client)
	e, _ := c.Event(f.Event)
	if err := e.Check(out.Bytes()); err != nil || e.Takes == nil {
		h.t.Errorf("%s %s: %v: %s", f.Client, f.Event, err, &out)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said[f.Client] += out.String()
}

// stetEnv is the environment of a person whose home is that.
func stetEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "STET_HOOKS_WORKER=false",
		"STET_SESSIONS_TRACK=true", "STET_MEMORY_NUDGE_INTERVAL=1",
		"GIT_AUTHOR_NAME=Test Person", "GIT_AUTHOR_EMAIL=person@example.com",
		"GIT_COMMITTER_NAME=Test Person", "GIT_COMMITTER_EMAIL=person@example.com",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}
}

// sh runs a script in the vault.
func (h *hookCase) sh(script string) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Env = h.dir, stetEnv(h.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		h.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// hold takes every lock of the vault until the case is over.
func (h *hookCase) hold() {
	state, err := filepath.Glob(filepath.Join(h.dir, ".git/stet/*/sessions"))
	if err != nil || len(state) != 1 {
		h.t.Fatal(state, err)
	}
	args := []string{"flock", filepath.Join(h.dir, ".git/stet/lock")}
	for _, name := range []string{"sessions", "seen", "queue", "seal", "worker"} {
		args = append(args, "flock", filepath.Join(filepath.Dir(state[0]), name+".lock"))
	}
	cmd := exec.Command(args[0], append(args[1:], "sh", "-c", "echo held; read x")...)
	in, err := cmd.StdinPipe()
	out, oerr := cmd.StdoutPipe()
	if err != nil || oerr != nil || cmd.Start() != nil {
		h.t.Fatal(err, oerr)
	}
	if _, err := out.Read(make([]byte, 4)); err != nil {
		h.t.Fatal(err)
	}
	h.release = func() { _ = in.Close(); _ = cmd.Wait() } // it fails for want of a line
	h.t.Cleanup(h.release)
}

// hookSecret is put together here so that no file holds it.
func hookSecret() string { return "sk_" + "live_" + "aB3dE5gH7jK9mN1pQ3sT5vW7" }

// hookCases are what may be wrong, each of which prepares a vault that holds a memory.
func hookCases() map[string]func(*hookCase) {
	always := func(to any) func(string, any) any { return func(string, any) any { return to } }
	return map[string]func(*hookCase){
		"nothing": func(*hookCase) {},
		"null":    func(h *hookCase) { h.change = always(nil) },
		"missing": func(h *hookCase) { h.change = always("missing") },
		"another type": func(h *hookCase) {
			h.change = func(_ string, v any) any {
				if _, text := v.(string); text {
					return 17.5
				}
				return "text"
			}
		},
		"unknown": func(h *hookCase) {
			h.more = map[string]any{"something_new": []any{map[string]any{"deep": 1}}, "": strings.Repeat("x", 1<<20)}
		},
		"torn":       func(h *hookCase) { h.torn = true },
		"stdin open": func(h *hookCase) { h.open = true },
		"50 MB transcript": func(h *hookCase) {
			h.transcript = filepath.Join(h.home, "talk.jsonl")
			h.sh("head -c 50000000 /dev/zero | tr '\\0' x > ../talk.jsonl")
		},
		"no vault": func(h *hookCase) { h.dir = h.home },
		"read-only vault": func(h *hookCase) {
			if ok, err := condition("nobody"); err != nil || !ok {
				h.t.Skip("skip: needs root and setpriv")
			}
			h.as = []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"}
		},
		"merge": func(h *hookCase) {
			h.sh(`f=$(ls memories/*.md); git checkout -q -b other; echo theirs >> $f; git commit -qam theirs
				git checkout -q -; echo ours >> $f; git commit -qam ours; git merge -q other; test -e .git/MERGE_HEAD`)
		},
		"locks held": func(h *hookCase) {
			if _, err := exec.LookPath("flock"); err != nil {
				h.t.Skip("skip: needs flock")
			}
			h.sh("echo '{\"session_id\":\"s\",\"prompt\":\"Hello.\"}' | stet hook claude-code UserPromptSubmit")
			h.hold()
		},
		"secret": func(h *hookCase) {
			h.change = func(key string, v any) any {
				switch key {
				case "prompt", "text", "user_message", "last_assistant_message", "assistant_response":
					return "Use the key " + hookSecret() + " for payments."
				}
				return v
			}
		},
		"two at once": func(h *hookCase) { h.twice = true },
	}
}

// TestEveryHookWhateverIsWrong runs every event of every client in each case: each ends well, gives the client nothing
// or what it takes, and leaves the vault whole and without a secret, and with each prompt once that could be read.
func TestEveryHookWhateverIsWrong(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	file, err := os.ReadFile("../../agent/hook/testdata/inputs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var fixtures []hookFixture
	for line := range bytes.Lines(file) {
		var f hookFixture
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		fixtures = append(fixtures, f)
	}
	for _, name := range slices.Sorted(maps.Keys(hookCases())) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hookCase{t: t, home: t.TempDir(), said: map[string]string{}, release: func() {}}
			h.dir, h.transcript = filepath.Join(h.home, "v"), filepath.Join(h.home, "gone.jsonl")
			vault := h.dir
			if err := errors.Join(os.Mkdir(h.dir, 0o755), os.Chmod(filepath.Dir(h.home), 0o755)); err != nil {
				t.Fatal(err)
			}
			h.sh("stet init . && stet remember 'The gate code of the office is 4711.'")
			hookCases()[name](h)
			ids := []string{""}
			if h.twice {
				ids = []string{"a", "b"}
			}
			for _, f := range fixtures {
				var both sync.WaitGroup
				for _, id := range ids {
					both.Go(func() { h.send(f, id) })
				}
				both.Wait()
			}
			for _, c := range clients.All() {
				if name == "nothing" && len(c.Events) > 0 && !strings.Contains(h.said[c.Name], "4711") {
					t.Errorf("%s was given %q", c.Name, h.said[c.Name])
				}
			}
			if name == "no vault" && len(h.said) > 0 {
				t.Error(h.said)
			}
			h.release()
			h.dir = vault
			h.sh("! git log -p --all | grep -F " + hookSecret())
			h.sh("! cat .git/stet/*/hook.log 2>/dev/null | grep -F " + hookSecret())
			if strings.Contains(fmt.Sprint(h.said), hookSecret()) {
				t.Error("a secret is shown")
			}
			if name != "merge" {
				h.sh("stet worker run --rules || true; stet session end --all")
				h.sh("rm -f .git/stet/*/hook.log") // which has what is torn, and doctor shows
				h.sh("! git log -p --all | grep -F " + hookSecret())
				if h.change == nil && !h.torn && h.as == nil && name != "no vault" { // each prompt, once
					h.sh(fmt.Sprintf("test $(grep -rhx 'Which port?' sessions | wc -l) = %d", 4*len(ids)))
				}
				if err := checkVault(vault); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
