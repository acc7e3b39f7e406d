package snapshot

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/vault/guard"
)

// Clean is a text that can be given to a model: without the bytes that steer terminals and the
// characters that nobody sees, without what is likely meant to be kept from others, and without marks that
// a model or its host takes for the end of the block, for a call of a tool or for another speaker.
func Clean(text string) string { return masked(seen(text)) }

// seen is a text without what no reader sees, or what a terminal acts on.
func seen(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	if strings.ContainsAny(text, "\x1b\u009b\u009d") {
		text = escapes().ReplaceAllString(text, "")
	}
	return guard.Seen(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\ufeff' {
			return -1
		}
		return r
	}, text))
}

// masked masks what is likely meant to be kept from others, and marks that a model or its host acts on.
func masked(text string) string {
	return marks().ReplaceAllStringFunc(guard.Masked(text), func(mark string) string {
		_, size := utf8.DecodeRuneInString(mark)
		switch mark[0] {
		case '[':
			return "&#91;" + mark[size:]
		case '#':
			return "&#35;" + mark[size:]
		}
		return "&lt;" + mark[size:]
	})
}

// escapes are the sequences that terminals act on.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` +
		`(?:\x1b\]|\x{9d})[^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[@-_]?`)
})

// marks are the tags of stet, of tool calls and of the chat formats of models.
var marks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)[<＜﹤‹〈⟨]\s*[/／⁄∕]?\s*(?:[a-z_]+:)?(?:stet[-_\s‐-―−﹣－]|` +
		`stetcontext|antml|\||function|tool|invoke|parameter|` +
		`im_|think|system|sys>|s>|(?:user|assistant|human|developer|instructions?)[\s>/|])` +
		`|\[\s*/?\s*(?:inst|system|tool_calls?|available_tools|tool_results)\s*\]` +
		`|^#+\s*(?:instructions?|input|response|system|user|assistant|human)\s*:`)
})

// indented is a text as the content of a list item: whatever it opens (a fence, a comment) ends with
// the item.
func indented(text string) string {
	var out strings.Builder
	blank := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, " \t")
		switch {
		case out.Len() == 0:
		case line == "":
			blank = true
			continue
		case blank:
			out.WriteString("\n\n  ")
		default:
			out.WriteString("\n  ")
		}
		out.WriteString(line)
		blank = false
	}
	return out.String()
}

// spelled is a name as it stands and as a model reads it: with spaces in place of what parts its words.
func spelled(name string) string {
	return name + "\n\n" + strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	}), " ")
}

// oneLine is a cleaned text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }
