package index

import (
	"slices"
	"strings"
)

// phrase finds words side by side, in their order. Positions are costly, so
// they are read only where all the words are.
func (e *evaluation) phrase(c *clause, found []bool) error {
	lists := make([][]posting, len(c.exact))
	seen := make([]uint16, len(e.scores))
	for i, t := range c.exact {
		list, err := e.src.term(fieldExact, t.term, nil)
		if err != nil {
			return err
		}
		for _, p := range list {
			if int(seen[p.doc]) == i {
				seen[p.doc]++
			}
		}
		lists[i] = list
	}
	// Lists come by ascending number, so what is left of them is the same
	// documents in the same order.
	var docs []posting
	for i, t := range c.exact {
		list := slices.DeleteFunc(slices.Clone(lists[i]), func(p posting) bool { return int(seen[p.doc]) < len(c.exact) })
		if err := e.src.places(t.term, list); err != nil {
			return err
		}
		docs = follow(docs, list, int32(t.pos-c.exact[0].pos))
	}
	docs = slices.DeleteFunc(docs, func(p posting) bool { return p.freq == 0 })
	e.add(leafKey{fieldExact, strings.ToLower(c.raw)}, fieldBoost(fieldExact), c, docs, found)
	return nil
}

// follow keeps the beginnings in docs that list, shift places on, continues;
// without docs all of list's places are beginnings.
func follow(docs, list []posting, shift int32) []posting {
	for i := range list {
		p := &list[i]
		starts := make([]int32, len(p.positions))
		for j, at := range p.positions {
			starts[j] = at - shift
		}
		if docs != nil {
			starts = intersect(docs[i].positions, starts)
		}
		p.positions, p.freq = starts, int32(len(starts))
	}
	return list
}

// intersect keeps what two ascending lists share.
func intersect(a, b []int32) []int32 {
	out := a[:0:0]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			out = append(out, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return out
}
