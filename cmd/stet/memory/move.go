package memory

import (
	"context"
	"fmt"
	"slices"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/vault/links"
)

func moveCommand() *console.Command {
	return &console.Command{
		Name: "move", Aliases: []string{"mv"}, Group: console.Memory,
		Summary: "move or rename memories and notes; links follow",
		Args:    "MEMORY... SCOPE | MEMORY PATH | SCOPE SCOPE", MinArgs: 2, MaxArgs: -1,
		Details: `The last argument is a scope (/infra/db), a folder (memories/infra/), or for one file its new
			path (memories/infra/gate.md). A first argument that begins with "/" is a whole scope. Links to what
			moved, in memories, notebooks and skills, are rewritten in the same commit, and so are the links in what
			moved; nothing inside code is a link. As in Obsidian, a link by the file's name gets the new name, with its
			heading, block and shown text as they are, and one by an alias stays. Links in notes of yours are listed,
			and rewritten with --rewrite-notes. Ids and history go with the file.`,
		Examples: `stet move gate-code /house/doors  # one memory into a scope
			stet move gate-code memories/house/front-door.md  # and rename it
			stet move /infra /ops/infra  # a whole scope
			stet move /infra /ops --dry-run  # see every line that would change`,
		Flags: console.WriteFlags(
			console.Bool("rewrite-notes", "rewrite links in notes as well"),
			console.BecauseFlag(),
			console.MessageFlag(),
		),
		Run: move,
	}
}

func move(ctx context.Context, e *console.Env, in *console.Input) error {
	last := len(in.Words) - 1
	o := agent.MoveOptions{Write: e.ByInSession(in), Refs: in.Words[:last], To: in.Words[last],
		RewriteNotes: in.Bool("rewrite-notes")}
	return writing(ctx, e, "moved", reply{},
		func(a *agent.App) (_ *agent.Written, err error) {
			if o.Refs, err = choice.Named(ctx, e, a, o.Refs, true); err != nil {
				return nil, err
			}
			return a.Memories().Move(ctx, o)
		})
}

// indent is where a line of a move or a link goes on that is too long for the terminal.
const indent = 4

// maxLines bounds a list that a user reads; --json has all of it.
const maxLines = 50

func printMoves(p *console.Printer, verb string, m *agent.Moves) {
	for i, move := range m.Moves {
		if i == maxLines {
			p.Printf("… and %d more\n", len(m.Moves)-i)
			break
		}
		from, to := console.Line1(string(move[0])), console.Line1(string(move[1]))
		p.Folded(fmt.Sprintf("%s  %s -> %s%s", verb, from, to, p.Where()), indent)
	}
	printRewrites(p, "link in", m.Rewritten)
	printRewrites(p, "left alone in", m.Listed)
	if slices.ContainsFunc(m.Listed, func(r links.Rewrite) bool { return r.Why == links.NoteOfYours }) {
		p.Printf("  \"--rewrite-notes\" changes them too\n")
	}
}

func printRewrites(p *console.Printer, label string, rewrites []links.Rewrite) {
	for i, r := range rewrites {
		if i == maxLines {
			p.Printf("  %s … and %d more\n", label, len(rewrites)-i)
			return
		}
		text := fmt.Sprintf("%s:%d  %s", r.Path, r.Line, r.Old)
		if r.New != "" {
			text += " -> " + r.New
		}
		if r.Why != "" {
			text += "  (" + r.Why + ")"
		}
		p.Folded(fmt.Sprintf("  %s %s", label, console.Line1(text)), indent)
	}
}
