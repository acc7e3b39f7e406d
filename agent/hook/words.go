package hook

import (
	"strings"

	"stet/markdown"
)

// Fence is sentences of stet's own for a model, marked as such so that nobody learns from them.
func Fence(notes ...string) string {
	if len(notes) == 0 {
		return ""
	}
	return markdown.InjectedOpen + " notes>\n" + strings.Join(notes, "\n") + "\n" + markdown.InjectedClose + "\n"
}

// Typed is the prompt as a person typed it, "" where none did.
func (e *Event) Typed() string {
	text := strings.TrimSpace(string(markdown.StripInjected([]byte(e.Prompt))))
	if markdown.ByMachine(e.Origin, text) {
		return ""
	}
	return text
}

// Asks reports an answer that ends with a question to the user.
func (e *Event) Asks() bool {
	text := strings.TrimRight(e.Message, " \t\r\n*_`)\"'”»")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}

// IsCommand reports a prompt that is a command to the program, as "/model opus", and not one that begins with a path.
func IsCommand(prompt string) bool {
	name, _, _ := strings.Cut(strings.Join(strings.Fields(prompt), " "), " ")
	return strings.HasPrefix(name, "/") && len(name) > 1 && !strings.ContainsAny(name[1:], "/.")
}
