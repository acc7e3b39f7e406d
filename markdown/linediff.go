package markdown

import "bytes"

// A hunk says that lines a0 … a1 of one text became lines b0 … b1 of another,
// both half open and from 0. At least one side is not empty.
type hunk struct{ a0, a1, b0, b1 int }

// minSearch is the least number of steps a search for the middle of a difference
// may take before it settles for the furthest point it reached. It grows with
// the square root of the input, as in git's own diff: the result stays exact for
// what people write, and ten thousand shuffled lines stay a matter of
// milliseconds.
const minSearch = 256

// splitLines cuts b behind each "\n"; the last line may lack one.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// diffLines returns what changed from a to b, in order, with at least one equal
// line between two hunks.
func diffLines(a, b [][]byte) []hunk {
	ids := make(map[string]int, len(a))
	number := func(lines [][]byte) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[string(l)]
			if !ok {
				id = len(ids)
				ids[string(l)] = id
			}
			out[i] = id
		}
		return out
	}
	an, bn := number(a), number(b)
	d := &differ{aChanged: make([]bool, len(a)+1), bChanged: make([]bool, len(b)+1)}
	d.a, d.aAt = keepShared(an, bn, len(ids), d.aChanged)
	d.b, d.bAt = keepShared(bn, an, len(ids), d.bChanged)
	size := len(d.a) + len(d.b) + 3
	d.forward, d.backward = make([]int, 2*size+1), make([]int, 2*size+1)
	d.zero = size
	d.limit = minSearch
	for d.limit*d.limit < size {
		d.limit *= 2
	}
	d.compare(0, len(d.a), 0, len(d.b))
	slide(an, d.aChanged, d.bChanged)
	slide(bn, d.bChanged, d.aChanged)
	return hunksOf(d.aChanged, d.bChanged, len(a), len(b))
}

// keepShared drops the lines that the other side does not have at all: they are
// changed whatever the search finds, and without them it is much shorter.
func keepShared(lines, other []int, ids int, changed []bool) (kept, at []int) {
	has := make([]bool, ids)
	for _, id := range other {
		has[id] = true
	}
	for i, id := range lines {
		if has[id] {
			kept, at = append(kept, id), append(at, i)
		} else {
			changed[i] = true
		}
	}
	return kept, at
}

// differ finds a shortest edit script by divide and conquer (E. Myers, An O(ND)
// Difference Algorithm and Its Variations, 1986): linear space, and time
// proportional to size times difference.
type differ struct {
	a, b               []int // line ids
	aAt, bAt           []int // their line numbers
	aChanged, bChanged []bool
	forward, backward  []int // furthest x on each diagonal, shifted by zero
	zero, limit        int
}

func (d *differ) compare(a0, a1, b0, b1 int) {
	for {
		for a0 < a1 && b0 < b1 && d.a[a0] == d.b[b0] {
			a0++
			b0++
		}
		for a0 < a1 && b0 < b1 && d.a[a1-1] == d.b[b1-1] {
			a1--
			b1--
		}
		if a0 == a1 || b0 == b1 {
			break
		}
		x, y := d.middle(a0, a1, b0, b1)
		d.compare(a0, x, b0, y)
		a0, b0 = x, y
	}
	for ; a0 < a1; a0++ {
		d.aChanged[d.aAt[a0]] = true
	}
	for ; b0 < b1; b0++ {
		d.bChanged[d.bAt[b0]] = true
	}
}

// middle returns a point on a shortest path from (a0,b0) to (a1,b1), or on a good
// one if the search took too long; never one of these corners. Both texts are
// not empty and differ in their first and in their last line.
func (d *differ) middle(a0, a1, b0, b1 int) (x, y int) {
	const unreached = -1
	low, high := a0-b1, a1-b0 // diagonals that exist
	start, goal := a0-b0, a1-b1
	odd := (start-goal)&1 != 0
	fMin, fMax, bMin, bMax := start, start, goal, goal
	d.forward[d.zero+start] = a0
	d.backward[d.zero+goal] = a1
	for cost := 1; ; cost++ {
		fMin, fMax = widen(d.forward, d.zero, fMin, fMax, low, high, unreached)
		for k := fMax; k >= fMin; k -= 2 {
			x := max(d.forward[d.zero+k-1]+1, d.forward[d.zero+k+1])
			for x < a1 && x-k < b1 && d.a[x] == d.b[x-k] {
				x++
			}
			d.forward[d.zero+k] = x
			if odd && k >= bMin && k <= bMax && d.backward[d.zero+k] <= x {
				return x, x - k
			}
		}
		bMin, bMax = widen(d.backward, d.zero, bMin, bMax, low, high, a1+b1+1)
		for k := bMax; k >= bMin; k -= 2 {
			x := min(d.backward[d.zero+k-1], d.backward[d.zero+k+1]-1)
			for x > a0 && x-k > b0 && d.a[x-1] == d.b[x-1-k] {
				x--
			}
			d.backward[d.zero+k] = x
			if !odd && k >= fMin && k <= fMax && x <= d.forward[d.zero+k] {
				return x, x - k
			}
		}
		if cost >= d.limit {
			return d.furthest(a1, b1, fMin, fMax)
		}
	}
}

// widen moves the range of diagonals out by one on both sides, or in where it
// would leave the rectangle, and marks the new borders as not reached.
func widen(v []int, zero, from, to, low, high, unreached int) (int, int) {
	if from > low {
		from--
		v[zero+from-1] = unreached
	} else {
		from++
	}
	if to < high {
		to++
		v[zero+to+1] = unreached
	} else {
		to--
	}
	return from, to
}

// furthest returns the point that the forward search carried furthest.
func (d *differ) furthest(a1, b1, fMin, fMax int) (x, y int) {
	best := -1
	for k := fMax; k >= fMin; k -= 2 {
		fx := min(d.forward[d.zero+k], a1)
		if fx-k > b1 {
			fx = b1 + k
		}
		if fx+fx-k > best {
			best, x, y = fx+fx-k, fx, fx-k
		}
	}
	return x, y
}

// slide moves each run of changed lines down as far as it goes, where git shows
// it, and joins runs that meet. A run may slide over an equal line only while
// the other side has no change at that place.
func slide(lines []int, changed, other []bool) {
	n := len(lines)
	for i, j := 0, 0; i < n; {
		if !changed[i] {
			for other[j] {
				j++
			}
			i++
			j++
			continue
		}
		start := i
		for i < n && changed[i] {
			i++
		}
		for i < n && !other[j] && lines[start] == lines[i] {
			changed[start], changed[i] = false, true
			start++
			i++
			j++
			for i < n && changed[i] {
				i++
			}
		}
		for other[j] {
			j++
		}
		if i < n {
			i++
			j++
		}
	}
}

// hunksOf collects the marked lines; unmarked ones pair up in order.
func hunksOf(aChanged, bChanged []bool, n, m int) []hunk {
	var out []hunk
	for i, j := 0, 0; i < n || j < m; {
		h := hunk{i, i, j, j}
		for i < n && aChanged[i] {
			i++
		}
		for j < m && bChanged[j] {
			j++
		}
		if h.a1, h.b1 = i, j; h.a0 < i || h.b0 < j {
			out = append(out, h)
			continue
		}
		i++
		j++
	}
	return out
}
