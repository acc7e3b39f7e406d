// Package templates holds the text stet writes for people and models: skeleton
// files of a new vault, forms of new notes. Everything is embedded, so the binary needs no data
// folder, and every file is reached through a typed function, so a renamed or
// missing file is a compile or test failure and never a surprise at run time.
//
// The package is a leaf: it imports nothing of stet and decides nothing.
package templates

import (
	"bytes"
	"embed"
	"strings"
)

//go:embed vault/config.yaml
var vaultConfig []byte

//go:embed vault/gitattributes
var gitAttributes []byte

//go:embed vault/gitignore
var gitIgnore []byte

//go:embed vault/unignore
var unignore []byte

//go:embed agent-skill/SKILL.md
var agentSkill []byte

// AgentSkill returns the SKILL.md that tells an agent how to use stet. The bytes are the caller's.
func AgentSkill() []byte { return bytes.Clone(agentSkill) }

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

// Forms of new notes, one a kind. Words in double braces stand for what is
// filled in: title, kind, scope, date, time.
//
//go:embed note/*.md
var noteForms embed.FS

// NoteKinds lists the kinds that have a form, in order.
func NoteKinds() []string {
	var out []string
	entries, err := noteForms.ReadDir("note")
	if err != nil {
		panic("templates: the forms of notes are not embedded: " + err.Error())
	}
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ".md"))
	}
	return out
}

// NoteForm returns the form of a kind of note; ok is false when it has none. The
// bytes are the caller's.
func NoteForm(kind string) (form []byte, ok bool) {
	form, err := noteForms.ReadFile("note/" + kind + ".md")
	return form, err == nil
}

//go:embed compose.md
var compose []byte

// Compose returns the form in which a person writes a memory of no kind: an empty line and a comment, which is no part
// of what they write. The bytes are the caller's.
func Compose() []byte { return bytes.Clone(compose) }

// Unignore returns the lines of .gitignore that bring back a vault's own files
// from under earlier rules. The bytes are the caller's.
func Unignore() []byte { return bytes.Clone(unignore) }
