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
		if mark := fenceOf(text); mark != "" && want == 0 {
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

// fenceOf is the run of marks that a line opens or closes a block of code with.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range []string{"`", "~"} {
		if run := line[:len(line)-len(strings.TrimLeft(line, c))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}
