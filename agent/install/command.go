package install

import (
	"path/filepath"
	"slices"
	"strings"

	"stet/agent/clients"
)

// Quote writes a program and its arguments as the line of a shell. Ordinary words stay as they are.
func Quote(words ...string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%"
	for i, w := range words {
		if w == "" || strings.Trim(w, plain) != "" {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// words are the words of a line as a shell reads it, without what it would replace.
func words(line string) (out []string) {
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

// commandOf is what an entry starts: "command" as one line, or as a program with "args", or as a list.
func commandOf(value any) []string {
	m, _ := value.(map[string]any)
	texts := func(v any) (out []string) {
		list, _ := v.([]any)
		for _, item := range list {
			text, _ := item.(string)
			out = append(out, text)
		}
		return out
	}
	line, ok := m["command"].(string)
	if !ok {
		return texts(m["command"])
	}
	if args, ok := m["args"]; ok {
		return append([]string{line}, texts(args)...)
	}
	return words(line)
}

// commandsOf are the commands of ours that a server, a hook or a group of hooks starts.
func commandsOf(value any) (out [][]string) {
	m, _ := value.(map[string]any)
	inner, _ := m["hooks"].([]any)
	for _, v := range inner {
		out = append(out, commandsOf(v)...)
	}
	for _, verb := range []string{"mcp", "hook"} {
		if c := commandOf(value); startsUs(c, verb) {
			if verb == "mcp" {
				c = c[:2] // its flags are the person's choice
			}
			out = append(out, c)
		}
	}
	return out
}

// startsUs reports whether a command is the binary, which may have a longer name, with the arguments that we give it.
func startsUs(command []string, verb string) bool {
	if len(command) < 2 || command[1] != verb {
		return false
	}
	if verb == "hook" {
		if len(command) != 4 {
			return false
		}
		if _, known := clients.Find(command[2]); !known {
			return false
		}
	}
	return strings.HasPrefix(strings.ToLower(filepath.Base(filepath.FromSlash(command[0]))), "stet")
}

// ownsServer, ownsHook and ownsTool say what is ours in the places of each.
func ownsServer(name string, value any) bool {
	return name == server && startsUs(commandOf(value), "mcp")
}

func ownsHook(_ string, value any) bool {
	m, _ := value.(map[string]any)
	if inner, ok := m["hooks"].([]any); ok { // a group
		return len(inner) > 0 && !slices.ContainsFunc(inner, func(v any) bool { return !ownsHook("", v) })
	}
	return startsUs(commandOf(value), "hook")
}
