// Package upkeep holds the commands that set up and maintain a vault.
package upkeep

import "stet/cmd/stet/console"

// StartCommands returns the definitions that a new user meets first.
func StartCommands() []*console.Command {
	return []*console.Command{initCommand(), statusCommand(), doctorCommand(), configCommand(), importCommand()}
}

// IndexCommands returns the definitions that tend the search index.
func IndexCommands() []*console.Command {
	return []*console.Command{reindexCommand(), watchCommand()}
}
