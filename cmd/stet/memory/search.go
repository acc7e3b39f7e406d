package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/templates"
	"stet/vault"
)

func searchCommand() *console.Command {
	return &console.Command{
		Name: "search", Aliases: []string{"recall"}, Group: console.Memory,
		Summary: "find memories and notes, best match first",
		Args:    "QUERY...", MinArgs: 1, MaxArgs: -1,
		Details: `Sees the files as they are on disk now, committed or not. A question typed as a sentence works. No
			hits is not a failure (exit 0). A terminal is shown how old each hit is, its title and scope, and
			the line that matches; elsewhere a hit is PATH:LINE and that line. What is pasted (a command, an
			error, half a sentence) is found as it stands, whatever signs are in it. Operators, each of them
			optional: "a phrase", +must, begin*, and kind:, scope:, tag: (or category:), path:, since:, until:,
			on:, created:, is:, in: with a value; -"a phrase", -kind:value and NOT kind:value exclude, while a
			word behind "-" is a word like any other unless that finds nothing. A query that begins with "-"
			goes after "--". What was said in sessions stands apart, the best message of up to three of them;
			in:sessions searches nothing else, in:all what is archived, superseded or said by a program as well.
			A memory outside of its valid_from and valid_until is left out as a superseded one is: --archived
			shows both, is:superseded nothing else. kind:report finds the curator's reports as well, which are
			left out otherwise. Of memories that match alike the more important one comes first, then the newer
			one. An entry of USER.md or MEMORY.md is a hit of its own. --format takes a Go template with the
			fields of a hit of --json: {{.Path}} {{.Line}} {{.ID}} {{.Title}} {{.Snippet}} {{.Score}}
			{{.Message}} {{.Speaker}} and so on.`,
		Examples: `stet search mysql port  # words, best match first
			stet search "where does production run?"  # a question
			stet search '"side by side" +mysql since:2026-01'  # a phrase, a word it must have, a date
			stet search "what did we say about backups?" in:sessions  # messages of transcripts
			stet search mysql --scope /infra -n 3 --json  # for a program
			stet search mysql --format '{{.Path}}:{{.Line}} {{.Title}}'  # your own columns
			stet search --as-of 2026-03-31 port  # what the vault said on that day
			stet search -i mysql  # choose one and edit it`,
		Flags: console.Flags(
			console.Number("limit n", "show at most `N` hits, 0 for all", 10),
			console.Number("offset", "leave out the first `N` hits"),
			console.Text("scope", "only below the `SCOPE`"),
			console.Text("kind k", "only the kind `WORD`"),
			console.Text("category c", "only the category `WORD`"),
			console.List("class", "only the `CLASS` memory, core, profile, skill, session, archive, report or note"),
			console.Bool("archived", "look in the archive as well"),
			console.Text("as-of",
				"as the vault was at the `TIME`: 2026-01-31, monday, 2w; reads that revision's files"),
			console.Text("format f", "print each hit through the Go `TEMPLATE`, one a line"),
			console.Bool("paths", "print paths alone, one a line"),
			console.Bool("null 0", "end each path with NUL instead of a newline; implies --paths"),
			console.Bool("interactive i", "choose a hit and open it in the editor"),
			console.Bool("explain", "show why a hit is where it is"),
		),
		Run: search,
	}
}

func search(ctx context.Context, e *console.Env, in *console.Input) error {
	classes, err := classesOf(in)
	if err != nil {
		return err
	}
	layout, err := hitFormat(in.String("format"))
	if err != nil {
		return err
	}
	pick := in.Bool("interactive")
	if pick && in.IsSet("as-of") {
		return agent.Usagef("-i opens the file as it is now, which --as-of does not show")
	}
	if pick && (e.JSON || layout != nil || in.Bool("paths") || in.Bool("null")) {
		return agent.Usagef("-i asks on a terminal: it cannot be used with --json, --format or --paths")
	}
	o := agent.SearchOptions{Query: index.Query{
		Text: strings.Join(in.Words, " "), Limit: in.Int("limit"), Offset: in.Int("offset"), Scope: in.String("scope"),
		Kind: in.String("kind"), Category: in.String("category"), Archived: in.Bool("archived"), Class: classes,
		Explain: in.Bool("explain"),
	}, Labels: e.JSON || layout != nil}
	if o.AsOf, err = in.AsOf(e); err != nil {
		return err
	}
	return e.With(ctx, !pick, func(a *agent.App) error {
		found, err := a.Memories().Search(ctx, o)
		if err != nil {
			return err
		}
		tellMoment(e, found.AsOf)
		if found.Degraded != "" {
			e.Warn("index unavailable (%s); searched files directly", found.Degraded)
		}
		warnSkipped(e, "searched", found.Skipped)
		for _, w := range found.Warnings {
			e.Warn("%s", w)
		}
		if pick {
			return pickHit(ctx, e, in, a, slices.Concat(found.Hits, found.Sessions))
		}
		return showFound(e, in, found, layout)
	})
}

// warnSkipped tells of files and folders that cannot be read; the answer is
// right for all the others.
func warnSkipped(e *console.Env, verb string, paths []vault.Path) {
	var names []string
	for i, p := range paths {
		if i == maxSkipped {
			names = append(names, fmt.Sprintf("and %d more", len(paths)-i))
			break
		}
		names = append(names, string(p))
	}
	if len(names) > 0 {
		e.Warn("not %s, because you may not read it: %s", verb, strings.Join(names, ", "))
	}
}

// maxSkipped bounds the names in a sentence.
const maxSkipped = 5

func showFound(e *console.Env, in *console.Input, found *agent.Found, layout *template.Template) error {
	for _, h := range found.Hits {
		if h.InsteadOf != "" {
			e.Note("no memory says this any more: %s superseded %q", h.Path, console.Line1(h.InsteadOf))
		}
	}
	if len(found.Hits)+len(found.Sessions) == 0 {
		e.Note("no hits for %q", found.Query)
		for _, p := range found.Deleted {
			e.Note("%s, which was deleted, has these words: \"stet restore %s\" brings it back", p, templates.Quote(p))
		}
	}
	err := e.Show(found, func(p *console.Printer) { printFound(p, in, found, layout) })
	if err == nil && e.ErrTerminal && len(found.Operators) > 0 {
		e.Note("read as operators: %s", console.Line1(strings.Join(found.Operators, " ")))
	}
	if err == nil && e.ErrTerminal && len(found.Hits) > 0 {
		how := map[string]string{"strict": "every word matches", "relaxed": "some words match",
			"fuzzy":    "similar words match",
			"semantic": "by meaning"}[found.Tier]
		e.Note("%d of %s, %s, %s", len(found.Hits), agent.Plural(found.Total, "hit"), how,
			found.Took.Round(time.Millisecond))
	}
	return err
}

func printFound(p *console.Printer, in *console.Input, found *agent.Found, layout *template.Template) {
	switch {
	case layout != nil:
		for _, h := range slices.Concat(found.Hits, found.Sessions) {
			formatOne(p, layout, h)
		}
		return
	case in.Bool("null") || in.Bool("paths"):
		for i, h := range found.Hits {
			same := func(other agent.Hit) bool { return other.Path == h.Path } // another entry of the notebook
			if !slices.ContainsFunc(found.Hits[:i], same) {
				printPath(p, in, h.Path)
			}
		}
		return
	}
	show := func(hits, beside []agent.Hit) {
		if p.OutTerminal {
			const others = 4 // the question, the line about the answer, and what stands between both lists
			showHits(p, hits, others+2*len(beside))
			return
		}
		for _, h := range hits {
			printHit(p, h)
		}
	}
	show(found.Hits, found.Sessions)
	if len(found.Sessions) == 0 {
		return
	}
	if len(found.Hits) > 0 {
		p.Printf("\n")
	}
	p.Printf("in sessions:\n") // apart from what is noted
	show(found.Sessions, found.Hits)
}

func printHit(p *console.Printer, h agent.Hit) {
	who := ""
	if h.Message > 0 {
		who = console.Line1(cmp.Or(h.Speaker, h.Role)) + ": "
	}
	p.Printf("%s\n", hitPlace(p.Env, h)+"  "+who+highlight(p.Env, h)+hitNote(h))
	p.Lines("    ", h.Explain)
}

// hitNote is what is said of a hit behind its line.
func hitNote(h agent.Hit) (note string) {
	if h.Message > 0 && h.SupersededBy != "" {
		note = "  [superseded by " + console.Line1(h.SupersededBy) + "]"
	}
	if h.MayBeOutdatedBy != nil {
		note = "  [" + console.Line1(h.MayBeOutdatedBy.String()) + "]"
	}
	if len(h.Flags) > 0 {
		note += "  [" + console.Line1(h.Label.String()) + "]"
	}
	return note
}

func hitPlace(e *console.Env, h agent.Hit) string {
	return e.Paint(console.Cyan, fmt.Sprintf("%s:%d", console.Line1(string(h.Path)), h.Line))
}

// highlight makes the matched words of a snippet bold. The ranges are byte
// offsets in order; one that does not fit is left out.
func highlight(e *console.Env, h agent.Hit) string {
	var b strings.Builder
	at := 0
	for _, r := range h.Highlights {
		if r.Start < at || r.End > len(h.Snippet) || r.Start >= r.End {
			continue
		}
		b.WriteString(snippetText(h.Snippet[at:r.Start]))
		b.WriteString(e.Paint(console.Bold, snippetText(h.Snippet[r.Start:r.End])))
		at = r.End
	}
	b.WriteString(snippetText(h.Snippet[at:]))
	return strings.TrimRight(b.String(), " ")
}

// snippetText is console.Line1 without the trimming, which would join words.
func snippetText(s string) string {
	return console.Clean(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s))
}

// printPath prints a path as it is for a program, clean for a terminal; -0 keeps
// any name whole.
func printPath(p *console.Printer, in *console.Input, file vault.Path) {
	if in.Bool("null") {
		p.Printf("%s\x00", file)
		return
	}
	p.Printf("%s\n", p.Stored(string(file)))
}

func classesOf(in *console.Input) ([]vault.Class, error) {
	known := append(agent.LiveClasses(), vault.ClassArchive, vault.ClassReport)
	var out []vault.Class
	for _, name := range in.StringSlice("class") {
		found := false
		var names []string
		for _, c := range known {
			names = append(names, string(c))
			if string(c) == name {
				out, found = append(out, c), true
			}
		}
		if !found {
			return nil, agent.Usagef("unknown class %q", name).Suggest("one of %s", strings.Join(names, ", "))
		}
	}
	return out, nil
}
