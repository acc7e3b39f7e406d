package markdown

import (
	"bytes"
	"fmt"
	"strings"
)

// binaryWindow is how far git looks for a NUL byte before it takes a file for
// text.
const binaryWindow = 8000

// Diff returns the change from a to b as a unified diff, in the form that git
// prints and git apply reads, with the names as given. Equal inputs give "".
// Fewer than 0 lines of context count as 0.
func Diff(a, b []byte, fromName, toName string, context int) string {
	if bytes.Equal(a, b) {
		return ""
	}
	if isBinary(a) || isBinary(b) {
		return fmt.Sprintf("Binary files %s and %s differ\n", fromName, toName)
	}
	context = max(context, 0)
	aLines, bLines := splitLines(a), splitLines(b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
	hunks := diffLines(aLines, bLines)
	for len(hunks) > 0 {
		n := 1
		for n < len(hunks) && hunks[n].a0-hunks[n-1].a1 <= 2*context {
			n++
		}
		writeHunks(&out, aLines, bLines, hunks[:n], context)
		hunks = hunks[n:]
	}
	return out.String()
}

// Changed are the lines of a that are others in b, as ranges from 0 and half open, in order. Where b has lines more, the
// range is empty and says before which line of a.
func Changed(a, b []byte) (out [][2]int) {
	for _, h := range diffLines(splitLines(a), splitLines(b)) {
		out = append(out, [2]int{h.a0, h.a1})
	}
	return out
}

func isBinary(b []byte) bool {
	return bytes.IndexByte(b[:min(len(b), binaryWindow)], 0) >= 0
}

// writeHunks writes hunks that share their context under one header.
func writeHunks(out *strings.Builder, a, b [][]byte, hunks []hunk, context int) {
	first, last := hunks[0], hunks[len(hunks)-1]
	before := min(context, first.a0)
	after := min(context, len(a)-last.a1)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		hunkRange(first.a0-before, last.a1+after), hunkRange(first.b0-before, last.b1+after))
	at := first.a0 - before
	for _, h := range hunks {
		writeLines(out, ' ', a[at:h.a0])
		writeLines(out, '-', a[h.a0:h.a1])
		writeLines(out, '+', b[h.b0:h.b1])
		at = h.a1
	}
	writeLines(out, ' ', a[at:last.a1+after])
}

// hunkRange writes a half-open range from 0 as start and count from 1; the count
// is left out if it is one, and an empty range names the line before it.
func hunkRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprintf("%d", from+1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(out *strings.Builder, mark byte, lines [][]byte) {
	for _, l := range lines {
		out.WriteByte(mark)
		out.Write(l)
		if !bytes.HasSuffix(l, []byte("\n")) {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
