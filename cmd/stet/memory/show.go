package memory

import (
	"context"
	"strings"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/vault"
)

func showCommand() *console.Command {
	return &console.Command{
		Name: "show", Aliases: []string{"cat"}, Group: console.Memory,
		Summary: "print a memory or note, now or as it was",
		Args:    "[MEMORY...]", MinArgs: 1, MaxArgs: -1, Picks: true,
		Details: `Without a terminal the bytes of the file are printed unchanged. A folder, or a filter as
			tag:x, lists what there is, as "stet list" does.`,
		Examples: `stet show memories/infra/db.md  # by path
			stet show code  # by a word or part of its name, title or alias that no other has
			stet show 7c0e  # by the end of its id, or six characters of its beginning
			stet show gate-code --at HEAD~3  # as it was three commits ago
			stet show gate-code --as-of 2w  # as it was two weeks ago
			stet show USER.md#1a2b3c4d  # one entry of a notebook; 1a2b3c4d alone does too
			stet show memories/infra  # what a folder holds
			stet show gate-code --body  # the text without front matter
			stet show  # choose one on a terminal`,
		Flags: console.Flags(
			console.Text("at", "as it was in the revision `REV`"),
			console.Text("as-of", "as it was at the `TIME`: 2026-01-31, monday, 2w"),
			console.Bool("body", "leave out the front matter"),
		),
		Run: show,
	}
}

func show(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.ShowOptions{Refs: in.Words, Rev: in.String("at"), Labels: e.JSON}
	if o.Rev != "" && in.IsSet("as-of") {
		return agent.Usagef("--at and --as-of cannot be used together")
	}
	var err error
	if o.AsOf, err = in.AsOf(e); err != nil {
		return err
	}
	return e.With(ctx, true, func(a *agent.App) error {
		if len(o.Refs) == 1 && o.Rev == "" && a.Memories().Lists(o.Refs[0]) {
			done, err := showList(ctx, e, a, agent.ListOptions{Where: o.Refs, AsOf: o.AsOf, Labels: e.JSON})
			if done || err != nil {
				return err
			}
		}
		if o.Rev == "" && o.AsOf.IsZero() {
			if o.Refs, err = choice.Named(ctx, e, a, o.Refs, false); err != nil {
				return err
			}
		}
		found, err := a.Memories().Show(ctx, o)
		if err != nil {
			return err
		}
		return printShown(ctx, e, found, in.Bool("body"))
	})
}

// printShown prints files, and what is to be said of them.
func printShown(ctx context.Context, e *console.Env, found *agent.Shown, bodyOnly bool) error {
	tellMoment(e, found.AsOf)
	tellProblems(e, found.Memories)
	for _, m := range found.Memories {
		if len(m.Flags) > 0 {
			e.Note("%s is labelled: %s", m.Path, m.Label)
		}
		if m.MayBeOutdatedBy != nil {
			e.Note("%s %s", m.Path, m.MayBeOutdatedBy)
		}
	}
	return e.ShowPaged(ctx, showAnswer(found), func(p *console.Printer) {
		for i, m := range found.Memories {
			printMemory(p, m, bodyOnly, len(found.Memories) > 1, i)
		}
	})
}

// showList shows what a folder holds, or what has a tag. It reports false where that is nothing: an agent is told of no
// folder whose files are kept from it.
func showList(ctx context.Context, e *console.Env, a *agent.App, o agent.ListOptions) (bool, error) {
	found, err := a.Memories().List(ctx, o)
	if err != nil || len(found.Memories) == 0 {
		return false, err
	}
	tellMoment(e, found.AsOf)
	return true, e.ShowPaged(ctx, found, func(p *console.Printer) {
		if p.OutTerminal {
			p.Rows(rowsOf(p, found.Memories, nil))
			return
		}
		for _, m := range found.Memories {
			printLine(p, m, false, nil)
		}
	})
}

// A pastView says of an answer that it is not about what is there now.
type pastView struct {
	Rev  vault.Revision `json:"rev,omitempty"`
	AsOf *agent.Moment  `json:"as_of,omitempty"`
}

// showAnswer is one memory, or a list of them when more were asked for.
func showAnswer(found *agent.Shown) any {
	past := pastView{found.Rev, found.AsOf}
	if len(found.Memories) == 1 {
		return struct {
			agent.Memory
			pastView
		}{found.Memories[0], past}
	}
	return struct {
		Memories []agent.Memory `json:"memories"`
		pastView
	}{found.Memories, past}
}

func printMemory(p *console.Printer, m agent.Memory, bodyOnly, named bool, i int) {
	data := m.Data()
	if bodyOnly {
		data = m.Stored().Body
	}
	if named {
		if i > 0 {
			p.Printf("\n")
		}
		p.Printf("==> %s <==\n", console.Line1(string(m.Path)))
	}
	text := p.Stored(string(data))
	if p.OutTerminal && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // the prompt would stand on the text's last line
	}
	p.Printf("%s", text)
}
