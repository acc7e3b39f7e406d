package document

import (
	"bytes"
	"unicode/utf8"
)

// Identifiers calls emit with every composite name in text: foo_bar, a.b.c,
// v1.2.3, some-flag, /etc/hosts, user@example.com, C++. Each comes whole, and
// then in the composite parts that a person might ask for by themselves
// (config.yaml out of /etc/app/config.yaml). Plain words are not identifiers;
// the word fields have them. Names are folded like words but keep their
// punctuation.
func Identifiers(text []byte, emit func(name string, start, end int)) {
	for i := 0; i < len(text); {
		if isChunkBreak(text[i]) {
			i++
			continue
		}
		start := i
		for i < len(text) && !isChunkBreak(text[i]) {
			i++
		}
		chunk(text[start:i], start, emit)
	}
}

// isChunkBreak reports bytes that cannot be inside a name.
func isChunkBreak(c byte) bool {
	switch c {
	case '(', ')', '[', ']', '{', '}', '<', '>', '"', '\'', '`', ',', ';', '!', '?', '|', '*':
		return true
	}
	return c <= ' '
}

// chunk trims what punctuates a sentence and emits what is left when it is
// composite.
func chunk(b []byte, off int, emit func(string, int, int)) {
	for len(b) > 0 && bytes.IndexByte([]byte(".:="), b[len(b)-1]) >= 0 {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && bytes.IndexByte([]byte(":="), b[0]) >= 0 {
		b, off = b[1:], off+1
	}
	if !hasWord(b) || !isComposite(b) {
		return
	}
	emitName(b, off, emit)
	part := func(p []byte, at, whole int) {
		if len(p) < whole && hasWord(p) && isComposite(p) {
			emitName(p, off+at, emit)
		}
	}
	split(b, "/:@=&", func(outer []byte, at int) {
		part(outer, at, len(b))
		split(outer, ".#$~%+\\", func(inner []byte, more int) { part(inner, at+more, len(outer)) })
	})
}

func emitName(b []byte, off int, emit func(string, int, int)) {
	if name := foldName(b); name != "" {
		emit(name, off, off+len(b))
	}
}

// split calls f for the parts of b between any of the bytes in seps.
func split(b []byte, seps string, f func(part []byte, at int)) {
	start := 0
	for i := 0; i <= len(b); i++ {
		if i == len(b) || bytes.IndexByte([]byte(seps), b[i]) >= 0 {
			if i > start {
				f(b[start:i], start)
			}
			start = i + 1
		}
	}
}

func hasWord(b []byte) bool {
	for i := 0; i < len(b); {
		if isASCIIWord(b[i]) {
			return true
		}
		r, n := utf8.DecodeRune(b[i:])
		if r >= utf8.RuneSelf && r != utf8.RuneError && IsWordRune(r) {
			return true
		}
		i += n
	}
	return false
}

// isComposite reports punctuation in the name: beside a word character, since
// an identifier without any is a plain word.
func isComposite(b []byte) bool {
	for _, c := range b {
		if c < utf8.RuneSelf && !isASCIIWord(c) {
			return true
		}
	}
	return false
}

// foldName lower-cases a name and keeps its punctuation.
func foldName(b []byte) string {
	ascii := true
	for _, c := range b {
		if c >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return string(bytes.ToLower(b[:min(len(b), maxTerm)]))
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf && !isASCIIWord(b[i]) {
			out = append(out, b[i])
			i++
			continue
		}
		j := i
		for j < len(b) && (b[j] >= utf8.RuneSelf || isASCIIWord(b[j])) {
			j++
		}
		out = append(out, fold(string(b[i:j]))...)
		i = j
	}
	return cut(string(out))
}

// CamelParts calls emit with the parts of a word written in camel case
// (getHTTPName: get, http, name), and with nothing for any other word. raw is
// one word of the text.
func CamelParts(raw []byte, emit func(part []byte)) {
	humps := false
	for i := 1; i < len(raw) && !humps; i++ {
		humps = isUpper(raw[i]) && isLower(raw[i-1])
	}
	if !humps {
		return
	}
	start := 0
	for i := 1; i <= len(raw); i++ {
		if i == len(raw) || isUpper(raw[i]) && isLower(raw[i-1]) ||
			isUpper(raw[i]) && isUpper(raw[i-1]) && i+1 < len(raw) && isLower(raw[i+1]) {
			emit(raw[start:i])
			start = i
		}
	}
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
