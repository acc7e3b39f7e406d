package install

import (
	"fmt"
	"path/filepath"
	"strings"

	"stet/agent/clients"
	"stet/templates"
)

// Words are the words of a line as a shell reads it, without what it would replace.
func Words(line string) (out []string) {
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			begun, quote = true, c
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun {
				out = append(out, word.String())
			}
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteRune(c)
		}
	}
	if begun {
		out = append(out, word.String())
	}
	return out
}

// commandOf is what an entry starts: "command" as one line, as a program with "args", or as a list.
func commandOf(value any) (out []string) {
	m, _ := value.(map[string]any)
	list, split := m["args"].([]any)
	switch line := m["command"].(type) {
	case []any:
		list = line
	case string:
		if !split {
			return Words(line)
		}
		out = []string{line}
	}
	for _, item := range list {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}

// Known reports whether a program is one of ours by its name, which may end with a version or a platform.
func Known(binary string) bool {
	rest, ours := strings.CutPrefix(strings.ToLower(filepath.Base(filepath.FromSlash(binary))), "stet")
	return ours && (rest == "" || strings.IndexAny(rest, " -_.(0123456789") == 0)
}

// startsUs reports whether a command is a binary of ours with the arguments that we give it.
func startsUs(command []string, verb string) bool {
	if len(command) < 2 || command[1] != verb {
		return false
	}
	if !Known(command[0]) {
		return false
	}
	if verb != "hook" {
		return true
	}
	if len(command) != 4 {
		return false
	}
	_, known := clients.Find(command[2])
	return known
}

// startOf is what an entry starts of ours, nil of one that starts nothing or something else.
func startOf(value any) []string {
	if c := commandOf(value); startsUs(c, "mcp") || startsUs(c, "hook") {
		return c
	}
	return nil
}

// moved is the text of a command, which stands for all of it or for its program, with another binary.
func moved(text string, command []string, binary string) string {
	if text == command[0] {
		return binary
	}
	return templates.ShellLine(append([]string{binary}, command[1:]...)...)
}

// ownsServer and ownsHook say what is ours among servers and among hooks.
func ownsServer(name string, value any) bool {
	return name == server && startsUs(commandOf(value), "mcp")
}

func ownsHook(_ string, value any) bool { return startsUs(commandOf(value), "hook") }

// idOf is what an entry is called in a [Record]: a hook by what it starts, wherever it stands, anything else by its
// name or value.
func idOf(name string, value any) string {
	if ownsHook(name, value) {
		return strings.Join(commandOf(value)[1:], " ")
	}
	if text, ok := value.(string); ok && name == "" {
		return text
	}
	if name == "" {
		name = fmt.Sprint(value)
	}
	return name
}
