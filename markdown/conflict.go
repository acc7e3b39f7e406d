package markdown

import (
	"bytes"
	"strings"
)

// ConflictAt is the line of the first mark of an unfinished merge, 0 without
// one. All three marks must stand in order and outside of code, where people
// explain them.
func ConflictAt(data []byte) int {
	want, first, fence := 0, 0, ""
	marks := []string{"<<<<<<< ", "=======", ">>>>>>> "}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		if mark := FenceOf(text); mark != "" && want == 0 {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence):
				fence = ""
			}
		}
		if fence != "" {
			continue
		}
		if strings.HasPrefix(text, marks[want]) && (want != 1 || text == marks[1]) {
			if want == 0 {
				first = n
			}
			if want++; want == len(marks) {
				return first
			}
		}
	}
	return 0
}

// FenceOf is the run of backticks or tildes by which a line opens or closes a block of code, "" for other lines.
func FenceOf(line string) string {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return ""
	}
	mark := text[:len(text)-len(strings.TrimLeft(text, text[:1]))]
	if len(mark) < 3 || text[0] == '`' && strings.Contains(text[len(mark):], "`") {
		return "" // code in a line
	}
	return mark
}
