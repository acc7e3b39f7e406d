package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"stet/agent/llm"
)

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	const good = `{"scope":"/a","importance":0.5,"kinds":["x","y"],"action":"keep","note":null}`
	for _, text := range []string{good, " \n" + good + "\n", "```json\n" + good + "\n```", "```\n" + good + "\n```", "<think>{}</think>" + good} {
		got, err := llm.Decode[verdict](text)
		if err != nil || got.Scope != "/a" || got.Importance != 0.5 || len(got.Kinds) != 2 || got.Action != "keep" || got.Note != nil {
			t.Errorf("Decode(%q) = %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"":                               "no whole JSON",
		"I think:" + good:                "no whole JSON",
		good + good:                      "behind",
		good + " ok?":                    "behind",
		good[:len(good)-1]:               "no whole JSON",
		`[` + good + `]`:                 "must be of type object",
		`null`:                           "must be of type object",
		swap(good, `"/a"`, `null`):       ".scope must be of type string",
		swap(good, `"/a"`, `{"a":1}`):    ".scope must be of type string",
		swap(good, `0.5`, `"0.5"`):       ".importance must be of type number",
		swap(good, `"y"`, `7`):           ".kinds[1] must be of type string",
		swap(good, `"keep"`, `"Keep"`):   "must be one of keep, drop",
		swap(good, `,"note":null`, ``):   `lacks the field "note"`,
		swap(good, `"scope"`, `"Scope"`): `no field "Scope"`,
		swap(good, `"note":null`, `"note":null,"note":"x"`): "twice",
		swap(good, `"note":null`, `"note":null,"id":"x"`):   `no field "id"`,
		strings.Repeat("[", 100_000):                        "must be of type object",
	} {
		got, err := llm.Decode[verdict](text)
		if !errors.Is(err, llm.ErrAbsurd) || !strings.Contains(err.Error(), says) {
			t.Errorf("Decode(%.80q) = %+v, %v; want an error with %q", text, got, err, says)
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
	if err := json.Unmarshal(llm.SchemaOf[verdict]("verdict").JSON, &s); err != nil {
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

// What is accepted has every field once: writing it out and reading it back
// gives the same, and the text has no other field.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "{}", `{"scope":"/a","importance":0.5,"kinds":["x"],"action":"keep","note":"n"}`, "```json\n{}\n```", `{"scope":1e400}`, "{\"scope\":\"\\ud800\"}", "<think>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := llm.Decode[verdict](text)
		if err != nil {
			if !errors.Is(err, llm.ErrAbsurd) {
				t.Fatalf("Decode(%q): %v", text, err)
			}
			return
		}
		if got.Action != "keep" && got.Action != "drop" {
			t.Fatalf("Decode(%q) = %+v", text, got)
		}
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte(`"kinds":null`), []byte(`"kinds":[]`))
		again, err := llm.Decode[verdict](string(data))
		if err != nil || again.Scope != got.Scope || again.Importance != got.Importance || len(again.Kinds) != len(got.Kinds) {
			t.Fatalf("Decode(%q) = %+v, written out %s: %+v, %v", text, got, data, again, err)
		}
	})
}
