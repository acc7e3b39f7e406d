// Package bench measures search on data sets whose answers are known: stet bench.
//
// It makes vaults of the conversations of a data set, asks every question through the search that all
// commands use, and compares the hits with the turns that hold the answer.
package bench

import "stet/cmd/stet/console"

// Commands returns the definitions of this package.
func Commands() []*console.Command { return []*console.Command{benchCommand()} }
