package upkeep

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/llm"
	"stet/cmd/stet/console"
	"stet/vault/settings"
)

// UsageCommand shows what models have cost.
func UsageCommand() *console.Command {
	return &console.Command{
		Name: "usage", Group: console.Session,
		Summary: "show what models were asked for and what that cost",
		Details: "Counted are all calls of stet for you, whatever vault they were made in. A cost is actual\n" +
			"where the server says it, free on your own machine or network, estimated from the price\n" +
			"of the model, or assumed where that is not known: models.*.price sets it. A sum is as\n" +
			"certain as its worst part. Days are UTC. models.daily_limit_usd bounds a day.",
		Examples: []console.Example{
			{Line: "stet usage", Says: "the last 30 days, by model"},
			{Line: "stet usage --by task --since 1d", Says: "what it went to since yesterday"},
			{Line: "stet usage --by day", Says: "day by day"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Value: llm.ByModel, Usage: "sum up by `WHAT`: task, model or day"},
			&cli.StringFlag{Name: "since", Value: "30d", Usage: "from the day of `TIME` on: a date, or how long ago as 7d"},
		},
		Run: runUsage,
	}
}

// A usageView is what usage prints under --json.
type usageView struct {
	By      string      `json:"by"`
	Since   string      `json:"since"` // a day, UTC
	Groups  []totalView `json:"groups"`
	Total   totalView   `json:"total"`
	Today   float64     `json:"today_usd"`
	Limit   float64     `json:"daily_limit_usd"`
	Damaged int         `json:"damaged"` // lines that cannot be read
}

type totalView struct {
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

func viewTotal(t llm.Total) totalView {
	u := t.Usage
	return totalView{t.Name, t.Calls, t.Failed, t.Unfinished, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.USD, u.Status}
}

func runUsage(_ context.Context, e *console.Env, in *console.Input) error {
	by := in.String("by")
	if !slices.Contains([]string{llm.ByTask, llm.ByModel, llm.ByDay}, by) {
		return agent.Usagef("--by %q: it is task, model or day", by)
	}
	since, err := e.Time(in.String("since"))
	if err != nil {
		return err
	}
	s, err := e.Settings()
	if err != nil {
		return err
	}
	view := usageView{By: by, Since: since.UTC().Format(time.DateOnly), Groups: []totalView{}, Limit: s.Float(settings.ModelsLimit)}
	var calls []llm.Entry
	err = e.Spent(func(l *llm.Ledger) (err error) {
		if calls, view.Damaged, err = l.Read(since, e.Now()); err != nil {
			return err
		}
		today, _, err := l.Read(e.Now(), e.Now())
		view.Today = llm.SumAll(today).Usage.USD
		return err
	})
	if err != nil {
		return err
	}
	for _, t := range llm.Sum(calls, by) {
		view.Groups = append(view.Groups, viewTotal(t))
	}
	view.Total = viewTotal(llm.SumAll(calls))
	if view.Damaged > 0 {
		e.Warn("%d lines of the ledger cannot be read; their calls are not counted", view.Damaged)
	}
	return e.Answer(view, func(w io.Writer) error { return printUsage(e, w, view) })
}

func printUsage(e *console.Env, w io.Writer, view usageView) error {
	if len(view.Groups) == 0 {
		_, err := fmt.Fprintf(w, "no model was asked since %s\n", view.Since)
		return err
	}
	width := len("total")
	for _, t := range view.Groups {
		width = max(width, len(t.Name))
	}
	if _, err := fmt.Fprintf(w, "%-*s  %6s  %6s  %9s  %9s  %s\n", width, view.By, "calls", "failed", "in", "out", "cost"); err != nil {
		return err
	}
	for _, t := range append(slices.Clone(view.Groups), view.Total) {
		if _, err := fmt.Fprintf(w, "%-*s  %6d  %6d  %9d  %9d  %s %s\n", width, e.Stored(t.Name), t.Calls, t.Failed, t.Input, t.Output, llm.Dollars(t.USD), t.CostStatus); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "today %s of %s\n", llm.Dollars(view.Today), llm.Dollars(view.Limit))
	return err
}
