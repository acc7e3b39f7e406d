package history

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/lineage"
)

func blameCommand() *console.Command {
	return &console.Command{
		Name: "blame", Group: console.History,
		Summary: "show for each line of a file who wrote it, and in which commit",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: "Each line names the person or the agent, and the session where the commit has one,\n" +
			"followed through renames and merges. Lines that are not committed are marked so.",
		Examples: []console.Example{
			{Line: "stet blame USER.md", Says: "who wrote which line of the profile"},
			{Line: "stet blame gate-code --rev HEAD~5", Says: "as the file was five commits ago"},
			{Line: "stet blame gate-code --json", Says: "for a program"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "rev", Usage: "the file as it was in the revision `REV` instead of on disk"},
		},
		Run: runBlame,
	}
}

// A blameAnswer is what blame prints under --json.
type blameAnswer struct {
	Path  vault.Path `json:"path"`
	Lines []lineView `json:"lines"`
}

// A lineView is one line as JSON shows it. Origin is absent for a line that is
// not committed.
type lineView struct {
	Number int         `json:"number"`
	Text   string      `json:"text"`
	From   vault.Path  `json:"from,omitempty"` // the file's name in that commit
	Was    int         `json:"was,omitempty"`  // the line's number there
	Origin *originView `json:"origin,omitempty"`
}

func runBlame(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	p, err := pathOf(ctx, e, v, in.Words[0])
	if err != nil {
		return err
	}
	b, err := lineage.BlameFile(ctx, v, in.String("rev"), p)
	if err != nil {
		return err
	}
	answer := blameAnswer{Path: p, Lines: []lineView{}}
	origins := map[vault.Revision]*originView{}
	for rev, c := range b.Commits {
		o := viewOrigin(c)
		origins[rev] = &o
	}
	for _, l := range b.Lines {
		view := lineView{Number: l.Number, Text: strings.ToValidUTF8(strings.TrimRight(l.Text, "\r\n"), "\ufffd"), Origin: origins[l.Rev]}
		if view.Origin != nil {
			view.From, view.Was = l.Path, l.Was
		}
		answer.Lines = append(answer.Lines, view)
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error { return printBlame(w, e, answer.Lines) })
}

func printBlame(w io.Writer, e *console.Env, lines []lineView) error {
	width := 0
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = "(not committed)"
		if l.Origin != nil {
			names[i] = l.Origin.writer()
		}
		width = max(width, utf8.RuneCountInString(names[i]))
	}
	digits := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		rev, day := strings.Repeat("0", 10), strings.Repeat(" ", len("2006-01-02 15:04"))
		if l.Origin != nil {
			rev, day = l.Origin.Rev.Short(), console.Day(l.Origin.at)
		}
		pad := strings.Repeat(" ", width-utf8.RuneCountInString(names[i]))
		if _, err := fmt.Fprintf(w, "%s  %s%s  %s  %*d) %s\n", e.Paint(console.Cyan, rev), names[i], pad, day, digits, l.Number, e.Stored(l.Text)); err != nil {
			return err
		}
	}
	return nil
}
