package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
	"stet/vault"
)

func diffCommand() *console.Command {
	return &console.Command{
		Name: "diff", Group: console.History,
		Summary: "show what differs between two states of the vault",
		Args:    "[REV [REV]] [PATH...]", MaxArgs: -1,
		Details: "Without a revision: HEAD against the files on disk, that is what \"stet adopt\" would\n" +
			"commit. With one: that revision against the disk. With two, or REV..REV: one against\n" +
			"the other. Everything after \"--\" is a path.",
		Examples: []console.Example{
			{Line: "stet diff", Says: "edits by hand that are not committed"},
			{Line: "stet diff HEAD~3", Says: "everything since three commits ago"},
			{Line: "stet diff HEAD~3 HEAD memories/infra", Says: "between two commits, one folder"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "only the paths and how many lines changed"},
		},
		Run: runDiff,
	}
}

// A diffAnswer is what diff prints under --json.
type diffAnswer struct {
	From  string     `json:"from"`
	To    string     `json:"to"` // "" is the working tree
	Files []fileView `json:"files"`
}

type fileView struct {
	vault.Change
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Text    string `json:"text,omitempty"`
}

func runDiff(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	from, to, paths, err := diffRange(ctx, e, v, in)
	if err != nil {
		return err
	}
	diffs, err := v.Diff(ctx, from, to, paths)
	if err != nil {
		return err
	}
	answer := diffAnswer{From: from, To: to, Files: []fileView{}}
	for _, d := range diffs {
		f := fileView{Change: d.Change, Added: d.Added, Removed: d.Removed}
		if !in.Bool("stat") {
			f.Text = d.Text
		}
		answer.Files = append(answer.Files, f)
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		if in.Bool("stat") {
			return printStat(w, diffs)
		}
		return e.PrintDiff(w, diffText(diffs))
	})
}

// diffRange tells revisions from paths. A word before "--" is a revision when
// git knows it as one and fewer than two were named; from the first word that is
// none on, all are paths or memories.
func diffRange(ctx context.Context, e *console.Env, v *vault.Vault, in *console.Input) (from, to string, paths []vault.Path, err error) {
	words := in.Words
	var revs []string
	for i := 0; i < in.Literal && len(revs) < 2; i++ {
		more, err := revisions(v, words[0], len(revs))
		if err != nil {
			return "", "", nil, err
		}
		if more == nil {
			break
		}
		revs, words = append(revs, more...), words[1:]
	}
	for _, word := range words {
		p, err := diffPath(ctx, e, v, word, len(revs) > 0)
		if err != nil {
			return "", "", nil, err
		}
		paths = append(paths, p)
	}
	revs = append(revs, "", "")
	return revs[0], revs[1], paths, nil
}

// revisions reads a word as one revision or, when it is the first, as a range
// REV..REV; nil when it is neither.
func revisions(v *vault.Vault, word string, have int) ([]string, error) {
	candidates := []string{word}
	if a, b, ok := strings.Cut(word, ".."); ok && have == 0 && a != "" {
		candidates = []string{a, cmp.Or(b, "HEAD")}
	}
	for _, c := range candidates {
		switch _, err := v.ResolveRevision(c); {
		case errors.Is(err, vault.ErrNoRevision):
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	return candidates, nil
}

// diffPath reads a word as a memory, else as a path, which may be of the past
// when a revision was named. A word that is nothing at all is an error: an empty
// diff would look like "no difference".
func diffPath(ctx context.Context, e *console.Env, v *vault.Vault, word string, historic bool) (vault.Path, error) {
	m, err := v.Resolve(ctx, e.Ref(v, word))
	if err == nil {
		return m.Path, nil
	}
	if !errors.Is(err, vault.ErrNotFound) {
		return "", err
	}
	p, bad := e.Path(v, word)
	if bad != nil {
		return "", bad
	}
	if historic || e.Exists(v, p) || strings.HasSuffix(word, ".md") {
		return p, nil
	}
	return "", vault.WithHint(fmt.Errorf("%q is neither a revision, a memory nor a path: %w", word, vault.ErrNotFound),
		`"stet log" shows revisions, "stet list" memories`)
}

func printStat(w io.Writer, diffs []vault.FileDiff) error {
	for _, d := range diffs {
		if _, err := fmt.Fprintf(w, "%-8s  +%d -%d  %s\n", d.Status, d.Added, d.Removed, console.Line1(string(d.Path))); err != nil {
			return err
		}
	}
	return nil
}
