package ingest

import (
	"context"
	"encoding/json"
	"slices"

	"stet/agent/llm"
	"stet/vault"
)

// Keeping is a model whose last answers are kept in the vault's local state: a question that
// comes again, after a dry run or an interrupted command, is not paid for twice.
func Keeping(model llm.Client, v *vault.Vault) llm.Client { return answers{model, v} }

// maxAnswers and maxAnswer bound what is kept: answers, and bytes of one.
const (
	maxAnswers = 64
	maxAnswer  = 8 << 10
	answersOf  = "answers"
)

type answers struct {
	llm.Client
	v *vault.Vault
}

type answer struct{ Key, Text string }

// Answer implements [llm.Answers].
func (a answers) Answer(key string) string {
	data, err := a.v.State().Seen(answersOf)
	if err != nil {
		return "" // the model is asked
	}
	list := readAnswers(data)
	if i := slices.IndexFunc(list, func(k answer) bool { return k.Key == key && key != "" }); i >= 0 {
		return list[i].Text
	}
	return ""
}

// Keep implements [llm.Answers]. An answer that cannot be kept is asked for again.
func (a answers) Keep(ctx context.Context, key, text string) {
	if key == "" || len(text) > maxAnswer {
		return
	}
	_ = a.v.State().SetSeen(ctx, answersOf, func(now []byte) ([]byte, error) {
		list := append(readAnswers(now), answer{key, text})
		return json.Marshal(list[max(0, len(list)-maxAnswers):])
	})
}

// readAnswers are none where the file is not what was written.
func readAnswers(data []byte) (list []answer) {
	if json.Unmarshal(data, &list) != nil {
		return nil
	}
	return list
}
