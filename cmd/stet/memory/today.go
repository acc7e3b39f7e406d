package memory

import (
	"context"
	"path/filepath"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

// TodayCommand returns the definition of "stet today".
func TodayCommand() *console.Command {
	return &console.Command{
		Name: "today", Group: console.Start,
		Summary: "open, print or add to the note of today",
		Args:    "[TEXT... | -]", MaxArgs: -1,
		Details: `On a terminal it opens the note in your editor ($VISUAL, else $EDITOR, else vi) and commits what you
			saved; a new note begins with its template, and left so nothing is stored. Elsewhere it prints the note
			(exit 4 where there is none). With a TEXT, or "-" for standard input, it adds that and commits: as the
			next item where the note ends in a list, with no time of its own, else as a paragraph.

			Where the note is, and its template, are those of Obsidian's daily notes (.obsidian/daily-notes.json:
			folder, format, template). Without that file it is YYYY-MM-DD.md: at the top of a vault of Obsidian's,
			else in journal/daily where that is a folder, else in daily. The format has the tokens YYYY YY MMMM MMM
			MM M DD D Do dddd ddd, WW with GGGG and ww with gggg for weeks, Q, HH mm ss, [words] as they are, and
			slashes for folders; {{date}}, {{date:FORMAT}}, {{time}} and {{title}} of the template are filled in.`,
		Examples: `stet today  # write in your editor
			stet today Planted the beans, 20 of them  # the next item, or a paragraph
			date +%H:%M | stet today -  # text from standard input
			stet today --print  # read it`,
		Flags: console.WriteFlags(console.BecauseFlag(), console.MessageFlag(), console.AgainFlag(),
			console.Bool("print", "print the note, on a terminal too")),
		Run: today,
	}
}

func today(ctx context.Context, e *console.Env, in *console.Input) (err error) {
	o, verb := agent.TodayOptions{Write: e.ByInSession(in)}, "added to"
	switch {
	case in.Bool("print") && len(in.Words) > 0:
		return agent.Usagef("\"stet today --print\" reads the note and takes no text").
			Suggest("leave one of the two out")
	case in.Bool("print"):
		return printToday(ctx, e)
	case len(in.Words) > 0:
		o.Text, err = textArgument(e, strings.Join(in.Words, " "), in.Literal > 0)
	case canCompose(e, in):
		verb = "written"
		o.Edit, err = editorOf(e, "today", `"stet today TEXT" adds to the note without one`)
	default:
		return printToday(ctx, e)
	}
	if err != nil {
		return err
	}
	return e.Writing(ctx, console.More{Verb: verb}, func(a *agent.App) (*agent.Written, error) {
		return a.Today().Write(ctx, o)
	})
}

func printToday(ctx context.Context, e *console.Env) error {
	return e.With(ctx, true, func(a *agent.App) error {
		p, err := a.Today().Path()
		if err != nil {
			return err
		}
		o := agent.ShowOptions{Refs: []string{filepath.Join(a.Root(), filepath.FromSlash(string(p)))}, Labels: e.JSON}
		found, err := a.Memories().Show(ctx, o)
		if err != nil {
			return err
		}
		return printShown(ctx, e, found, false)
	})
}
