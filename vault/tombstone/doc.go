// Package tombstone is the record that something was rejected: its format, and
// the rule by which a new text is the rejected one again. It does no I/O and
// knows nothing of git.
//
// A file holds one YAML document for each thing that one commit rejected:
//
//	---
//	action: undo
//	at: 2026-03-01T12:00:00Z
//	by: Ada
//	actor: user
//	ids: [01jd7q8r5t9v3x6y2z4a7c0e1f]
//	text_hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//	words: 5
//	blob: 3735c758e40eb57ed3e52fe8114fa4203d5d52da
//	reverts: 82acd7d261f0c1f7a6f1e8d7b7b0f4a1c2d3e4f5
//
// The text itself is not repeated: blob names it in git's history.
package tombstone
