package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"stet/agent"
	"stet/cmd/stet/console"
)

func otherCommands() []*console.Command {
	return []*console.Command{
		{
			Name: "help", Group: console.Other,
			Summary: "show how a command is used, all commands, flags or exit codes",
			Args:    "[COMMAND... | all | flags | exit-codes | agents]", MaxArgs: -1,
			Examples: `stet help  # the commonest commands
				stet help all  # every command
				stet help flags  # what every command takes
				stet help remember  # one command, examples first
				stet help session fix  # the command and its actions
				stet help exit-codes  # what each exit code means
				stet help agents  # what an agent may do`,
			Run: runHelp,
		},
		{
			Name: "version", Group: console.Other, Summary: "show version, commit and date of this program",
			Examples: `stet version --json  # for a bug report`,
			Run:      runVersion,
		},
		completionCommand(), manCommand(),
	}
}

func runHelp(ctx context.Context, e *console.Env, in *console.Input) error {
	commands, topic := Commands(), in.Word(0)
	if topic == "" {
		return console.ShowHelp(ctx, e, commands, nil)
	}
	if known, err := console.ShowTopic(ctx, e, commands, topic); known {
		return err
	}
	if c := console.Find(commands, topic); c != nil {
		return console.ShowHelp(ctx, e, commands, c)
	}
	err := agent.Usagef("no help for %q", topic)
	if near := agent.Nearest(topic, append(console.CommandNames(commands), console.Topics()...)); near != "" {
		return err.Suggest("did you mean \"stet help %s\"?", near)
	}
	return err.Suggest(`"stet help all" lists the commands`)
}

// A build is what the Go toolchain recorded about this binary.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func runVersion(_ context.Context, e *console.Env, _ *console.Input) error { return version(e) }

func version(e *console.Env) error {
	b := thisBuild()
	return e.Show(b, func(p *console.Printer) {
		line := "stet " + b.Version
		if b.Commit != "" {
			line += fmt.Sprintf(" (commit %.12s of %s)", b.Commit, b.Date)
		}
		p.Printf("%s, %s, %s\n", line, b.Go, b.Platform)
	})
}
