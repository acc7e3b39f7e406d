package settings

import (
	"strconv"
	"strings"
)

// ModelsLimit is what models may cost a day.
const ModelsLimit Name = "models.daily_limit_usd"

// ForegroundWait bounds how long a command waits for a model.
const ForegroundWait Name = "models.foreground_wait"

// ModelKeys are the keys of one model.
type ModelKeys struct{ Provider, Model, BaseURL, Mode, KeyEnv, Timeout, Price Name }

// Model is the keys of a slot: chat, auxiliary or curator.
func Model(slot string) ModelKeys {
	key := func(name string) Name { return Name("models." + slot + "." + name) }
	return ModelKeys{key("provider"), key("model"), key("base_url"), key("api_mode"), key("key_env"), key("timeout"), key("price")}
}

// modelKeys belong to the person alone: a vault must not choose who reads it,
// or what that costs.
func modelKeys() []Key {
	var out []Key
	for _, slot := range []struct{ name, use string }{
		{"chat", "the model you talk to"},
		{"auxiliary", "a cheap model for small tasks, as gpt-4o-mini; without it the chat model does them"},
		{"curator", "a model for work in the background; without it there is none"},
	} {
		k := Model(slot.name)
		out = append(out,
			Key{Name: k.Provider, Type: oneOf("openai", "anthropic", "openrouter", "ollama", "llamacpp", "lmstudio", "vllm", "custom"),
				Meaning: "who runs " + slot.use + "; `custom` is any server at `base_url`"},
			Key{Name: k.Model, Type: text(), Meaning: "its name, as the provider writes it"},
			Key{Name: k.BaseURL, Type: text(), Meaning: "its address, where it is not the provider's usual one"},
			Key{Name: k.Mode, Type: oneOf("chat_completions", "anthropic_messages"),
				Meaning: "the protocol it speaks, where it is not the provider's usual one"},
			Key{Name: k.KeyEnv, Type: text(),
				Meaning: "the environment variable that holds its key; unset, that is `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `OPENROUTER_API_KEY`, at the provider's own address only"},
			Key{Name: k.Timeout, Type: duration(), Unit: "a time, as 30s or 5m", Default: "2m0s",
				Meaning: "how long it may take to begin an answer; a quarter of it later, or a second, the call ends " +
					"unless the answer brought 16 characters for each second more"},
			Key{Name: k.Price, Type: price(), Unit: "dollars for a million tokens in/out, as 0.15/0.60",
				Meaning: "its price, where stet does not know it or knows it wrong; a server of your own network is free"},
		)
	}
	out = append(out, Key{Name: ForegroundWait, Type: duration(), Unit: "a time, as 15s or 1m", Default: "15s",
		Meaning: "how long storing a memory waits for the model; what is not answered by then is stored by the rules and finished later"})
	for i := range out {
		out[i].Agents = Nothing // who answers is believed
	}
	return append(out, Key{Name: ModelsLimit, Agents: Lowers, Type: amount(), Unit: "dollars", Default: "1",
		Meaning: "what all models together may cost a day (UTC); a call that could exceed it is not made"})
}

// Float is the value of a key of type amount or share.
func (s Settings) Float(name Name) float64 {
	f, _ := strconv.ParseFloat(s.Text(name), 64) // checked when it was read
	return f
}

func amount() Type {
	return Type{name: "amount of at least 0", parse: func(s string) (string, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 0 && f < 1e6) {
			return "", strconv.ErrSyntax
		}
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}}
}

// share is a part of a whole.
func share() Type {
	return Type{name: "number from 0 to 1", parse: func(s string) (string, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return "", strconv.ErrSyntax
		}
		return strconv.FormatFloat(f, 'f', -1, 64), nil
	}}
}

// price is two amounts.
func price() Type {
	return Type{name: "price (two amounts, as 0.15/0.60)", parse: func(s string) (string, error) {
		in, out, _ := strings.Cut(s, "/")
		a, err1 := amount().parse(strings.TrimSpace(in))
		b, err2 := amount().parse(strings.TrimSpace(out))
		if err1 != nil || err2 != nil {
			return "", strconv.ErrSyntax
		}
		return a + "/" + b, nil
	}}
}
