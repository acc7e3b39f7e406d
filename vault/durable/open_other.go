//go:build !unix

package durable

// openNonblock is zero where the system has no FIFOs in the file tree.
const openNonblock = 0
