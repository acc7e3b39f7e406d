package upkeep

import (
	"context"
	"slices"

	"stet/agent"
	"stet/agent/llm"
	"stet/cmd/stet/console"
)

// UsageCommand shows what models have cost.
func UsageCommand() *console.Command {
	return &console.Command{
		Name: "usage", Group: console.Session,
		Summary: "show what models were asked for and what that cost",
		Details: `Counted are all calls of stet for you, whatever vault they were made in. A cost is actual where
			the server says it, free on your own machine or network, estimated from the price of the model, or
			assumed where that is not known: models.*.price sets it. A sum is as certain as its worst part. Days are
			UTC. models.daily_limit_usd bounds a day.`,
		Examples: `stet usage  # the last 30 days, by model
			stet usage --by task --since 1d  # what it went to since yesterday
			stet usage --by day  # day by day`,
		Flags: console.Flags(
			console.Text("by", "sum up by `WHAT`: task, model or day", llm.ByModel),
			console.Text("since", "from the day of `TIME` on: 2026-01-31, monday, 7d", "30d"),
		),
		Run: runUsage,
	}
}

func runUsage(_ context.Context, e *console.Env, in *console.Input) error {
	since, err := e.Time(in.String("since"))
	if err != nil {
		return err
	}
	costs, err := e.Costs(in.String("by"), since)
	if err != nil {
		return err
	}
	if costs.Damaged > 0 {
		e.Warn("%s of the ledger cannot be read; their calls are not counted", agent.Plural(costs.Damaged, "line"))
	}
	return e.Show(costs, func(p *console.Printer) { printCosts(p, costs) })
}

func printCosts(p *console.Printer, costs *agent.Costs) {
	if len(costs.Groups) == 0 {
		p.Printf("no model was asked since %s\n", costs.Since)
		return
	}
	width := len("total")
	for _, t := range costs.Groups {
		width = max(width, len(t.Name))
	}
	p.Printf("%-*s  %6s  %6s  %9s  %9s  %s\n", width, costs.By, "calls", "failed", "in", "out", "cost")
	for _, t := range append(slices.Clone(costs.Groups), costs.Total) {
		p.Printf("%-*s  %6d  %6d  %9d  %9d  %s %s\n", width, p.Stored(t.Name), t.Calls, t.Failed, t.Input, t.Output,
			llm.Dollars(t.USD), t.CostStatus)
	}
	p.Printf("today %s of %s\n", llm.Dollars(costs.Today), llm.Dollars(costs.Limit))
}
