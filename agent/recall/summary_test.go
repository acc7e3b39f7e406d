package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"stet/agent/llm"
	"stet/agent/recall"
	"stet/templates/prompts"
	"stet/vault"
)

// A teller answers every recap with the same words and keeps what it was shown.
type teller struct {
	says  prompts.Recapped
	shown []prompts.Recap
}

func (*teller) Model() llm.Model { return llm.Model{Name: "teller"} }

func (m *teller) Generate(_ context.Context, r llm.Request) (llm.Reply, error) {
	var p prompts.Recap
	if err := json.Unmarshal([]byte(r.Messages[0].Text), &p); err != nil {
		return llm.Reply{}, err
	}
	m.shown = append(m.shown, p)
	data, err := json.Marshal(m.says)
	return llm.Reply{Text: string(data)}, err
}

func TestASummaryShowsNothingPrivateAndNamesWhatWasShown(t *testing.T) {
	t.Parallel()
	private := strings.Replace(talk(t, id(2), "", "codex", "gate", "The zebra is ill."), "\nagent:", "\nprivate: true\nagent:", 1)
	v, x := open(t, file(id(1)), talk(t, id(1), "", "codex", "gate", "How do we mend the zebra gate?", "Ask the locksmith."), file(id(2)), private)
	q := recall.Query{Text: "zebra"}
	a := ask(t, v, x, q)
	if len(a.Found) != 2 {
		t.Fatalf("%d conversations", len(a.Found))
	}
	var at int
	for i, f := range a.Found {
		if !f.Root.Private {
			at = i + 1
		}
	}
	m := &teller{says: prompts.Recapped{Summary: " Ask \x1b[31mthe locksmith.\n", Sources: []prompts.Source{{Conversation: at, Message: 2}, {Conversation: at, Message: 2}, {Conversation: at, Message: 9}, {Conversation: 3 - at, Message: 1}}}}
	s, err := recall.Summarise(t.Context(), v, m, q.Text, a, 0)
	if err != nil || s.Text != "Ask [31mthe locksmith." || s.LeftOut != 1 || len(s.Sources) != 1 || s.Sources[0].Session != id(1) || s.Sources[0].Message != 2 || s.Sources[0].Path == "" {
		t.Errorf("%v: %+v", err, s)
	}
	if sent, _ := json.Marshal(m.shown); len(m.shown) != 1 || strings.Contains(string(sent), "ill") {
		t.Errorf("sent %s", sent)
	}
	if s, err := recall.Summarise(t.Context(), v, m, q.Text, a, 3); err != nil || s.Text != "Ask" {
		t.Errorf("a small budget: %+v, %v", s, err)
	}
	m.says.Summary = " "
	if _, err := recall.Summarise(t.Context(), v, m, q.Text, a, 0); !errors.Is(err, llm.ErrAbsurd) {
		t.Errorf("of nothing: %v", err)
	}
	if _, err := recall.Summarise(t.Context(), v, m, q.Text, &recall.Answer{}, 0); !errors.Is(err, vault.ErrRefused) || len(m.shown) != 3 {
		t.Errorf("about nothing: %v", err)
	}
}
