package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/agent/tools"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

// newBox is the tools over a new vault with one memory of the user's, and the vault's folder.
func newBox(t testing.TB, o tools.Options) (*tools.Box, string) {
	t.Helper()
	dir := vaulttest.New(t).Dir
	open := agent.Options{At: dir, Dir: dir, Door: "test", Now: time.Now, Getenv: func(string) string { return "" }}
	open.Agent = "codex"
	app, err := agent.Open(t.Context(), open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(); err != nil {
			t.Error(err)
		}
	})
	return tools.New(app, o), dir
}

func call(t testing.TB, b *tools.Box, name, args string) map[string]any {
	t.Helper()
	reply, err := b.Call(t.Context(), name, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	var out map[string]any
	if err := json.Unmarshal([]byte(reply), &out); err != nil {
		t.Fatalf("%s %s: the reply is no JSON: %v: %s", name, args, err, reply)
	}
	return out
}

func head(t testing.TB, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "refs", "heads", "main"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What no tool can mean is refused with a reply, and nothing is written: every tool times every kind
// of bad argument.
func TestBadArgumentsAreRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	b, dir := newBox(t, tools.Options{})
	bad := []string{`[]`, `"x"`, `7`, `nul`, `{`, `{"a"`, `{"a":}`, `{} {}`, `{"nosuch": 1}`, "\x00",
		"{\"text\":\"\xff",
		`{"ref": "a", "ref": "b"}`, `{"query": 7}`, `{"text": {"a": 1}}`, `{"ref": ["a"]}`, `{"limit": "many"}`,
		`{"limit": -1}`, `{"limit": 1.5}`,
		`{"importance": "NaN"}`, `{"text": ""}`, `{"query": "  "}`, `{"ref": null}`,
		strings.Repeat(`{"a":`, 20000)}
	before := head(t, dir)
	for _, tool := range b.Tools() {
		for _, args := range bad {
			if out := call(t, b, tool.Name, args); out["ok"] != false || out["error"] == "" {
				t.Errorf("%s %.40s: %v", tool.Name, args, out)
			}
		}
	}
	if after := head(t, dir); after != before {
		t.Error("a refused call wrote")
	}
}

// The schema of each tool is an object that allows nothing beside its properties.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, tool := range tools.New(nil, tools.Options{}).Tools() {
		var s struct {
			Type                 string         `json:"type"`
			Properties           map[string]any `json:"properties"`
			Required             []string       `json:"required"`
			AdditionalProperties *bool          `json:"additionalProperties"`
		}
		if err := json.Unmarshal(tool.Schema, &s); err != nil {
			t.Fatal(err)
		}
		if s.Type != "object" || len(s.Properties) == 0 || s.AdditionalProperties == nil || *s.AdditionalProperties {
			t.Errorf("%s: %s", tool.Name, tool.Schema)
		}
		for _, name := range s.Required {
			if s.Properties[name] == nil {
				t.Errorf("%s: %s is required and not there", tool.Name, name)
			}
		}
		if n := len(tool.Description); n < 60 || n > 900 {
			t.Errorf("%s: a description of %d characters", tool.Name, n)
		}
	}
}

// A call that fails the same way is tried three times, then refused until the vault has changed; what failed for
// another reason does not count, and a call about something else counts for itself.
func TestAFailingCallIsTriedThreeTimes(t *testing.T) {
	t.Parallel()
	b, dir := newBox(t, tools.Options{})
	gone := `{"ref": "nothing"}`
	for range 3 {
		if out := call(t, b, "memory_read", gone); !strings.Contains(out["error"].(string), "not found") {
			t.Fatal(out)
		}
	}
	for range 2 {
		if out := call(t, b, "memory_read", `{"ref": "nothing", "offset": 2}`); !strings.Contains(
			out["error"].(string), "failed 3 times") {
			t.Error(out)
		}
	}
	if out := call(t, b, "memory_read", `{"ref": "other"}`); !strings.Contains(out["error"].(string), "not found") {
		t.Error(out)
	}
	call(t, b, "memory_save", `{"text": "It is here now.", "title": "Nothing"}`)
	if out := call(t, b, "memory_read", `{"ref": "nothing", "offset": 3}`); out["ok"] != true {
		t.Error("the vault has changed, and the call was not tried again:", out)
	}
	var busy error
	app, err := agent.Open(t.Context(), agent.Options{Dir: dir, Agent: "codex", Now: time.Now,
		Getenv: func(string) string { return "" }, Hook: func(durable.Step) error { return busy }})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	save := `{"text": "Somebody else is writing."}`
	for busy = vault.ErrBusy; busy != nil; {
		for range 4 {
			if out := call(t, b.On(app), "memory_save", save); !strings.Contains(fmt.Sprint(out["error"]), "locked") {
				t.Error(out)
			}
		}
		busy = nil
	}
	if out := call(t, b.On(app), "memory_save", save); out["ok"] != true {
		t.Error("that others were writing counts:", out)
	}
}

// What a reply says is asked of the call, and what a call says is heard: nothing is passed over.
func TestArgumentsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	b, _ := newBox(t, tools.Options{})
	for _, args := range []string{`{"session": "x", "role": "user"}`, `{"session": "x", "limit": 3}`,
		`{"role": "user"}`, `{"from": 3}`, `{"session": "x", "from": 1, "around": 2}`, `{"query": "x", "from": 1}`} {
		if out := call(t, b, "session_search", args); !strings.Contains(fmt.Sprint(out["error"]), "takes no") {
			t.Error(args, out)
		}
	}
	for _, args := range []string{`{"action": "log", "rev": "HEAD"}`, `{"action": "diff", "rev": "HEAD", "limit": 1}`,
		`{"action": "diff", "rev": "HEAD", "apply": true}`, `{"action": "log", "because": "x"}`} {
		if out := call(t, b, "history", args); !strings.Contains(fmt.Sprint(out["error"]), "takes no") {
			t.Error(args, out)
		}
	}
}

// A memory may have "#" in its name, and is no entry of a notebook for it.
func TestAFileWithANumberSign(t *testing.T) {
	t.Parallel()
	b, dir := newBox(t, tools.Options{})
	call(t, b, "memory_save", `{"text": "Ann likes memories/c#.md.", "to": "MEMORY.md"}`)
	if err := os.MkdirAll(filepath.Join(dir, "memories"), 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "memories", "c#.md")
	if err := os.WriteFile(file, []byte("# C sharp\n\nIt has tabs.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	core, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
	if err != nil || !strings.Contains(string(core), "Ann likes") {
		t.Fatal(err, string(core))
	}
	for name, args := range map[string]string{"memory_edit": `{"ref": "memories/c#.md", "text": "It has blanks."}`,
		"memory_forget": `{"ref": "memories/c#.md"}`} {
		out := call(t, b, name, args)
		if path := fmt.Sprint(out["path"]); out["done"] != "proposed" || !strings.HasSuffix(path, "memories/c#.md") {
			t.Error(name, out)
		}
	}
	if now, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err != nil || string(now) != string(core) {
		t.Error(err, string(now))
	}
}

// Of several things that wait each is told.
func TestAllThatWaitsIsTold(t *testing.T) {
	t.Parallel()
	b, dir := newBox(t, tools.Options{})
	app, err := agent.Open(t.Context(), agent.Options{Dir: dir, Agent: "codex", Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"STET_MEMORY_WRITE_APPROVAL": "stage"}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	out := call(t, b.On(app), "memory_save", `{"items": [{"text": "The gate is red."}, {"text": "The barn is blue."}]}`)
	if notes := fmt.Sprint(out["notes"]); out["done"] != "proposed" || strings.Count(notes, "proposal ") != 2 {
		t.Error(out)
	}
}

func TestOnlySomeToolsAndActions(t *testing.T) {
	t.Parallel()
	b, _ := newBox(t, tools.Options{Only: []string{"memory_save"}})
	if n := len(b.Tools()); n != 1 {
		t.Errorf("%d tools", n)
	}
	if out := call(t, b, "memory_read", `{"ref": "x"}`); !strings.Contains(out["error"].(string), "no tool") {
		t.Error(out)
	}
}

// A vault that was opened for the user would show what is private: the caller is told to stop. So is one
// whose context is over.
func TestTheCallerIsToldToStop(t *testing.T) {
	t.Parallel()
	b, dir := newBox(t, tools.Options{})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Call(over, "memory_search", json.RawMessage(`{"query": "x"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	app, err := agent.Open(t.Context(), agent.Options{At: dir, Dir: dir, Now: time.Now,
		Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close()
	if _, err := tools.New(app, tools.Options{Agent: "x"}).Call(t.Context(), "memory_search",
		json.RawMessage(`{"query": "x"}`)); err == nil {
		t.Error("tools worked on the user's own view")
	}
}

// Any JSON, and what is none, for any tool: no panic, a reply in JSON, and no write where it was refused.
func FuzzCall(f *testing.F) {
	for _, tool := range tools.New(nil, tools.Options{}).Tools() {
		f.Add(tool.Name, `{"text": "a", "ref": "b"}`)
		f.Add(tool.Name, `{"action": "view", "name": "x", "file": "../../a"}`)
	}
	b, dir := newBox(f, tools.Options{})
	f.Fuzz(func(t *testing.T, name, args string) {
		before := head(t, dir)
		reply, err := b.Call(t.Context(), name, json.RawMessage(args))
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			OK bool `json:"ok"`
		}
		if err := json.Unmarshal([]byte(reply), &out); err != nil {
			t.Fatalf("the reply is no JSON: %v: %s", err, reply)
		}
		if !out.OK && head(t, dir) != before {
			t.Fatalf("a refused call wrote: %s %s", name, args)
		}
	})
}

// A review changes only files of a skill that it has seen; a new file is no change.
func TestAReviewViewsBeforeItChanges(t *testing.T) {
	t.Parallel()
	b, _ := newBox(t, tools.Options{})
	made := `{"action": "create", "name": "deploy", "description": "How to deploy: when asked.", "text": "Step one."}`
	if out := call(t, b, "skill", made); out["ok"] != true {
		t.Fatal(out)
	}
	r, _ := newBox(t, tools.Options{Review: true, Only: []string{"skill.list", "skill.view", "skill.create",
		"skill.edit", "skill.patch", "skill.write_file"}})
	if out := call(t, r, "skill", made); out["ok"] != true {
		t.Fatal(out)
	}
	patch := `{"action": "patch", "name": "deploy", "old": "one", "new": "two"}`
	steps := []struct {
		args string
		ok   bool
	}{
		{patch, false},
		{`{"action": "edit", "name": "deploy", "text": "x"}`, false},
		{`{"action": "write_file", "name": "deploy", "file": "references/a.md", "text": "a"}`, true},
		{`{"action": "write_file", "name": "deploy", "file": "references/a.md", "text": "b"}`, false},
		{`{"action": "delete", "name": "deploy", "reason": "x"}`, false},
		{`{"action": "view", "name": "deploy"}`, true},
		{patch, true},
		{`{"action": "view", "name": "deploy", "file": "references/a.md"}`, true},
		{`{"action": "write_file", "name": "deploy", "file": "references/a.md", "text": "b"}`, true},
	}
	for _, s := range steps {
		if out := call(t, r, "skill", s.args); out["ok"] != s.ok {
			t.Errorf("%s: %v", s.args, out)
		}
	}
}

// A long text comes in pages, and the pages are the text.
func TestAReplyIsSmall(t *testing.T) {
	t.Parallel()
	b, _ := newBox(t, tools.Options{})
	long := strings.Repeat("All work and no play makes Jack a dull boy. ", 1000)
	args, err := json.Marshal(map[string]string{"text": long, "title": "Long"})
	if err != nil {
		t.Fatal(err)
	}
	call(t, b, "memory_save", string(args))
	whole := ""
	for next := 0.0; ; {
		reply, err := b.Call(t.Context(), "memory_read", fmt.Appendf(nil, `{"ref": "long", "offset": %v}`, next))
		if err != nil || len(reply) > 10000 {
			t.Fatalf("%d bytes, %v", len(reply), err)
		}
		out := call(t, b, "memory_read", fmt.Sprintf(`{"ref": "long", "offset": %v}`, next))
		whole += out["text"].(string)
		if out["next_offset"] == nil {
			break
		}
		next = out["next_offset"].(float64)
	}
	if whole != strings.TrimSpace(long) && whole != long {
		t.Errorf("%d characters in pages, %d stored", len(whole), len(long))
	}
}
