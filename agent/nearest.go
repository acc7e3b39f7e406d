package agent

// Nearest returns the name that the user most likely meant, "" when none is close.
func Nearest(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		// Two slips in a short word leave nothing of it to recognise.
		if d := edits(word, name); d < distance && d*3 <= max(len(word), len(name)) {
			best, distance = name, d
		}
	}
	return best
}

// edits counts insertions, deletions, replacements and swaps of neighbours.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
