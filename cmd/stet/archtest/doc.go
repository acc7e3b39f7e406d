// Package archtest tests the source tree: imports, owners of dependencies, comments, sizes, forbidden calls.
//
// It has no code of its own. Adding an edge to the table of imports needs a reason.
package archtest
