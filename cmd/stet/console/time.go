package console

import (
	"strconv"
	"strings"
	"time"

	"stet/agent"
)

// Time reads a point in time as people give it: a date (its first moment, in
// their own zone), RFC 3339, "today" or "yesterday", or how long ago as 12h, 7d, 4w, 6m, 1y; as in a search, m is
// months. "" is no time. The error is an [agent.ErrUsage].
func (e *Env) Time(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if then, ok := ago(strings.TrimSuffix(text, " ago"), e.Now()); ok {
		return then, nil
	}
	year, month, day := e.Now().Local().Date()
	switch strings.ToLower(text) {
	case "yesterday":
		day--
		fallthrough
	case "today":
		return time.Date(year, month, day, 0, 0, 0, 0, time.Local), nil
	}
	return time.Time{}, agent.Usagef("%q is not a time", text).
		Suggest("2026-01-31, 2026-01-31T14:00:00Z, today, yesterday, or how long ago: 12h, 7d, 4w, 6m (months), 1y")
}

// Span reads --since and --until, the zero time without them.
func (in *Input) Span(e *Env) (since, until time.Time, err error) {
	since, err = e.Time(in.String("since"))
	if err == nil {
		until, err = e.Time(in.String("until"))
	}
	return since, until, err
}

func ago(text string, now time.Time) (time.Time, bool) {
	if text == "" {
		return now, false
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	const most = 100_000 // of any unit
	if err != nil || n < 0 || n > most {
		return now, false
	}
	switch text[len(text)-1] {
	case 'h':
		return now.Add(-time.Duration(n) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, -n), true
	case 'w':
		return now.AddDate(0, 0, -7*n), true
	case 'm':
		return now.AddDate(0, -n, 0), true
	case 'y':
		return now.AddDate(-n, 0, 0), true
	}
	return now, false
}

// Day is a date and time of day for people, in their own zone; "" for no time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
