package llmtest

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"stet/agent/llm"
)

// A Request is what a model was asked, whatever the wire format.
type Request struct {
	llm.Request
	Mode  string
	Model string
	Body  []byte // as it came
}

// Text is everything the request says in words, in its order.
func (r *Request) Text() string {
	parts := []string{r.System}
	for _, m := range r.Messages {
		parts = append(parts, m.Text)
		for _, c := range m.Calls {
			parts = append(parts, leaves(c.Arguments)...)
		}
	}
	for _, t := range r.Tools {
		parts = append(parts, t.Name, t.Description)
	}
	return strings.Join(parts, "\n")
}

// An Expect is what a request must hold, in these words.
type Expect struct {
	System   []string // in the system prompt
	Messages []string // in some message
	Tools    []string // names of all tools, no other
	Fields   []string // of the answer's form, or of some tool's arguments
}

// Must fails the test for every part that is missing: so a prompt from which
// something was removed makes a test fail.
func (r *Request) Must(t TB, e Expect) {
	t.Helper()
	missing := func(where, part string) { t.Helper(); t.Errorf("the request lacks %q in its %s", part, where) }
	for _, part := range e.System {
		if !strings.Contains(r.System, part) {
			missing("system prompt", part)
		}
	}
	var said []string
	for _, m := range r.Messages {
		said = append(said, m.Text)
	}
	for _, part := range e.Messages {
		if !strings.Contains(strings.Join(said, "\n"), part) {
			missing("messages", part)
		}
	}
	var names []string
	schemas := ""
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
		schemas += string(tool.Schema)
	}
	if r.Answer != nil {
		schemas += string(r.Answer.JSON)
	}
	if slices.Sort(names); e.Tools != nil && !slices.Equal(names, slices.Sorted(slices.Values(e.Tools))) {
		t.Errorf("the request offers the tools %q, want %q", names, e.Tools)
	}
	for _, f := range e.Fields {
		if !strings.Contains(schemas, `"`+f+`"`) {
			missing("schemas", f)
		}
	}
}

// free words are few enough to be a label, a scope or a yes.
const freeWords = 3

// Grounded returns the first sentence of a reply that does not stand in the
// request, "" when all do. Looked at are the strings of an answer in JSON and of
// the arguments of calls; three words and fewer are nobody's.
func Grounded(req *Request, reply llm.Reply) string {
	told := plain(req.Text())
	var said []string
	if req.Answer != nil {
		said = leaves(reply.Text)
	}
	for _, c := range reply.Calls {
		said = append(said, leaves(c.Arguments)...)
	}
	for _, leaf := range said {
		for _, sentence := range strings.FieldsFunc(leaf, func(r rune) bool { return strings.ContainsRune(".!?\n", r) }) {
			if words := plain(sentence); strings.Count(words, " ") >= freeWords && !strings.Contains(told, words) {
				return sentence
			}
		}
	}
	return ""
}

// plain is the words of a text in lower case with one space between.
func plain(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

// leaves lists the strings in a JSON value.
func leaves(text string) []string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	return out
}
