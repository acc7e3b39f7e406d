//go:build !unix

package durable

// openNonblock is zero where the system has no FIFOs in the file tree.
const openNonblock = 0

// SyncsReaders says whether a file that is open for reading can be fsynced.
const SyncsReaders = false
