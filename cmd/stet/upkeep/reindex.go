package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
	"stet/vault"
)

func reindexCommand() *console.Command {
	return &console.Command{
		Name: "reindex", Group: console.Upkeep,
		Summary: "build the search index anew from the files",
		Details: "Hardly ever needed: every search first catches up with the files, and a damaged index\n" +
			"rebuilds itself. Notes are not touched. With --watch stet then follows the files until\n" +
			"Ctrl-C, as \"stet watch --no-commit\" does; under --json the first line is the answer of\n" +
			"the rebuild, every other one an event.",
		Examples: []console.Example{
			{Line: "stet reindex", Says: "after copying a vault about, for example"},
			{Line: "stet reindex --watch", Says: "and keep it up to date from there on"},
		},
		Flags: []cli.Flag{&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "go on and index what changes; nothing is committed"}},
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			if err := reindex(ctx, e); err != nil || !in.Bool("watch") {
				return err
			}
			return follow(ctx, e, false)
		},
	}
}

// A reindexView is what reindex prints under --json.
type reindexView struct {
	Total    int     `json:"total"`
	Embedded int     `json:"embedded,omitempty"` // files that got a vector
	TookMS   float64 `json:"took_ms"`
}

func reindex(ctx context.Context, e *console.Env) (err error) {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	if e.Getenv("GOGC") == "" {
		// A large build holds much for long, most of it without a pointer: looking
		// through it twice as often is cheap, and it grows half as far beyond.
		debug.SetGCPercent(50)
	}
	x, err := e.Index(v, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	stats, err := x.Rebuild(ctx)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return vault.WithHint(fmt.Errorf("rebuild search index: %w: %w", vault.ErrReadOnly, err), "searches are right without an index; make the folder writable for this user to keep one")
	}
	if err != nil {
		return err
	}
	for _, w := range stats.Warnings {
		e.Warn("%s", w)
	}
	view := reindexView{Total: stats.Total, Embedded: stats.Embedded, TookMS: float64(stats.Took.Microseconds()) / 1000}
	return e.Answer(view, func(w io.Writer) error {
		rate := float64(stats.Total) / max(stats.Took, time.Millisecond).Seconds()
		_, err := fmt.Fprintf(w, "indexed  %d files in %s (%.0f a second)%s\n", stats.Total, stats.Took.Round(time.Millisecond), rate, e.Where())
		return err
	})
}
