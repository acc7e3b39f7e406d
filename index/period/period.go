// Package period reads times as people write them: a date, a day of the week, how long ago.
package period

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Forms are examples of what [Read] takes, for messages.
const Forms = "2026-01-31, 2026-01, today, yesterday, monday, january, last week, \"2 weeks ago\", " +
	"7d (or h, w, m for months, y)"

// A Period is what a text says: the days from From to before To. Point is the first moment that is meant, to the
// second where the text says how long ago it was. Named is a day, week, month or year that has a name, or the time up
// to now, and so has an end.
type Period struct {
	From, To, Point time.Time
	Named           bool
}

// Read reads a text, capitals or not, as of now and in now's time zone. Between words a hyphen or "_" may stand for
// the blank. A day of the week is the last one before today, a month the last one that has begun, and a week begins on
// Monday.
func Read(text string, now time.Time) (Period, bool) {
	text = strings.TrimSpace(text)
	if p, ok := written(text, now); ok {
		return p, true
	}
	words := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return unicode.IsSpace(r) || r == '-' || r == '_' })
	if len(words) == 0 || text[0] == '-' {
		return Period{}, false
	}
	if p, ok := past(words, now); ok {
		return p, true
	}
	if p, ok := called(words, now); ok {
		return p, true
	}
	if n := len(words) - 1; n > 0 && words[n] == "ago" {
		words = words[:n]
	}
	return ago(words, now)
}

// written reads the forms with digits and separators.
func written(text string, now time.Time) (Period, bool) {
	for _, form := range []struct {
		layout  string
		y, m, d int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0},
		{"2 January 2006", 0, 0, 1}, {"2 Jan 2006", 0, 0, 1}, {"January 2 2006", 0, 0, 1}, {"Jan 2 2006", 0, 0, 1}} {
		if t, err := time.ParseInLocation(form.layout, strings.ReplaceAll(text, ",", ""), now.Location()); err == nil {
			return Period{t, t.AddDate(form.y, form.m, form.d), t, true}, true
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime} {
		if t, err := time.ParseInLocation(layout, strings.ToUpper(text), now.Location()); err == nil {
			return Period{t, t.Add(time.Second), t, false}, true
		}
	}
	return Period{}, false
}

// called reads days, weeks, months and years by their names.
func called(words []string, now time.Time) (Period, bool) {
	day := dayOf(now)
	whole := func(from time.Time, y, m, d int) (Period, bool) {
		return Period{from, from.AddDate(y, m, d), from, true}, true
	}
	switch strings.Join(words, " ") {
	case "now":
		return Period{day, day.AddDate(0, 0, 1), now, false}, true
	case "today":
		return whole(day, 0, 0, 1)
	case "yesterday":
		return whole(day.AddDate(0, 0, -1), 0, 0, 1)
	case "tomorrow":
		return whole(day.AddDate(0, 0, 1), 0, 0, 1)
	}
	last := 0
	if words[0] == "last" || words[0] == "this" {
		if words[0] == "last" {
			last = 1
		}
		if len(words) != 2 {
			return Period{}, false
		}
		switch words[1] {
		case "week":
			return whole(day.AddDate(0, 0, -(int(day.Weekday())+6)%7-7*last), 0, 0, 7)
		case "month":
			return whole(time.Date(day.Year(), day.Month()-time.Month(last), 1, 0, 0, 0, 0, day.Location()), 0, 1, 0)
		case "year":
			return whole(time.Date(day.Year()-last, 1, 1, 0, 0, 0, 0, day.Location()), 1, 0, 0)
		}
		if words = words[1:]; last == 0 {
			return Period{}, false
		}
	}
	if n, ok := named(words[0], func(i int) string { return time.Weekday(i).String() }, 0, 6); ok && len(words) == 1 {
		return whole(day.AddDate(0, 0, -(int(day.Weekday())-n+6)%7-1), 0, 0, 1)
	}
	m, ok := named(words[0], func(i int) string { return time.Month(i).String() }, 1, 12)
	if !ok || len(words) > 2 {
		return Period{}, false
	}
	year := day.Year()
	if len(words) == 2 {
		y, err := time.Parse("2006", words[1])
		if err != nil {
			return Period{}, false
		}
		year = y.Year()
	} else if m > int(day.Month()) || last > 0 && m == int(day.Month()) {
		year--
	}
	return whole(time.Date(year, time.Month(m), 1, 0, 0, 0, 0, day.Location()), 0, 1, 0)
}

// past reads "last 7 days" and "past week": from so long ago to the end of today.
func past(words []string, now time.Time) (Period, bool) {
	if words[0] != "past" && words[0] != "last" {
		return Period{}, false
	}
	rest := words[1:]
	if words[0] == "past" && len(rest) == 1 {
		if p, ok := past([]string{"last", "a", rest[0]}, now); ok {
			return p, true
		}
	}
	if len(rest) == 0 {
		return Period{}, false
	}
	p, ok := ago(rest, now)
	p.To, p.Named = dayOf(now).AddDate(0, 0, 1), true
	return p, ok
}

// named finds the number from low to high whose name a word is, or its first letters: three at least.
func named(word string, name func(int) string, low, high int) (int, bool) {
	for i := low; i <= high && len(word) >= 3; i++ {
		if strings.HasPrefix(strings.ToLower(name(i)), word) {
			return i, true
		}
	}
	return 0, false
}

// most is the largest number of any unit.
const most = 100_000

// ago reads "7d", "2 weeks", "an hour".
func ago(words []string, now time.Time) (Period, bool) {
	number, unit := words[0], ""
	switch i := strings.IndexFunc(number, func(r rune) bool { return r < '0' || r > '9' }); {
	case len(words) == 1 && i > 0:
		number, unit = number[:i], number[i:]
	case len(words) == 2:
		unit = words[1]
	default:
		return Period{}, false
	}
	n, err := strconv.Atoi(number)
	for i, word := range strings.Fields("a one two three four five six seven eight nine ten eleven twelve") {
		if number == word || number == "an" && i == 0 {
			n, err = max(i, 1), nil
		}
	}
	if err != nil || n < 0 || n > most {
		return Period{}, false
	}
	if len(unit) > 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch unit {
	case "min", "minute":
		now = now.Add(-time.Duration(n) * time.Minute)
	case "h", "hour":
		now = now.Add(-time.Duration(n) * time.Hour)
	case "d", "day":
		now = now.AddDate(0, 0, -n)
	case "w", "week":
		now = now.AddDate(0, 0, -7*n)
	case "m", "month":
		now = monthsBefore(now, n)
	case "y", "year":
		now = monthsBefore(now, 12*n)
	default:
		return Period{}, false
	}
	day := dayOf(now)
	return Period{day, day.AddDate(0, 0, 1), now, false}, true
}

// monthsBefore is the same day n months before, or the last of that month where it has no such day.
func monthsBefore(t time.Time, n int) time.Time {
	then := t.AddDate(0, -n, 0)
	if then.Day() != t.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

func dayOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
