// Package memory holds the commands that store and find memories.
package memory

import "stet/cmd/stet/console"

// Commands returns the definitions in listing order.
func Commands() []*console.Command {
	return append([]*console.Command{
		rememberCommand(), searchCommand(), contextCommand(), remindCommand(), listCommand(), showCommand(),
		editCommand(), updateCommand(), forgetCommand(), conflictsCommand(), encodeCommand(), moveCommand(),
		linksCommand(), scopesCommand(), tagsCommand(),
		profileCommand(), coreCommand(), skillCommand(),
	}, pinCommands()...)
}
