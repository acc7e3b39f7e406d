package markdown

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// encodeScalar writes text as one line of YAML, quoted only where it must be.
// In flow, "," and brackets need quotes as well.
func encodeScalar(v Value, flow bool) (string, error) {
	if !utf8.ValidString(v.text) {
		return "", fmt.Errorf("text %q: %w", v.text, ErrInvalidValue)
	}
	if plainIsSafe(v.text, v.kind == scalarPlain, flow) {
		return v.text, nil
	}
	switch {
	case v.kind == scalarPlain && v.text == "" && !flow:
		return "", nil
	case !printable(v.text):
		return strconv.Quote(v.text), nil // its escapes are all ones that YAML has
	case strings.ContainsAny(v.text, `"\`):
		return "'" + strings.ReplaceAll(v.text, "'", "''") + "'", nil
	}
	return `"` + v.text + `"`, nil
}

// plainIsSafe reports whether text can stand without quotes and reads back as
// the same text: of any type for a typed value, as text in YAML 1.1 and 1.2 for
// a string.
func plainIsSafe(text string, typed, flow bool) bool {
	if text == "" || text != strings.TrimSpace(text) || !printable(text) {
		return false
	}
	if strings.ContainsRune("-?:,[]{}#&*!|>'\"%@`", rune(text[0])) && !(text[0] == '-' && typed) {
		return false
	}
	if strings.Contains(text, ": ") || strings.HasSuffix(text, ":") || strings.Contains(text, " #") || strings.HasPrefix(text, "...") {
		return false
	}
	if flow && strings.ContainsAny(text, ",[]{}") {
		return false
	}
	if !typed && looksTyped(text) {
		return false
	}
	// The reader has the last word.
	line := text
	if flow {
		line = "[" + text + "]"
	}
	var doc yaml.Node
	if yaml.Unmarshal([]byte("k: "+line+"\n"), &doc) != nil || len(doc.Content) != 1 || len(doc.Content[0].Content) != 2 {
		return false
	}
	n := doc.Content[0].Content[1]
	if flow {
		if n.Kind != yaml.SequenceNode || len(n.Content) != 1 {
			return false
		}
		n = n.Content[0]
	}
	return n.Kind == yaml.ScalarNode && n.Value == text && (typed || n.ShortTag() == "!!str")
}

// looksTyped catches what our YAML reader takes for text and others do not:
// YAML 1.1 truth values and base-60 numbers.
func looksTyped(text string) bool {
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "~":
		return true
	}
	return strings.ContainsAny(text, "0123456789") && strings.Trim(text, "0123456789:.,_+-") == ""
}

// printable reports whether text has only characters that YAML takes as they are
// inside one line.
func printable(text string) bool {
	for _, r := range text {
		if !printableRune(r) {
			return false
		}
	}
	return true
}

func printableRune(r rune) bool {
	switch {
	case r < 0x20, r == 0x7F, r >= 0x80 && r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF:
		return false
	case r == 0xFFFE, r == 0xFFFF, r > unicode.MaxRune:
		return false
	}
	return true
}

// encodeFlow writes a value behind "key: ", a list as [a, b].
func encodeFlow(v Value) (string, error) {
	switch v.kind {
	case list:
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			s, err := encodeScalar(String(item), true)
			if err != nil {
				return "", err
			}
			parts[i] = s
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case mapping:
		return encodeMapping(v.pairs)
	}
	if v.kind == scalarPlain {
		switch v.text {
		case "NaN", "+Inf", "-Inf":
			return "", fmt.Errorf("number %s: %w", v.text, ErrInvalidValue)
		}
	}
	return encodeScalar(v, false)
}

// encodeMapping writes a mapping on one line.
func encodeMapping(pairs []Pair) (string, error) {
	if len(pairs) == 0 {
		return "", fmt.Errorf("nested mapping: %w", ErrInvalidValue)
	}
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		text, err := encodeScalar(p.Value, true)
		if p.Value.kind >= list {
			text, err = encodeFlow(p.Value)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Key, err)
		}
		parts[i] = p.Key + ": " + text
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}
