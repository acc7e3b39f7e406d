package templates

import "strconv"

// Plural is a number with its noun: "1 file", "2 files". Many is for what does not get an "s" at its end; a verb that
// goes with the number stands in both: "file waits", "files wait".
func Plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return strconv.Itoa(n) + " " + many[0]
	}
	return strconv.Itoa(n) + " " + one + "s"
}
