// Package door holds the commands by which agents come to a vault.
package door

import "stet/cmd/stet/console"

// Commands returns the definitions of this package's commands, in listing order.
func Commands() []*console.Command {
	return []*console.Command{toolCommand(), mcpCommand(), hookCommand(), installCommand(), uninstallCommand()}
}
