package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/bench"
	"stet/cmd/stet/console"
	"stet/cmd/stet/door"
	"stet/cmd/stet/forked"
	"stet/cmd/stet/history"
	"stet/cmd/stet/memory"
	conversation "stet/cmd/stet/session"
	"stet/cmd/stet/upkeep"
	"stet/vault"
)

// Main runs one command line, the program's name first, and returns the exit
// code. Ctrl-C cancels the command's context; a second one ends the process.
func Main(ctx context.Context, args []string, stdio console.Stdio) int {
	host, err := console.ThisHost(stdio)
	if err != nil {
		e := console.New(host)
		if line, _ := console.Parse(Commands(), args); line.Command != nil {
			e.Command = line.Command.Name
		}
		return finish(e, err)
	}
	return run(ctx, args, host)
}

// finish is [console.Env.Finish]. A hook fails no client: Claude Code holds up the prompt when one exits 2.
func finish(e *console.Env, err error) int {
	code := e.Finish(err)
	if e.Command == "hook" {
		return console.ExitDone
	}
	return code
}

func run(ctx context.Context, args []string, host console.Host) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// With the handler gone the second signal has its default effect.
	context.AfterFunc(ctx, stop)
	var interrupted interrupter
	host.Hook = interrupted.hook(host.Hook)
	e := console.New(host)
	e.Interrupted = ctx.Done()
	work, code := make(chan struct{}), 0
	go func() {
		defer close(work)
		err := dispatch(ctx, e, args)
		if err != nil && ctx.Err() != nil {
			err = errors.Join(context.Canceled, err)
		}
		code = finish(e, err)
	}()
	if interrupted.wait(ctx, e, work) {
		return code
	}
	line, _ := console.Parse(Commands(), args)
	return console.GiveUp(host, line.JSON)
}

// Commands returns the definition of every command, in listing order.
func Commands() []*console.Command {
	return slices.Concat(upkeep.StartCommands(),
		[]*console.Command{memory.NewCommand(), memory.TodayCommand(), memory.ExportCommand()},
		memory.Commands(), history.Commands(), conversation.Commands(), []*console.Command{upkeep.UsageCommand()},
		upkeep.IndexCommands(),
		[]*console.Command{upkeep.CurateCommand(), forked.Command()},
		bench.Commands(), door.Commands(), otherCommands())
}

// dispatch finds the command and lets urfave/cli read its flags. Help pages and
// the order of arguments are ours: see package console.
func dispatch(ctx context.Context, e *console.Env, args []string) error {
	commands := Commands()
	line, err := console.Parse(commands, args)
	e.JSON = line.JSON
	if line.Command != nil {
		e.Command = line.Command.Name
	}
	if err != nil {
		return err
	}
	switch {
	case line.Help:
		return console.ShowHelp(ctx, e, commands, line.Command)
	case line.Version:
		e.Command = "version"
		return version(e)
	}
	app := &cli.App{
		Name: "stet", Flags: console.GlobalFlags(), Writer: e.Err, ErrWriter: e.Err,
		HideHelp: true, HideVersion: true, DisableSliceFlagSeparator: true,
		// The library would otherwise print on standard output and exit by itself.
		OnUsageError:   usageError,
		ExitErrHandler: func(*cli.Context, error) {},
		Before:         func(c *cli.Context) error { return e.ReadFlags(c) },
		Action:         func(c *cli.Context) error { return bare(c.Context, e, commands) },
	}
	var in *console.Input
	if c := line.Command; c != nil {
		// The library knows only the command of the line: it starts faster than with all.
		app.Commands = []*cli.Command{{
			Name: c.Name, Flags: c.Flags, HideHelp: true, OnUsageError: usageError,
			Action: func(ctx *cli.Context) error {
				in = &console.Input{Context: ctx, Definition: c, Words: line.Words, Literal: line.Literal}
				return in.Check(e.CanAsk())
			},
		}}
	}
	if err := app.RunContext(ctx, line.Argv); err != nil || in == nil {
		return err
	}
	if err := console.Identify(e, in); err != nil {
		return err
	}
	return line.Command.Run(ctx, e, in)
}

func usageError(_ *cli.Context, err error, _ bool) error {
	text := regexp.MustCompile(`for flag -(\w\w)`).ReplaceAllString(err.Error(), "for --$1")
	text = strings.NewReplacer("for flag ", "for ", ": parse error", "").Replace(text)
	return agent.Usagef("%s", text).Suggest(`"stet help COMMAND" says what each flag takes`)
}

// bare answers "stet" alone: where things stand, or what there is.
func bare(ctx context.Context, e *console.Env, commands []*console.Command) error {
	e.NoPager = true // as git: keys that follow go to the shell
	switch _, err := e.Locate(); {
	case errors.Is(err, vault.ErrNotVault):
		return console.ShowHelp(ctx, e, commands, nil)
	case err != nil:
		return err
	}
	e.Command = "status"
	return upkeep.Status(ctx, e)
}
