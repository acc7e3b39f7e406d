package agent

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"stet/agent/llm"
	"stet/vault/durable"
	"stet/vault/settings"
)

// ledgerDir is the folder of the ledger of model calls. It is the person's and
// no vault's: a limit for a day that began anew in every vault would be none.
func (e *Environment) ledgerDir() (string, error) {
	dir := e.o.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := e.o.Getenv("HOME")
		if home == "" {
			return "", Usagef("there is no place to write down what models cost").Suggest("set HOME or XDG_STATE_HOME")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stet", "models"), nil
}

// ledger opens the ledger of model calls for use, which it may be made for.
func (e *Environment) ledger(use func(*llm.Ledger) error) (err error) {
	dir, err := e.ledgerDir()
	if err == nil {
		err = durable.MakeFolder("ledger", dir, 0o700, e.o.Hook)
	}
	if err != nil {
		return err
	}
	return e.withLedger(dir, use)
}

// spent reads the ledger of model calls; use is not called where there is none.
func (e *Environment) spent(use func(*llm.Ledger) error) error {
	dir, err := e.ledgerDir()
	if err != nil {
		return err
	}
	if err = e.withLedger(dir, use); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (e *Environment) withLedger(dir string, use func(*llm.Ledger) error) (err error) {
	root, err := durable.OpenRoot(dir, e.o.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return use(llm.NewLedger(root, e.o.Now, e.lockWait()))
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

// auxiliary gives use the model for small tasks, nil where none is configured. One
// that cannot be had is a model whose every call fails and says why: who asks it has
// a way to do without.
func (e *Environment) auxiliary(s settings.Settings, use func(llm.Client) error) error {
	o, _, err := llm.FromSettings(s, llm.Auxiliary, e.o.Getenv)
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return use(nil)
	case err != nil:
		return use(noModel{o, err})
	}
	o.Retry.Max = 1 // the user waits
	used := false
	err = e.ledger(func(l *llm.Ledger) error {
		c, err := e.model(o, l)
		if err != nil {
			return err
		}
		used = true
		return use(c)
	})
	if !used {
		return use(noModel{o, err})
	}
	return err
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
	Slots   []llm.Slot // that it serves
	Options llm.Options
	Model   llm.Model
	Reply   llm.Reply
	Answer  string // read from the form that every task asks for
	TookMS  int64
	Err     error
}

// CheckModels makes one call to each model that is configured, of which two
// slots may share one. It fails with llm.ErrNoModel where there is none.
func (e *Environment) CheckModels(ctx context.Context) ([]ModelCheck, error) {
	checks, err := e.models()
	if err != nil {
		return nil, err
	}
	err = e.ledger(func(l *llm.Ledger) error {
		for i := range checks {
			if checks[i].Err == nil {
				checks[i].Err = e.checkModel(ctx, l, &checks[i])
			}
		}
		return ctx.Err()
	})
	return checks, err
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
			if checks[i].Options == o && err == nil {
				checks[i].Slots, shared = append(checks[i].Slots, slot), true
			}
		}
		if !shared {
			checks = append(checks, ModelCheck{Slots: []llm.Slot{slot}, Options: o, Model: llm.Model{Provider: o.Provider, Name: o.Model}, Err: err})
		}
	}
	return checks, nil
}

func (e *Environment) checkModel(ctx context.Context, l *llm.Ledger, c *ModelCheck) error {
	client, err := e.model(c.Options, l)
	if err != nil {
		return err
	}
	c.Model = client.Model()
	e.note("asking %s at %s", c.Model.Name, c.Model.Host)
	began := e.o.Now()
	type ready struct {
		Answer string `json:"answer"`
	}
	var said ready
	said, c.Reply, err = llm.Ask[ready](ctx, client, "ready", llm.Request{
		Task: "doctor", System: "You are asked whether you can be reached, and whether you can answer in JSON.", MaxTokens: checkTokens,
		Messages: []llm.Message{{Role: llm.User, Text: `Answer with this JSON and nothing else: {"answer": "ready"}`}},
	})
	c.Answer, c.TookMS = said.Answer, e.o.Now().Sub(began).Milliseconds()
	return err
}

// checkTokens leaves a model that thinks before it speaks enough for both.
const checkTokens = 1024
