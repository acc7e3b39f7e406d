package install_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/agent/clients"
	"stet/agent/install"
)

// written lists the clients whose files are written.
func written() (out []clients.Client) {
	for _, c := range clients.All() {
		if !c.Print {
			out = append(out, c)
		}
	}
	return out
}

func targets(t *testing.T, c clients.Client, binary string, env ...string) []install.Target {
	t.Helper()
	getenv := func(name string) string {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return map[string]string{"HOME": "/home/you"}[name]
	}
	out, err := install.Options{Client: c, Getenv: getenv, Binary: binary}.Targets()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// others are what a file of that format may hold of other people, for the places that a client has.
func others(format install.Format) []string {
	switch format {
	case install.TOML:
		return []string{"", "\n", "model = \"x\"", "# only this\n", "[mcp_servers.other]\ncommand = \"npx\" # why\n\n" +
			"[mcp_servers.other.tools.a]\napproval_mode = \"prompt\"\n", "\ufeffmodel = \"x\"\r\n\r\n[z]\r\na = 1\r\n"}
	case install.YAML:
		return []string{"", "# only this\n", "model: x", "---\nmodel: x\n",
			"mcp_servers:\n    other: # why\n        command: npx\nhooks:\n    pre_llm_call:\n    - command: mine\n" +
				"      timeout: 9\n    other: []\nz: 1\n",
			"hooks:\r\nmcp_servers:\r\n  # nothing yet\r\nmodel: x\r\n"}
	}
	return []string{"", "\n", "{}", "{}\n", `{"a":1}`, "{\n\t\"version\": 1\n}\n",
		"{\n   \"theme\" : \"dark\" ,\n\n   \"z\": [ 1,2 ]\n}",
		"// mine\n{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"npx\"}, // why\n  },\n}\n",
		"{\r\n  \"hooks\": {\r\n    \"Stop\": [],\r\n    \"stop\": [{\"command\": \"mine\"}],\r\n" +
			"    \"SessionStart\": [{\"hooks\": []}]\r\n  }," +
			"\r\n  \"permissions\": {\"allow\": [\"Bash(ls)\"], \"deny\": []}\r\n}\r\n",
		"\ufeff{\"mcpServers\": {}, \"hooks\": {}, \"permissions\": {\"allow\": []}}"}
}

func TestEveryClientIsToldAndForgetsByBytes(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		hooks := 0
		for _, target := range targets(t, c, "/opt/my tools/stet") {
			if target.Text != nil {
				continue
			}
			fixtures := [][]byte{nil}
			for _, text := range others(target.Format) {
				fixtures = append(fixtures, []byte(text))
			}
			for _, in := range fixtures {
				out, err := target.Edit(in)
				if err != nil {
					t.Errorf("%s %s: %q: %v", c.Name, target.Path, in, err)
					continue
				}
				again, err := target.Edit(out)
				if err != nil || !bytes.Equal(again, out) {
					t.Errorf("%s %s: a second install made of %q\n%q (%v)", c.Name, target.Path, out, again, err)
				}
				back, err := target.Clear(out)
				if err != nil || !bytes.Equal(back, in) || (back == nil) != (in == nil) {
					t.Errorf("%s %s: %q became %q\nand then %q (%v)", c.Name, target.Path, in, out, back, err)
				}
				starts, n, err := target.Binaries(out)
				if in == nil {
					hooks += n
				}
				if len(starts) > 0 && !slices.Equal(starts, []string{"/opt/my tools/stet"}) || err != nil {
					t.Errorf("%s %s: starts %q (%v)", c.Name, target.Path, starts, err)
				}
			}
		}
		if hooks != len(c.Events) {
			t.Errorf("%s: %d hooks of %d events", c.Name, hooks, len(c.Events))
		}
	}
}

// Another binary, and what a person added to our entries, change nothing beside them.
func TestAMovedBinaryIsReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		old, now := targets(t, c, "/old/stet"), targets(t, c, "/new/stet")
		for i := range old {
			if old[i].Text != nil {
				continue
			}
			for _, text := range others(old[i].Format) {
				was, err := old[i].Edit([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				is, err := now[i].Edit(was)
				direct, derr := now[i].Edit([]byte(text))
				if err = errors.Join(err, derr); err != nil || !bytes.Equal(is, direct) {
					t.Errorf("%s: %q\nbecame %q\ninstead of %q (%v)", c.Name, was, is, direct, err)
				}
			}
		}
	}
}

func TestEntriesOfAPersonAreNotOurs(t *testing.T) {
	t.Parallel()
	c, _ := clients.Find("claude-code")
	all := targets(t, c, "/bin/stet")
	server, settings := all[0], all[1]
	_, err := server.Edit([]byte("{\"mcpServers\": {\n  \"stet\": {\"command\": \"npx\", \"args\": [\"mcp\"]}}}"))
	if at, ok := errors.AsType[*install.PositionError](err); !ok || at.Line != 2 || at.Column != 11 {
		t.Errorf("another server of our name: %v", err)
	}
	flags := []byte(`{"mcpServers": {"stet": {"command": "/bin/stet", "args": ["mcp", "--read-only"], "env": {}}}}`)
	if out, err := server.Edit(flags); err != nil || !bytes.Equal(out, flags) {
		t.Errorf("flags of a person's became %q (%v)", out, err)
	}
	mixed := []byte(`{"hooks": {"Stop": [{"matcher": "", "hooks": [` +
		`{"type": "command", "command": "say done"}, {"command": "'/a b/stet' hook claude-code Stop"}]},` +
		` {"hooks": [{"type": "command", "command": "stet-lint hook"}, {"command": "x stet hook"}, {}, null]}]}}`)
	want := strings.Replace(string(mixed), `, {"command": "'/a b/stet' hook claude-code Stop"}`, "", 1)
	out, err := settings.Clear(mixed)
	if err != nil || string(out) != want {
		t.Errorf("got  %s\nwant %s (%v)", out, want, err)
	}
}

func TestVariablesMoveTheFilesOfAClient(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		if c.Hooks.Home == "" {
			continue
		}
		for _, target := range targets(t, c, "/bin/stet", c.Hooks.Home, "/elsewhere") {
			shared := strings.Contains(target.Path, ".agents")
			if inside := strings.HasPrefix(filepath.ToSlash(target.Path), "/elsewhere/"); inside == shared {
				t.Errorf("%s: %s", c.Name, target.Path)
			}
		}
	}
}

func TestTheSkillIsOneAndKnowsItself(t *testing.T) {
	t.Parallel()
	text := install.Skill()
	if n := bytes.Count(text, []byte("\n")); n >= 120 {
		t.Errorf("%d lines", n)
	}
	if !install.OwnsSkill(text) || install.OwnsSkill(bytes.Replace(text, []byte("Search"), []byte("Find"), 1)) ||
		install.OwnsSkill(append(text, "more\n"...)) || install.OwnsSkill([]byte("---\nname: stet\n---\n")) {
		t.Error("a skill that somebody edited counts as ours, or ours does not")
	}
}

func TestQuoteAndWhatAShellReads(t *testing.T) {
	t.Parallel()
	for _, binary := range []string{"/bin/stet", "/a b/stet", `/it's/stet`, `/"q"/stet`, "/ü/stet", `/a\b/stet`} {
		line := install.Quote(binary, "hook", "codex", "Stop")
		f := install.File{Format: install.JSON}
		entry := install.Entry{Keys: []string{"hooks", "Stop"}, Value: install.Map{{Key: "command", Value: line}}}
		f.Places = []install.Place{{Keys: []string{"hooks", "Stop"}, Owns: func(_ string, v any) bool {
			got, _ := v.(map[string]any)["command"].(string)
			return got == line
		}}}
		out, err := f.Add(nil, []install.Entry{entry})
		if err != nil {
			t.Fatal(err)
		}
		starts, n, err := install.Target{File: f}.Binaries(out)
		if err != nil || n != 1 || fmt.Sprint(starts) != fmt.Sprint([]string{binary}) {
			t.Errorf("%s: %q, %d hooks (%v)", line, starts, n, err)
		}
	}
}
