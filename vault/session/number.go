package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Renumbering says, as a transcript keeps it, which messages have other numbers from a moment on: to[i] is the number
// of what was message i+1. It is "" where all keep theirs.
func Renumbering(at time.Time, to []int) string {
	var out strings.Builder
	for i := 0; i < len(to); i++ {
		if to[i] == i+1 {
			continue
		}
		first := i
		for i+1 < len(to) && to[i+1] == to[i]+1 {
			i++
		}
		fmt.Fprintf(&out, " %d-%d:%d", first+1, i+1, to[first])
	}
	if out.Len() == 0 {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano) + out.String()
}

// Number is the number today of the message that had number n at that moment; n of a zero one.
func (k Known) Number(n int, at time.Time) int {
	for _, change := range k.renumbered {
		when, runs, _ := strings.Cut(change, " ")
		since, err := time.Parse(time.RFC3339Nano, when)
		if err != nil || at.IsZero() || at.After(since) {
			continue // a person's words, or the number was given later
		}
		for run := range strings.FieldsSeq(runs) {
			was, is, _ := strings.Cut(run, ":")
			first, last, _ := strings.Cut(was, "-")
			a, aerr := strconv.Atoi(first)
			b, berr := strconv.Atoi(last)
			to, err := strconv.Atoi(is)
			if aerr == nil && berr == nil && err == nil && a <= n && n <= b {
				n += to - a
				break
			}
		}
	}
	return n
}
