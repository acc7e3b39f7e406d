package cells

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

// A Row is one line of a list on a terminal.
type Row struct {
	Name string // short, what to call it by
	At   time.Time
	Day  string // to show in place of the age
	Who  string
	Text string // gets the room that the others leave
	Tail string
}

const (
	mostSide  = 24 // columns of what stands beside the text of a row
	leastText = 20
	leastAge  = len("59min") // so that a list does not move while it is looked at
	gap       = "  "
)

// Lines lays rows out in columns of a window so many cells wide: of each the first column, and the rest of its line. A
// column that is empty in every row takes no room. The age stands before all texts: a terminal that draws text from
// right to left would draw a number behind it on its other side. Texts must be clean, and without line breaks.
func Lines(rows []Row, width int, now time.Time) [][2]string {
	lines := make([][5]string, len(rows))
	var most [5]int
	const age, text = 1, 3
	for i, r := range rows {
		side := max(mostSide, width/4)
		lines[i] = [...]string{r.Name, cmp.Or(r.Day, Age(r.At, now)), Cut(r.Who, side), r.Text, Cut(r.Tail, side)}
		for j, s := range lines[i] {
			most[j] = max(most[j], Width(s))
		}
	}
	if most[age] > 0 {
		most[age] = max(most[age], leastAge)
	}
	room := width
	for j, n := range most {
		if j != text && n > 0 {
			room -= n + len(gap)
		}
	}
	most[text] = min(most[text], max(leastText, room))
	out := make([][2]string, len(rows))
	for i, line := range lines {
		var columns []string
		for j, s := range line {
			if most[j] > 0 {
				columns = append(columns, Pad(Cut(s, most[j]), most[j]))
			}
		}
		whole := strings.TrimRight(strings.Join(columns, gap), " ")
		out[i] = [2]string{line[0], strings.TrimPrefix(whole, line[0])}
	}
	return out
}

// Age is how long ago something was, in as few letters as a column of a list has: now, 5min, 2h, 3d, and the month of
// what is older than one or still to come. It is "" for no time.
func Age(then, now time.Time) string {
	const day, month = 24 * time.Hour, 31 * 24 * time.Hour
	switch d := now.Sub(then); {
	case then.IsZero():
		return ""
	case d >= month || d < -time.Hour: // a clock may be a little ahead
		return then.Local().Format("2006-01")
	case d >= day:
		return strconv.Itoa(int(d/day)) + "d"
	case d >= time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d >= time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + "min"
	}
	return "now"
}
