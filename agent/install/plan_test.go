package install_test

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/agent/clients"
	"stet/agent/install"
	"stet/templates"
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
	return targetsOf(t, install.Options{Client: c, Binary: binary}, env...)
}

// edited is what becomes of a file by the options, and of what is known of it.
func edited(t *testing.T, o install.Options, i int, data []byte, rec install.Record) ([]byte, install.Record) {
	t.Helper()
	c, err := targetsOf(t, o)[i].Edit(data, rec)
	if err != nil {
		t.Fatalf("%s: %q: %v", o.Client.Name, data, err)
	}
	return c.Data, c.Record
}

func targetsOf(t *testing.T, o install.Options, env ...string) []install.Target {
	t.Helper()
	getenv := func(name string) string {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return map[string]string{"HOME": "/home/you"}[name]
	}
	o.Getenv = getenv
	out, err := o.Targets()
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
		o := install.Options{Client: c, Binary: "/opt/my tools/stet"}
		gone := o
		gone.Gone = true
		for i, target := range targetsOf(t, o) {
			if target.Text != nil {
				continue
			}
			fixtures := [][]byte{nil}
			for _, text := range others(target.Format) {
				fixtures = append(fixtures, []byte(text))
			}
			for _, in := range fixtures {
				out, rec := edited(t, o, i, in, nil)
				again, recAgain := edited(t, o, i, out, rec)
				if !bytes.Equal(again, out) || !maps.Equal(rec, recAgain) {
					t.Errorf("%s %s: a second install made of %q\n%q", c.Name, target.Path, out, again)
				}
				back, rest := edited(t, gone, i, out, rec)
				if !bytes.Equal(back, in) || (back == nil) != (in == nil) || len(rest) > 0 {
					t.Errorf("%s %s: %q became %q\nand then %q", c.Name, target.Path, in, out, back)
				}
				starts, n, missing, err := target.Look(out, rec)
				if in == nil {
					hooks += n
				}
				if len(starts) > 0 && !slices.Equal(starts, []string{"/opt/my tools/stet"}) || err != nil ||
					missing > 0 {
					t.Errorf("%s %s: starts %q (%v)", c.Name, target.Path, starts, err)
				}
			}
		}
		if hooks != len(c.Events) {
			t.Errorf("%s: %d hooks of %d events", c.Name, hooks, len(c.Events))
		}
	}
}

// Another binary changes its path alone, and what the user wrote into our entries stays.
func TestAMovedBinaryIsReplaced(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		was, is := install.Options{Client: c, Binary: "/old/stet"}, install.Options{Client: c}
		is.Binary = "/new/place/stet"
		for i, target := range targetsOf(t, was) {
			if target.Text != nil {
				continue
			}
			for _, text := range others(target.Format) {
				old, rec := edited(t, was, i, []byte(text), nil)
				own := strings.NewReplacer("mcp\"", "mcp\", \"--read-only\"", "\"timeout\": 10", "\"timeout\": 77",
					"timeout: 10", "timeout: 77 # slow")
				now, _ := edited(t, is, i, []byte(own.Replace(string(old))), rec)
				want := strings.ReplaceAll(own.Replace(string(old)), "/old/", "/new/place/")
				if target.Format == install.YAML { // a plain text has become one in quotes
					want = strings.ReplaceAll(want, "'", "")
				}
				if string(now) != want {
					t.Errorf("%s: %q\nbecame %q\ninstead of %q", c.Name, old, now, want)
				}
			}
		}
	}
}

// What stood in a file before us, whatever it is, is there after us, byte by byte, also where it started another stet.
func TestWhatStoodThereBeforeUsStays(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		mine := install.Options{Client: c, Binary: "/home/you/stet"}
		o := install.Options{Client: c, Binary: "/opt/stet"}
		gone := o
		gone.Gone = true
		for i, target := range targetsOf(t, o) {
			for _, some := range []func(*install.Options){
				func(*install.Options) {},
				func(o *install.Options) { o.MCPOnly = true },
				func(o *install.Options) { o.Ask = true },
				func(o *install.Options) { o.MCPOnly, o.Ask, o.Binary = true, true, "/opt/stet" },
			} {
				before := mine
				some(&before)
				for _, text := range append(others(target.Format), "") {
					if target.Text != nil {
						text = ""
					}
					in, _ := edited(t, before, i, []byte(text), nil)
					if target.Format == install.YAML {
						in = bytes.ReplaceAll(in, []byte(`"`), nil)
					}
					out, rec := edited(t, o, i, in, nil)
					if back, _ := edited(t, gone, i, out, rec); !bytes.Equal(back, in) {
						t.Errorf("%s %s: %q became %q\nand then %q", c.Name, target.Path, in, out, back)
					}
				}
			}
		}
	}
}

// What the user took out of a file after an install stays out, until nothing of us is left there.
func TestWhatIsTakenOutStaysOut(t *testing.T) {
	t.Parallel()
	c, _ := clients.Find("claude-code")
	o := install.Options{Client: c, Binary: "/bin/stet"}
	out, rec := edited(t, o, 1, nil, nil)
	own := []byte(strings.Replace(string(out), `,
      "mcp__stet__memory_save"`, "", 1))
	change, err := targetsOf(t, o)[1].Edit(own, rec)
	if err != nil || bytes.Equal(own, out) || !bytes.Equal(change.Data, own) ||
		!slices.Equal(change.Out, []string{"mcp__stet__memory_save"}) {
		t.Errorf("%q became %q (%v, %v)", own, change.Data, change.Out, err)
	}
	if again, _ := edited(t, o, 1, []byte("{}"), rec); !bytes.Contains(again, []byte("memory_save")) {
		t.Errorf("an emptied file became %q", again)
	}
	c, _ = clients.Find("codex")
	o = install.Options{Client: c, Binary: "/bin/stet"}
	out, rec = edited(t, o, 0, []byte("model = \"x\"\n"), nil)
	own = bytes.Replace(out, []byte(`"approve"`), []byte(`"prompt"`), 1)
	if again, _ := edited(t, o, 0, own, rec); bytes.Equal(own, out) || !bytes.Equal(again, own) {
		t.Errorf("%q became %q", own, again)
	}
}

// What is not wanted any more is taken out, and nothing else; it comes back when it is wanted again.
func TestPartsAreTakenOutAgain(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		o := install.Options{Client: c, Binary: "/bin/stet"}
		for i := range targetsOf(t, o) {
			all, rec := edited(t, o, i, nil, nil)
			for _, less := range []install.Options{{MCPOnly: true}, {Ask: true}, {MCPOnly: true, Ask: true}} {
				less.Client, less.Binary = c, o.Binary
				want, _ := edited(t, less, i, nil, nil)
				got, left := edited(t, less, i, all, rec)
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %q became %q\ninstead of %q", c.Name, all, got, want)
				}
				again, _ := edited(t, o, i, got, left)
				if !bytes.Equal(again, all) && len(again) != len(all) {
					t.Errorf("%s: %q became %q", c.Name, got, again)
				}
			}
		}
	}
}

// Without a record what starts us is ours, and what may be called unasked stays, unless it is a part of what is ours.
func TestWithoutARecordWhatStartsUsIsOurs(t *testing.T) {
	t.Parallel()
	for _, c := range written() {
		o := install.Options{Client: c, Binary: "/bin/stet"}
		for i, target := range targetsOf(t, o) {
			out, _ := edited(t, o, i, nil, nil)
			o.Gone = true
			change, err := targetsOf(t, o)[i].Edit(out, nil)
			o.Gone = false
			if err != nil {
				t.Fatal(err)
			}
			if kept := c.Name == "claude-code" && i == 1; kept != (len(change.Kept) == 4) ||
				kept != bytes.Contains(change.Data, []byte("memory_save")) ||
				bytes.Contains(change.Data, []byte("/bin/stet")) {
				t.Errorf("%s: %q, kept %v", target.Path, change.Data, change.Kept)
			}
		}
	}
}

func TestEntriesOfAPersonAreNotOurs(t *testing.T) {
	t.Parallel()
	c, _ := clients.Find("claude-code")
	o := install.Options{Client: c, Binary: "/bin/stet"}
	theirs := []byte("{\"mcpServers\": {\n  \"stet\": {\"command\": \"npx\", \"args\": [\"mcp\"]}}}")
	_, err := targetsOf(t, o)[0].Edit(theirs, nil)
	if at, ok := errors.AsType[*install.PositionError](err); !ok || at.Line != 2 || at.Column != 11 {
		t.Errorf("another server of our name: %v", err)
	}
	flags := []byte(`{"mcpServers": {"stet": {"command": "/bin/stet", "args": ["mcp", "--read-only"], "env": {}}}}`)
	if out, _ := edited(t, o, 0, flags, nil); !bytes.Equal(out, flags) {
		t.Errorf("flags of a person's became %q", out)
	}
	mixed := []byte(`{"hooks": {"Stop": [{"matcher": "", "hooks": [` +
		`{"type": "command", "command": "say done"}, {"command": "'/a b/stet-2.exe' hook claude-code Stop"}]},` +
		` {"hooks": [{"type": "command", "command": "stet-lint hook"}, {"command": "x stet hook"}, {}, null,` +
		` {"command": "/opt/stetson hook claude-code Stop"}]}]}}`)
	want := strings.Replace(string(mixed), `, {"command": "'/a b/stet-2.exe' hook claude-code Stop"}`, "", 1)
	o.Gone = true
	if out, _ := edited(t, o, 1, mixed, nil); string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
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
		words := []string{binary, "hook", "codex", ""}
		line := templates.ShellLine(words...)
		if got := install.Words(line); !slices.Equal(got, words) || words[0] != binary {
			t.Errorf("%s: %q", line, got)
		}
	}
}
