package upkeep

import (
	"context"
	"errors"
	"strings"

	"stet/agent"
	"stet/agent/llm"
	"stet/cmd/stet/console"
)

// doctorModel asks every configured model once, for JSON in a given form as every task of
// stet does. It needs no vault.
func doctorModel(ctx context.Context, e *console.Env) error {
	checked, err := e.CheckModels(ctx)
	if checked == nil {
		return err
	}
	return errors.Join(e.Show(checked, func(p *console.Printer) { printModels(p, checked.Models) }), err)
}

func printModels(p *console.Printer, models []agent.ModelCheck) {
	for _, m := range models {
		if !m.OK {
			continue // said on standard error, with the next step
		}
		var slots []string
		for _, s := range m.Slots {
			slots = append(slots, string(s))
		}
		p.Printf("%s  %s at %s answered %q in %d ms: %s in, %d out, %s (%s)\n", strings.Join(slots, ", "),
			m.Model,
			m.Host, console.Line1(m.Answer), m.TookMS,
			agent.Plural(m.Input, "token"), m.Output, llm.Dollars(m.USD), m.CostStatus)
	}
}
