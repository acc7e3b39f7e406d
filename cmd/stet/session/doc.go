// Package session holds the commands about conversations.
package session

import "stet/cmd/stet/console"

// Commands returns the definitions of this package's commands, in listing order.
func Commands() []*console.Command {
	return []*console.Command{whyCommand(), observeCommand(), sessionCommand(), nudgeCommand(),
		workerCommand()}
}
