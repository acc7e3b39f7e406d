// Package session holds the commands about conversations: observe, session, why.
// Each reads its flags, makes one call and prints.
package session

import "stet/cmd/stet/console"

// Commands returns the definitions of this package's commands, in listing order.
func Commands() []*console.Command {
	return []*console.Command{whyCommand(), observeCommand(), sessionCommand()}
}
