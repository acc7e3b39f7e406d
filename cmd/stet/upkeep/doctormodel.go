package upkeep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/agent/llm"
	"stet/cmd/stet/console"
)

// A modelView is one model that doctor has asked.
type modelView struct {
	Slots      []llm.Slot     `json:"slots"`
	Provider   string         `json:"provider"`
	Model      string         `json:"model"`
	Host       string         `json:"host"`
	OK         bool           `json:"ok"`
	Answer     string         `json:"answer,omitempty"`
	TookMS     int64          `json:"took_ms"`
	Input      int            `json:"input"`
	Output     int            `json:"output"`
	USD        float64        `json:"usd"`
	CostStatus llm.CostStatus `json:"cost_status,omitempty"`
	Error      string         `json:"error,omitempty"`
}

// doctorModel asks every configured model once, for JSON in a given form as every task of
// stet does. It needs no vault.
func doctorModel(ctx context.Context, e *console.Env) error {
	checks, err := e.CheckModels(ctx)
	if err != nil {
		return err
	}
	view := struct {
		Models []modelView `json:"models"`
	}{}
	var failed []error
	for _, c := range checks {
		v := modelView{Slots: c.Slots, Provider: c.Model.Provider, Model: c.Model.Name, Host: c.Model.Host, OK: c.Err == nil,
			Answer: console.Line1(strings.TrimSpace(c.Answer)), TookMS: c.TookMS,
			Input: c.Reply.Usage.Input, Output: c.Reply.Usage.Output, USD: c.Reply.Usage.USD, CostStatus: c.Reply.Usage.Status}
		if c.Err != nil {
			v.Error, failed = c.Err.Error(), append(failed, fmt.Errorf("models.%s: %w", c.Slots[0], c.Err))
		} else if v.CostStatus == llm.CostAssumed {
			e.Warn("the price of %s is not known and a high one is assumed: set models.%s.price", v.Model, c.Slots[0])
		}
		view.Models = append(view.Models, v)
	}
	return errors.Join(e.Show(view, func(p *console.Printer) { printModels(p, view.Models) }), errors.Join(failed...))
}

func printModels(p *console.Printer, models []modelView) {
	for _, m := range models {
		if !m.OK {
			continue // said on standard error, with the next step
		}
		var slots []string
		for _, s := range m.Slots {
			slots = append(slots, string(s))
		}
		p.Printf("%s  %s at %s answered %q in %d ms: %d tokens in, %d out, %s (%s)\n", strings.Join(slots, ", "), m.Model, m.Host,
			m.Answer, m.TookMS, m.Input, m.Output, llm.Dollars(m.USD), m.CostStatus)
	}
}
