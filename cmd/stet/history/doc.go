// Package history holds the commands that read and take back what was done:
// log, diff, adopt, undo, redo, revert.
package history

import "stet/cmd/stet/console"

// Commands returns the definitions in listing order.
func Commands() []*console.Command {
	return []*console.Command{
		logCommand(), diffCommand(), adoptCommand(), undoCommand(), redoCommand(), revertCommand(),
	}
}
