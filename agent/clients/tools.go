package clients

import (
	"slices"
	"strings"
)

// A toolVariable says that a process runs as a tool of a program's model, by this value or, with end, by one that
// ends so; "" is any. Variables that programs also set for shells in which a person types are not among them.
type toolVariable struct {
	client, name, value string
	end                 bool
	hooks               bool   // the program sets it for its hooks, too
	source              string // where that is written, and when it was looked up
}

func toolVariables() []toolVariable {
	return []toolVariable{
		{client: "claude-code", name: "CLAUDECODE", value: "1", hooks: true,
			source: "github.com/anthropics/claude-code/issues/531, 2026-11-22"},
		// Its hooks have another ending.
		{client: "claude-code", name: "AI_AGENT", value: "_agent", end: true,
			source: "@anthropic-ai/claude-code of npm, 2026-11-23"},
		{client: "codex", name: "CODEX_THREAD_ID", source: "github.com/openai/codex/issues/36883, 2026-11-22"},
		{client: "cursor", name: "CURSOR_AGENT", value: "1", source: "forum.cursor.com/t/132427, 2026-11-22"},
		{client: "gemini-cli", name: "GEMINI_CLI", value: "1",
			source: "github.com/google-gemini/gemini-cli/blob/main/docs/cli/commands.md, 2026-11-22"},
	}
}

func (v toolVariable) in(getenv func(string) string) bool {
	is := getenv(v.name)
	return is != "" && (v.value == "" || is == v.value || v.end && strings.HasSuffix(is, v.value))
}

// ToolOf is the program whose model runs the process with that environment as a tool, "" where none does. It need not
// be among [All]. A hook of a program may have the same variables: see [RunsHook].
func ToolOf(getenv func(string) string) string {
	for _, v := range toolVariables() {
		if v.in(getenv) {
			return v.client
		}
	}
	return ""
}

// RunsHook reports whether a model runs a hook among its tools, by a variable that no program gives its hooks.
func RunsHook(getenv func(string) string) bool {
	return slices.ContainsFunc(toolVariables(), func(v toolVariable) bool { return !v.hooks && v.in(getenv) })
}

// Harness reports whether that environment is one that the program gives its hooks and never its tools.
func (c Client) Harness(getenv func(string) string) bool {
	return slices.ContainsFunc(toolVariables(), func(v toolVariable) bool {
		return v.client == c.Name && v.end && getenv(v.name) != "" && !v.in(getenv)
	})
}
