package door

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/imports"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/settings"
)

func importCommand() *console.Command {
	return &console.Command{
		Name: "import", Group: console.Start,
		Summary: "bring in conversations and memories of other programs",
		Args:    "[SOURCE [PATH...]]", MaxArgs: -1,
		Verbs: sourceNames(),
		Details: "Alone it lists the sources: what stands on this machine, how much it is, and how many of\n" +
			"its conversations are new, grown or as before, by the names and times of the files. With a\n" +
			"SOURCE everything of it comes in: each conversation as a transcript in sessions/, each\n" +
			"memory below a scope of its own. PATH is a file or folder to read instead.\n\n" +
			"A second import appends what has grown and writes nothing for what has not; files of\n" +
			"conversations that have not changed are not opened (--force reads them). What was\n" +
			"forgotten here stays away. A memory whose very text stands here is left out, and one that a\n" +
			"rule is sure contradicts another is linked with it; no model is asked. Secrets are replaced by \"[redacted: RULE]\". What cannot be\n" +
			"read is counted and listed, and everything else comes in. A run is one commit; Ctrl-C\n" +
			"makes it of what has been read, and the next run does the rest.",
		Examples: []console.Example{
			{Line: "stet import", Says: "what there is to bring in"},
			{Line: "stet import claude-code --since 30d --dry-run", Says: "look first"},
			{Line: "stet import claude-code --project website", Says: "one project's conversations"},
			{Line: "stet import chatgpt ~/Downloads/export.zip", Says: "an export, as it was downloaded"},
			{Line: "stet import jsonl talks.jsonl", Says: "stet's own lines, described in docs/FORMAT.md"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "only conversations that went on at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"},
			&cli.StringFlag{Name: "project", Usage: "only those of `PROJECT`: a folder or its name"},
			&cli.BoolFlag{Name: "force", Usage: "read files again that have not changed since they were read"},
			&cli.StringFlag{Name: "as", Usage: "the agent `NAME` is acting, not a person (also: STET_AGENT)"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be written and write nothing"},
		},
		Run: runImport,
	}
}

func sourceNames() []string {
	var out []string
	for _, s := range imports.Sources() {
		out = append(out, s.Name)
	}
	return out
}

func runImport(ctx context.Context, e *console.Env, in *console.Input) error {
	host := imports.Host{Getenv: e.Getenv, Home: e.Getenv("HOME")}
	if len(in.Words) == 0 {
		for _, flag := range []string{"since", "project", "force"} {
			if in.IsSet(flag) {
				return agent.Usagef("--%s needs a SOURCE", flag).Suggest("one of %s", strings.Join(sourceNames(), ", "))
			}
		}
		return listSources(ctx, e, host)
	}
	source, places, err := whatToImport(e, host, in.Words)
	if err != nil {
		return err
	}
	o := imports.Options{Write: e.Write(in), Project: in.String("project"), Now: e.Now(), Reread: in.Bool("force")}
	if o.Since, err = e.Time(in.String("since")); err != nil {
		return err
	}
	if source.Memories && (in.IsSet("since") || in.IsSet("project")) {
		return agent.Usagef("--since and --project are for conversations; %s holds memories", source.Name)
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	o.Progress = progress(e, source)
	o.Committed = func(res *vault.Result) error {
		for _, w := range res.Warnings {
			e.Warn("%s", w)
		}
		e.Indexed(ctx, v, res.Changes)
		return nil
	}
	if source.Memories && v.Settings().Bool(settings.Cognitive) {
		x, err := e.Lexicon(v, false)
		if err != nil {
			return err
		}
		defer func() { _ = x.Close() }() // it was only read
		o.Find = x
	}
	report, err := imports.Run(ctx, v, source, places, o)
	for _, n := range report.Notes {
		e.Note("%s", n)
	}
	if err != nil {
		if len(report.Commits) > 0 && errors.Is(err, context.Canceled) {
			e.Note("%d conversations are imported; the same command does the rest", len(report.Written))
		}
		return err
	}
	return answer(e, v, report)
}

// whatToImport finds the source of the first word and the places of the others.
func whatToImport(e *console.Env, host imports.Host, words []string) (imports.Source, []string, error) {
	source, ok := imports.Find(words[0])
	if !ok {
		err := agent.Usagef("no source %q", words[0])
		if near := agent.Nearest(words[0], sourceNames()); near != "" {
			return source, nil, err.Suggest("did you mean %q?", near)
		}
		return source, nil, err.Suggest("one of %s", strings.Join(sourceNames(), ", "))
	}
	var places []string
	for _, w := range words[1:] {
		places = append(places, e.Abs(w))
	}
	if len(places) > 0 {
		return source, places, nil
	}
	if source.Named() {
		return source, nil, agent.Usagef("%s has no place of its own", source.Name).Suggest("name the file: stet import %s FILE", source.Name)
	}
	if places = source.Find(host); len(places) == 0 {
		return source, nil, vault.WithHint(fmt.Errorf("import %s: %w: it is not on this machine", source.Name, vault.ErrNotFound),
			"name the file or folder: stet import %s PATH", source.Name)
	}
	return source, places, nil
}

// A sourceView is one source of the list.
type sourceView struct {
	Source   string   `json:"source"`
	Title    string   `json:"title"`
	Memories bool     `json:"memories"`
	Places   []string `json:"places"`
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	// Of conversations, against the vault here; absent without one.
	Brings *bringsView `json:"brings,omitempty"`
}

// A bringsView counts conversations; docs/FORMAT.md says how they are told apart.
type bringsView struct {
	New       int `json:"new"`
	Grown     int `json:"grown"`
	Unchanged int `json:"unchanged"`
	Unread    int `json:"unread"`
}

// String is the counts as the list shows them.
func (b *bringsView) String() string {
	text := fmt.Sprintf("%d new, %d grown, %d as before", b.New, b.Grown, b.Unchanged)
	if b.Unread > 0 {
		text += fmt.Sprintf(", %d here that may have grown", b.Unread)
	}
	return text
}

func listSources(ctx context.Context, e *console.Env, host imports.Host) error {
	views := []sourceView{}
	v, err := e.Reader(ctx)
	if err == nil {
		defer e.Close(v)
	} else if v = nil; !errors.Is(err, vault.ErrNotVault) {
		e.Warn("%v", err) // what there is to bring in is worth knowing all the same
	}
	for _, s := range imports.Sources() {
		view := sourceView{Source: s.Name, Title: s.Title, Memories: s.Memories, Places: append([]string{}, s.Find(host)...)}
		var err error
		if v == nil || s.Memories || len(view.Places) == 0 {
			view.Files, view.Bytes, err = s.Count(view.Places)
		} else {
			var l imports.Survey
			l, err = imports.Look(ctx, v, s, view.Places)
			view.Files, view.Bytes, view.Brings = l.Files, l.Bytes, &bringsView{l.New, l.Grown, l.Unchanged, l.Unread}
		}
		if err != nil {
			e.Warn("%v", err)
		}
		views = append(views, view)
	}
	return e.Answer(views, func(w io.Writer) error {
		for _, v := range views {
			line := fmt.Sprintf("%-14s %s", v.Source, v.Title)
			switch {
			case v.Files > 0:
				line += fmt.Sprintf(": %d files, %s in %s", v.Files, size(v.Bytes), strings.Join(v.Places, ", "))
				if v.Brings != nil {
					line += ": " + v.Brings.String()
				}
			case len(v.Places) > 0:
				line += ": nothing in " + strings.Join(v.Places, ", ")
			}
			if _, err := fmt.Fprintln(w, console.Line1(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// progress shows on a terminal how far a run has come.
func progress(e *console.Env, s imports.Source) func(imports.Progress) {
	show := e.ProgressLine()
	if show == nil {
		return nil
	}
	began := e.Now()
	return func(p imports.Progress) {
		show(func() string {
			took := e.Now().Sub(began).Seconds()
			text := fmt.Sprintf("%s: %d read, %d written, %s of %s", s.Name, p.Sessions, p.Written, size(p.Bytes), size(p.Total))
			if rate := float64(p.Bytes) / max(took, 0.001); p.Bytes > 0 && took > 1 {
				left := time.Duration(float64(max(p.Total-p.Bytes, 0)) / rate * float64(time.Second))
				text += fmt.Sprintf(", %s/s, %s left", size(int64(rate)), left.Round(time.Second))
			}
			return text
		})
	}
}

// An importView is what import prints under --json.
type importView struct {
	*imports.Report
	Plan *agent.Plan `json:"plan,omitempty"`
}

// listed is how many files and problems are named to a person; all are counted,
// and --json has them.
const listed = 10

func answer(e *console.Env, v *vault.Vault, r *imports.Report) error {
	view := importView{Report: r}
	if r.DryRun {
		head, err := v.Head()
		if err != nil {
			return err
		}
		view.Plan = &agent.Plan{Base: head, Ops: []vault.Change{}}
		for _, w := range r.Written {
			op := vault.Change{Status: vault.Added, Path: w.Path}
			if w.State == imports.StateGrown || w.State == imports.StateUpdated {
				op.Status = vault.Modified
			}
			view.Plan.Ops = append(view.Plan.Ops, op)
		}
	}
	return e.Answer(view, func(w io.Writer) error {
		for _, line := range lines(e, r) {
			if _, err := fmt.Fprintln(w, console.Line1(line)); err != nil {
				return err
			}
		}
		return nil
	})
}

func lines(e *console.Env, r *imports.Report) []string {
	would := ""
	if r.DryRun {
		would = "would be "
	}
	var out []string
	for i, f := range r.Written {
		if i == listed {
			out = append(out, fmt.Sprintf("… and %d more", len(r.Written)-listed))
			break
		}
		out = append(out, fmt.Sprintf("%s%s  %s  (%s)", would, f.State, f.Path, f.ID))
	}
	if len(r.Written) == 0 {
		out = append(out, "unchanged"+e.Where())
	}
	sum := fmt.Sprintf("%s: %d read, %d new, %d grown, %d changed, %d as before", r.Source, r.Read, r.Added, r.Grown, r.Changed, r.Unchanged)
	for _, more := range []struct {
		n    int
		what string
	}{{r.Skipped, "left out"}, {r.Rejected, "forgotten here"}, {r.Unread, "files not opened"}, {r.Redacted, "redacted"}, {r.Malformed, "malformed"}} {
		if more.n > 0 {
			sum += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	for _, c := range r.Commits {
		sum += fmt.Sprintf(", commit %.10s", c)
	}
	out = append(out, sum)
	for i, p := range r.Problems {
		if i == listed {
			out = append(out, fmt.Sprintf("… and %d more; --json lists them", r.Malformed-listed))
			break
		}
		place := p.File
		if p.Line > 0 {
			place += fmt.Sprintf(":%d", p.Line)
		}
		out = append(out, "malformed  "+place+"  "+p.Text)
	}
	return out
}
