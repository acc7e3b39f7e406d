// Command stet keeps memories, notes and their history in a git-backed vault of
// Markdown files. This folder holds what makes a process of it: flags and
// dispatch, help, version. The commands live in the folders below it and do
// nothing but turn flags into one call and print the result.
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
