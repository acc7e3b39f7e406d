package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"stet/agent/llm"
)

// A speaker is a model that says one thing.
type speaker string

func (s speaker) Model() llm.Model { return llm.Model{Name: "speaker"} }

func (s speaker) Generate(_ context.Context, r llm.Request) (llm.Reply, error) {
	if s == "" {
		return llm.Reply{Text: string(r.Answer.JSON), Stop: llm.StopEnd}, nil
	}
	return llm.Reply{Text: string(s), Stop: llm.StopEnd}, nil
}

func said(t testing.TB, text string) (verdict, error) {
	t.Helper()
	got, _, err := llm.Ask[verdict](context.Background(), speaker(text), "verdict", llm.Request{})
	return got, err
}

// What a model means is taken, in whatever form it says it.
func TestAnswersAreReadLeniently(t *testing.T) {
	t.Parallel()
	const good = `{"scope":"/a","importance":0.5,"kinds":["x","y"],"action":"keep","note":null}`
	for _, text := range []string{
		good, " \n" + good + "\n", "\ufeff" + good, "```json\n" + good + "\n```", "```JSON\n" + good + "\n```\n", "```" + good + "```",
		"<think>{}</think>" + good, "<thinking>{\"scope\":\"/b\"}</thinking>" + good, "Perhaps {\"scope\":\"/b\"}.\n</think>\n\n" + good,
		"I think: " + good, "Here {it} is [1]:\n\n```json\n" + good + "\n```\nI hope that helps.",
		swap(good, `0.5`, `"0.5"`), swap(good, `"keep"`, `"KEEP"`), swap(good, `"scope"`, `"Scope"`),
		swap(good, `,"note":null`, ``), swap(good, `"note":null`, `"note":null,"reasoning":{"a":[1]}`), swap(good, `{`, `{"because":"x",`),
	} {
		got, err := said(t, text)
		if err != nil || got.Scope != "/a" || got.Importance != 0.5 || len(got.Kinds) != 2 || got.Action != "keep" || got.Note != nil {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]verdict{
		swap(good, `"/a"`, `null`):      {Importance: 0.5, Kinds: []string{"x", "y"}, Action: "keep"},
		swap(good, `["x","y"]`, `"x"`):  {Scope: "/a", Importance: 0.5, Kinds: []string{"x"}, Action: "keep"},
		swap(good, `["x","y"]`, `null`): {Scope: "/a", Importance: 0.5, Kinds: []string{}, Action: "keep"},
		swap(good, `0.5`, `"high"`):     {Scope: "/a", Kinds: []string{"x", "y"}, Action: "keep"},
		swap(good, `"y"`, `7`):          {Scope: "/a", Importance: 0.5, Kinds: []string{"x", "7"}, Action: "keep"},
		`{"action":"drop"}` + good:      {Scope: "/a", Importance: 0.5, Kinds: []string{"x", "y"}, Action: "keep"},
	} {
		if got, err := said(t, text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	const good = `{"scope":"/a","importance":0.5,"kinds":["x","y"],"action":"keep","note":null}`
	for text, says := range map[string]string{
		"I would file it under /a.":    "no JSON",
		good[:len(good)-1]:             "none of the fields",
		`null`:                         "no JSON",
		`{}`:                           "none of the fields",
		`{"colour":1}`:                 "none of the fields",
		swap(good, `"keep"`, `"burn"`): "must be one of keep, drop",
		swap(good, `"note":null`, `"note":null,"note":"x"`): "twice",
		swap(good, `"note":null`, `"Note":"x","note":null`): "twice",
		strings.Repeat("[", 100_000):                        "no JSON",
	} {
		if got, err := said(t, text); !errors.Is(err, llm.ErrAbsurd) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80q is read as %+v, %v; want an error with %q", text, got, err, says)
		}
	}
}

func swap(s, old, with string) string { return strings.Replace(s, old, with, 1) }

// A schema in which a field is optional or others are allowed is refused by
// servers in strict mode.
func TestSchemasAreStrict(t *testing.T) {
	t.Parallel()
	var s struct {
		Type       string
		Required   []string
		Additional *bool `json:"additionalProperties"`
		Properties map[string]struct {
			Type        any
			Enum        []string
			Description string
		}
	}
	_, reply, _ := llm.Ask[verdict](t.Context(), speaker(""), "verdict", llm.Request{})
	if err := json.Unmarshal([]byte(reply.Text), &s); err != nil {
		t.Fatal(err)
	}
	if s.Type != "object" || len(s.Required) != 5 || len(s.Properties) != 5 || s.Additional == nil || *s.Additional {
		t.Errorf("%+v", s)
	}
	if p := s.Properties["action"]; len(p.Enum) != 2 || p.Type != "string" {
		t.Errorf("action: %+v", p)
	}
	if p := s.Properties["note"]; len(p.Type.([]any)) != 2 {
		t.Errorf("note: %+v", p)
	}
}

// Whatever a model writes: it is an absurd answer, or one that reads the same when it is
// written out.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"{}", `{"scope":"/a","importance":0.5,"kinds":["x"],"action":"keep","note":"n"}`, "```json\n{}\n```",
		`{"scope":1e400}`, "{\"scope\":\"\\ud800\"}", "<think>", `[{"scope":[]}]`, `{"importance":"NaN"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		got, err := said(t, text)
		if err != nil {
			if !errors.Is(err, llm.ErrAbsurd) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if got.Action != "keep" && got.Action != "drop" && got.Action != "" {
			t.Fatalf("%q is read as %+v", text, got)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := said(t, string(data)); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q is read as %+v, written out %s: %+v, %v", text, got, data, again, err)
		}
	})
}
