package memory

import (
	"context"
	"errors"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func listCommand() *console.Command {
	return &console.Command{
		Name: "list", Aliases: []string{"ls"}, Group: console.Memory,
		Summary: "list memories, optionally filtered",
		Args:    "[SCOPE]", MaxArgs: 1,
		Details: "--format takes a Go template with the fields of --json: {{.ID}} {{.Path}} {{.Title}}\n" +
			"{{.Kind}} {{.Scope}} {{.Categories}} {{.Importance}} {{.Created}} {{.Updated}}.",
		Examples: []console.Example{
			{Line: "stet list", Says: "every memory"},
			{Line: "stet list /infra --kind decision", Says: "one kind below one scope"},
			{Line: "stet list --sort updated -n 5", Says: "the five newest"},
			{Line: "stet list --paths -0 | xargs -0 grep -l TODO", Says: "for other programs"},
			{Line: "stet list --format '{{.ID}} {{.Title}}'", Says: "your own columns"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "scope", Usage: "only below the `SCOPE`; the same as the argument"},
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "only the kind `WORD`"},
			&cli.StringFlag{Name: "category", Aliases: []string{"c"}, Usage: "only the category `WORD`"},
			&cli.StringSliceFlag{Name: "class", Usage: "only the `CLASS` memory, core, profile, skill, session, archive or note"},
			&cli.BoolFlag{Name: "pinned", Usage: "only pinned ones; --pinned=false for the others"},
			&cli.BoolFlag{Name: "archived", Usage: "what was forgotten or replaced, instead"},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "notes and all other Markdown files as well"},
			&cli.StringFlag{Name: "since", Usage: "only updated at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"},
			&cli.StringFlag{Name: "until", Usage: "only updated before `TIME`"},
			&cli.StringFlag{Name: "as-of", Usage: "what there was at the `TIME`: a date, or an age as 2w"},
			&cli.StringFlag{Name: "sort", Value: "path", Usage: "by `KEY` path, or newest or highest first: updated, created, importance"},
			&cli.BoolFlag{Name: "reverse", Aliases: []string{"r"}, Usage: "the other way round"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N`"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Usage: "print each through the Go `TEMPLATE`, one a line"},
			&cli.BoolFlag{Name: "paths", Usage: "print paths alone, one a line"},
			&cli.BoolFlag{Name: "null", Aliases: []string{"0"}, Usage: "end each path with NUL instead of a newline; implies --paths"},
		},
		Run: list,
	}
}

func list(ctx context.Context, e *console.Env, in *console.Input) error {
	filter, err := listFilter(e, in)
	if err != nil {
		return err
	}
	layout, err := listFormat(in.String("format"))
	if err != nil {
		return err
	}
	at, err := asOf(e, in)
	if err != nil {
		return err
	}
	return e.With(ctx, true, func(a *agent.App) error {
		found, err := a.Memories().List(ctx, agent.ListOptions{Filter: filter, AsOf: at})
		if err != nil {
			return err
		}
		tellMoment(e, found.AsOf)
		warnSkipped(e, "listed", found.Skipped)
		tellProblems(e, found.Memories)
		return e.Show(found, func(p *console.Printer) {
			for _, m := range found.Memories {
				printEntry(p, in, layout, m)
			}
		})
	})
}

func listFilter(e *console.Env, in *console.Input) (vault.Filter, error) {
	f := vault.Filter{
		Scope: in.String("scope"), Kind: in.String("kind"), Category: in.String("category"),
		Archived: in.Bool("archived"), Sort: in.String("sort"),
		Reverse: in.Bool("reverse"), Limit: in.Int("limit"),
	}
	if len(in.Words) == 1 {
		if f.Scope != "" {
			return f, agent.Usagef("the scope is given twice: %q and --scope %q", in.Words[0], f.Scope)
		}
		f.Scope = in.Words[0]
	}
	if in.IsSet("pinned") {
		pinned := in.Bool("pinned")
		f.Pinned = &pinned
	}
	switch f.Sort {
	case "path", "updated", "created", "importance":
	default:
		return f, agent.Usagef("cannot sort by %q", f.Sort).Suggest("one of path, updated, created, importance")
	}
	var errs [3]error
	f.Classes, errs[0] = classesOf(in)
	f.Since, errs[1] = e.Time(in.String("since"))
	f.Until, errs[2] = e.Time(in.String("until"))
	if in.Bool("all") && len(f.Classes) == 0 {
		f.Classes = agent.LiveClasses()
	}
	return f, errors.Join(errs[:]...)
}

// parseFormat returns nil for no format. A template that cannot work is found
// before anything is printed: it is tried on a sample whose every list has an
// element and whose every pointer leads somewhere, since what a template may
// take for granted is for the memories to say.
func parseFormat(text, example string, sample any) (*template.Template, error) {
	if text == "" {
		return nil, nil
	}
	t, err := template.New("--format").Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, sample)
	}
	if err != nil {
		return nil, agent.Usagef("%v", err).Suggest("for example --format %s", example)
	}
	return t, nil
}

// listFormat reads --format of list.
func listFormat(text string) (*template.Template, error) {
	half, body := 0.5, "text"
	return parseFormat(text, `'{{.Path}} {{.Title}}'`, agent.Memory{
		Categories: []string{"word"}, Supersedes: []string{"id"}, Importance: &half, Body: &body,
	})
}

// formatOne prints one line of --format.
func formatOne(p *console.Printer, layout *template.Template, view any) {
	var b strings.Builder
	if err := layout.Execute(&b, view); err != nil {
		p.Fail(agent.Usagef("%v", err).Suggest("not everything listed has that; ask first, as in {{with .Categories}}{{index . 0}}{{end}}"))
		return
	}
	p.Printf("%s\n", p.Stored(b.String()))
}

func printEntry(p *console.Printer, in *console.Input, layout *template.Template, m agent.Memory) {
	switch {
	case layout != nil:
		formatOne(p, layout, m)
		return
	case in.Bool("paths") || in.Bool("null"):
		printPath(p, in, m.Path)
		return
	}
	line := p.Paint(console.Cyan, console.Line1(string(m.Path)))
	if title := headline(m.Stored()); title != "" {
		line += "  " + title
	}
	if extra := marks(m.Stored()); extra != "" {
		line += "  [" + extra + "]"
	}
	p.Printf("%s\n", line)
}

// headlineWidth leaves room for a path and the marks on a usual screen line.
const headlineWidth = 60

// headline is the title, else the first words of the text.
func headline(m vault.Memory) string {
	text := m.Title
	if text == "" {
		text = strings.TrimSpace(string(m.Body[:min(len(m.Body), 4*headlineWidth)]))
		text, _, _ = strings.Cut(text, "\n")
	}
	runes := []rune(console.Line1(text))
	if len(runes) > headlineWidth {
		return strings.TrimRight(string(runes[:headlineWidth-1]), " ") + "…"
	}
	return string(runes)
}

// marks are the few facts that change how a memory is read.
func marks(m vault.Memory) string {
	var out []string
	if m.Kind != "" {
		out = append(out, m.Kind)
	}
	out = append(out, m.Categories...)
	if m.Pinned {
		out = append(out, "pinned")
	}
	if m.Private {
		out = append(out, "private")
	}
	if !m.Updated.IsZero() {
		out = append(out, m.Updated.Local().Format(time.DateOnly))
	}
	return console.Line1(strings.Join(out, ", "))
}
