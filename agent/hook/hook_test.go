package hook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stet/agent/clients"
	"stet/agent/hook"
)

// fixture is an input as a client sends it, and what stet is to make of it.
type fixture struct {
	Client, Event string
	Input         map[string]any
	Want          map[string]any
}

func fixtures(t *testing.T) (out []fixture) {
	t.Helper()
	data, err := os.ReadFile("testdata/inputs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var f fixture
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, f)
	}
	return out
}

func read(t *testing.T, f fixture, input any) (*hook.Event, error) {
	t.Helper()
	c, ok := clients.Find(f.Client)
	if !ok {
		t.Fatalf("no client %s", f.Client)
	}
	data, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return hook.Read(c, f.Event, bytes.NewReader(data))
}

// said are the fields of an event that are not empty.
func said(e *hook.Event) map[string]any {
	out := map[string]any{}
	v := reflect.ValueOf(*e)
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Struct && !f.IsZero() {
			out[v.Type().Field(i).Name] = f.Interface()
		}
	}
	if len(e.Roots) > 0 { // as JSON has it
		out["Roots"] = []any{}
		for _, root := range e.Roots {
			out["Roots"] = append(out["Roots"].([]any), root)
		}
	}
	return out
}

func TestReadsWhatClientsSend(t *testing.T) {
	t.Parallel()
	left := map[string]bool{}
	for _, c := range clients.All() {
		for _, e := range c.Events {
			left[c.Name+" "+e.Name] = true
		}
	}
	for _, f := range fixtures(t) {
		delete(left, f.Client+" "+f.Event)
		e, err := read(t, f, f.Input)
		if err != nil {
			t.Errorf("%s %s: %v", f.Client, f.Event, err)
		} else if got := said(e); !reflect.DeepEqual(got, f.Want) {
			t.Errorf("%s %s:\n got %v\nwant %v", f.Client, f.Event, got, f.Want)
		}
	}
	if len(left) > 0 {
		t.Errorf("no input of %v", left)
	}
}

// TestReadsWhatIsWrong puts null, nothing and every other type into each field in turn. Only an input that names no
// session may fail, and no other field may suffer.
func TestReadsWhatIsWrong(t *testing.T) {
	t.Parallel()
	wrong := []any{nil, 17.5, true, "", []any{}, map[string]any{}, []any{map[string]any{"text": 3}}, "\x00\u202e"}
	for _, f := range fixtures(t) {
		for key, was := range f.Input {
			for _, v := range wrong {
				f.Input[key] = v
				e, err := read(t, f, f.Input)
				names := strings.Contains(key, "session") || strings.Contains(key, "conversation")
				if err != nil && !names {
					t.Errorf("%s %s with %s %v: %v", f.Client, f.Event, key, v, err)
				}
				if err == nil && e.Session == "" {
					t.Errorf("%s %s with %s %v: no session", f.Client, f.Event, key, v)
				}
			}
			delete(f.Input, key)
			f.Input["something_new"] = map[string]any{"deep": []any{1.0}}
			if e, err := read(t, f, f.Input); err == nil && key != "extra" {
				lost := 0
				for name, want := range f.Want {
					if name != "Roots" && !reflect.DeepEqual(said(e)[name], want) { // they hold the folder, too
						lost++
					}
				}
				if lost > 1 {
					t.Errorf("%s %s without %s: %v", f.Client, f.Event, key, said(e))
				}
			}
			f.Input[key] = was
		}
	}
}

// TestReadsOneValue leaves standard input open behind the value, and puts something else there.
func TestReadsOneValue(t *testing.T) {
	t.Parallel()
	c, _ := clients.Find("claude-code")
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, `{"session_id": "s", "prompt": "p"}`) // and no end
	}()
	done := make(chan error, 1)
	go func() {
		_, err := hook.Read(c, "UserPromptSubmit", in)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the end of standard input")
	}
	for _, bad := range []string{"", "{", `{"session_id": "s"`, "[]", "null", "7", "\xff\xfe", `{"session_id": ""}`} {
		if _, err := hook.Read(c, "Stop", strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if _, err := hook.Read(c, "Stop", strings.NewReader("\uFEFF"+`{"session_id": "s"}`)); err != nil {
		t.Errorf("behind a byte order mark: %v", err)
	}
	long := `{"session_id": "s", "prompt": "` + strings.Repeat("a", 33<<20)
	_, err := hook.Read(c, "Stop", strings.NewReader(long))
	if err == nil || !strings.Contains(err.Error(), "longer than 32 MB") {
		t.Errorf("of 33 MB: %v", err)
	}
	if _, err := hook.Read(c, "stop", strings.NewReader(`{"session_id": "s"}`)); err == nil {
		t.Error("an event of another client is read")
	}
}

// TestOutputs holds every output of every client to what that client takes.
func TestOutputs(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "two\nlines", `"quotes" \ and </stet-context>`, "bad \xff\xfe bytes", "\x1b[31m\u202e",
		strings.Repeat("line of words\n", 2000)}
	for _, f := range fixtures(t) {
		e, err := read(t, f, f.Input)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{clients.Context, clients.Block} {
			for _, text := range texts {
				data, err := e.Output(how, text)
				if errors.Is(err, hook.ErrSilent) && !e.Says(how) {
					continue
				}
				if err == nil {
					err = e.In.Check(data)
				}
				if err != nil {
					t.Errorf("%s %s %s: %v", f.Client, f.Event, how, err)
				}
				if n := utf8.RuneCount(data); n > e.Client.Chars+len(text)/10+300 {
					t.Errorf("%s %s %s: %d characters", f.Client, f.Event, how, n)
				}
			}
		}
	}
}

// TestVersions asks which output a version of a client takes.
func TestVersions(t *testing.T) {
	t.Parallel()
	c, _ := clients.Find("claude-code")
	stop, _ := c.Event("Stop")
	for version, want := range map[string]bool{"": true, "2.1.162": false, "2.1.163": true, "2.2": true, "2.1": false,
		"10.0.0-beta": true, "1.9.999": false, "odd": false} {
		e := &hook.Event{Client: c, In: stop, Version: version}
		if got := e.Says(clients.Context); got != want {
			t.Errorf("%q takes additionalContext: %v", version, got)
		}
		if !e.Says(clients.Block) {
			t.Errorf("%q takes no reason", version)
		}
	}
}
