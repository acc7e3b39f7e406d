// Package store reads and writes the files of a git working tree, or of one of its
// folders, in transactions: each is one commit, or a chain of commits that become
// visible together, whatever happens to the process, the disk or the power.
//
// It holds the write path, the journal, recovery, the walk of the working tree and
// its comparison with HEAD. It knows bytes and paths. What a file means is decided
// above it: by a [Filter], by the [Description] of each commit, and by a
// [BeforeCommit] that checks a transaction before its commits are built.
//
// Files are exchanged by name, never overwritten. Uncommitted edits in a file that
// a transaction writes are committed first, as the user's own.
package store
