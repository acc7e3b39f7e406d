// Package forked is the process in which a model works for the curator, and what starts and bounds it.
package forked

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/curator/fork"
)

// name is that of the command.
const name = "curator-fork"

// Command is the hidden command that the process runs.
func Command() *console.Command {
	return &console.Command{
		Name: name, Group: console.Curator, Hidden: true,
		Summary: "do a job of the curator with its model: JSON on standard input, JSON on standard output",
		Details: `"stet curate" starts it. It opens no vault and writes no file but the ledger of what models cost. It
			ends when its standard input does, and when it needs more than 512 MB of memory.`,
		Examples: `stet curator-fork  # reads a job, prints which calls the model made`,
		Run:      run,
	}
}

func run(ctx context.Context, e *console.Env, _ *console.Input) error {
	debug.SetMemoryLimit(maxMemory / 2) // garbage is collected in time
	if err := limitMemory(); err != nil {
		return err
	}
	var job fork.Job
	in := json.NewDecoder(e.In)
	if err := in.Decode(&job); err != nil {
		return agent.Usagef("standard input holds no job: %v", err)
	}
	model, done, err := e.CuratorModel()
	if err != nil {
		return err
	}
	defer done()
	ctx, end := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, e.In) // until nobody waits for the result any more
		end()
	}()
	result, err := fork.Work(ctx, model, job)
	if err != nil {
		return err
	}
	return json.NewEncoder(e.Out).Encode(result)
}
