// Command stet keeps memories, notes and their history in a git-backed vault of
// Markdown files. This folder holds what makes a process of it: flags and
// dispatch, help, version. The commands live in the folders below it and do
// nothing but turn flags into one call and print the result.
package main

import (
	"context"
	"os"

	"stet/cmd/stet/console"
)

func main() { os.Exit(Main(context.Background(), os.Args, console.Standard())) }
