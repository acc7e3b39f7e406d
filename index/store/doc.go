// Package store keeps one search index in a folder and brings it up to date: manifest
// and segments on disk, what changed since, building, merging and damage. Its state is
// what queries are evaluated on.
//
// An update is published by one append or rename, and every byte is verified before it
// is used, so that a crash or a full disk costs a rebuild and never a wrong answer.
// Bluge's segments are built, merged and read in the calling goroutine, where a panic
// is an error. Only the holder of the lock writes; readers never wait.
//
//	x := store.New(vault, options, lang, dir, false)
//	defer x.Close()
//	state, read, rebuilt, err := x.Fresh(ctx, files)
package store
