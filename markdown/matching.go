package markdown

// Unchanged says for each line of b which line of a it is, or -1 for a line that
// is new. Lines are counted from 0 and are the ones [Diff] shows as context.
func Unchanged(a, b []byte) []int {
	bLines := splitLines(b)
	out := make([]int, len(bLines))
	i, j := 0, 0
	for _, h := range append(diffLines(splitLines(a), bLines), hunk{b0: len(bLines)}) {
		for ; j < h.b0; i, j = i+1, j+1 {
			out[j] = i
		}
		for ; j < h.b1; j++ {
			out[j] = -1
		}
		i = h.a1
	}
	return out
}

// Lines cuts b behind each line break; the last line may lack one.
func Lines(b []byte) [][]byte { return splitLines(b) }
