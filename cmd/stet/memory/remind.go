package memory

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func remindCommand() *console.Command {
	return &console.Command{
		Name: "remind", Group: console.Memory,
		Summary: "print the memories that a prompt needs, mostly none",
		Args:    "PROMPT... | -", MinArgs: 1, MaxArgs: -1,
		Details: `What hooks do with everything that you type to an agent. Unlike search it mostly prints nothing: a
			memory is shown only where the prompt likely needs it, because words that are rare in this vault, names and
			identifiers cover much of both. At most three are shown, together at most 1,200 characters, none that is
			private, replaced or no longer true; text that reads like orders to a model is masked unless you wrote it.
			--least is asked of the likeliest alone: up to two others come with it, also less likely ones,
			where their odds are at least a twentieth of its odds.
			With --session each is shown once to that session. No model is asked.`,
		Examples: `stet remind "which port does billing listen on?"  # what an agent would be given
			stet remind --json - < prompt.txt  # with the probability that the prompt needs each
			stet remind --least 0.2 "my doctor's number"  # also where it is less sure`,
		Flags: console.Flags(
			console.Text("session", "note with the session `ID` what it is shown (also: STET_SESSION)"),
			console.Fraction("least",
				"show none unless the likeliest is needed with the probability `P` or more, 0 to 1"),
			console.AgentFlag(),
		),
		Run: runRemind,
	}
}

func runRemind(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RemindOptions{Prompt: strings.Join(in.Words, " "), Agent: e.By(in).Agent,
		Session: cmp.Or(in.String("session"), e.Getenv("STET_SESSION"))}
	if in.IsSet("least") {
		if o.Least = in.Float64("least"); o.Least < 0 || o.Least > 1 {
			return agent.Usagef("--least %g is no probability", o.Least).
				Suggest("give one from 0, which shows the best in any case, to 1")
		}
		if o.Least == 0 {
			o.Least = -1
		}
	}
	if o.Prompt == "-" {
		data, err := io.ReadAll(io.LimitReader(e.In, vault.MaxFileSize))
		if err != nil {
			return fmt.Errorf("read the prompt from standard input: %w", err)
		}
		o.Prompt = string(data)
	}
	return e.With(ctx, true, func(a *agent.App) error {
		out, err := a.Memories().Remind(ctx, o)
		if err != nil {
			return err
		}
		return e.Show(out, func(p *console.Printer) { p.Printf("%s", out.Text) })
	})
}
