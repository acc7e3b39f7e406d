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

// machines begin what clients put into a prompt that no person typed.
func machines() []string {
	return []string{"<task-notification", "<system-reminder", "<local-command", "<command-", "<bash-", "<user-prompt-",
		"<teammate-message", "[Request interrupted", markdown.InjectedOpen}
}

// Typed is the prompt as a person typed it, "" where none did.
func (e *Event) Typed() string {
	switch e.Origin {
	case "hook", "agent", "system", "task", "cron", "schedule", "sdk":
		return ""
	}
	text := strings.TrimSpace(string(markdown.StripInjected([]byte(e.Prompt))))
	for _, head := range machines() {
		if strings.HasPrefix(text, head) {
			return ""
		}
	}
	return text
}

// Asks reports an answer that ends with a question to the user.
func (e *Event) Asks() bool {
	text := strings.TrimRight(e.Message, " \t\r\n*_`)\"'”»")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？") || strings.HasSuffix(text, "؟")
}
