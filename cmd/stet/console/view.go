package console

import "time"

// Day is a date and time of day for people, in their own zone; "" for no time.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}
