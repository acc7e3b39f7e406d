package door

import (
	"cmp"
	"context"
	"runtime/debug"

	"stet/agent"
	"stet/agent/mcp"
	"stet/cmd/stet/console"
)

func mcpCommand() *console.Command {
	return &console.Command{
		Name: "mcp", Group: console.Doors,
		Summary: "serve the vault to a client of the Model Context Protocol on standard input and output",
		Details: `A client starts this by itself once it is set up for it, as by "stet install CLIENT". It offers the
			tools of "stet tool list" and, as resources, the notebooks, recent memories, single memories and
			skills; it ends with its standard input.

			The vault is the one of -C, else the one that CLAUDE_PROJECT_DIR or the current folder lies in, else
			default_vault, where what is written for a project goes below /projects/NAME. A vault that the folder led to
			and that you never agreed to write to gives way to default_vault. Every reply to a write names the vault.

			Who writes is always an agent: the one of --as or STET_AGENT, else as the client calls itself. The session
			in commits is the argument "session" of a call, else that of --session, STET_SESSION or
			CLAUDE_CODE_SESSION_ID.`,
		Examples: `stet mcp  # what a client runs
			stet mcp --read-only  # nothing can be written
			stet mcp --tools write --as cursor  # without new skills and reverts`,
		Flags: console.ActorFlags(
			console.Text("tools", "offer the tools of `SET`: read, write (memories as well) or all (the default)"),
			console.Bool("read-only", "open the vault for reading alone, as --tools read")),
		Actor: "agent",
		Run:   serveMCP,
	}
}

func serveMCP(ctx context.Context, e *console.Env, in *console.Input) error {
	as := cmp.Or(in.String("as"), e.Getenv("STET_AGENT"))
	if as == "me" {
		return agent.Usagef("a client is an agent, and never you").Suggest("leave --as out")
	}
	return mcp.Serve(ctx, mcp.Options{App: console.OptionsOf(e), As: as, Session: in.String("session"),
		Tools: in.String("tools"), ReadOnly: in.Bool("read-only"), Version: version(), In: e.In,
		Out: e.Out, Log: e.Err})
}

// version is what the Go toolchain recorded about this binary.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
