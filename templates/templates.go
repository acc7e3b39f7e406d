// Package templates holds the text stet writes for people and models: skeleton
// files of a new vault. Everything is embedded, so the binary needs no data
// folder, and every file is reached through a typed function, so a renamed or
// missing file is a compile or test failure and never a surprise at run time.
//
// The package is a leaf: it imports nothing of stet and decides nothing.
package templates

import (
	"bytes"
	_ "embed"
)

//go:embed vault/config.yaml
var vaultConfig []byte

//go:embed vault/gitattributes
var gitAttributes []byte

//go:embed vault/gitignore
var gitIgnore []byte

// VaultConfig returns the first .stet/config.yaml of a vault: the marker that
// makes a folder a vault, with the format version. The bytes are the caller's.
func VaultConfig() []byte { return bytes.Clone(vaultConfig) }

// GitAttributes returns the lines of .gitattributes that keep git from changing
// line endings in stet's own files; without them a hash taken from the file on
// disk and the one in a commit could differ. The bytes are the caller's.
func GitAttributes() []byte { return bytes.Clone(gitAttributes) }

// GitIgnore returns the lines of .gitignore that keep editor swap files and the
// state of other programs out of the history. The bytes are the caller's.
func GitIgnore() []byte { return bytes.Clone(gitIgnore) }
