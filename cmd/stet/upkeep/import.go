package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
		Args:    "[SOURCE] [PATH...]", MaxArgs: -1,
		Words: agent.SourceNames(),
		Details: `Alone it lists the sources: what stands on this machine, how much it is, and how many of its
			conversations are new, grown or as before, by the names and times of the files. On a terminal it asks
			which to bring in; the next time Enter takes the same. With a SOURCE everything of it comes in: each
			conversation as a transcript in sessions/, each memory below a scope of its own. PATH is a file, folder
			or zip archive to read instead; without a SOURCE what stands in it tells the program that wrote it.
			Where nothing can be read it fails (exit 1) and says what was found.

			A second import appends what has grown and writes nothing for what has not; files of conversations that
			have not changed are not opened (--force reads them). What was forgotten here stays away. A memory whose
			very text stands here is left out, and one that a rule is sure contradicts another is linked with it; no
			model is asked. Secrets are replaced by "[redacted: RULE]"; what only may be one stays in a
			transcript and is flagged, and doctor names its line. What cannot be read is counted and listed, and
			everything else comes in. A run is one commit, or several where it is large, and one step of undo; Ctrl-C
			makes it of what is written by then, and the next run does the rest.`,
		Examples: `stet import  # what there is to bring in
			stet import claude-code --since 30d --dry-run  # look first
			stet import claude-code --project website  # one project's conversations
			stet import ~/Downloads/export.zip  # an export, as it was downloaded, of any known program
			stet import --from chatgpt chats.json  # that program's, whatever it looks like
			stet import jsonl talks.jsonl  # stet's own lines, described in docs/FORMAT.md`,
		Flags: console.Flags(
			console.Text("since",
				"only conversations that went on at or after `TIME`: 2026-01-31, monday, 7d, \"2 weeks ago\""),
			console.Text("project", "only those of `PROJECT`: a folder or its name"),
			console.Text("from", "read PATH as what `SOURCE` wrote"),
			console.Bool("force", "read files again that have not changed since they were read"),
			console.AgentFlag(),
			console.Bool("dry-run", "say what would be written and write nothing"),
		),
		Run: runImport,
	}
}

func runImport(ctx context.Context, e *console.Env, in *console.Input) error {
	from, places := in.String("from"), in.Words
	if from == "" && len(places) > 0 && isSource(e, places[0]) {
		from, places = places[0], places[1:]
	}
	if from == "" && len(places) == 0 {
		for _, flag := range []string{"since", "project", "force"} {
			if in.IsSet(flag) {
				return agent.Usagef("--%s needs a SOURCE", flag).
					Suggest("one of %s", strings.Join(agent.SourceNames(), ", "))
			}
		}
		return listSources(ctx, e)
	}
	o := agent.ImportOptions{Write: e.By(in), Source: from, Project: in.String("project"),
		Reread: in.Bool("force"), Progress: progress(e)}
	for _, w := range places {
		o.Places = append(o.Places, e.Abs(w))
	}
	var err error
	if o.Since, err = e.Time(in.String("since")); err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error { return bringIn(ctx, e, a, o) })
}

// isSource reports whether a word is to be the name of a source: it is one, or it is neither a file nor looks like one.
func isSource(e *console.Env, word string) bool {
	if _, err := agent.FindSource(word); err == nil {
		return true
	}
	_, err := os.Lstat(e.Abs(word))
	return err != nil && !strings.ContainsAny(word, `./\`)
}

func bringIn(ctx context.Context, e *console.Env, a *agent.App, o agent.ImportOptions) error {
	res, err := a.Vault().Import(ctx, o)
	if err != nil {
		return err
	}
	return e.Show(res, func(p *console.Printer) {
		for _, line := range importLines(e, res.Report) {
			p.Printf("%s\n", console.Line1(line))
		}
	})
}

func listSources(ctx context.Context, e *console.Env) error {
	e.SetRoot("")
	sources := e.Sources(ctx)
	var here, chosen, missing, named []string
	for _, s := range sources {
		switch {
		case s.Files > 0:
			here = append(here, s.Source)
			if s.Chosen {
				chosen = append(chosen, s.Source)
			}
		case s.Named:
			named = append(named, s.Source)
		default:
			missing = append(missing, s.Source)
		}
	}
	err := e.Show(sources, func(p *console.Printer) {
		for _, s := range sources {
			if s.Files == 0 {
				continue
			}
			p.Printf("%s\n", console.Line1(sourceLine(s)))
			if len(here) <= mostPlaces {
				p.Printf("  %s\n", console.Line1(s.Title+", in "+home(e, strings.Join(s.Places, ", "))))
			}
		}
		for _, line := range append(folded("not on this machine:", missing), folded("files to name:", named)...) {
			p.Printf("%s\n", line)
		}
	})
	switch {
	case err != nil || len(here) == 0:
		return err
	case !e.CanAsk():
		e.Note("to bring them in: stet import %s", strings.Join(here, "; stet import "))
		return nil
	}
	return chooseSources(ctx, e, here, chosen)
}

// mostPlaces is how many sources have a line that says where they stand: the list is to fit a screen.
const mostPlaces = 8

// sourceLine says how much of a source there is, and what of it is new.
func sourceLine(s agent.Source) string {
	line := fmt.Sprintf("%-17s %s, %s", s.Source, agent.Plural(s.Files, "file"), size(s.Bytes))
	if b := s.Brings; b != nil {
		line += fmt.Sprintf(": %d new, %d grown, %d as before", b.New, b.Grown, b.Unchanged)
		if b.Unread > 0 {
			line += fmt.Sprintf(", %d may have grown", b.Unread)
		}
	}
	return line
}

// home is a list of places with "~" for the folder of the user's.
func home(e *console.Env, places string) string {
	if dir := e.Getenv("HOME"); len(dir) > 1 {
		places = strings.ReplaceAll(places, dir+string(os.PathSeparator), "~"+string(os.PathSeparator))
	}
	return places
}

// folded is a list behind words, in lines that a terminal has room for; none without a name.
func folded(words string, names []string) (lines []string) {
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		last := len(lines) - 1
		switch {
		case i == 0:
			lines = []string{words + " " + name}
		case len(lines[last])+1+len(name) <= 80:
			lines[last] += " " + name
		default:
			lines = append(lines, "  "+name)
		}
	}
	return lines
}

// chooseSources asks which of the sources to bring in, and does it. What was chosen last is what Enter brings in.
func chooseSources(ctx context.Context, e *console.Env, here, before []string) error {
	usual := "Enter for none"
	if len(before) > 0 {
		usual = "none; Enter for " + strings.Join(before, " ")
	}
	answer, err := e.Ask("Bring in which? [" + strings.Join(here, ", ") + "; all; " + usual + "]")
	if errors.Is(err, io.EOF) || err == nil && answer == "" && len(before) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	chosen := strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' })
	switch {
	case len(chosen) == 0:
		chosen = before
	case slices.Equal(chosen, []string{"all"}):
		chosen = here
	case slices.Equal(chosen, []string{"none"}):
		chosen = nil
	}
	for _, name := range chosen {
		if _, err := agent.FindSource(name); err != nil {
			return err
		}
	}
	return e.With(ctx, false, func(a *agent.App) error {
		failed := a.Vault().ChooseSources(ctx, agent.Write{}, chosen)
		for _, name := range chosen {
			o := agent.ImportOptions{Source: name, Progress: progress(e)}
			if err := bringIn(ctx, e, a, o); err != nil {
				failed = errors.Join(failed, err)
			}
			if ctx.Err() != nil {
				break
			}
		}
		return failed
	})
}

func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return agent.Plural(int(n), "byte")
}

// progress shows on a terminal how far a run has come.
func progress(e *console.Env) func(imports.Progress) {
	show := e.ProgressLine()
	if show == nil {
		return nil
	}
	began := e.Now()
	return func(p imports.Progress) {
		show(func() string {
			took := e.Now().Sub(began).Seconds()
			text := fmt.Sprintf("%s: %d read, %d written, %s of %s", p.Source, p.Sessions, p.Written, size(p.Bytes),
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
	each := r.Each
	if len(each) == 0 {
		each = []*imports.Report{r}
	}
	for _, x := range each {
		out = append(out, summary(x))
	}
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
	for i, p := range r.Others {
		if i == listed {
			out = append(out, fmt.Sprintf("… and %d more", len(r.Others)-listed))
			break
		}
		out = append(out, "left out  "+p.File+"  "+p.Text)
	}
	return out
}

// summary counts what came of one source.
func summary(r *imports.Report) string {
	sum := fmt.Sprintf("%s: %d read, %d new, %d grown, %d changed, %d as before", r.Source, r.Read, r.Added, r.Grown,
		r.Changed, r.Unchanged)
	for _, more := range []struct {
		n    int
		what string
	}{{r.Skipped, "left out"}, {r.Rejected, "forgotten here"}, {r.Unread, "not opened"}, {r.Redacted,
		"redacted"}, {r.Malformed, "malformed"}} {
		if more.n > 0 {
			sum += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	for _, c := range r.Commits {
		sum += fmt.Sprintf(", commit %.10s", c)
	}
	return sum
}
