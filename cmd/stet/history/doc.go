// Package history holds the commands that show, review and revert what was done.
package history

import "stet/cmd/stet/console"

// Commands returns the definitions in listing order.
func Commands() []*console.Command {
	return []*console.Command{
		logCommand(), historyCommand(), blameCommand(), diffCommand(), adoptCommand(), reviewCommand(),
		undoCommand(), redoCommand(), revertCommand(), restoreCommand(),
	}
}
