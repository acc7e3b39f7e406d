// Package memory holds the commands that keep and find memories: remember,
// search, list, show, edit, update, forget, conflicts, encode, move, links, scopes, pin, unpin, new,
// profile, core.
package memory

import "stet/cmd/stet/console"

// Commands returns the definitions in listing order.
func Commands() []*console.Command {
	return append([]*console.Command{
		rememberCommand(), searchCommand(), listCommand(), showCommand(),
		editCommand(), updateCommand(), forgetCommand(), conflictsCommand(), encodeCommand(), moveCommand(),
		linksCommand(), scopesCommand(),
		profileCommand(), coreCommand(),
	}, pinCommands()...)
}
