// Package history holds the commands that read and take back what was done:
// log, history, blame, diff, adopt, review, undo, redo, revert, restore.
package history

import "stet/cmd/stet/console"

// Commands returns the definitions in listing order.
func Commands() []*console.Command {
	return []*console.Command{
		logCommand(), historyCommand(), blameCommand(), diffCommand(), adoptCommand(), reviewCommand(),
		undoCommand(), redoCommand(), revertCommand(), restoreCommand(),
	}
}
