// Command stet keeps memories, notes and their history in a git-backed vault of Markdown files.
//
// This folder starts the process: it finds the command, and holds help, version, completion and manual
// pages. The commands themselves are in the folders below: each parses its flags and arguments, calls one
// method of package agent, and prints the result.
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"

	"stet/cmd/stet/console"
)

func main() { os.Exit(begin()) }

func begin() int {
	if os.Getenv("GOGC") == "" {
		collectLater()
	}
	return Main(context.Background(), os.Args, console.Standard())
}

// collectLater puts the first garbage collection off until there are 16 MB in
// place of 4, and leaves all others as they are: most commands end before that,
// and a collection costs them more than what they would hold otherwise. What a
// command set meanwhile stays.
func collectLater() {
	const later = 400
	usual := debug.SetGCPercent(later)
	first := new([16]byte)
	runtime.AddCleanup(first, func(percent int) {
		if set := debug.SetGCPercent(percent); set != later {
			debug.SetGCPercent(set)
		}
	}, usual)
}
