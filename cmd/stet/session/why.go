package session

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

func whyCommand() *console.Command {
	return &console.Command{
		Name: "why", Group: console.History,
		Summary: "show the conversation that a memory came from",
		Args:    "[MEMORY]", MinArgs: 1, MaxArgs: 1, Picks: true,
		Details: `The turns are those that the memory's source or the commit names (session:ID#14 or #14-16), else, of
			what was said in that session before the commit, the user's last turn that has the words of the text, or
			the last one of all, each with its answer. What a person wrote outside a session has no such turns, and
			neither has what was said before anything was kept.
			"recorded" are turns that asked for the change or have the words of the text, and that a client's hook
			or a person's command recorded here; that the text came from any others is "as its writer says", who
			named them as its source ("claimed" with --json).`,
		Examples: `stet why gate-code  # one memory
			stet why USER.md#1a2b3c4d  # one entry of a notebook; 1a2b3c4d alone does too
			stet why gate-code --json  # for a program
			stet why  # choose one on a terminal`,
		Run: runWhy,
	}
}

func runWhy(ctx context.Context, e *console.Env, in *console.Input) error {
	return console.Reading(ctx, e,
		func(a *agent.App) (*agent.Reasons, error) {
			words, err := choice.Named(ctx, e, a, in.Words, false)
			if err != nil {
				return nil, err
			}
			return a.Sessions().Why(ctx, words[0])
		},
		func(p *console.Printer, why *agent.Reasons) {
			for _, r := range why.Reasons {
				printReason(p, r)
			}
		})
}

func printReason(p *console.Printer, r agent.Reason) {
	head := p.Paint(console.Cyan, console.Line1(r.Session))
	if r.Title != "" {
		head += "  " + console.Line1(r.Title)
	}
	proof := r.Proof
	if proof == "claimed" {
		proof = "as its writer says"
	}
	head += "  " + proof
	if r.Rev != "" {
		head += fmt.Sprintf("  (%s %s, %s, by %s)", r.Op, r.Rev.Short(), console.Day(r.When),
			console.Line1(r.Writer()))
	}
	if r.Missing {
		head += "  its transcript is not in this vault"
	}
	p.Printf("%s\n", head)
	printLines(p, r.Messages)
}
