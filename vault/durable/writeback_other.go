//go:build !linux

package durable

import "os"

// startWriteback has no counterpart here; fsync does all the work.
func startWriteback(*os.File) {}
