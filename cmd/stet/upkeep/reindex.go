package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"stet/cmd/stet/console"
)

func reindexCommand() *console.Command {
	return &console.Command{
		Name: "reindex", Group: console.Upkeep,
		Summary: "build the search index anew from the files",
		Details: "Hardly ever needed: every search first catches up with the files, and a damaged index\n" +
			"rebuilds itself. Notes are not touched.",
		Examples: []console.Example{{Line: "stet reindex", Says: "after copying a vault about, for example"}},
		Run:      reindex,
	}
}

// A reindexView is what reindex prints under --json.
type reindexView struct {
	Total  int     `json:"total"`
	TookMS float64 `json:"took_ms"`
}

func reindex(ctx context.Context, e *console.Env, _ *console.Input) (err error) {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	x, err := e.Index(v, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	stats, err := x.Rebuild(ctx)
	if err != nil {
		return err
	}
	view := reindexView{Total: stats.Total, TookMS: float64(stats.Took.Microseconds()) / 1000}
	return e.Answer(view, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "indexed  %d files in %s%s\n", stats.Total, stats.Took.Round(time.Millisecond), e.Where())
		return err
	})
}
