// Package mcp is the front end for clients of the Model Context Protocol: the tools of agent/tools, and
// what a person can point at as resources, over one pair of streams.
//
// It speaks revision 2026-07-28, which has no handshake, and the four before it, from 2024-11-05 on. A call that names
// an unknown revision gets error -32022; one that names a date before handshakes were dropped is taken by the SDK for
// a call without the handshake, and gets error 0. Each
// call has a look of its own at the vault: nothing is locked or held between two of them, so that any
// number of servers and commands work on one vault. What is stored reaches a client with its marks for
// models and terminals taken off, see [snapshot.Clean]; nothing private does.
//
//	err := mcp.Serve(ctx, mcp.Options{App: agent.Options{Dir: dir, Now: time.Now, Getenv: os.Getenv},
//		In: os.Stdin, Out: os.Stdout, Log: os.Stderr})
package mcp

import (
	"io"

	"stet/agent"
)

// Door is the name of this front end in commits.
const Door = "mcp"

// The sets of tools that a server may offer, each with all of the one before.
const (
	Read  = "read"  // what changes nothing
	Write = "write" // and memories are saved, edited and forgotten
	All   = "all"   // and skills are written, commits reverted
)

// Options are what a server needs.
type Options struct {
	// App is the environment. Agent and Door are set here; CLAUDE_PROJECT_DIR, where it is a folder,
	// counts before Dir.
	App agent.Options
	// As is the agent that writes; "" is the name that the client gives.
	As string
	// Session is noted in commits, unless a call names another one; "" is STET_SESSION, else CLAUDE_CODE_SESSION_ID.
	Session string
	// Tools is Read, Write or All; "" is All.
	Tools string
	// ReadOnly opens vaults for reading alone; the tools are then those of Read.
	ReadOnly bool
	Version  string // of stet
	In       io.Reader
	Out      io.Writer
	Log      io.Writer // what is no part of the protocol, a line each
}
