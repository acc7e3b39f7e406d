package upkeep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stet/agent"
	"stet/agent/imports"
	"stet/cmd/stet/console"
)

func importCommand() *console.Command {
	return &console.Command{
		Name: "import", Group: console.Start,
		Summary: "bring in conversations and memories of other programs",
		Args:    "[SOURCE [PATH...]]", MaxArgs: -1,
		Words: agent.SourceNames(),
		Details: `Alone it lists the sources: what stands on this machine, how much it is, and how many of its
			conversations are new, grown or as before, by the names and times of the files. With a SOURCE everything
			of it comes in: each conversation as a transcript in sessions/, each memory below a scope of its own.
			PATH is a file or folder to read instead.

			A second import appends what has grown and writes nothing for what has not; files of conversations that
			have not changed are not opened (--force reads them). What was forgotten here stays away. A memory whose
			very text stands here is left out, and one that a rule is sure contradicts another is linked with it; no
			model is asked. Secrets are replaced by "[redacted: RULE]". What cannot be read is counted and listed,
			and everything else comes in. A run is one commit; Ctrl-C makes it of what is written by then, and the next
			run does the rest.`,
		Examples: `stet import  # what there is to bring in
			stet import claude-code --since 30d --dry-run  # look first
			stet import claude-code --project website  # one project's conversations
			stet import chatgpt ~/Downloads/export.zip  # an export, as it was downloaded
			stet import jsonl talks.jsonl  # stet's own lines, described in docs/FORMAT.md`,
		Flags: console.Flags(
			console.Text("since",
				"only conversations that went on at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"),
			console.Text("project", "only those of `PROJECT`: a folder or its name"),
			console.Bool("force", "read files again that have not changed since they were read"),
			console.AgentFlag(),
			console.Bool("dry-run", "say what would be written and write nothing"),
		),
		Run: runImport,
	}
}

func runImport(ctx context.Context, e *console.Env, in *console.Input) error {
	if len(in.Words) == 0 {
		for _, flag := range []string{"since", "project", "force"} {
			if in.IsSet(flag) {
				return agent.Usagef("--%s needs a SOURCE", flag).
					Suggest("one of %s", strings.Join(agent.SourceNames(), ", "))
			}
		}
		return listSources(ctx, e)
	}
	source, err := agent.FindSource(in.Words[0])
	if err != nil {
		return err
	}
	o := agent.ImportOptions{Write: e.By(in), Source: source.Name, Project: in.String("project"),
		Reread: in.Bool("force"), Progress: progress(e, source)}
	for _, w := range in.Words[1:] {
		o.Places = append(o.Places, e.Abs(w))
	}
	if o.Since, err = e.Time(in.String("since")); err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Vault().Import(ctx, o)
		if err != nil {
			return err
		}
		return e.Show(res, func(p *console.Printer) {
			for _, line := range importLines(e, res.Report) {
				p.Printf("%s\n", console.Line1(line))
			}
		})
	})
}

func listSources(ctx context.Context, e *console.Env) error {
	e.SetRoot("")
	sources := e.Sources(ctx)
	return e.Show(sources, func(p *console.Printer) {
		for _, s := range sources {
			line := fmt.Sprintf("%-14s %s", s.Source, s.Title)
			switch {
			case s.Files > 0:
				line += fmt.Sprintf(": %s, %s in %s", agent.Plural(s.Files, "file"), size(s.Bytes),
					strings.Join(s.Places, ", "))
				if b := s.Brings; b != nil {
					line += fmt.Sprintf(": %d new, %d grown, %d as before", b.New, b.Grown, b.Unchanged)
					if b.Unread > 0 {
						line += fmt.Sprintf(", %d here that may have grown", b.Unread)
					}
				}
			case len(s.Places) > 0:
				line += ": nothing in " + strings.Join(s.Places, ", ")
			}
			p.Printf("%s\n", console.Line1(line))
		}
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
			text := fmt.Sprintf("%s: %d read, %d written, %s of %s", s.Name, p.Sessions, p.Written, size(p.Bytes),
				size(p.Total))
			if rate := float64(p.Bytes) / max(took, 0.001); p.Bytes > 0 && took > 1 {
				left := time.Duration(float64(max(p.Total-p.Bytes, 0)) / rate * float64(time.Second))
				text += fmt.Sprintf(", %s/s, %s left", size(int64(rate)), left.Round(time.Second))
			}
			return text
		})
	}
}

// listed is how many files and problems are named; all are counted,
// and --json has them.
const listed = 10

func importLines(e *console.Env, r *imports.Report) []string {
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
	sum := fmt.Sprintf("%s: %d read, %d new, %d grown, %d changed, %d as before", r.Source, r.Read, r.Added, r.Grown,
		r.Changed, r.Unchanged)
	for _, more := range []struct {
		n    int
		what string
	}{{r.Skipped, "left out"}, {r.Rejected, "forgotten here"}, {r.Unread, "files not opened"}, {r.Redacted,
		"redacted"}, {r.Malformed, "malformed"}} {
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
