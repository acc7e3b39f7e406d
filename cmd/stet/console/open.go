package console

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"stet/agent"
	"stet/agent/learn"
	"stet/agent/tools"
	"stet/vault/settings"
)

// options is this run as the application layer sees it.
func (e *Env) options(flags settings.Layer) agent.Options {
	o := agent.Options{
		Dir: e.Dir, Door: Door, Process: fmt.Sprintf("pid %d stet %s", e.PID, e.Command), PID: e.PID, Now: e.Now,
		Getenv: e.Getenv, Agent: cmp.Or(e.actor, e.via), Via: e.via, Tool: e.tool,
		Flags: flags, Hook: e.Hook, Hold: func() { e.Busy.Store(true) }, Progress: e.progress(), Notify: e.notify,
		Tools: reviewTools, Hints: !e.JSON && !e.Quiet,
	}
	if e.tool {
		o.Via = cmp.Or(e.via, e.actor)
	}
	if e.CanAsk() {
		o.Ask = e.Confirm
	}
	if e.at != "" {
		o.At = e.Start()
	}
	return o
}

// reviewTools are the tools with which a model reviews a conversation.
func reviewTools(a *agent.App, o agent.ToolsOptions) learn.Toolbox {
	return tools.New(a, tools.Options{Actor: o.Actor, Session: o.Session, Review: true})
}

// OptionsOf is a run for another front end in the same process, which says who acts there.
func OptionsOf(e *Env) agent.Options { return e.options(e.flags) }

func (e *Env) notify(n agent.Notice) {
	if n.Warning {
		e.Warn("%s", n.Text)
		return
	}
	e.Note("%s", n.Text)
}

// Start is the folder that -C names, else the current one, absolute.
func (e *Env) Start() string {
	if e.at == "" {
		return e.Dir
	}
	return e.Abs(e.at)
}

// Open opens the vault in question until the command ends. Read-only, it never waits for a writer.
func Open(ctx context.Context, e *Env, readOnly bool) (*agent.App, error) {
	a, err := e.Open(ctx, readOnly)
	if err == nil {
		e.root, e.colour = a.Root(), a.Settings().Text(settings.DisplayColor)
		e.opened = append(e.opened, a)
	}
	return a, err
}

// With runs use on the vault in question, see [Open].
func (e *Env) With(ctx context.Context, readOnly bool, use func(a *agent.App) error) error {
	a, err := Open(ctx, e, readOnly)
	if err != nil {
		return err
	}
	return use(a)
}

// Reading runs a use case that writes nothing, and shows its result through the user's pager.
func Reading[R any](ctx context.Context, e *Env, read func(*agent.App) (R, error), text func(*Printer, R)) error {
	return e.With(ctx, true, func(a *agent.App) error {
		res, err := read(a)
		if err != nil {
			return err
		}
		return e.ShowPaged(ctx, res, func(p *Printer) { text(p, res) })
	})
}

// Writing runs a use case that writes, and tells what it did.
func (e *Env) Writing(ctx context.Context, m More, write func(*agent.App) (*agent.Written, error)) error {
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := write(a)
		if err != nil {
			return err
		}
		return e.Print(ctx, res, m)
	})
}

// Where is " in ROOT" when the user does not stand in the vault's root, so
// that every reply to a write says which vault it went to.
func (e *Env) Where() string {
	if e.root == "" || sameFolder(e.root, e.Dir) {
		return ""
	}
	return "  in " + e.root
}

// SetRoot names the vault of an answer that is given without opening one; "" is the vault in
// question, where there is one.
func (e *Env) SetRoot(root string) {
	if e.root = root; root != "" {
		return
	}
	if place, err := e.Locate(); err == nil {
		e.root = place.Root
	}
}

func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
