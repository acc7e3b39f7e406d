package markdown

import "bytes"

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
	var out []byte
	for len(text) > 0 {
		from := lineWith(text, InjectedOpen)
		if from < 0 {
			break
		}
		to := lineWith(text[from:], InjectedClose)
		if to < 0 {
			break
		}
		out = append(out, text[:from]...)
		rest := text[from+to:]
		if _, after, ok := bytes.Cut(rest, []byte{'\n'}); ok {
			text = after
		} else {
			text = nil
		}
	}
	return append(out, text...)
}

// lineWith is the offset of the first line that begins with prefix, -1 without.
func lineWith(text []byte, prefix string) int {
	for at := 0; at < len(text); {
		if bytes.HasPrefix(text[at:], []byte(prefix)) {
			return at
		}
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return -1
}
