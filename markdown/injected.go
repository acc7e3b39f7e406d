package markdown

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// What stet gives to a model stands between these two lines, so that it is told
// from what was said wherever a conversation with it is kept.
const (
	InjectedOpen  = "<stet-context"
	InjectedClose = "</stet-context>"
)

// StripInjected returns text without what stet itself put there: from a line
// that begins with InjectedOpen to the line that begins with InjectedClose. A
// block that is never closed is left, since a person may speak of the mark.
func StripInjected(text []byte) []byte {
	if !bytes.Contains(text, []byte(InjectedOpen)) {
		return text
	}
	return injected().ReplaceAll(text, nil)
}

// BlankInjected is StripInjected with spaces in the place of what it strips, so that lines and places stay.
func BlankInjected(text []byte) []byte {
	if !bytes.Contains(text, []byte(InjectedOpen)) {
		return text
	}
	return injected().ReplaceAllFunc(text, func(block []byte) []byte {
		out := bytes.Repeat([]byte(" "), len(block))
		for i, b := range block {
			if b == '\r' || b == '\n' {
				out[i] = b
			}
		}
		return out
	})
}

var injected = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?ms)^" + InjectedOpen + ".*?^" + InjectedClose + "[^\n]*\n?")
})

// ByMachine reports a prompt that no person typed: by who wrote it, as the client says, "" where it says nothing,
// or by what it begins with.
func ByMachine(origin, prompt string) bool {
	switch origin {
	case "hook", "agent", "system", "task", "cron", "schedule", "sdk", "task-notification":
		return true
	}
	for _, head := range []string{"<task-notification", "<system-reminder", "<local-command", "<command-", "<bash-",
		"<user-prompt-", "<teammate-message", "[Request interrupted", InjectedOpen} {
		if strings.HasPrefix(prompt, head) {
			return true
		}
	}
	return false
}
