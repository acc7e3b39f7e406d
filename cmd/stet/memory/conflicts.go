package memory

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent/intake"
	"stet/cmd/stet/console"
)

func conflictsCommand() *console.Command {
	return &console.Command{
		Name: "conflicts", Group: console.Memory,
		Summary: "show memories that cannot both be true, and settle which is",
		MaxArgs: 0,
		Details: "What \"stet remember\" finds contradictory without being certain is stored and linked\n" +
			"with conflicts_with in both files. --keep archives the other side, so that agents do\n" +
			"not write it again; --both keeps the two and takes the link away. Each is one commit.",
		Examples: []console.Example{
			{Line: "stet conflicts", Says: "both sides of each, with their sources"},
			{Line: "stet conflicts --keep 01jd7q", Says: "this one is right, the other goes to the archive"},
			{Line: "stet conflicts --both 01jd7q --dry-run", Says: "see what keeping both would change"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "the `MEMORY` that is right"},
			&cli.StringFlag{Name: "both", Usage: "a `MEMORY` that is true beside what it is in conflict with"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: disputes,
	}
}

func disputes(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.IsSet("keep") && in.IsSet("both") {
		return console.Usagef("--keep and --both exclude each other")
	}
	if !in.IsSet("keep") && !in.IsSet("both") {
		return listDisputes(ctx, e)
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	w.Message = in.String("message")
	settle, ref := intake.Keep, in.String("keep")
	if in.IsSet("both") {
		settle, ref = intake.Both, in.String("both")
	}
	res, err := settle(ctx, v, e.Ref(v, ref), w)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "settled", false)
}

// A disputeView is one pair under --json.
type disputeView struct {
	A console.MemoryView `json:"a"`
	B console.MemoryView `json:"b"`
}

func listDisputes(ctx context.Context, e *console.Env) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	found, err := intake.Inbox(ctx, v)
	if err != nil {
		return err
	}
	views := make([]disputeView, 0, len(found))
	for _, d := range found {
		pair := disputeView{A: console.ViewMemory(d.A), B: console.ViewMemory(d.B)}
		a, b := string(d.A.Body), string(d.B.Body)
		pair.A.Body, pair.B.Body = &a, &b
		views = append(views, pair)
	}
	result := struct {
		Conflicts []disputeView `json:"conflicts"`
	}{views}
	return e.Answer(result, func(w io.Writer) error { return printDisputes(w, e, views) })
}

func printDisputes(w io.Writer, e *console.Env, views []disputeView) error {
	for i, d := range views {
		gap := ""
		if i > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s%s", gap, side(e, d.A), side(e, d.B)); err != nil {
			return err
		}
	}
	if len(views) > 0 {
		e.Note(`"stet conflicts --keep MEMORY" settles one, "--both MEMORY" keeps the two`)
	}
	return nil
}

// side is one memory of a pair: where, since when and from where, and what it says.
func side(e *console.Env, m console.MemoryView) string {
	head := e.Paint(console.Cyan, console.Line1(string(m.Path))) + "  (" + m.ID + ")"
	if m.Created != "" {
		head += "  " + m.Created[:min(10, len(m.Created))]
	}
	if m.Source != "" {
		head += "  " + console.Line1(m.Source)
	}
	var b strings.Builder
	b.WriteString(head + "\n")
	for line := range strings.Lines(strings.TrimSpace(*m.Body)) {
		b.WriteString("  " + console.Line1(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
