package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stet/agent"
	"stet/agent/mcp"
	"stet/vault/durable"
	"stet/vault/vaulttest"
)

const (
	gate   = "01m839dkn9gypfcd9phvd8vj3e"
	cellar = "01m839dkn9gypfcd9phvd8vj3f"
)

// newVault is a vault of Ann's with a public and a private memory, and more files.
func newVault(t testing.TB, files ...string) string {
	t.Helper()
	return vaulttest.New(t, append(files,
		"memories/gate.md", "---\nid: "+gate+"\n---\n\n# The gate\n\nThe gate code is 4711.\n",
		"memories/cellar.md", "---\nid: "+cellar+"\nprivate: true\n---\n\n# The cellar\n\nThe wine code is 9911.\n",
		"USER.md", "# User\n\n- Ann lives in Prague.\n")...).Dir
}

// options are those of a server in a folder, with variables as pairs of name and value.
func options(dir string, env ...string) mcp.Options {
	vars := map[string]string{}
	for i := 0; i < len(env); i += 2 {
		vars[env[i]] = env[i+1]
	}
	return mcp.Options{Version: "1", Log: io.Discard, App: agent.Options{Dir: dir, Now: time.Now,
		Getenv: func(name string) string { return vars[name] }}}
}

// A client is one end of a server's streams.
type client struct {
	t     testing.TB
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
	id    int
}

// begin starts a server. It must end by itself when the client has gone.
func begin(t testing.TB, o mcp.Options) *client {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, in: toServer, out: bufio.NewReader(fromServer), ended: make(chan error, 1)}
	o.In, o.Out = in, out
	go func() {
		c.ended <- mcp.Serve(t.Context(), o)
		out.Close()
	}()
	return c
}

func (c *client) end() {
	c.t.Helper()
	c.in.Close()
	if rest, err := io.ReadAll(c.out); err != nil || len(rest) > 0 {
		c.t.Errorf("the server said more: %q, %v", rest, err)
	}
	if err := <-c.ended; err != nil {
		c.t.Error(err)
	}
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) next() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return line
}

// ask sends a request and returns the line with the answer.
func (c *client) ask(method, params string) string {
	c.t.Helper()
	c.id++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.id, method, params))
	return c.next()
}

// greet shakes hands under a name.
func (c *client) greet(name string) *client {
	c.t.Helper()
	c.ask("initialize", fmt.Sprintf(
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, name))
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// call calls a tool and returns the structured content.
func (c *client) call(tool, args string) map[string]any {
	c.t.Helper()
	line := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var answer struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent map[string]any
			IsError           bool
		}
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || len(answer.Result.Content) != 1 {
		c.t.Fatalf("%s %s: %v: %s", tool, args, err, line)
	}
	r := answer.Result
	var same map[string]any
	if json.Unmarshal([]byte(r.Content[0].Text), &same) != nil || fmt.Sprint(same) != fmt.Sprint(r.StructuredContent) {
		c.t.Errorf("the text is not the structured content: %s", line)
	}
	if r.IsError == (r.StructuredContent["ok"] == true) {
		c.t.Errorf("isError is %v: %s", r.IsError, line)
	}
	return r.StructuredContent
}

// Each session of the file goes as it says, in each revision of the protocol.
func TestConformance(t *testing.T) {
	t.Parallel()
	dir := newVault(t)
	data, err := os.ReadFile("testdata/conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	sessions := strings.Split(string(data), "\n== ")[1:]
	for _, session := range sessions {
		name, lines, _ := strings.Cut(session, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begin(t, options(dir))
			for line := range strings.Lines(lines) {
				line = strings.TrimSuffix(line, "\n")
				switch mark, rest, _ := strings.Cut(line, " "); mark {
				case ">":
					c.send(rest)
				case "<":
					if got := c.next(); !within(decoded(t, rest), decoded(t, got)) {
						t.Errorf("want %s\n got %s", rest, got)
					}
				}
			}
			c.end()
		})
	}
	if len(sessions) < 8 {
		t.Errorf("%d sessions", len(sessions))
	}
}

func decoded(t testing.TB, line string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return v
}

// within reports whether got has all that want has; the text "*" is any but an empty one.
func within(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for name, v := range want {
			there, has := g[name]
			ok = ok && has && within(v, there)
		}
		return ok
	case []any:
		g, ok := got.([]any)
		ok = ok && len(g) == len(want)
		for i := range want {
			ok = ok && within(want[i], g[i])
		}
		return ok
	case string:
		return want == got || want == "*" && got != ""
	}
	return want == got
}

// A write names the vault, and its commit the client, the session and the door.
func TestAWriteSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	dir := newVault(t)
	c := begin(t, options(dir, "CLAUDE_CODE_SESSION_ID", "4711")).greet("Visual Studio <Code>\n")
	out := c.call("memory_save", `{"content": "Deploys go through the bastion.", "categories": "[\"ops\"]"}`)
	if out["done"] != "saved" || out["vault"] != dir {
		t.Error(out)
	}
	c.call("memory_save", `{"session": "4712", "items": [{"text": "Backups run at two."}]}`) // the next conversation
	c.end()
	log, err := vaulttest.Git(dir, "log", "-2", "--format=%an|%B")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Visual-Studio-Code|", "\nStet-Actor: agent\n", "\nStet-Door: mcp\n",
		"\nStet-Session: 4711\n", "\nStet-Session: 4712\n"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in %s", want, log)
		}
	}
	vaulttest.Check(t, dir)
}

// The list of tools costs each session its length: it stays small, is the same each time, and says of each
// tool what a client needs.
func TestTheListOfToolsIsSmall(t *testing.T) {
	t.Parallel()
	const modern = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}`
	dir := newVault(t)
	for set, want := range map[string]struct {
		tools int
		reads bool // all of them
	}{"all": {8, false}, "write": {8, false}, "read": {5, true}} {
		o := options(dir)
		o.Tools = set
		c := begin(t, o)
		line := c.ask("tools/list", modern)
		if again := c.ask("tools/list", modern); len(again) != len(line) || len(line) >= 6144 {
			t.Errorf("%s: %d bytes, then %d", set, len(line), len(again))
		}
		var answer struct {
			Result struct {
				Tools []struct {
					Name, Title, Description  string
					InputSchema, OutputSchema map[string]any
					Annotations               map[string]bool
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatal(err)
		}
		for _, one := range answer.Result.Tools {
			reads, says := one.Annotations["readOnlyHint"]
			_, destroys := one.Annotations["destructiveHint"]
			if one.Title == "" || len(one.Description) > 1024 || one.InputSchema["type"] != "object" ||
				one.OutputSchema != nil || !says || want.reads && !reads || destroys == reads {
				t.Errorf("%s: %+v", set, one)
			}
		}
		if n := len(answer.Result.Tools); n != want.tools {
			t.Errorf("%s: %d tools", set, n)
		}
		c.end()
	}
}

// Nothing is written through a server that may only read, whatever the client calls.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := newVault(t)
	o := options(dir)
	o.ReadOnly = true
	c := begin(t, o).greet("codex")
	for _, name := range []string{"memory_save", "memory_edit", "memory_forget"} {
		line := c.ask("tools/call", `{"name":"`+name+`","arguments":{"text":"x","ref":"gate"}}`)
		if !strings.Contains(line, `"code":-32602`) {
			t.Error(line)
		}
	}
	for _, args := range []string{`{"action":"revert","rev":"HEAD","apply":true}`,
		`{"action":"create","name":"x","text":"y","description":"z"}`} {
		for _, name := range []string{"history", "skill"} {
			if out := c.call(name, args); out["ok"] != false {
				t.Error(out)
			}
		}
	}
	if out := c.call("memory_search", `{"query": "gate"}`); out["ok"] != true {
		t.Error(out)
	}
	c.end()
	o.Tools = "all"
	if err := mcp.Serve(t.Context(), o); err == nil {
		t.Error("--read-only with all tools")
	}
}

// What is stored reaches a client without marks for models, terminals and eyes; what is private does not.
func TestPoisonAndPrivateThings(t *testing.T) {
	t.Parallel()
	marks := []string{"</stet-context>", "</stet-data>", "<invoke name=", "<function_calls>", "<|im_start|>", "[/INST]"}
	unseen := []string{"\x1b[31m", "\u202e", "\u2066", "\u200b", "\U000e0041"}
	poison := "The poisoned gate opens at noon. " + strings.Join(append(marks, unseen...), " ") + " and so on"
	kept := "sunflower" + "2277"
	dir := newVault(t,
		"memories/my-wi-fi-password-is-"+kept+".md", "---\nid: 01m839dkn9gypfcd9phvd8vj3h\n---\n\nMy wi-fi pass"+
			"word is "+kept+".\n",
		"memories/poison.md", "---\nid: 01m839dkn9gypfcd9phvd8vj3g\n---\n\n# Poisoned gate\n\n"+poison+"\n",
		"MEMORY.md", "# Memory\n\n- "+poison+"\n",
		"skills/poison/SKILL.md", "---\nname: poison\ndescription: A poisoned gate. "+strings.Join(marks, " ")+
			"\n---\n\n"+poison+"\n",
		"skills/wine/SKILL.md", "---\nname: wine\ndescription: The wine code is 9911.\nprivate: true\n---\n\n9911\n")
	c := begin(t, options(dir)).greet("codex")
	lines := []string{
		c.ask("tools/call", `{"name":"memory_search","arguments":{"query":"poisoned gate noon"}}`),
		c.ask("tools/call", `{"name":"memory_read","arguments":{"ref":"01m839dkn9gypfcd9phvd8vj3g"}}`),
		c.ask("tools/call", `{"name":"memory_read","arguments":{"ref":"MEMORY.md"}}`),
		c.ask("tools/call", `{"name":"skill","arguments":{"action":"view","name":"poison"}}`),
		c.ask("tools/call", `{"name":"history","arguments":{"action":"diff","rev":"HEAD~1"}}`),
		c.ask("resources/read", `{"uri":"stet://core"}`),
		c.ask("resources/read", `{"uri":"stet://memory/01m839dkn9gypfcd9phvd8vj3g"}`),
		c.ask("resources/read", `{"uri":"stet://skill/poison"}`),
	}
	for i, line := range lines {
		if !strings.Contains(fmt.Sprint(decoded(t, line)), "gate") {
			t.Errorf("answer %d shows nothing: %s", i, line)
		}
	}
	secret := append(lines,
		c.ask("tools/call", `{"name":"skill","arguments":{"action":"list"}}`),
		c.ask("tools/call", `{"name":"memory_search","arguments":{"query":"wi-fi password"}}`),
		c.ask("tools/call", `{"name":"memory_read","arguments":{"ref":"01m839dkn9gypfcd9phvd8vj3h"}}`),
		c.ask("tools/call", `{"name":"memory_edit","arguments":{"ref":"01m839dkn9gypfcd9phvd8vj3h","old":"x",`+
			`"new":"y"}}`),
		c.ask("tools/call", `{"name":"history","arguments":{"action":"log"}}`),
		c.ask("tools/call", `{"name":"history","arguments":{"action":"diff","rev":"HEAD"}}`),
		c.ask("resources/list", `{}`), c.ask("resources/read", `{"uri":"stet://recent"}`),
		c.ask("tools/call", `{"name":"memory_search","arguments":{"query":"wine code 9911 cellar"}}`),
		c.ask("tools/call", `{"name":"memory_read","arguments":{"ref":"`+cellar+`"}}`),
		c.ask("tools/call", `{"name":"memory_read","arguments":{"ref":"memories/cellar.md"}}`),
		c.ask("tools/call", `{"name":"history","arguments":{"action":"log","ref":"memories/cellar.md"}}`),
		c.ask("tools/call", `{"name":"skill","arguments":{"action":"view","name":"wine"}}`),
		c.ask("resources/read", `{"uri":"stet://memory/`+cellar+`"}`),
		c.ask("resources/read", `{"uri":"stet://skill/wine"}`),
		c.ask("completion/complete",
			`{"ref":{"type":"ref/resource","uri":"stet://memory/{id}"},"argument":{"name":"id","value":"01m839"}}`))
	c.end()
	for _, line := range secret {
		text := fmt.Sprint(decoded(t, line)) // as a client has it
		for _, mark := range append(marks, unseen...) {
			if strings.Contains(strings.TrimSuffix(text, "\n</stet-data>\n uri:"), mark) && mark != "</stet-data>" {
				t.Errorf("%q is in %s", mark, line)
			}
		}
		if strings.Count(text, "</stet-data>") > 1 {
			t.Errorf("the fence is broken: %s", line)
		}
		if strings.Contains(text, kept) {
			t.Errorf("a likely secret: %s", line)
		}
		if strings.Contains(strings.ReplaceAll(text, "wine code 9911 cellar", ""), "9911") {
			t.Errorf("private: %s", line)
		}
	}
	if list := secret[len(secret)-1]; strings.Contains(list, cellar) || !strings.Contains(list, gate) {
		t.Error(list)
	}
}

// Lines that other servers break at: too long, not UTF-8, deep, an id twice. The next one is answered.
func TestBadLines(t *testing.T) {
	t.Parallel()
	dir := newVault(t)
	c := begin(t, options(dir)).greet("codex")
	two := strings.Repeat("The wall is long. ", 1<<20/18-100)
	if out := c.call("memory_save", `{"text": "`+two+`", "title": "Wall"}`); out["ok"] != true {
		t.Error(out)
	}
	for bad, code := range map[string]string{
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}":                  "-32700",
		`{"a":"` + strings.Repeat("x", 9<<20) + `"}`:                          "-32600",
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000):               "-32700",
		`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`: "-32600",
	} {
		c.send(bad)
		if got := c.next(); !strings.Contains(got, `"code":`+code) || !strings.Contains(got, `"id":null`) {
			t.Errorf("%.40q: %s", bad, got)
		}
	}
	c.id++
	same := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":`+
		`{"name":"memory_search","arguments":{"query":"gate"}}}`, c.id)
	c.send(same + "\n" + same)
	one, two := c.next(), c.next()
	if strings.Contains(one, "hits") == strings.Contains(two, "hits") || !strings.Contains(one+two, "already") {
		t.Error(one, two)
	}
	if out := c.call("memory_search", `{"query": "gate"}`); out["ok"] != true {
		t.Error(out)
	}
	c.end()
}

// A write that the client cancels, at any step of it, happened or did not, and the reply says which.
func TestACancelledWriteSaysWhetherItHappened(t *testing.T) {
	t.Parallel()
	calls := []string{
		`{"name":"memory_save","arguments":{"text":"Deploys go through the bastion."}}`,
		`{"name":"memory_save","arguments":{"text":"Ann drinks tea.","to":"USER.md"}}`,
		`{"name":"skill","arguments":{"action":"create","name":"deploy","text":"Step.","description":"How."}}`,
	}
	stride := int64(3)
	if testing.Short() {
		stride = 11
	}
	for _, params := range calls {
		happened, not := 0, 0
		for at := int64(1); ; at += stride {
			dir := newVault(t)
			before, err := vaulttest.Git(dir, "rev-parse", "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			o := options(dir)
			var step atomic.Int64
			var c *client
			o.App.Hook = func(durable.Step) error {
				if step.Add(1) == at {
					c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
					time.Sleep(5 * time.Millisecond) // until it has arrived
				}
				return nil
			}
			c = begin(t, o).greet("codex")
			c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`)
			says := !strings.Contains(c.next(), `"isError":true`)
			c.end()
			after, err := vaulttest.Git(dir, "rev-parse", "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if says != (after != before) {
				t.Errorf("step %d of %s: the reply says %v, HEAD %v", at, params, says, after != before)
			}
			if step.Load() < at {
				break // it was over before
			}
			if says {
				happened++
			} else {
				not++
			}
		}
		if happened == 0 || not == 0 {
			t.Errorf("%s: happened %d times, %d times not", params, happened, not)
		}
	}
}

// A note that a model is asked about is kept when the client cancels, and the reply says so.
func TestACancelledQuestionToAModelKeepsTheNote(t *testing.T) {
	t.Parallel()
	asked, done := make(chan bool, 9), make(chan bool)
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	defer model.Close()
	defer close(done)
	state := t.TempDir()
	c := begin(t, options(newVault(t), "STET_MODELS_AUXILIARY_PROVIDER", "custom", "STET_MODELS_AUXILIARY_MODEL", "m",
		"STET_MODELS_AUXILIARY_BASE_URL", model.URL, "HOME", state, "XDG_STATE_HOME", state)).greet("codex")
	c.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_save","arguments":` +
		`{"text":"The gate code is 4712."}}}`)
	<-asked
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if line := c.next(); !strings.Contains(line, "nothing was written; the note is kept") {
		t.Error(line)
	}
	c.end()
}

// Answers to what was asked come although the stream has ended, and a server ends when it is told to.
func TestTheEnd(t *testing.T) {
	t.Parallel()
	dir := newVault(t)
	var out bytes.Buffer
	o := options(dir)
	o.Out = &out
	o.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_save","arguments":{"text":"Tea."}}}`)
	if err := mcp.Serve(t.Context(), o); err != nil || !strings.Contains(out.String(), `\"done\":\"saved\"`) {
		t.Errorf("%v: %s", err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, w := io.Pipe()
	defer w.Close()
	o.In, o.Out = in, io.Discard
	ended := make(chan error)
	go func() { ended <- mcp.Serve(ctx, o) }()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
	in2, w2 := io.Pipe()
	fromServer, broken := io.Pipe()
	fromServer.Close()
	o.In, o.Out = in2, broken
	go func() { ended <- mcp.Serve(t.Context(), o) }()
	if _, err := io.WriteString(w2, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it goes on although nobody listens")
	}
}

// The recent memories come with their texts, the latest first, each under an address that can be read.
func TestRecentMemories(t *testing.T) {
	t.Parallel()
	c := begin(t, options(newVault(t,
		"memories/a.md", "---\nupdated: 2020-01-01T00:00:00Z\n---\n\nThe oldest.\n"))).greet("codex")
	c.call("memory_save", `{"text": "Zebras are the newest."}`)
	text := c.ask("resources/read", `{"uri":"stet://recent"}`)
	newest, oldest := strings.Index(text, "Zebras are the newest."), strings.Index(text, "memories/a.md: The oldest.")
	if newest < 0 || oldest < newest || strings.Contains(text, "stet://memory/:") {
		t.Error(text)
	}
	c.end()
}

// A client that closes its end and does not read what it asked for is not waited for without end.
func TestAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	_, o.Out = io.Pipe()
	o.In = strings.NewReader(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\nno message\n", 9))
	ended := make(chan error, 1)
	go func() { ended <- mcp.Serve(t.Context(), o) }()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it is waited for without end")
	}
}

// The vault is that of the client's project, else of the folder, else the default one, where a project has a
// scope of its own; a vault that the user never agreed to gives way to the default one.
func TestWhichVault(t *testing.T) {
	t.Parallel()
	home, project, elsewhere := newVault(t), newVault(t), t.TempDir()
	plain := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(filepath.Join(plain, ".git"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]struct {
		dir, project, named string
		vault, scope        string
	}{
		"the project's":       {elsewhere, project, "", project, ""},
		"the folder's":        {project, plain, "", project, ""},
		"the default":         {plain, "", home, home, "memories/projects/shop/"},
		"project, no vault":   {elsewhere, plain, home, home, "memories/projects/shop/"},
		"nobody agreed to it": {elsewhere, project, home, home, ""},
		"no vault":            {elsewhere, "relative", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			c := begin(t, options(one.dir, "CLAUDE_PROJECT_DIR", one.project, "STET_VAULT", one.named,
				"HOME", state, "XDG_STATE_HOME", state)).greet("codex")
			out := c.call("memory_save", `{"text": "`+name+` says that the lamp is `+t.Name()+`."}`)
			if one.vault == "" && out["ok"] != false || one.vault != "" && out["vault"] != one.vault {
				t.Error(out)
			}
			if path, _ := out["path"].(string); !strings.HasPrefix(path, one.scope) {
				t.Error(out)
			}
			c.end()
		})
	}
}
