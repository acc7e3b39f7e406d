package agent

import "stet/markdown"

// Nearest returns the name that the user most likely meant, "" when none is close.
func Nearest(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		// Two slips in a short word leave nothing of it to recognise.
		if d := markdown.Edits(word, name, distance); d < distance && d*3 <= max(len(word), len(name)) {
			best, distance = name, d
		}
	}
	return best
}
