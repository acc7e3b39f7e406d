// Package bench holds the command that measures how well search finds: stet
// bench. It turns the conversations of a data set into vaults, asks every
// question through the search that everybody uses, and compares the answers
// with the turns that are known to hold them.
package bench

import "stet/cmd/stet/console"

// Commands returns the definitions of this package.
func Commands() []*console.Command { return []*console.Command{benchCommand()} }
