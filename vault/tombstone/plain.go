package tombstone

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// readPlain reads a stone in the form that [Encode] writes: one "key: value" a
// line, values that YAML reads as they stand. Every write of a machine reads all
// stones, and a YAML parser takes a tenth of a millisecond for each. ok is false
// for anything else; the parser then decides.
func readPlain(doc []byte) (s Stone, ok bool) {
	texts := map[string]*string{
		"action": &s.Action, "by": &s.By, "actor": &s.Actor, "within": &s.Within, "text_hash": &s.TextHash, "blob": &s.Blob,
		"was": &s.Was, "slot": &s.Slot, "session": &s.Session, "reverts": &s.Reverts,
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(doc) {
		text := strings.TrimSuffix(string(line), "\n")
		if text == "---" && len(seen) == 0 {
			continue
		}
		key, value, found := strings.Cut(text, ": ")
		if !found || seen[key] {
			return Stone{}, false
		}
		seen[key] = true
		switch field := texts[key]; {
		case field != nil:
			*field, ok = plainText(value)
		case key == "at":
			var err error
			s.At, err = time.Parse(time.RFC3339, value)
			s.At = s.At.UTC()
			ok = err == nil
		case key == "words":
			var err error
			s.Words, err = strconv.Atoi(value)
			ok = err == nil && s.Words >= 0
		case key == "ids":
			s.IDs, ok = plainList(value, plainText)
		case key == "turns":
			s.Turns, ok = plainList(value, func(v string) (int, bool) { n, err := strconv.Atoi(v); return n, err == nil })
		default:
			ok = false
		}
		if !ok {
			return Stone{}, false
		}
	}
	return s, s.Action != ""
}

func plainList[T any](value string, read func(string) (T, bool)) ([]T, bool) {
	inside, opened := strings.CutPrefix(value, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	if !opened || !closed || inside == "" {
		return nil, false
	}
	var out []T
	for v := range strings.SplitSeq(inside, ", ") {
		one, ok := read(v)
		if !ok {
			return nil, false
		}
		out = append(out, one)
	}
	return out, true
}

// plainText reads a scalar: in double quotes without escapes, or bare and made of
// letters, digits and what means nothing between them.
func plainText(v string) (string, bool) {
	if inside, quoted := strings.CutPrefix(v, `"`); quoted {
		inside, closed := strings.CutSuffix(inside, `"`)
		return inside, closed && !strings.ContainsAny(inside, "\"\\\t\r") && isPrintable(inside)
	}
	for i, r := range v {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || i == len(v)-1 || !strings.ContainsRune("-/_ ", r)) {
			return "", false
		}
	}
	switch v {
	case "", "null", "Null", "NULL":
		return "", false
	}
	return v, true
}

// isPrintable keeps what YAML may treat in its own way for its parser.
func isPrintable(s string) bool {
	for _, r := range s {
		if r < ' ' || r > '~' {
			return false
		}
	}
	return true
}
