package install

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"stet/templates"
)

// mark ends the skill that we install, with a hash of what stands before it: one that nobody edited may be
// replaced and removed, whichever version wrote it.
const mark = "\n<!-- stet install: %x -->\n"

// Skill is the SKILL.md that tells an agent how to use stet.
func Skill() []byte {
	text := templates.AgentSkill()
	return append(text, markOf(text)...)
}

// OwnsSkill reports whether a SKILL.md is as some version of us wrote it.
func OwnsSkill(data []byte) bool {
	at := bytes.LastIndex(data, []byte("\n<!-- stet install: "))
	return at >= 0 && string(data[at:]) == markOf(data[:at])
}

func markOf(text []byte) string {
	sum := sha256.Sum256(text)
	return fmt.Sprintf(mark, sum[:8])
}
