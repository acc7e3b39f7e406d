package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func logCommand() *console.Command {
	return &console.Command{
		Name: "log", Group: console.History,
		Summary: "show what was written, newest first",
		Args:    "[MEMORY]", MaxArgs: 1,
		Details: "With a memory, its own history, followed through moves. \"git log\" shows the same\n" +
			"commits.",
		Examples: []console.Example{
			{Line: "stet log", Says: "the newest twenty commits"},
			{Line: "stet log gate-code -p", Says: "one memory with its diffs"},
			{Line: "stet log --actor agent --since 7d", Says: "what agents did this week"},
			{Line: "stet log --session 01jd7q8r5t9v3x6y2z4a7c0e1f --changes", Says: "one session's writes"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "at most `N` commits, 0 for all"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "with the diff of each commit"},
			&cli.BoolFlag{Name: "changes", Usage: "with the changed paths of each commit"},
			&cli.StringFlag{Name: "op", Usage: "only the `OPERATION` remember, update, forget, adopt, revert, ..."},
			&cli.StringFlag{Name: "actor", Usage: "only what the `ACTOR` user, agent, ... did"},
			&cli.StringFlag{Name: "session", Usage: "only the session `ID`"},
			&cli.StringFlag{Name: "since", Usage: "only at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"},
			&cli.StringFlag{Name: "until", Usage: "only before `TIME`"},
			&cli.StringFlag{Name: "rev", Usage: "start from the revision `REV` instead of HEAD"},
		},
		Run: runLog,
	}
}

// A logAnswer is what log prints under --json.
type logAnswer struct {
	Commits []agent.Commit `json:"commits"`
}

func runLog(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	o, err := logOptions(ctx, e, in, v)
	if err != nil {
		return err
	}
	names, err := namesOf(ctx, v, in, o)
	if err != nil {
		return err
	}
	answer := logAnswer{Commits: []agent.Commit{}}
	var commits []vault.Commit
	for c, err := range v.Log(ctx, o) {
		if err != nil {
			return err
		}
		view := agent.ViewCommit(c)
		if in.Bool("patch") {
			if view.Diff, err = diffOf(ctx, v, c, names.of(c.Rev, o.Path)); err != nil {
				return err
			}
		}
		commits = append(commits, c)
		answer.Commits = append(answer.Commits, view)
	}
	if len(commits) == 0 {
		e.Note("no commits")
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for i, c := range commits {
			if err := printCommit(w, e, c, answer.Commits[i].Diff); err != nil {
				return err
			}
		}
		return nil
	})
}

func logOptions(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault) (vault.LogOptions, error) {
	o := vault.LogOptions{
		Limit: in.Int("limit"), Op: vault.Op(in.String("op")), Actor: in.String("actor"), Session: in.String("session"),
		Changes: in.Bool("changes") || e.JSON, Rev: in.String("rev"),
	}
	if o.Op != "" && !slices.Contains(vault.Ops(), o.Op) {
		return o, agent.Usagef("unknown operation %q", o.Op).Suggest("one of %s", opNames())
	}
	var errs [2]error
	o.Since, errs[0] = e.Time(in.String("since"))
	o.Until, errs[1] = e.Time(in.String("until"))
	if err := errors.Join(errs[:]...); err != nil || len(in.Words) == 0 {
		return o, err
	}
	p, err := pathOf(ctx, e, v, in.Words[0])
	o.Path, o.Follow = p, true
	return o, err
}

func opNames() string {
	var names []string
	for _, op := range vault.Ops() {
		names = append(names, string(op))
	}
	return strings.Join(names, ", ")
}

// pathOf finds the path that a word means. History may know a path that is gone
// from the disk, so a word that names nothing now is taken as a path.
func pathOf(ctx context.Context, e *console.Env, v *vault.Vault, word string) (vault.Path, error) {
	m, err := v.Resolve(ctx, e.Ref(v, word))
	if err == nil {
		return m.Path, nil
	}
	if !errors.Is(err, vault.ErrNotFound) {
		return "", err
	}
	p, bad := e.Path(v, word)
	if bad != nil || !strings.ContainsAny(word, "./") {
		return "", err
	}
	return p, nil
}

// fileNames are the names that a followed file had in commits.
type fileNames map[vault.Revision][]vault.Path

// of is what to show of a commit: the file under its names then, or what was
// asked for, a folder for instance; nil is everything.
func (n fileNames) of(rev vault.Revision, asked vault.Path) []vault.Path {
	if names, ok := n[rev]; ok || asked == "" {
		return names
	}
	return []vault.Path{asked}
}

// namesOf is what a followed file was called in each commit, for their diffs; nil
// where that does not matter.
func namesOf(ctx context.Context, v *vault.Vault, in *console.Input, o vault.LogOptions) (fileNames, error) {
	if !in.Bool("patch") || o.Path == "" {
		return nil, nil
	}
	names := fileNames{}
	for version, err := range v.Versions(ctx, o.Rev, o.Path) {
		if err != nil {
			return nil, err
		}
		paths := []vault.Path{version.Path}
		if version.From != "" {
			paths = append(paths, version.From)
		}
		names[version.Commit.Rev] = paths
		if o.Limit > 0 && len(names) > o.Limit && o.Op == "" && o.Actor == "" && o.Session == "" {
			break // nothing is left out, so no more can be shown
		}
	}
	return names, nil
}

func diffOf(ctx context.Context, v *vault.Vault, c vault.Commit, paths []vault.Path) (string, error) {
	if len(c.Parents) != 1 {
		return "", nil // the first commit is all there is, a merge repeats its parents
	}
	diffs, err := v.Diff(ctx, string(c.Parents[0]), string(c.Rev), paths)
	return diffText(diffs), err
}

func diffText(diffs []vault.FileDiff) string {
	var b strings.Builder
	for _, d := range diffs {
		b.WriteString(d.Text)
	}
	return b.String()
}

func printCommit(w io.Writer, e *console.Env, c vault.Commit, diff string) error {
	_, err := fmt.Fprintf(w, "%s  %s  %s  (%s)\n", e.Paint(console.Cyan, c.Rev.Short()), console.Day(c.When),
		console.Line1(c.Subject), console.Line1(c.Author))
	if err != nil {
		return err
	}
	for _, change := range c.Changes {
		path := console.Line1(string(change.Path))
		if change.From != "" {
			path = console.Line1(string(change.From)) + " -> " + path
		}
		if _, err := fmt.Fprintf(w, "    %-8s  %s\n", change.Status, path); err != nil {
			return err
		}
	}
	if diff == "" {
		return nil
	}
	if err := e.PrintDiff(w, diff); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}
