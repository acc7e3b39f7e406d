package session

import (
	"bytes"
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func runExport(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	if e.JSON {
		return agent.Usagef("an export has a form of its own").Suggest("--format jsonl, without --json")
	}
	o := agent.SessionExport{Refs: words, Format: in.String("format"), Private: in.Bool("private")}
	return e.With(ctx, true, func(a *agent.App) error {
		for i, word := range o.Refs {
			var err error
			if o.Refs[i], err = a.Sessions().Meant(ctx, "", word); err != nil {
				return err
			}
		}
		if output := in.String("output"); output != "" {
			var b bytes.Buffer
			if err := a.Sessions().Export(ctx, o, &b); err != nil {
				return err
			}
			return a.WriteFile(e.By(in), e.Abs(output), b.Bytes())
		}
		return e.Show(nil, func(p *console.Printer) { p.Fail(a.Sessions().Export(ctx, o, p)) })
	})
}
