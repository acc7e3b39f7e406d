package memory

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/vault"
)

func listCommand() *console.Command {
	return &console.Command{
		Name: "list", Aliases: []string{"ls"}, Group: console.Memory,
		Summary: "list memories, optionally filtered",
		Args:    "[SCOPE|FOLDER] [FILTER...]", MaxArgs: -1,
		Details: `A FILTER is one of a search: tag:x or #x (a category of the front matter or a #tag in the text, and
			those below it), path:x, kind:x, is:pinned, since:2w, on:2026-01, in:notes. NOT tag:x, or -tag:x behind
			"--", leaves out what has it; several of one key are alternatives. A folder that is no scope lists the
			notes in it. --sort updated goes by the last change: on disk while that is in no commit, else by hand in a
			commit, else as the front matter says. --sort created and created:FROM..TO, either end of which may be left
			out, go by created or date of the front matter, else by the commit that brought the file; what none of the
			newest 1000 commits tells is unknown, stands last and passes no created:.

			--format takes a Go template with the fields of --json: {{.ID}} {{.Short}} {{.Path}} {{.Title}} {{.Kind}}
			{{.Scope}} {{.Categories}} {{.Tags}} {{.Importance}} {{.Created}} {{.Updated}} {{.Changed}}.`,
		Examples: `stet list  # every memory
			stet list /infra --kind decision  # one kind below one scope
			stet list daily '#work'  # the notes of a folder that have a tag
			stet list tag:work NOT tag:done since:2w  # what is open of the last two weeks
			stet list --sort updated -n 5  # the five newest
			stet list garden '#seeds' created:2026-01.. --sort created  # made since then, newest first
			stet list --paths -0 | xargs -0 grep -l TODO  # for other programs
			stet list --format '{{.Short}} {{.Title}}'  # your own columns`,
		Flags: console.Flags(
			console.Text("scope", "only below the `SCOPE`; the same as the argument"),
			console.Text("kind k", "only the kind `WORD`"),
			console.Text("category c", "only the category `WORD`"),
			console.List("class", "only the `CLASS` memory, core, profile, skill, session, archive or note"),
			console.Bool("pinned", "only pinned ones; --pinned=false for the others"),
			console.Bool("archived", "what was forgotten or replaced, instead"),
			console.Bool("all a", "notes and all other Markdown files as well"),
			console.Text("since", "only updated at or after `TIME`: 2026-01-31, monday, 7d, \"2 weeks ago\""),
			console.Text("until", "only updated before `TIME`; a day, week, month or year counts to its end"),
			console.Text("as-of", "what there was at the `TIME`: 2026-01-31, monday, 2w"),
			console.Text("sort", "by `KEY` path, or newest or highest first: updated, created, importance", "path"),
			console.Bool("reverse r", "the other way round"),
			console.Number("limit n", "at most `N`"),
			console.Text("format f", "print each through the Go `TEMPLATE`, one a line"),
			console.Bool("long l", "on a terminal too with path, kind, categories and date, and the full id"),
			console.Bool("paths", "print paths alone, one a line"),
			console.Bool("null 0", "end each path with NUL instead of a newline; implies --paths"),
		),
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
	at, err := in.AsOf(e)
	if err != nil {
		return err
	}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Listing, error) {
		found, err := a.Memories().List(ctx, agent.ListOptions{
			Filter: filter, Where: in.Words, AsOf: at, Labels: e.JSON || layout != nil,
		})
		if err == nil {
			tellMoment(e, found.AsOf)
			warnSkipped(e, "listed", found.Skipped)
			tellProblems(e, found.Memories)
		}
		if err == nil && len(found.Memories) == 0 {
			tellEmpty(e, found)
			err = tellUnused(ctx, e, a, filter, at)
		}
		return found, err
	}, func(p *console.Printer, found *agent.Listing) {
		if p.OutTerminal && layout == nil && !in.Bool("paths") && !in.Bool("null") && !in.Bool("long") {
			p.Rows(rowsOf(p, found.Memories, dayOf(in)))
			return
		}
		for _, m := range found.Memories {
			printEntry(p, in, layout, m)
		}
	})
}

// tellEmpty says why a list is empty, as far as that is known.
func tellEmpty(e *console.Env, found *agent.Listing) {
	switch {
	case found.Missing != "" && found.Near != "":
		e.Note("nothing to list: there is no scope or folder %q; did you mean %q?", found.Missing, found.Near)
	case found.Missing != "":
		e.Note("nothing to list: there is no scope or folder %q; \"stet scopes\" shows the scopes", found.Missing)
	case found.Notes > 0:
		e.Note("nothing to list: there are no memories yet; \"stet list --all\" lists the other Markdown files (%d)",
			found.Notes)
	default:
		e.Note("nothing to list")
	}
}

// tellUnused says of an empty list that no memory at all has the kind or the category, and which
// there are.
func tellUnused(ctx context.Context, e *console.Env, a *agent.App, f vault.Filter, at time.Time) error {
	if f.Kind == "" && f.Category == "" {
		return nil
	}
	all, err := a.Memories().List(ctx, agent.ListOptions{
		Filter: vault.Filter{Classes: f.Classes, Archived: f.Archived}, AsOf: at})
	if err != nil {
		return err
	}
	var kinds, categories []string
	for _, m := range all.Memories {
		kinds, categories = append(kinds, m.Kind), append(categories, m.Stored().Tags...)
	}
	tell := func(what, many, asked string, used []string) {
		slices.Sort(used)
		used = slices.DeleteFunc(slices.Compact(used), func(s string) bool { return s == "" })
		if asked == "" || slices.ContainsFunc(used, func(s string) bool { return strings.EqualFold(s, asked) }) {
			return
		}
		e.Note("no memory has the %s %q; %s in use: %s", what, asked, many, cmp.Or(strings.Join(used, ", "), "none"))
	}
	tell("kind", "kinds", f.Kind, kinds)
	tell("category", "categories", f.Category, categories)
	return nil
}

func listFilter(e *console.Env, in *console.Input) (vault.Filter, error) {
	f := vault.Filter{
		Scope: in.String("scope"), Kind: in.String("kind"), Category: in.String("category"),
		Archived: in.Bool("archived"), Sort: in.String("sort"),
		Reverse: in.Bool("reverse"), Limit: in.Int("limit"),
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
	var err error
	if f.Classes, err = classesOf(in); err != nil {
		return f, err
	}
	if in.Bool("pinned") && len(f.Classes) == 0 && !f.Archived {
		f.Classes = []vault.Class{vault.ClassMemory, vault.ClassNote} // "stet pin" takes both
	}
	if in.Bool("all") && len(f.Classes) == 0 {
		f.Classes = agent.LiveClasses()
	}
	f.Since, f.Until, err = in.Span(e)
	return f, err
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
		p.Fail(agent.Usagef("%v", err).
			Suggest("not everything listed has that; ask first, as in {{with .Categories}}{{index . 0}}{{end}}"))
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
	printLine(p, m, in.Bool("long"), dayOf(in))
}

// printLine prints a memory in one line: its path, its title and what changes how it is read.
func printLine(p *console.Printer, m agent.Memory, long bool, day func(vault.Memory) string) {
	name, extra := console.Line1(string(m.Path)), marks(m.Stored(), day)
	if extra != "" {
		extra = "  [" + extra + "]"
	}
	if m.ID != "" && long {
		extra += "  (" + console.Line1(m.ID) + ")"
	}
	title := headline(p, m.Stored(), headlineWidth)
	if title != "" {
		title = "  " + title
	}
	p.Folded(p.Paint(console.Cyan, name)+title+extra, 4)
}

// dayOf is what a list says of the time of each memory that is asked for, or sorted, by when it was made; else nil.
func dayOf(in *console.Input) func(vault.Memory) string {
	if in.String("sort") != "created" &&
		!slices.ContainsFunc(in.Words, func(w string) bool { return strings.Contains(w, "created:") }) {
		return nil
	}
	return func(m vault.Memory) string {
		if m.Created.IsZero() {
			return "unknown"
		}
		return m.Created.Local().Format(time.DateOnly)
	}
}

// rowsOf shows memories on a terminal, where each has a line: what else is known of them --long shows.
func rowsOf(p *console.Printer, all []agent.Memory, day func(vault.Memory) string) []cells.Row {
	rows := make([]cells.Row, 0, len(all))
	for _, m := range all {
		stored := m.Stored()
		at := cmp.Or(stored.Changed, stored.Updated, stored.Created)
		row := cells.Row{Name: m.Short, At: at, Text: headline(p, stored, 2*headlineWidth)}
		if day != nil {
			row.Day = day(stored)
		}
		switch {
		case m.ID == "":
			row.Tail = string(m.Path)
		case m.Scope != "/":
			row.Tail = m.Scope
		}
		var marks []string
		if m.Pinned {
			marks = append(marks, "pinned")
		}
		if m.Private {
			marks = append(marks, "private")
		}
		if len(marks) > 0 {
			row.Tail = strings.TrimSpace(row.Tail + " [" + strings.Join(marks, ", ") + "]")
		}
		rows = append(rows, row)
	}
	return rows
}

// headlineWidth leaves room for a path and the marks on a usual screen line.
const headlineWidth = 60

// headline is the title, else the first words of the text, in so many columns or, elsewhere, letters at most.
func headline(p *console.Printer, m vault.Memory, width int) string {
	return p.Cut(console.Line1(m.Headline()), width)
}

// marks are the few facts that change how a memory is read.
func marks(m vault.Memory, day func(vault.Memory) string) string {
	var out []string
	if m.Kind != "" {
		out = append(out, m.Kind)
	}
	out = append(out, m.Tags...)
	if m.Pinned {
		out = append(out, "pinned")
	}
	if m.Private {
		out = append(out, "private")
	}
	switch {
	case day != nil:
		out = append(out, day(m))
	case !m.Updated.IsZero():
		out = append(out, m.Updated.Local().Format(time.DateOnly))
	}
	return console.Line1(strings.Join(out, ", "))
}
