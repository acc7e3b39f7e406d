package console

import (
	"strconv"
	"strings"
	"time"

	"stet/agent"
)

// Time reads a point in time as people give it: a date (its first moment, in
// their own zone), RFC 3339, or how long ago as 90m, 12h, 7d, 4w. "" is no time.
// The error is an [agent.ErrUsage].
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
	if ago, ok := ago(strings.TrimSuffix(text, " ago")); ok {
		return e.Now().Add(-ago), nil
	}
	return time.Time{}, agent.Usagef("%q is not a time", text).
		Suggest("2026-01-31, 2026-01-31T14:00:00Z, or how long ago: 90m, 12h, 7d, 4w")
}

// Span reads --since and --until, the zero time without them.
func (in *Input) Span(e *Env) (since, until time.Time, err error) {
	since, err = e.Time(in.String("since"))
	if err == nil {
		until, err = e.Time(in.String("until"))
	}
	return since, until, err
}

func ago(text string) (time.Duration, bool) {
	units := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	for suffix, unit := range units {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.Atoi(digits)
			const most = 100_000 // of any unit; keeps the product within a Duration
			return time.Duration(n) * unit, err == nil && n >= 0 && n <= most
		}
	}
	return 0, false
}

// Day is a date and time of day for people, in their own zone; "" for no time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
