package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"stet/agent/llm"
	"stet/vault/durable"
	"stet/vault/settings"
)

// ledgerDir is the folder of the ledger of model calls. It belongs to the user and
// not to a vault: a daily limit that every vault counted for itself would be none.
func (e *Environment) ledgerDir() (string, error) {
	dir, err := e.stateDir()
	return filepath.Join(dir, "models"), err
}

// stateDir is the folder of what stet keeps for the user beside all vaults.
func (e *Environment) stateDir() (string, error) {
	dir := e.o.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := e.o.Getenv("HOME")
		if home == "" {
			return "", Usagef("there is no folder for what stet knows beside your vaults").
				Suggest("set HOME or XDG_STATE_HOME")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stet"), nil
}

// ledger opens the ledger of model calls, which it may be made for, until done is called.
func (e *Environment) ledger() (l *llm.Ledger, done func(), err error) {
	dir, err := e.ledgerDir()
	if err == nil {
		err = durable.MakeFolder("ledger", dir, 0o700, e.o.Hook)
	}
	if err != nil {
		return nil, nil, err
	}
	return e.openLedger(dir)
}

// spent reads the ledger of model calls; use is not called where there is none.
func (e *Environment) spent(use func(*llm.Ledger) error) error {
	dir, err := e.ledgerDir()
	if err != nil {
		return err
	}
	l, done, err := e.openLedger(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer done()
	return use(l)
}

func (e *Environment) openLedger(dir string) (l *llm.Ledger, done func(), err error) {
	root, err := durable.OpenRoot(dir, e.o.Hook)
	if err != nil {
		return nil, nil, err
	}
	return llm.NewLedger(root, e.o.Now, e.lockWait()), func() { e.closed("the ledger of model calls", root) }, nil
}

// model makes the model that o describes, with every call written into l and
// within the daily limit.
func (e *Environment) model(o llm.Options, l *llm.Ledger) (llm.Client, error) {
	if e.o.Model == nil {
		e.o.Model = llm.New
	}
	c, err := e.o.Model(o)
	if err != nil {
		return nil, err
	}
	s, err := e.Settings()
	if err != nil {
		return nil, err
	}
	return llm.Metered(c, l, s.Float(settings.ModelsLimit)), nil
}

// auxiliary is the model for small tasks until done is called, nil where none is configured.
// One that cannot be had is a model whose every call fails and says why: who asks it has
// a way to do without.
func (e *Environment) auxiliary(s settings.Settings) (model llm.Client, done func()) {
	none := func() {}
	o, _, err := llm.FromSettings(s, llm.Auxiliary, e.o.Getenv)
	e.withheld(llm.Auxiliary, llm.Chat)
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return nil, none
	case err != nil:
		return noModel{o, err}, none
	}
	o.Retry.Max = 1 // the user waits
	if model, done, err = e.metered(o); err != nil {
		return noModel{o, err}, none
	}
	return model, done
}

// withheld reports whether the environment of an agent's command names a model for one of these uses, and tells of it:
// who chooses the model chooses what it answers.
func (e *Environment) withheld(slots ...llm.Slot) bool {
	for _, slot := range slots {
		key, _ := settings.Find(string(settings.Model(string(slot)).Model))
		if e.o.Tool && e.o.Getenv(key.Env()) != "" {
			e.warn("%s does not count: this is an agent's command, and your own configuration alone names models",
				key.Env())
			return true
		}
	}
	return false
}

// metered is the model that o describes until done is called, with every call in the ledger.
func (e *Environment) metered(o llm.Options) (model llm.Client, done func(), err error) {
	l, done, err := e.ledger()
	if err != nil {
		return nil, nil, err
	}
	if model, err = e.model(o, l); err != nil {
		done()
	}
	return model, done, err
}

// CuratorOptions describe the model for work in the background. No other takes its place: it fails with
// [llm.ErrNoModel] where none is set, and as [llm.FromSettings] does.
func (e *Environment) CuratorOptions() (llm.Options, error) {
	s, err := e.Settings()
	if err != nil {
		return llm.Options{}, err
	}
	e.withheld(llm.Curator)
	o, _, err := llm.FromSettings(s, llm.Curator, e.o.Getenv)
	return o, err
}

// CuratorModel is that model until done is called.
func (e *Environment) CuratorModel() (model llm.Client, done func(), err error) {
	o, err := e.CuratorOptions()
	if err != nil {
		return nil, nil, err
	}
	return e.metered(o)
}

// noModel is a model that cannot be had.
type noModel struct {
	o   llm.Options
	err error
}

// Generate implements [llm.Client].
func (n noModel) Generate(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, n.err }

// Model implements [llm.Client].
func (n noModel) Model() llm.Model { return llm.Model{Provider: n.o.Provider, Name: n.o.Model} }

// A ModelCheck is one configured model and how its one call went.
type ModelCheck struct {
	Slots      []llm.Slot     `json:"slots"` // that it serves
	Provider   string         `json:"provider"`
	Model      string         `json:"model"`
	Host       string         `json:"host"`
	OK         bool           `json:"ok"`
	Answer     string         `json:"answer,omitempty"` // read from the form that every task asks for
	TookMS     int64          `json:"took_ms"`
	Input      int            `json:"input"` // tokens
	Output     int            `json:"output"`
	USD        float64        `json:"usd"`
	CostStatus llm.CostStatus `json:"cost_status,omitempty"`
	Error      string         `json:"error,omitempty"`
	options    llm.Options
	err        error
}

// CheckedModels is what [Environment.CheckModels] found.
type CheckedModels struct {
	Models []ModelCheck `json:"models"`
}

// CheckModels makes one call to each model that is configured, of which two slots may share one. It
// fails with llm.ErrNoModel where there is none. When a model fails both the result and the error
// are set.
func (e *Environment) CheckModels(ctx context.Context) (*CheckedModels, error) {
	checks, err := e.models()
	if err != nil {
		return nil, err
	}
	l, done, err := e.ledger()
	if err != nil {
		return &CheckedModels{checks}, err
	}
	defer done()
	for i := range checks {
		if checks[i].err == nil {
			checks[i].err = e.checkModel(ctx, l, &checks[i])
		}
	}
	failed := []error{ctx.Err()}
	for i := range checks {
		c := &checks[i]
		switch c.OK = c.err == nil; {
		case !c.OK:
			c.Error = c.err.Error()
			failed = append(failed, fmt.Errorf("models.%s: %w", c.Slots[0], c.err))
		case c.CostStatus == llm.CostAssumed:
			e.warn("the price of %s is not known and a high one is assumed: set models.%s.price", c.Model, c.Slots[0])
		}
	}
	return &CheckedModels{checks}, errors.Join(failed...)
}

// models lists what is configured, with what is wrong about it.
func (e *Environment) models() ([]ModelCheck, error) {
	s, err := e.Settings()
	if err != nil {
		return nil, err
	}
	slots := llm.Configured(s)
	if len(slots) == 0 {
		slots = []llm.Slot{llm.Chat}
	}
	var checks []ModelCheck
	for _, slot := range slots {
		o, _, err := llm.FromSettings(s, slot, e.o.Getenv)
		if errors.Is(err, llm.ErrNoModel) {
			return nil, err
		}
		shared := false
		for i := range checks {
			if checks[i].options == o && err == nil {
				checks[i].Slots, shared = append(checks[i].Slots, slot), true
			}
		}
		if !shared {
			checks = append(checks,
				ModelCheck{Slots: []llm.Slot{slot}, Provider: o.Provider, Model: o.Model, options: o, err: err})
		}
	}
	return checks, nil
}

func (e *Environment) checkModel(ctx context.Context, l *llm.Ledger, c *ModelCheck) error {
	client, err := e.model(c.options, l)
	if err != nil {
		return err
	}
	m := client.Model()
	c.Provider, c.Model, c.Host = m.Provider, m.Name, m.Host
	e.note("asking %s at %s", c.Model, c.Host)
	began := e.o.Now()
	type ready struct {
		Answer string `json:"answer"`
	}
	said, reply, err := llm.Ask[ready](ctx, client, "ready", llm.Request{
		Task: "doctor", System: "You are asked whether you can be reached, and whether you can answer in JSON.",
		MaxTokens: checkTokens,
		Messages:  []llm.Message{{Role: llm.User, Text: `Answer with this JSON and nothing else: {"answer": "ready"}`}},
	})
	u := reply.Usage
	c.Answer, c.TookMS = strings.Join(strings.Fields(said.Answer), " "), e.o.Now().Sub(began).Milliseconds()
	c.Input, c.Output, c.USD, c.CostStatus = u.Input, u.Output, u.USD, u.Status
	return err
}

// checkTokens leaves a model that thinks before it speaks enough for both.
const checkTokens = 1024
