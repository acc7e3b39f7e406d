package llm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/llm"
	"stet/vault/settings"
)

func configured(t *testing.T, yaml string) settings.Settings {
	t.Helper()
	l, problems, err := settings.Read(settings.User, "config.yaml", []byte(yaml))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return settings.Resolve(l)
}

func TestSlots(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "open", "ANTHROPIC_API_KEY": "anth", "MINE": "mine"}[name]
	}
	for _, c := range []struct {
		name, yaml string
		slot, from llm.Slot
		key, model string
		kind       error
	}{
		{name: "nothing", slot: llm.Chat, kind: llm.ErrNoModel},
		{name: "chat", yaml: "models: {chat: {provider: openai, model: m}}", slot: llm.Chat, from: llm.Chat, key: "open", model: "m"},
		{name: "auxiliary falls back", yaml: "models: {chat: {provider: anthropic, model: m}}", slot: llm.Auxiliary, from: llm.Chat, key: "anth", model: "m"},
		{name: "auxiliary itself", yaml: "models: {chat: {provider: openai, model: m}, auxiliary: {provider: ollama, model: a}}", slot: llm.Auxiliary, from: llm.Auxiliary, model: "a"},
		{name: "curator does not", yaml: "models: {chat: {provider: openai, model: m}}", slot: llm.Curator, kind: llm.ErrNoModel},
		{name: "a key of another host", yaml: "models: {chat: {provider: openai, model: m, base_url: 'https://example.com/v1'}}", slot: llm.Chat, from: llm.Chat, model: "m"},
		{name: "a key named", yaml: "models: {chat: {provider: openai, model: m, base_url: 'https://example.com/v1', key_env: MINE}}", slot: llm.Chat, from: llm.Chat, key: "mine", model: "m"},
		{name: "a key missing", yaml: "models: {chat: {provider: openrouter, model: m}}", slot: llm.Chat, kind: llm.ErrKey},
		{name: "no model", yaml: "models: {chat: {provider: openai}}", slot: llm.Chat, kind: llm.ErrSetup},
		{name: "half an auxiliary", yaml: "models: {chat: {provider: openai, model: m}, auxiliary: {provider: ollama}}", slot: llm.Auxiliary, kind: llm.ErrSetup},
	} {
		o, from, err := llm.FromSettings(configured(t, c.yaml), c.slot, env)
		if c.kind != nil {
			var hinter interface{ Hint() string }
			if !errors.Is(err, c.kind) || !errors.As(err, &hinter) || hinter.Hint() == "" {
				t.Errorf("%s: %v, want %v with a hint", c.name, err, c.kind)
			}
			continue
		}
		if err != nil || from != c.from || string(o.Key) != c.key || o.Model != c.model || o.Timeouts.FirstByte != 2*time.Minute {
			t.Errorf("%s: %+v (key %q) from %s, %v", c.name, o, string(o.Key), from, err)
			continue
		}
		if _, err := llm.New(o); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	got := llm.Configured(configured(t, "models: {chat: {provider: openai, model: m}, curator: {model: c}}"))
	if !slices.Equal(got, []llm.Slot{llm.Chat, llm.Curator}) {
		t.Errorf("configured: %v", got)
	}
}

// The keys of the configuration are the person's alone, and name what there is.
func TestEveryProviderCanBeConfigured(t *testing.T) {
	t.Parallel()
	var names []string
	for _, slot := range llm.Slots() {
		k, ok := settings.Find(string(settings.Model(string(slot)).Provider))
		if !ok || k.Vault {
			t.Fatalf("models.%s: %+v", slot, k)
		}
		names = nil
		for _, p := range llm.Providers() {
			names = append(names, p.Name)
			if _, err := k.Parse(p.Name); err != nil {
				t.Error(err)
			}
		}
		if want := strings.Join(names, ", "); !strings.Contains(k.Type.String(), want) {
			t.Errorf("%s knows %s, the package %s", k.Name, k.Type, want)
		}
		mode, _ := settings.Find(string(settings.Model(string(slot)).Mode))
		for _, m := range []string{llm.ModeOpenAI, llm.ModeAnthropic} {
			if _, err := mode.Parse(m); err != nil {
				t.Error(err)
			}
		}
	}
	for _, k := range settings.Keys() {
		if strings.HasPrefix(string(k.Name), "models.") && k.Vault {
			t.Errorf("a vault may set %s", k.Name)
		}
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o      llm.Options
		in     float64
		status llm.CostStatus
	}{
		{llm.Options{Provider: "openai", Model: "gpt-4o-mini-2024-07-18"}, 0.15, llm.CostEstimated},
		{llm.Options{Provider: "openai", Model: "gpt-4o-2024-11-20"}, 2.5, llm.CostEstimated},
		{llm.Options{Provider: "openrouter", Model: "anthropic/claude-haiku-4-5"}, 1, llm.CostEstimated},
		{llm.Options{Provider: "openai", Model: "brand-new"}, 15, llm.CostAssumed},
		{llm.Options{Provider: "openai", Model: "brand-new", Price: "0.5/1"}, 0.5, llm.CostEstimated},
		{llm.Options{Provider: "ollama", Model: "gpt-4o"}, 0, llm.CostFree},
		{llm.Options{BaseURL: "http://192.168.1.7:8080", Model: "x"}, 0, llm.CostFree},
		{llm.Options{BaseURL: "https://ollama.example.com", Model: "x"}, 15, llm.CostAssumed},
	} {
		p := dial(t, c.o).Model().Price
		if p.Input != c.in || p.Status != c.status {
			t.Errorf("%+v costs %+v", c.o, p)
		}
	}
}
