package door

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"stet/agent"
	"stet/agent/clients"
	"stet/agent/hook"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

func hookCommand() *console.Command {
	names := clients.Names()
	return &console.Command{
		Name: "hook", Group: console.Doors,
		Summary: "handle an event of a client's, and answer what that client takes",
		Args:    "CLIENT EVENT", MinArgs: 2, MaxArgs: 2, Words: names,
		Details: `A client runs this by itself once "stet install CLIENT" has set it up. CLIENT is ` +
			strings.Join(names, ", ") + `; EVENT is what the client calls it, as docs/AGENTS.md lists them. One
			JSON value is read from standard input.

			When a conversation begins, the answer is what "stet context" gives, what has changed since the last
			one, and what waits for you. What you type is recorded first; then the memories that it needs are shown
			to the model, mostly none. When the client stops, its answer is recorded, and after
			memory.nudge_interval turns without a memory saved the model is asked once to save what is worth keeping,
			at most three times in a conversation. Before a compaction and at the end what nobody has reviewed is
			queued.

			It asks no model, uses no network, waits for no other process and always exits 0: what goes wrong stands
			in local state, and "stet doctor" shows it. Beside it a process imports, seals and indexes what
			conversations leave, unless hooks.worker is false. Nothing happens with STET_HOOKS=off, in a folder of
			hooks.exclude ("stet config add hooks.exclude ~/work/secret-project"), and where there is no vault. Nor is
			anything recorded of a hook that an agent runs itself, as STET_AGENT or the variables of a client's tools
			tell, or in a conversation that is private or that another command began. An agent that hides those
			variables looks like its client; nothing can tell the two apart.`,
		Examples: `stet hook claude-code SessionStart < event.json  # what a client runs`,
		Run:      runHook,
	}
}

const (
	// inputWait is how long the event is waited for: less than any client waits for a hook.
	inputWait = time.Second
	// hookWait is how long a hook waits for a lock: its client waits for it.
	hookWait = "20ms"
)

// runHook fails nothing: an agent whose hook fails stops, or reports what it cannot mend.
func runHook(ctx context.Context, e *console.Env, in *console.Input) error {
	if e.Getenv("STET_HOOKS") == "off" {
		return nil
	}
	client, ok := clients.Find(in.Words[0])
	if !ok {
		fmt.Fprintf(e.Err, "stet: hook: no client %q\n", in.Words[0])
		return nil
	}
	h := &hooking{e: e, client: client, event: in.Words[1]}
	if err := h.run(ctx); err != nil && !errors.Is(err, vault.ErrNotVault) {
		fmt.Fprintf(e.Err, "stet: hook: %v\n", err) // what no client shows
	}
	return nil
}

// A hooking is one run of a hook.
type hooking struct {
	e      *console.Env
	client clients.Client
	event  string
}

func (h *hooking) run(ctx context.Context) (err error) {
	event, failed := h.read()
	o := console.OptionsOf(h.e)
	tool := h.tool(o.Agent)
	o.Agent, o.Door, o.Unasked, o.Ask, o.Progress, o.Notify = h.client.Name, session.HookDoor, true, nil, nil, nil
	o.Flags = o.Flags.With(settings.LockWait, hookWait, "a hook")
	if event != nil && event.Dir != "" {
		if info, err := os.Stat(event.Dir); err == nil && info.IsDir() {
			o.Dir = event.Dir
		}
	}
	a, err := agent.NewEnvironment(o).Open(ctx, true)
	if err != nil {
		return errors.Join(err, failed)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if failed == nil {
		failed = h.handle(ctx, a, agent.HookOptions{Event: event, Tool: tool})
	}
	if failed == nil {
		return nil
	}
	of := ""
	if event != nil {
		of = event.Session
	}
	return errors.Join(failed, a.Hooks().Fail(ctx, h.client.Name, h.event, of, failed))
}

// read reads the event, and does not wait for one that never comes.
func (h *hooking) read() (*hook.Event, error) {
	type result struct {
		event *hook.Event
		err   error
	}
	done := make(chan result, 1)
	go func() {
		event, err := hook.Read(h.client, h.event, h.e.In)
		done <- result{event, err}
	}()
	select {
	case r := <-done:
		if r.err == nil && r.event.Version == "" {
			r.event.Version = r.event.WrittenBy()
		}
		return r.event, r.err
	case <-time.After(inputWait):
		return nil, errors.New("no event came on standard input")
	}
}

// tool reports a hook that an agent runs itself, as whoever acts by the environment says: a client may give its
// own hooks, too, the variables by which commands know its tools.
func (h *hooking) tool(actor string) bool {
	return clients.RunsHook(h.e.Getenv) ||
		actor != "" && (actor == h.e.Getenv("STET_AGENT") || !h.client.Harness(h.e.Getenv))
}

func (h *hooking) handle(ctx context.Context, a *agent.App, event agent.HookOptions) error {
	reply, err := a.Hooks().Handle(ctx, event)
	if reply == nil {
		return err
	}
	if len(reply.Output) > 0 {
		_, oerr := fmt.Fprintf(h.e.Out, "%s\n", reply.Output)
		err = errors.Join(err, oerr)
	}
	if !reply.Work || !a.Settings().Bool(settings.HooksWorker) {
		return err
	}
	args := []string{"-C", a.Root(), "worker", "run", "--quiet"}
	if !a.Settings().Bool(settings.Background) {
		args = append(args, "--rules")
	}
	return errors.Join(err, h.e.Spawn(args...))
}
