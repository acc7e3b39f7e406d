package session

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Renumbering says, as a transcript keeps it, which messages have other numbers from a moment on: to[i] is the number
// of what was message i+1, 0 for one that is in it no more. It is "" where all keep theirs.
func Renumbering(at time.Time, to []int) string {
	var out strings.Builder
	for i := 0; i < len(to); i++ {
		if to[i] == i+1 {
			continue
		}
		first := i
		for to[i] > 0 && i+1 < len(to) && to[i+1] == to[i]+1 {
			i++
		}
		fmt.Fprintf(&out, " %d-%d:%d", first+1, i+1, to[first])
	}
	if out.Len() == 0 {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano) + out.String()
}

// Number is the number today of the message that had number n at that moment, 0 for one that is there no more; n of a
// zero one.
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
			switch {
			case aerr != nil || berr != nil || err != nil || n < a || n > b:
				continue
			case to == 0:
				return 0
			}
			n += to - a
			break
		}
	}
	return n
}
