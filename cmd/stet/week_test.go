package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A weekAgent is a client with hooks and MCP, as it names things.
type weekAgent struct{ name, start, prompt, answer, message, stop, end, id string }

func weekAgents() []weekAgent {
	return []weekAgent{
		{"claude-code", "SessionStart", "UserPromptSubmit", "", "last_assistant_message", "Stop", "SessionEnd",
			"session_id"},
		{"codex", "SessionStart", "UserPromptSubmit", "", "last_assistant_message", "Stop", "SessionEnd",
			"session_id"},
		{"cursor", "sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "text", "stop", "sessionEnd",
			"conversation_id"},
	}
}

// A week is a vault that sessions of agents share.
type week struct {
	t         *testing.T
	home, dir string
	mu        sync.Mutex
	random    *rand.Rand
	saved     map[string]string // text → session, of what was acknowledged
	tried     map[string]bool
	turns     int
}

// run runs stet; kill ends it at a random moment.
func (w *week) run(kill bool, stdin string, env []string, args ...string) (string, error) {
	cmd := exec.Command("stet", args...)
	var out strings.Builder
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = w.dir, strings.NewReader(stdin), &out, &out
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "TMPDIR=" + w.home,
		"STET_HOOKS_WORKER=false", "STET_SESSIONS_TRACK=true",
		"GIT_AUTHOR_NAME=Test Person", "GIT_AUTHOR_EMAIL=person@example.com"}, env...)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if kill {
		w.mu.Lock()
		after := time.Duration(w.random.IntN(60)) * time.Millisecond
		w.mu.Unlock()
		time.Sleep(after)
		_ = cmd.Process.Kill() // it may have ended
	}
	err := cmd.Wait()
	return out.String(), err
}

// session is one of an agent; the step killAt of it is killed, and it goes no further.
func (w *week) session(a weekAgent, id string, killAt int) {
	step, nudges, dead := 0, 0, false
	tell := func(event string, fields map[string]any) string {
		if dead {
			return ""
		}
		fields[a.id], fields["hook_event_name"], fields["cwd"] = id, event, w.dir
		data, err := json.Marshal(fields)
		if err != nil {
			w.t.Error(err)
		}
		step++
		dead = step == killAt
		out, err := w.run(dead, string(data), nil, "hook", a.name, event)
		if err != nil && !dead {
			w.t.Errorf("%s %s: %v\n%s", id, event, err, out)
		}
		return out
	}
	tell(a.start, map[string]any{"source": "startup"})
	for turn := 1; turn <= w.turns; turn++ {
		tell(a.prompt, map[string]any{"prompt": fmt.Sprintf("Turn %d: what is the berth of %s?", turn, id)})
		if turn == 3 && !dead {
			step++
			dead = step == killAt
			w.save(a, id, dead)
		}
		answer := map[string]any{a.message: fmt.Sprintf("Answer %d.", turn), "status": "completed"}
		if a.answer != "" {
			tell(a.answer, map[string]any{a.message: answer[a.message]})
		}
		out := tell(a.stop, answer)
		nudges += strings.Count(out, "Nothing was saved")
	}
	tell(a.end, map[string]any{"reason": "exit"})
	if most := (w.turns - 3) / 10; nudges > most {
		w.t.Errorf("%s: %d nudges in %d turns of which the third saved", id, nudges, w.turns)
	}
}

// save saves a memory of the session over MCP.
func (w *week) save(a weekAgent, id string, kill bool) {
	text := fmt.Sprintf("The berth of %s is number %x.", id, len(id)*7919+int(id[len(id)-1]))
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":%q,"version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_save","arguments":{"text":%q}}}`+"\n",
		a.name, text)
	w.mu.Lock()
	w.tried[text] = true
	w.mu.Unlock()
	out, err := w.run(kill, call, []string{"STET_SESSION=" + id}, "mcp", "--as", a.name)
	said := strings.Contains(out, `"done":"saved"`)
	if !kill && (err != nil || !said) {
		w.t.Errorf("%s: memory_save: %v\n%s", id, err, out)
	}
	if said {
		w.mu.Lock()
		w.saved[text] = id
		w.mu.Unlock()
	}
}

// Three agents use one vault at once for a week, with hooks and MCP, and each day one of them is killed: every
// memory has its session and is stored once, no nudge repeats, nothing that stet said is kept, the vault is whole.
func TestAWeekOfAgents(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	days, each, turns := 2, 1, 5
	if os.Getenv("STET_FULL") != "" {
		days, each, turns = 5, 2, 14
	} else {
		t.Log("6 sessions of 5 turns (STET_FULL=1 makes 30 of 14)")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	home := t.TempDir()
	w := &week{t: t, home: home, dir: filepath.Join(home, "notes"), random: rand.New(rand.NewPCG(seed, 1)),
		saved: map[string]string{}, tried: map[string]bool{}, turns: turns}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.must("init")
	w.must("remember", "--plain", "The harbour office opens at seven.")
	for day := range days {
		var wg sync.WaitGroup
		killed := w.random.IntN(each * len(weekAgents()))
		for k := range each * len(weekAgents()) {
			killAt := 0
			if k == killed {
				killAt = 1 + w.random.IntN(2*turns+3)
			}
			id := fmt.Sprintf("day%d-session%d", day, k)
			wg.Go(func() { w.session(weekAgents()[k%len(weekAgents())], id, killAt) })
		}
		wg.Wait()
		w.must("worker", "run", "--quiet")
	}
	w.must("session", "end", "--all")
	w.check()
}

func (w *week) must(args ...string) string {
	w.t.Helper()
	out, err := w.run(false, "", nil, args...)
	if err != nil {
		w.t.Fatalf("stet %q: %v\n%s", args, err, out)
	}
	return out
}

// check looks at what the week left.
func (w *week) check() {
	t := w.t
	var listed struct {
		Result struct{ Memories []struct{ Path string } }
	}
	if err := json.Unmarshal([]byte(w.must("list", "--json")), &listed); err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for _, m := range listed.Result.Memories {
		data, err := os.ReadFile(filepath.Join(w.dir, m.Path))
		if err != nil {
			t.Fatal(err)
		}
		for text := range w.tried {
			if !strings.Contains(string(data), text) {
				continue
			}
			times[text]++
			log, err := gitIn(w.dir, "log", "--format=%B", "--diff-filter=A", "--", m.Path)
			if id := w.saved[text]; err != nil || !strings.Contains(string(log), "Stet-Session: "+id) {
				t.Errorf("%s: %v: no session %q in\n%s", m.Path, err, id, log)
			}
		}
	}
	for text := range w.tried {
		if n := times[text]; n > 1 || n == 0 && w.saved[text] != "" {
			t.Errorf("%q is stored %d times, acknowledged in %q", text, n, w.saved[text])
		}
	}
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "<stet-") {
			t.Errorf("%s holds a block of stet's", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	w.must("doctor")
	if err := checkVault(w.dir); err != nil {
		t.Error(err)
	}
}
