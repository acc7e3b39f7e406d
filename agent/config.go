package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent/llm"
	"stet/templates"
	"stet/vault"
	"stet/vault/settings"
)

// A Setting is one key of the configuration with its value.
type Setting struct {
	Key     settings.Name   `json:"key"`
	Value   string          `json:"value"`
	Source  settings.Source `json:"source"`
	Origin  string          `json:"origin,omitempty"` // the file and line, or the variable
	Type    string          `json:"type"`
	Unit    string          `json:"unit,omitempty"`
	Default string          `json:"default"`
	Meaning string          `json:"meaning"`
	SetIn   string          `json:"set_in"`
	Env     string          `json:"env"`
}

func viewSetting(e settings.Entry) Setting {
	return Setting{Key: e.Key.Name, Value: e.Value, Source: e.Source, Origin: e.Origin, Type: e.Key.Type.String(),
		Unit: e.Key.Unit, Default: e.Key.Default, Meaning: e.Key.Meaning, SetIn: e.Key.SetIn(), Env: e.Key.Env()}
}

// A SettingList is every setting, and where the user's own file is.
type SettingList struct {
	Settings []Setting `json:"settings"`
	UserFile string    `json:"user_file"`
}

// Configuration lists every setting as it is in force, with those of the vault's file where there
// is a vault.
func (e *Environment) Configuration(ctx context.Context) (*SettingList, error) {
	s, err := e.effective(ctx)
	out := &SettingList{[]Setting{}, e.UserFile()}
	for _, entry := range s.Entries() {
		out.Settings = append(out.Settings, viewSetting(entry))
	}
	return out, err
}

// Setting is one setting as it is in force. It fails with [ErrUsage] for an unknown key.
func (e *Environment) Setting(ctx context.Context, key string) (*Setting, error) {
	k, ok := settings.Find(key)
	if !ok {
		return nil, unknownKey(key)
	}
	s, err := e.effective(ctx)
	if err != nil {
		return nil, err
	}
	out := viewSetting(s.Entry(k))
	return &out, nil
}

func (e *Environment) effective(ctx context.Context) (settings.Settings, error) {
	a, err := e.Open(ctx, true)
	if errors.Is(err, vault.ErrNotVault) {
		return e.Settings()
	}
	if err != nil {
		return settings.Settings{}, err
	}
	return a.Settings(), a.Close()
}

// ConfigureOptions change one setting.
type ConfigureOptions struct {
	Write
	Key   string
	Value *string // nil takes the key out
	Add   bool    // append Value to a list, which may hold several items with commas between them
	// User and Vault name the file: the user's own, or the vault's. Neither takes the vault's
	// where the key is one that a vault may set and there is a vault.
	User, Vault bool
}

// Configured is the result of changing the user's own file.
type Configured struct {
	File      string  `json:"file"`
	Key       string  `json:"key"`
	Value     *string `json:"value"`
	Unchanged bool    `json:"unchanged"`
	DryRun    bool    `json:"dry_run,omitempty"`
}

// Configure changes one setting, in the vault's file, as a commit (the first result), or in the
// user's own (the second). An unknown key can be taken out only. It fails with [ErrUsage] for a
// value that the key cannot have, and with [vault.ErrRefused] where the policy refuses it.
func (e *Environment) Configure(ctx context.Context, o ConfigureOptions) (*Written, *Configured, error) {
	if err := e.check(o.Write, "config", o.Key); err != nil {
		return nil, nil, err
	}
	k, known := settings.Find(o.Key)
	if !known && o.Value != nil {
		return nil, nil, unknownKey(o.Key)
	}
	if o.Value != nil {
		canonical, err := k.Parse(*o.Value)
		if err != nil {
			return nil, nil, Usagef("%s: %v", o.Key, err).Suggest("%s", unitHint(k))
		}
		o.Value = &canonical
	}
	foreign := Usagef("a vault may not set %q: whoever clones it must not get it", o.Key)
	switch {
	case o.Add && !k.Type.IsList():
		return nil, nil, Usagef("%s is no list", o.Key).
			Suggest("stet config set %s %s", o.Key, templates.Quote(*o.Value))
	case o.Add && o.Vault:
		return nil, nil, foreign
	case o.Add && *o.Value == "":
		return nil, nil, Usagef("there is no item to add").Suggest("%s", unitHint(k))
	}
	if !o.Vault && !o.User && !o.Add && known && k.Vault {
		_, err := e.Locate()
		o.Vault = err == nil
	}
	switch {
	case o.Vault && known && !k.Vault && o.Value != nil:
		return nil, nil, foreign.Suggest("--user writes it to your own file")
	case o.Vault:
		res, err := e.configureVault(ctx, o)
		return res, nil, err
	}
	res, err := e.configureUser(ctx, k, o)
	return nil, res, err
}

func unitHint(k settings.Key) string {
	switch {
	case strings.HasPrefix(k.Type.String(), "whole number") && k.Unit != "":
		return "give a number of " + k.Unit
	case k.Unit != "":
		return "give " + k.Unit
	}
	return k.Meaning
}

func (e *Environment) configureVault(ctx context.Context, o ConfigureOptions) (*Written, error) {
	a, err := e.Open(ctx, false)
	if err != nil {
		return nil, err
	}
	res, err := a.v.Configure(ctx, o.Key, o.Value, o.vault(a.Environment))
	var out *Written
	if err == nil {
		out = a.finish(ctx, res)
		a.warnIdle(ctx, o)
		if o.Key == string(settings.SessionsTrack) && *cmp.Or(o.Value, new(string)) == "true" && !out.Unchanged {
			a.note("transcripts that are here already come into git when the next session ends and \"stet adopt\" runs")
		}
	}
	return out, errors.Join(err, a.Close())
}

// warnIdle says that a value in the vault's file changes nothing.
func (e *Environment) warnIdle(ctx context.Context, o ConfigureOptions) {
	k, known := settings.Find(o.Key)
	if !known || o.Value == nil || o.DryRun {
		return
	}
	if s, err := e.effective(ctx); err == nil && s.Text(k.Name) != *o.Value {
		e.warn("%s is %q all the same: %s", k.Name, s.Text(k.Name), whyIdle(s.Entry(k)))
	}
}

func whyIdle(e settings.Entry) string {
	if e.Key.Stricter && e.Source != settings.Environment {
		return "a vault can only make it stricter; --user changes your own"
	}
	return fmt.Sprintf("%s says so", cmp.Or(e.Origin, string(e.Source)))
}

func (e *Environment) configureUser(ctx context.Context, k settings.Key, o ConfigureOptions) (*Configured, error) {
	edit := func(data []byte) (_ []byte, err error) {
		switch {
		case o.Value == nil:
			return settings.Unset(data, o.Key)
		case !o.Add:
			return settings.Set(data, k, *o.Value)
		}
		for item := range strings.SplitSeq(*o.Value, ",") {
			if data, err = settings.Add(data, k, item); err != nil {
				return nil, err
			}
		}
		return data, nil
	}
	changed, err := e.editUserFile(ctx, edit, o.DryRun)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.UserFile(), err)
	}
	return &Configured{File: e.UserFile(), Key: o.Key, Value: o.Value, Unchanged: !changed, DryRun: o.DryRun}, nil
}

// Costs is what models were asked for, and what that cost.
type Costs struct {
	By      string  `json:"by"`
	Since   string  `json:"since"` // a day, UTC
	Groups  []Cost  `json:"groups"`
	Total   Cost    `json:"total"`
	Today   float64 `json:"today_usd"`
	Limit   float64 `json:"daily_limit_usd"`
	Damaged int     `json:"damaged"` // lines of the ledger that cannot be read
}

// A Cost sums up calls of models. Input, Output and the caches are tokens.
type Cost struct {
	Name       string         `json:"name"`
	Calls      int            `json:"calls"`
	Failed     int            `json:"failed"`
	Unfinished int            `json:"unfinished"`
	Input      int            `json:"input"`
	Output     int            `json:"output"`
	CacheRead  int            `json:"cache_read"`
	CacheWrite int            `json:"cache_write"`
	USD        float64        `json:"usd"`
	CostStatus llm.CostStatus `json:"cost_status,omitempty"`
}

func viewCost(t llm.Total) Cost {
	u := t.Usage
	return Cost{t.Name, t.Calls, t.Failed, t.Unfinished, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.USD, u.Status}
}

// Costs sums up the calls of all models since a time, by [llm.ByTask], [llm.ByModel] or
// [llm.ByDay], whatever vault they were made for.
func (e *Environment) Costs(by string, since time.Time) (*Costs, error) {
	if !slices.Contains([]string{llm.ByTask, llm.ByModel, llm.ByDay}, by) {
		return nil, Usagef("--by %q: it is task, model or day", by)
	}
	s, err := e.Settings()
	if err != nil {
		return nil, err
	}
	out := &Costs{By: by, Since: since.UTC().Format(time.DateOnly), Groups: []Cost{},
		Limit: s.Float(settings.ModelsLimit)}
	var calls []llm.Entry
	err = e.spent(func(l *llm.Ledger) (err error) {
		if calls, out.Damaged, err = l.Read(since, e.o.Now()); err != nil {
			return err
		}
		today, _, err := l.Read(e.o.Now(), e.o.Now())
		out.Today = llm.SumAll(today).Usage.USD
		return err
	})
	for _, t := range llm.Sum(calls, by) {
		out.Groups = append(out.Groups, viewCost(t))
	}
	out.Total = viewCost(llm.SumAll(calls))
	return out, err
}
