package memory

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/cmd/stet/console"
	"stet/vault"
)

func conflictsCommand() *console.Command {
	return &console.Command{
		Name: "conflicts", Group: console.Memory,
		Summary: "show memories that cannot both be true, and settle which is",
		MaxArgs: 0,
		Details: "Contradictions come first: both memories name each other in conflicts_with. Then come\n" +
			"memories that a newer one may outdate, the likeliest first: the newer one names the older\n" +
			"one in may_outdate, and search and show say so. --keep archives the other side, so that agents do\n" +
			"not write it again; --both keeps the two and takes the link away; --merge opens both\n" +
			"texts in your editor, and what you save is what the memory says from now on, the other\n" +
			"side goes to the archive. Saved empty or unchanged, nothing happens. Each is one commit.\n" +
			"On a terminal --settle asks about one after the other.",
		Examples: []console.Example{
			{Line: "stet conflicts", Says: "both sides of each, with their sources"},
			{Line: "stet conflicts --settle", Says: "go through them on a terminal"},
			{Line: "stet conflicts --keep 01jd7q", Says: "this one is right, the other goes to the archive"},
			{Line: "stet conflicts --merge 01jd7q", Says: "write what is true in your editor"},
			{Line: `stet conflicts --merge 01jd7q --text "Port 8080, 8443 with TLS."`, Says: "without an editor"},
			{Line: "stet conflicts --both 01jd7q --dry-run", Says: "see what keeping both would change"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "the `MEMORY` that is right"},
			&cli.StringFlag{Name: "both", Usage: "a `MEMORY` that is true beside what it is in conflict with"},
			&cli.StringFlag{Name: "merge", Usage: "the `MEMORY` that is to say what is true of both"},
			&cli.StringFlag{Name: "text", Usage: "with --merge: the `TEXT`, \"-\" for standard input, instead of an editor"},
			&cli.BoolFlag{Name: "settle", Usage: "ask about each"},
			&cli.BoolFlag{Name: "explain", Usage: "list the features that decided"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: disputes,
	}
}

func disputes(ctx context.Context, e *console.Env, in *console.Input) error {
	given := slices.DeleteFunc([]string{"keep", "both", "merge", "settle"}, func(name string) bool { return !in.IsSet(name) })
	switch {
	case len(given) > 1:
		return agent.Usagef("--%s and --%s exclude each other", given[0], given[1])
	case in.IsSet("explain") && len(given) > 0:
		return agent.Usagef("--explain goes with the list")
	case in.IsSet("text") && !in.IsSet("merge"):
		return agent.Usagef("--text goes with --merge")
	case len(given) == 0:
		return listDisputes(ctx, e, in.Bool("explain"))
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	w.Message = in.String("message")
	if given[0] == "settle" {
		return settleEach(ctx, e, v, w)
	}
	c, err := ingest.Find(ctx, v, e.Ref(v, in.String(given[0])))
	if err != nil {
		return err
	}
	settle := map[string]func(context.Context, *vault.Vault, vault.Write) (*vault.Result, error){"keep": c.Keep, "both": c.Both,
		"merge": func(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
			return merge(ctx, e, in, v, c, w)
		}}
	res, err := settle[given[0]](ctx, v, w)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "settled", false)
}

// A disputeView is one pair under --json.
type disputeView struct {
	A      agent.Memory    `json:"a"`
	B      agent.Memory    `json:"b"`
	Likely float64         `json:"likely"` // 1 for a contradiction, else that B may outdate A
	Why    []encode.Reason `json:"why,omitempty"`
}

func listDisputes(ctx context.Context, e *console.Env, explain bool) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	found, err := ingest.Inbox(ctx, v)
	if err != nil {
		return err
	}
	views := make([]disputeView, 0, len(found))
	for _, d := range found {
		view := viewDispute(d)
		if explain {
			view.Why = d.Explain().Why
		}
		views = append(views, view)
	}
	result := struct {
		Conflicts []disputeView `json:"conflicts"`
	}{views}
	return e.Answer(result, func(w io.Writer) error { return printDisputes(w, e, views) })
}

func viewDispute(d ingest.Dispute) disputeView {
	pair := disputeView{A: agent.ViewMemory(d.A), B: agent.ViewMemory(d.B), Likely: d.Likely}
	a, b := string(d.A.Body), string(d.B.Body)
	pair.A.Body, pair.B.Body = &a, &b
	return pair
}

func printDisputes(w io.Writer, e *console.Env, views []disputeView) error {
	for i, d := range views {
		gap := ""
		if i > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s%s%s%s", gap, side(e, d.A), side(e, d.B), likely(d)); err != nil {
			return err
		}
		if err := printReasons(w, d.Why); err != nil {
			return err
		}
	}
	if len(views) > 0 {
		e.Note(`"stet conflicts --keep MEMORY" settles one, "--both MEMORY" keeps the two, "--merge MEMORY" opens them in your editor; --settle asks about each`)
	}
	return nil
}

// likely says of a flag how sure it is.
func likely(d disputeView) string {
	if d.Likely == 1 {
		return ""
	}
	return fmt.Sprintf("the second may outdate the first (%.0f %% likely)\n", 100*d.Likely)
}

// side is one memory of a pair: where, since when and from where, and what it says.
func side(e *console.Env, m agent.Memory) string {
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
