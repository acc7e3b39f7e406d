package upkeep

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/cmd/stet/forked"
	"stet/curator"
	"stet/index/watch"
	"stet/vault"
)

func watchCommand() *console.Command {
	return &console.Command{
		Name: "watch", Group: console.Upkeep,
		Summary: "follow the files: index what changes, commit edits made by hand",
		Details: `Runs until Ctrl-C. A file is indexed when it has been left alone for watch.debounce_ms. Where
			watch.commit is on, edits made by hand are committed as yours once they have been left alone for
			watch.quiet_seconds, and never while git is in the middle of something; editors' temporary files, and
			edits that hold a secret, stay out. When a large part of the vault vanishes at once its deletion is not
			committed: "stet adopt --yes" does that.

			It also seals the sessions that have ended, and finishes memories that a model failed when they were
			stored (see "stet encode"); --no-commit leaves that to others.

			Searches are right without it. One watcher a vault: a second one exits 5. Where the system cannot watch
			that many folders, stet says which limit to raise, and looks every watch.poll_seconds. With --json every
			event is one line: started, indexed, committed, left, warning, stopped.`,
		Examples: `stet watch  # until Ctrl-C
			stet watch --no-commit  # keep the search index up to date and commit nothing
			stet watch -C ~/notes --json  # for a program`,
		Flags: console.Flags(
			console.Bool("no-commit", "commit nothing, whatever watch.commit says"),
		),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return follow(ctx, e, in, !in.Bool("no-commit"))
		},
	}
}

// follow watches until ctx ends.
func follow(ctx context.Context, e *console.Env, in *console.Input, commit bool) error {
	out := &watchOutput{e: console.Stream{Env: e}}
	holdLittle(0)
	return e.Watch(ctx, agent.WatchOptions{Write: e.By(in), NoCommit: !commit, Opened: out.at, Due: tidy(e),
		Emit: func(ev watch.Event) error {
			if ev.Kind == watch.Started {
				holdLittle(ev.Files)
				e.Lasting.Store(true)
			}
			return out.show(ev)
		}})
}

// holdLittle lets memory be collected before there is more of it than a program
// in the background may hold: beyond that much as a rule, with the number of
// files above the usual. A limit that the user gave (GOMEMLIMIT) stays.
func holdLittle(files int) {
	const enough, usual = 44 << 20, 100_000
	if limit := debug.SetMemoryLimit(-1); limit == math.MaxInt64 || limit == enough {
		debug.SetMemoryLimit(enough * int64(max(files, usual)) / usual)
	}
}

// A watchView is one event under --json. Fields that an event does not have are
// left out.
type watchView struct {
	Schema  int           `json:"schema"`
	Vault   string        `json:"vault"`
	Event   watch.Kind    `json:"event"`
	Time    time.Time     `json:"time"`
	Mode    string        `json:"mode,omitempty"`    // started: events or polling
	Commits *bool         `json:"commits,omitempty"` // started: whether hand edits are committed
	Folders int           `json:"folders,omitempty"`
	Files   int           `json:"files,omitempty"`
	Added   int           `json:"added,omitempty"`
	Changed int           `json:"changed,omitempty"`
	Removed int           `json:"removed,omitempty"`
	TookMS  float64       `json:"took_ms,omitempty"`
	Commit  *agent.Commit `json:"commit,omitempty"`
	Path    vault.Path    `json:"path,omitempty"`
	Text    string        `json:"text,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}

// A watchOutput shows events in the form that was asked for. It is safe for
// concurrent use: the watcher and its duties both have something to tell.
type watchOutput struct {
	e     console.Stream
	mu    sync.Mutex
	root  string
	quiet time.Duration
	files int // in the index
}

// at takes down where the vault is, and after how long an edit is quiet.
func (o *watchOutput) at(root string, quiet time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.root, o.quiet = root, quiet
	o.e.SetRoot(root)
}

func (o *watchOutput) show(ev watch.Event) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.e.JSON {
		return o.e.Object(o.view(ev))
	}
	line := o.line(ev)
	switch {
	case ev.Kind == watch.Warning:
		o.e.Warn("%s", line)
	case o.e.Quiet && ev.Kind != watch.Left:
		return nil
	case o.e.Rewrites() && (ev.Kind == watch.Started || ev.Kind == watch.Indexed || ev.Kind == watch.Committed):
		if ev.Kind == watch.Started {
			o.files = ev.Files
			return o.e.Status(line)
		}
		o.files += ev.Added - ev.Removed
		return o.e.Status(o.status() + "  ·  " + o.e.Now().Format(time.TimeOnly) + " " + line)
	default:
		if err := o.e.Line(line); err != nil {
			return err
		}
	}
	if o.e.Rewrites() && ev.Kind != watch.Stopped && !o.e.Quiet {
		return o.e.Status(o.status())
	}
	return nil
}

// status is the part of the status line that stays: short, so that the last
// event fits beside it.
func (o *watchOutput) status() string { return "watching  " + agent.Plural(o.files, "file") }

func (o *watchOutput) view(ev watch.Event) watchView {
	v := watchView{
		Schema: console.Schema, Vault: o.root, Event: ev.Kind, Time: o.e.Now().UTC(), Mode: ev.Mode,
		Folders: ev.Folders, Files: ev.Files,
		Added: ev.Added, Changed: ev.Changed, Removed: ev.Removed, TookMS: float64(ev.Took.Microseconds()) / 1000,
		Path: ev.Path, Text: ev.Text, Hint: ev.Hint,
	}
	switch ev.Kind {
	case watch.Started:
		v.Commits = &ev.Commits
	case watch.Committed:
		c := agent.ViewCommit(ev.Commit)
		v.Commit = &c
	}
	return v
}

// line is an event in words.
func (o *watchOutput) line(ev watch.Event) string {
	switch ev.Kind {
	case watch.Started:
		text := fmt.Sprintf("watching  %s (%s)", o.root, agent.Plural(ev.Files, "file"))
		if ev.Mode == "polling" {
			text += ", by looking"
		}
		if ev.Commits {
			return text + fmt.Sprintf("; edits are committed after %s", o.quiet)
		}
		return text + "; nothing is committed"
	case watch.Indexed:
		return fmt.Sprintf("indexed  %s in %s", indexedCounts(ev), ev.Took.Round(time.Millisecond))
	case watch.Committed:
		return fmt.Sprintf("committed  %s %s", ev.Commit.Rev.Short(), ev.Commit.Subject)
	case watch.Left:
		return "left alone  " + withHint(string(ev.Path)+": "+ev.Text, ev.Hint)
	case watch.Stopped:
		return "stopped"
	}
	return withHint(ev.Text, ev.Hint)
}

func indexedCounts(ev watch.Event) string {
	text := ""
	for _, part := range []struct {
		n    int
		what string
	}{{ev.Added, "added"}, {ev.Changed, "changed"}, {ev.Removed, "removed"}} {
		if part.n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", part.n, part.what)
		}
	}
	return text
}

func withHint(text, hint string) string {
	if hint == "" {
		return text
	}
	return text + " (" + hint + ")"
}

// tidy makes a run of the curator where one is due.
func tidy(e *console.Env) func(context.Context, *agent.App) error {
	return func(ctx context.Context, a *agent.App) error {
		model, _ := forked.Runner(e) // without one there are the rules
		_, err := curator.IfDue(ctx, a, agent.Write{}, model)
		return err
	}
}
