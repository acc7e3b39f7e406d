package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/agent"
	"stet/agent/clients"
	"stet/agent/hook"
	"stet/agent/imports"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// A conversed is a conversation of a client: what the person typed, and the record that the client keeps of it.
type conversed struct {
	client, name, file string
	typed              []string
	lines              []string // of the record, of which so many are written, and the last perhaps in part
	written            int
	torn               bool
	last               string   // uuid
	prompts            []string // parents of the prompts on the way to it
	id                 string   // by which it was shown first
}

// A talking vault is one that hears of conversations by hooks and by the records that clients keep.
type talking struct {
	*rapid.T
	a     *agent.App
	home  string
	clock time.Time
	all   []*conversed
	n     int
}

// TestAPromptStandsOnce plays events of hooks, records that lag, are torn or compacted, imports and sealings in random
// orders: what a person typed stands once, in its order, in one transcript whose id never changes once it was shown;
// what the person took back stands in one of its own.
func TestAPromptStandsOnce(t *testing.T) {
	t.Parallel()
	short := 12 // orders, where the long form plays all of rapid.checks
	rapid.Check(t, func(rt *rapid.T) {
		if short--; short < 0 && os.Getenv("STET_FULL") == "" {
			return
		}
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		k := &talking{T: rt, home: dir, clock: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
		for _, place := range []string{".claude/projects/-work", ".codex/sessions/2026/11/01"} {
			if err := os.MkdirAll(filepath.Join(dir, place), 0o700); err != nil {
				rt.Fatal(err)
			}
		}
		for i, client := range []string{"claude-code", "claude-code", "codex"} {
			c := &conversed{client: client, name: fmt.Sprintf("5f1c0000-0000-4000-8000-00000000000%d", i)}
			c.file = filepath.Join(dir, ".claude/projects/-work", c.name+".jsonl")
			if client == "codex" {
				c.file = filepath.Join(dir, ".codex/sessions/2026/11/01/rollout-2026-11-01T10-00-00-"+c.name+".jsonl")
			}
			k.all = append(k.all, c)
		}
		k.a, err = agent.Open(t.Context(), agent.Options{At: vaulttest.New(t).Dir, Door: session.HookDoor, PID: 7,
			Now:    func() time.Time { return k.clock },
			Getenv: func(name string) string { return map[string]string{"HOME": dir}[name] }})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = k.a.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { k.look() }, "type": k.types, "typed again": k.types, "answer": k.answers,
			"flush": k.flush, "compact": k.compact, "sweep": func(*rapid.T) { k.sweep() },
			"end":    func(rt *rapid.T) { k.event(k.one(rt), "SessionEnd", "", "") },
			"import": func(*rapid.T) { k.imports() }, "seal": func(*rapid.T) { k.seal() },
		})
		for _, c := range k.all {
			c.written, c.torn = len(c.lines), false
			k.write(c)
			k.event(c, "SessionEnd", "", "")
		}
		k.sweep()
		k.imports()
		k.seal()
		k.once()
	})
}

func (k *talking) one(rt *rapid.T) *conversed {
	return rapid.SampledFrom(k.all).Draw(rt, "conversation")
}

func (k *talking) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *talking) tick() time.Time {
	k.clock = k.clock.Add(time.Second)
	return k.clock
}

func (k *talking) event(c *conversed, name, field, value string) {
	k.Helper()
	client, _ := clients.Find(c.client)
	in, err := json.Marshal(map[string]string{"session_id": c.name, "transcript_path": c.file, field: value})
	k.must(err)
	event, err := hook.Read(client, name, strings.NewReader(string(in)))
	k.must(err)
	k.tick()
	_, err = k.a.Hooks().Handle(k.Context(), agent.HookOptions{Event: event})
	k.must(err)
}

// types is a prompt of the person's, which a hook or the record may miss, and not both.
func (k *talking) types(rt *rapid.T) {
	c := k.one(rt)
	k.n++
	k.clock = k.clock.Add(time.Minute) // the person reads and thinks
	text := rapid.SampledFrom([]string{"ok", "go on", fmt.Sprintf("prompt %d", k.n)}).Draw(rt, "text")
	c.typed = append(c.typed, text)
	missed := rapid.SampledFrom([]string{"", "", "", "hook", "record"}).Draw(rt, "missed")
	if missed == "record" && !strings.HasPrefix(text, "prompt") {
		missed = "" // nothing tells it from one of the same words that hooks have missed
	}
	if missed != "hook" {
		k.event(c, "UserPromptSubmit", "prompt", text)
	}
	if missed == "record" {
		return
	}
	takes := c.client == "claude-code" && rapid.IntRange(0, 3).Draw(rt, "back") == 0
	if back := len(c.prompts) - 1; back >= 0 && takes {
		back -= rapid.IntRange(0, min(back, 2)).Draw(rt, "prompts")
		c.last, c.prompts = c.prompts[back], c.prompts[:back]
	}
	c.prompts = append(c.prompts, c.last)
	k.line(c, "user", text)
}

func (k *talking) answers(rt *rapid.T) {
	c := k.one(rt)
	if len(c.typed) == 0 {
		return
	}
	k.n++
	text := fmt.Sprintf("answer %d", k.n)
	for range rapid.IntRange(0, 2).Draw(rt, "before") {
		k.line(c, "assistant", "I look.")
	}
	k.line(c, "assistant", text)
	if rapid.Bool().Draw(rt, "told") {
		k.event(c, "Stop", "last_assistant_message", text)
	}
}

// line is one of the record, not written yet.
func (k *talking) line(c *conversed, role, text string) {
	at, id := k.tick().Format(time.RFC3339Nano), fmt.Sprintf("u%d", len(c.lines)+1)
	if c.client == "codex" {
		if len(c.lines) == 0 {
			meta := fmt.Sprintf(`{"timestamp":%q,"type":"session_meta","payload":{"id":%q}}`, at, c.name)
			c.lines = append(c.lines, meta)
		}
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		c.lines = append(c.lines, fmt.Sprintf(`{"timestamp":%q,"type":"response_item","payload":{"type":"message",`+
			`"role":%q,"content":[{"type":%q,"text":%q}]}}`, at, role, kind, text))
		return
	}
	c.lines = append(c.lines, fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"timestamp":%q,"message":{"role":%q,`+
		`"id":"m-%s","content":%q}}`, role, id, c.last, at, role, id, text))
	c.last = id
}

func (k *talking) compact(rt *rapid.T) {
	c := k.one(rt)
	k.event(c, "PreCompact", "trigger", "auto")
	if c.client == "claude-code" && len(c.lines) > 0 {
		id := fmt.Sprintf("u%d", len(c.lines)+1)
		c.lines = append(c.lines, fmt.Sprintf(`{"type":"user","uuid":%q,"logicalParentUuid":%q,"timestamp":%q,`+
			`"isCompactSummary":true,"message":{"role":"user","content":"A summary."}}`,
			id, c.last, k.tick().Format(time.RFC3339Nano)))
		c.last = id
	}
	k.event(c, "SessionStart", "source", "compact")
}

func (k *talking) flush(rt *rapid.T) {
	c := k.one(rt)
	c.written = rapid.IntRange(c.written, len(c.lines)).Draw(rt, "lines")
	c.torn = rapid.Bool().Draw(rt, "torn")
	k.write(c)
}

func (k *talking) write(c *conversed) {
	if c.written == 0 {
		return
	}
	text := strings.Join(c.lines[:c.written], "\n") + "\n"
	if c.torn && c.written < len(c.lines) {
		text += c.lines[c.written][:len(c.lines[c.written])/2]
	}
	k.must(os.WriteFile(c.file, []byte(text), 0o600))
	k.must(os.Chtimes(c.file, k.clock, k.clock))
}

func (k *talking) sweep() {
	k.clock = k.clock.Add(time.Minute)
	k.must(k.a.Hooks().Sweep(k.Context(), agent.Write{}))
}

func (k *talking) imports() {
	k.clock = k.clock.Add(time.Minute)
	for _, name := range []string{"claude-code", "codex"} {
		_, err := k.a.Vault().Import(k.Context(), agent.ImportOptions{Source: name})
		if errors.Is(err, imports.ErrNothing) { // what a record begins with says nothing yet
			err = nil
		}
		k.must(err)
	}
}

func (k *talking) seal() {
	k.clock = k.clock.Add(time.Minute)
	_, err := k.a.Sessions().End(k.Context(), agent.EndOptions{All: true, Reason: "ended"})
	k.must(err)
}

// look verifies that a conversation goes by one id, the one that it was shown by first.
func (k *talking) look() {
	list, err := k.a.Sessions().List(k.Context(), agent.SessionFilter{})
	k.must(err)
	for _, c := range k.all {
		of := slices.DeleteFunc(slices.Clone(list.Sessions), func(s session.Known) bool { return s.Origin != c.name })
		if len(of) > 1 {
			k.Fatalf("%s is shown as %+v", c.name, of)
		}
		if len(of) == 1 && c.id == "" {
			c.id = of[0].ID
		}
		if c.id != "" && (len(of) == 0 || of[0].ID != c.id) {
			k.Fatalf("%s was shown as %s, and is %+v", c.name, c.id, of)
		}
	}
}

// once verifies what the person typed at the end, when everything is written and sealed.
func (k *talking) once() {
	k.look()
	list, err := k.a.Sessions().List(k.Context(), agent.SessionFilter{})
	k.must(err)
	for _, c := range k.all {
		var got []string
		left := slices.Clone(c.typed)
		for _, s := range list.Sessions {
			if s.Open {
				k.Fatalf("%s is open", s.ID)
			}
			if !strings.HasPrefix(s.Origin, c.name) {
				continue
			}
			page, err := k.a.Sessions().Show(k.Context(), agent.SessionPart{Ref: s.ID, Budget: -1})
			k.must(err)
			var said []string
			for _, m := range page.Messages {
				if m.Role == "user" {
					said = append(said, m.Text)
				}
			}
			if !subsequence(said, c.typed) {
				k.Fatalf("%s: the person typed %q, the transcript has %q", s.Origin, c.typed, said)
			}
			got = append(got, said...)
		}
		slices.Sort(got)
		if slices.Sort(left); !slices.Equal(got, left) {
			k.Fatalf("%s: the person typed %q, the transcripts have %q", c.name, c.typed, got)
		}
	}
}

// subsequence reports whether texts stand in others in their order.
func subsequence(texts, others []string) bool {
	for _, text := range texts {
		i := slices.Index(others, text)
		if i < 0 {
			return false
		}
		others = others[i+1:]
	}
	return true
}
