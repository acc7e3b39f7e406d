// Package door holds the commands through which what other programs keep comes
// into a vault.
package door

import "stet/cmd/stet/console"

// StartCommands returns the definitions of the commands that bring things in, in
// listing order.
func StartCommands() []*console.Command { return []*console.Command{importCommand()} }
