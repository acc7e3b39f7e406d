package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
	"stet/vault"
)

func historyCommand() *console.Command {
	return &console.Command{
		Name: "history", Group: console.History,
		Summary: "show every version of one memory or file, through its moves",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: "Newest first: when, who, what was done, through which door and session, and how\n" +
			"many lines came and went. A file is followed through renames and edits by its id,\n" +
			"into the archive and back, and through merges made by hand.",
		Examples: []console.Example{
			{Line: "stet history gate-code", Says: "every version of one memory"},
			{Line: "stet history notes/plan.md -p -n 3", Says: "the last three with their diffs"},
			{Line: "stet history USER.md#1a2b3c4d", Says: "one entry of a notebook, through its replacements"},
			{Line: "stet history 01jd7q --json", Says: "for a program"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N` versions, 0 for all"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "with the diff of each version"},
			&cli.StringFlag{Name: "rev", Usage: "start from the revision `REV` instead of HEAD"},
		},
		Run: runHistory,
	}
}

// A historyAnswer is what history prints under --json.
type historyAnswer struct {
	Path        vault.Path    `json:"path"`
	Uncommitted bool          `json:"uncommitted"`
	Versions    []versionView `json:"versions"`
}

// A versionView is one version as JSON shows it.
type versionView struct {
	originView
	vault.Change
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitempty"`
}

func runHistory(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	if file, hash, ok := console.CutAddress(in.Words[0]); ok {
		return entryHistory(ctx, e, in, v, file, hash)
	}
	p, err := pathOf(ctx, e, v, in.Words[0])
	if err != nil {
		return err
	}
	answer := historyAnswer{Path: p, Versions: []versionView{}}
	a := v.Ancestry()
	if answer.Uncommitted, err = uncommitted(v, a, p); err != nil {
		return err
	}
	for version, err := range v.Versions(ctx, in.String("rev"), p) {
		if err != nil {
			return err
		}
		d, err := a.Diff(version)
		if err != nil {
			return err
		}
		view := versionView{originView: viewOrigin(version.Commit), Change: version.Change, Added: d.Added, Removed: d.Removed}
		if in.Bool("patch") {
			view.Diff = d.Text
		}
		answer.Versions = append(answer.Versions, view)
		if len(answer.Versions) == in.Int("limit") {
			break
		}
	}
	switch {
	case len(answer.Versions) == 0 && !answer.Uncommitted:
		return &vault.NotFoundError{Ref: in.Words[0]}
	case len(answer.Versions) == 0:
		e.Note("%s is not committed yet", p)
	case answer.Uncommitted:
		e.Note("%s has edits that are not committed", p)
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for _, view := range answer.Versions {
			if err := printVersion(w, e, view); err != nil {
				return err
			}
		}
		return nil
	})
}

// uncommitted reports whether the file on disk differs from HEAD's.
func uncommitted(v *vault.Vault, a *vault.Ancestry, p vault.Path) (bool, error) {
	head, err := a.At("", p)
	if err != nil {
		return false, err
	}
	data, _, err := v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return head.Hash != "", nil
	}
	if err != nil {
		return false, err
	}
	return vault.ReadMemory(p, data).Hash != head.Hash, nil
}

func printVersion(w io.Writer, e *console.Env, v versionView) error {
	path := console.Line1(string(v.Path))
	if v.From != "" {
		path = console.Line1(string(v.From)) + " -> " + path
	}
	_, err := fmt.Fprintf(w, "%s  %s  +%d -%d  %s\n    %s\n", e.Paint(console.Cyan, v.Rev.Short()), console.Day(v.at), v.Added, v.Removed,
		console.Line1(v.Subject), strings.Join(append([]string{v.who(), v.Status + " " + path}, v.reasons()...), "; "))
	if err != nil || v.Diff == "" {
		return err
	}
	if err := e.PrintDiff(w, v.Diff); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}
