package snapshot

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
)

// Embed puts a block, "" to take it out, into a file of a person's in place of the one that is there,
// else at its end, with the line ends of the file; every other byte stays. It fails with
// [vault.ErrConflict] where it cannot tell which bytes are the block's, and with [vault.ErrInvalid] for a
// file that is no UTF-8 text.
func Embed(file []byte, block string) ([]byte, error) {
	if !utf8.Valid(file) || bytes.IndexByte(file, 0) >= 0 {
		return nil, fmt.Errorf("%w: it is not UTF-8 text", vault.ErrInvalid)
	}
	eol := "\n"
	if i := bytes.IndexByte(file, '\n'); i > 0 && file[i-1] == '\r' {
		eol = "\r\n"
	}
	block = strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", eol)
	start, end, err := find(file)
	if err != nil {
		return nil, err
	}
	if end > 0 && block == "" {
		return cut(file, start, end, eol), nil
	}
	if end > 0 {
		return bytes.Join([][]byte{file[:start], []byte(block), file[end:]}, nil), nil
	}
	if block == "" {
		return file, nil
	}
	var gap string
	switch {
	case len(bytes.TrimPrefix(file, byteOrderMark())) == 0:
	case bytes.HasSuffix(file, []byte("\n")):
		gap = eol
	default:
		gap = eol + eol
	}
	return append(bytes.Clone(file), gap+block+eol...), nil
}

// cut takes a block out with its line end, and the empty line that Embed put before one at the end of a file.
func cut(file []byte, start, end int, eol string) []byte {
	before, after := file[:start], bytes.TrimPrefix(file[end:], []byte(eol))
	if len(after) == 0 && bytes.HasSuffix(before, []byte(eol+eol)) {
		before = before[:len(before)-len(eol)]
	}
	return append(bytes.Clone(before), after...)
}

func byteOrderMark() []byte { return []byte("\ufeff") }

// find is where the one block of a file begins and ends; end 0 is none. A block in a code fence is an
// example of a person's.
func find(file []byte) (start, end int, err error) {
	unclear := func(line int, why string) error {
		return vault.WithHint(fmt.Errorf("line %d: %w: %s", line, vault.ErrConflict, why),
			"mend the file: one block, from a line %s…> to a line %s", markdown.InjectedOpen, markdown.InjectedClose)
	}
	at, number, opened, example, code := 0, 0, 0, 0, 0
	fence := ""
	for line := range bytes.Lines(file) {
		number++
		text := strings.TrimRight(string(line), "\r\n")
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		from := at + len(bytes.TrimRight(line, "\r\n")) - len(text)
		at += len(line)
		opens, closes := strings.HasPrefix(text, markdown.InjectedOpen), strings.HasPrefix(text, markdown.InjectedClose)
		switch mark := markdown.FenceOf(text); {
		case opened > 0 && closes:
			end, opened = from+len(markdown.InjectedClose), 0
		case opened > 0 && opens:
			return 0, 0, unclear(opened, "this block is not closed before the next one")
		case opened > 0:
		case fence != "":
			if opens && example == 0 {
				example = number
			}
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(text) == mark {
				fence = ""
			}
		case mark != "":
			fence, code = mark, number
		case closes:
			return 0, 0, unclear(number, "a block ends here that begins nowhere")
		case opens && end > 0:
			return 0, 0, unclear(number, "this is the second block")
		case opens:
			start, opened = from, number
		}
	}
	switch {
	case opened > 0:
		return 0, 0, unclear(opened, "this block is not closed")
	case end == 0 && example > 0:
		return 0, 0, unclear(example, "the block stands in a code fence")
	case end == 0 && fence != "":
		return 0, 0, unclear(code, "this code fence is not closed, and a block behind it would be code")
	}
	return start, end, nil
}
