package memory

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/vault"
)

func searchCommand() *console.Command {
	return &console.Command{
		Name: "search", Aliases: []string{"recall"}, Group: console.Memory,
		Summary: "find memories and notes, best match first",
		Args:    "QUERY...", MinArgs: 1, MaxArgs: -1,
		Details: "Sees the files as they are on disk now, committed or not. A question typed as a\n" +
			"sentence works. No hits is not a failure (exit 0). Operators, each of them optional:\n" +
			"\"a phrase\", +must, -not, begin*, and kind:, scope:, category:, since:, until:, on:, is:, in:\n" +
			"with a value; a query that begins with \"-\" goes after \"--\". What was said in sessions\n" +
			"stands apart, the best message of up to three of them; in:sessions searches nothing else.\n" +
			"A memory outside of its valid_from and valid_until is left out as a superseded one is: --archived\n" +
			"shows both, is:superseded nothing else.\n" +
			"kind:report finds the curator's reports as well, which are left out otherwise.\n" +
			"--format takes a Go template with the fields of a hit of --json: {{.Path}} {{.Line}} {{.ID}}\n" +
			"{{.Title}} {{.Snippet}} {{.Score}} {{.Message}} {{.Speaker}} and so on.",
		Examples: []console.Example{
			{Line: "stet search mysql port", Says: "words, best match first"},
			{Line: `stet search "where does production run?"`, Says: "a question"},
			{Line: `stet search '"side by side" +mysql since:2026-01'`, Says: "a phrase, a word it must have, a date"},
			{Line: `stet search "what did we say about backups?" in:sessions`, Says: "messages of transcripts"},
			{Line: "stet search mysql --scope /infra -n 3 --json", Says: "for a program"},
			{Line: "stet search mysql --format '{{.Path}}:{{.Line}} {{.Title}}'", Says: "your own columns"},
			{Line: "stet search --as-of 2026-03-31 port", Says: "what the vault said on that day"},
			{Line: "stet search -i mysql", Says: "choose one and edit it"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 10, Usage: "show at most `N` hits, 0 for all"},
			&cli.IntFlag{Name: "offset", Usage: "leave out the first `N` hits"},
			&cli.StringFlag{Name: "scope", Usage: "only below the `SCOPE`"},
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "only the kind `WORD`"},
			&cli.StringFlag{Name: "category", Aliases: []string{"c"}, Usage: "only the category `WORD`"},
			&cli.StringSliceFlag{Name: "class", Usage: "only the `CLASS` memory, core, profile, skill, session, archive, report or note"},
			&cli.BoolFlag{Name: "archived", Usage: "look in the archive as well"},
			&cli.StringFlag{Name: "as-of", Usage: "as the vault was at the `TIME`: a date, or an age as 2w; reads that revision's files"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Usage: "print each hit through the Go `TEMPLATE`, one a line"},
			&cli.BoolFlag{Name: "paths", Usage: "print paths alone, one a line"},
			&cli.BoolFlag{Name: "null", Aliases: []string{"0"}, Usage: "end each path with NUL instead of a newline; implies --paths"},
			&cli.BoolFlag{Name: "interactive", Aliases: []string{"i"}, Usage: "choose a hit and open it in the editor; with fzf where it is installed"},
			&cli.BoolFlag{Name: "explain", Usage: "show why a hit is where it is"},
		},
		Run: search,
	}
}

// A searchAnswer is what search prints under --json.
type searchAnswer struct {
	Query    string       `json:"query"`
	AsOf     *asOfView    `json:"as_of,omitempty"`
	Tier     string       `json:"tier"`
	Total    int          `json:"total"`
	Degraded string       `json:"degraded,omitempty"`
	TookMS   float64      `json:"took_ms"`
	Skipped  []vault.Path `json:"skipped,omitempty"` // cannot be read
	Hits     []hitView    `json:"hits"`
	Sessions []hitView    `json:"sessions"` // the best of a few conversations, beside the hits
}

type hitView struct {
	Path       vault.Path  `json:"path"`
	Line       int         `json:"line"`
	ID         string      `json:"id,omitempty"`
	Title      string      `json:"title"`
	Kind       string      `json:"kind,omitempty"`
	Scope      string      `json:"scope"`
	Categories []string    `json:"categories"`
	Class      vault.Class `json:"class"`
	Score      float64     `json:"score"`
	Tier       string      `json:"tier"`
	Snippet    string      `json:"snippet"`
	Updated    string      `json:"updated,omitempty"`
	// The memory that replaced this one, "" for what is still valid.
	SupersededBy string `json:"superseded_by,omitempty"`
	// The memory that may outdate this one.
	MayBeOutdatedBy *doubtView `json:"may_be_outdated_by,omitempty"`
	ValidFrom       string     `json:"valid_from,omitempty"`
	ValidUntil      string     `json:"valid_until,omitempty"`
	Message         int        `json:"message,omitempty"` // its number in a transcript
	Role            string     `json:"role,omitempty"`
	Speaker         string     `json:"speaker,omitempty"`
	Ref             string     `json:"ref,omitempty"`
	Explain         string     `json:"explain,omitempty"`
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
	if in.Bool("interactive") && in.IsSet("as-of") {
		return agent.Usagef("-i opens the file as it is now, which --as-of does not show")
	}
	if in.Bool("interactive") && (e.JSON || layout != nil || in.Bool("paths") || in.Bool("null")) {
		return agent.Usagef("-i is for a person: it cannot be used with --json, --format or --paths")
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	x, past, err := openSearch(ctx, e, in, v)
	if err != nil {
		return err
	}
	defer func() {
		if err := x.Close(); err != nil {
			e.Warn("close search index: %v", err)
		}
	}()
	q := index.Query{
		Text: strings.Join(in.Words, " "), Limit: in.Int("limit"), Offset: in.Int("offset"),
		Scope: scopeFlag(e, v, in.String("scope")), Kind: in.String("kind"), Category: in.String("category"),
		Archived: in.Bool("archived"), Class: classes, Explain: in.Bool("explain"),
	}
	if q.Limit == 0 {
		q.Limit = -1 // the index takes 0 for its default
	}
	res, err := x.Search(ctx, q)
	if err != nil {
		return err
	}
	if past != nil {
		res.Degraded = "" // that there is no index of the past was said
	}
	if res.Degraded != "" {
		e.Warn("search is degraded: %s; the hits are right all the same", res.Degraded)
	}
	warnSkipped(e, "searched", res.Skipped)
	for _, w := range res.Warnings {
		e.Warn("%s", w)
	}
	if in.Bool("interactive") {
		return pick(ctx, e, in, v, res)
	}
	return printHits(e, in, q, res, layout, past)
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

// scopeFlag is the scope as it stands in the vault: a person's own folder as it
// is, else the name that remember would have given it.
func scopeFlag(e *console.Env, v *vault.Vault, scope string) string {
	name := strings.Trim(scope, "/")
	if name == "" || e.Exists(v, vault.Path("memories/"+name)) || e.Exists(v, vault.Path(name)) {
		return scope
	}
	return vault.SlugScope(scope)
}

func printHits(e *console.Env, in *console.Input, q index.Query, res *index.Result, layout *template.Template, past *asOfView) error {
	answer := searchAnswer{Query: q.Text, AsOf: past, Tier: res.Tier, Total: res.Total, Degraded: res.Degraded, Skipped: res.Skipped,
		TookMS: float64(res.Took.Microseconds()) / 1000, Hits: make([]hitView, 0, len(res.Hits)), Sessions: make([]hitView, 0, len(res.Sessions))}
	for _, h := range res.Hits {
		answer.Hits = append(answer.Hits, viewHit(h))
	}
	for _, h := range res.Sessions {
		answer.Sessions = append(answer.Sessions, viewHit(h))
	}
	if len(res.Hits)+len(res.Sessions) == 0 {
		e.Note("no hits for %q", q.Text)
	}
	err := e.Answer(answer, func(w io.Writer) error {
		if layout != nil {
			return formatHits(w, e, layout, slices.Concat(answer.Hits, answer.Sessions))
		}
		for _, h := range res.Hits {
			if err := printHit(w, e, in, h); err != nil {
				return err
			}
		}
		return printSessions(w, e, in, res)
	})
	if err == nil && e.ErrTerminal && len(res.Hits) > 0 {
		e.Note("%d of %d hits, %s, %s", len(res.Hits), res.Total, res.Tier, res.Took.Round(time.Millisecond))
	}
	return err
}

// printSessions shows what was said in conversations, apart from what is noted.
func printSessions(w io.Writer, e *console.Env, in *console.Input, res *index.Result) error {
	if len(res.Sessions) == 0 || in.Bool("null") || in.Bool("paths") {
		return nil
	}
	title := "in sessions:\n"
	if len(res.Hits) > 0 {
		title = "\n" + title
	}
	if _, err := io.WriteString(w, title); err != nil {
		return err
	}
	for _, h := range res.Sessions {
		if err := printHit(w, e, in, h); err != nil {
			return err
		}
	}
	return nil
}

// A doubtView is a memory that may outdate the one it is told with.
type doubtView struct {
	Path vault.Path `json:"path"`
	ID   string     `json:"id,omitempty"`
	Date string     `json:"date,omitempty"` // YYYY-MM-DD, UTC
}

func viewDoubt(d *index.Doubt) *doubtView {
	if d == nil {
		return nil
	}
	view := &doubtView{Path: d.Path, ID: d.ID}
	if !d.Updated.IsZero() {
		view.Date = d.Updated.UTC().Format(time.DateOnly)
	}
	return view
}

// String names the memory and its date: "may be outdated by memories/new.md (2026-03-01)".
func (d *doubtView) String() string {
	text := "may be outdated by " + console.Line1(string(d.Path))
	if d.Date != "" {
		text += " (" + d.Date + ")"
	}
	return text
}

func viewHit(h index.Hit) hitView {
	view := hitView{Path: h.Path, Line: h.Line, ID: h.ID, Title: h.Title, Kind: h.Kind, Scope: h.Scope,
		Categories: append([]string{}, h.Categories...), Class: h.Class, Score: h.Score, Tier: h.Tier, Snippet: h.Snippet,
		SupersededBy: h.SupersededBy, MayBeOutdatedBy: viewDoubt(h.DoubtedBy), Message: h.Message, Role: h.Role, Speaker: h.Speaker, Ref: h.Ref, Explain: h.Explain}
	for _, t := range []struct {
		from time.Time
		to   *string
	}{{h.Updated, &view.Updated}, {h.ValidFrom, &view.ValidFrom}, {h.ValidUntil, &view.ValidUntil}} {
		if !t.from.IsZero() {
			*t.to = t.from.UTC().Format(time.RFC3339)
		}
	}
	return view
}

func printHit(w io.Writer, e *console.Env, in *console.Input, h index.Hit) error {
	if in.Bool("null") || in.Bool("paths") {
		return printPath(w, in, h.Path)
	}
	line := fmt.Sprintf("%s:%d", console.Line1(string(h.Path)), h.Line)
	who := ""
	if h.Message > 0 {
		who = console.Line1(cmp.Or(h.Speaker, h.Role)) + ": "
	}
	note := ""
	if h.Message > 0 && h.SupersededBy != "" {
		note = "  [superseded by " + console.Line1(h.SupersededBy) + "]"
	}
	if d := viewDoubt(h.DoubtedBy); d != nil {
		note = "  [" + d.String() + "]"
	}
	if _, err := fmt.Fprintf(w, "%s  %s%s%s\n", e.Paint(console.Cyan, line), who, highlight(e, h), note); err != nil {
		return err
	}
	if h.Explain != "" {
		for l := range strings.Lines(h.Explain) {
			if _, err := fmt.Fprintf(w, "    %s\n", console.Line1(l)); err != nil {
				return err
			}
		}
	}
	return nil
}

// highlight makes the matched words of a snippet bold. The ranges are byte
// offsets in order; one that does not fit is left out.
func highlight(e *console.Env, h index.Hit) string {
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

// printPath prints a path as it is: a program reads it, and -0 keeps any name
// whole.
func printPath(w io.Writer, in *console.Input, p vault.Path) error {
	end := "\n"
	if in.Bool("null") {
		end = "\x00"
	}
	_, err := io.WriteString(w, string(p)+end)
	return err
}

func classesOf(in *console.Input) ([]vault.Class, error) {
	known := append(liveClasses(), vault.ClassArchive, vault.ClassReport)
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

// liveClasses is everything that is neither archived nor a report of stet's own.
func liveClasses() []vault.Class {
	return []vault.Class{vault.ClassMemory, vault.ClassCore, vault.ClassProfile, vault.ClassSkill, vault.ClassSession, vault.ClassNote}
}
