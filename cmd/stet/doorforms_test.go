package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A payload is what a door of machines takes, around a text that JSON takes as it is; FILE in the line is a file
// with it.
type payload struct {
	line, file, in string
	refuses        bool // such a text is not stored at all
}

func payloads() []payload {
	const call = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"codex","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_save",` +
		`"arguments":{"text":"TEXT"}}}` + "\n"
	const hook = `{"session_id":"s","cwd":"DIR","prompt":"TEXT","last_assistant_message":"TEXT"}`
	return []payload{
		{line: "remember --batch -", in: `{"text":"TEXT"}` + "\n", refuses: true},
		{line: "remember --batch - --each", in: `{"text":"A calm one."}` + "\n" + `{"text":"TEXT"}`,
			refuses: true},
		{line: "tool call memory_save -", in: `{"text":"TEXT"}`, refuses: true},
		{line: "tool call memory_save -", in: `{"items":["TEXT"]}`, refuses: true},
		{line: "mcp", in: call, refuses: true},
		{line: "profile add --as robo -- RAW", refuses: true},
		{line: "core add --as robo -- RAW", refuses: true},
		{line: "observe --session o --role user -", in: "RAW"},
		{line: "hook claude-code UserPromptSubmit", in: hook},
		{line: "hook codex UserPromptSubmit", in: hook},
		{line: "import jsonl FILE", file: `{"session":"s","speaker":"user","date":"2026-03-02","text":"TEXT"}`},
		{line: "import claude-code FILE", file: `{"type":"user","uuid":"u","sessionId":"s",` +
			`"timestamp":"2026-03-02T09:00:00Z","cwd":"/a","message":{"role":"user","content":"TEXT"}}` + "\n" +
			`{"type":"assistant","uuid":"v","parentUuid":"u","sessionId":"s","timestamp":"2026-03-02T09:00:01Z",` +
			`"message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"n",` +
			`"input":{"command":"TEXT"}}]}}`},
		{line: "import codex FILE", file: `{"timestamp":"2026-04-01T09:00:00Z","type":"session_meta",` +
			`"payload":{"id":"c","cwd":"/a"}}` + "\n" + `{"timestamp":"2026-04-01T09:00:01Z",` +
			`"type":"response_item","payload":{"type":"message","role":"user",` +
			`"content":[{"type":"input_text","text":"TEXT"}]}}`},
		{line: "import chatgpt FILE", file: `[{"id":"g","title":"TEXT","current_node":"a","mapping":{"a":{"id":"a",` +
			`"parent":null,"message":{"id":"a","author":{"role":"user"},"content":{"content_type":"text",` +
			`"parts":["TEXT"]}}}}}]`},
		{line: "import claude-ai FILE", file: `[{"uuid":"u","name":"TEXT","chat_messages":[{"uuid":"m",` +
			`"sender":"human","text":"TEXT","attachments":[{"file_name":"f","extracted_content":"TEXT"}]}]}]`},
		{line: "import hermes FILE", file: `{"id":"h","started_at":1770026400.25,"messages":[{"id":1,` +
			`"role":"user","content":"TEXT"}]}`},
		{line: "import openai FILE", file: `{"messages":[{"role":"user","content":"TEXT"}]}`},
		{line: "import mcp-memory FILE", file: `{"type":"entity","name":"Ferry","entityType":"thing",` +
			`"observations":["TEXT"]}`},
		{line: "import basic-memory FOLDER", file: "---\ntitle: Ferry\n---\nRAW\n"},
		{line: "skill install FOLDER", file: "---\nname: ferry\ndescription: Runs it.\n---\nRAW\n", refuses: true},
	}
}

// Keys of many kinds, through every door that machines and other programs' files have: none of them stands in an
// object of git, and what is not refused is there without them.
func TestNoDoorBringsAKeyIntoHistory(t *testing.T) {
	t.Parallel()
	if !hasGit() {
		t.Skip("skip: needs git")
	}
	random := "x7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe" // the keys are made here: none stands in the repository
	keys := []string{"ghp" + "_" + random, "AKIA" + "Q4RT7WXZ2MNPL6VB", "sk-ant-" + "api03-" + random + random,
		"gsk" + "_" + random + random[:16], "hf" + "_" + strings.Repeat("qwxzkjvbpm", 4)[:34],
		"glpat" + "-" + random[:20], "tvly" + "-" + random[:32]}
	raw := "The ferry's keys: " + strings.Join(keys, ", ") + " and password: hun" + "ter2zz9. The ferry is blue."
	for n, p := range payloads() {
		home := t.TempDir()
		dir, file := filepath.Join(home, "notes"), filepath.Join(home, "in", "ferry", "SKILL.md")
		fill := strings.NewReplacer("RAW", raw, "TEXT", raw, "DIR", dir)
		for _, f := range []string{file, filepath.Join(home, "in", "x.jsonl")} {
			if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f, []byte(fill.Replace(p.file)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		env := environ(home)
		env["STET_SESSIONS_TRACK"], env["STET_HOOKS_WORKER"] = "true", "false"
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		here(t.Context(), env, dir, "", "init")
		var args []string
		for _, word := range strings.Fields(p.line) {
			args = append(args, strings.NewReplacer("FILE", filepath.Join(home, "in", "x.jsonl"), "FOLDER",
				filepath.Dir(file), "RAW", raw).Replace(word))
		}
		out, code := here(t.Context(), env, dir, fill.Replace(p.in), args...)
		for _, id := range []string{"o", "s"} {
			here(t.Context(), env, dir, "", "session", "end", id) // seals and commits what was recorded
		}
		objects, err := gitIn(dir, "cat-file", "--batch-all-objects", "--batch")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range append(keys, "hunter2"+"zz9") {
			if bytes.Contains(objects, []byte(key)) {
				t.Errorf("door %d, stet %s: a key %.5s… stands in git's objects", n, p.line, key)
			}
		}
		if stored := bytes.Contains(objects, []byte("The ferry is blue.")); stored == p.refuses {
			t.Errorf("door %d, stet %s: exit %d, stored %v\n%s", n, p.line, code, stored, fmt.Sprintf("%.600s", out))
		}
	}
}
