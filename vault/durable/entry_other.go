//go:build !linux

package durable

import "io/fs"

// EntryOf is what info says.
func EntryOf(info fs.FileInfo) Entry { return plainEntry(info) }
