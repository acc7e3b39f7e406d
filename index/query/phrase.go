package query

import (
	"slices"
	"strings"

	"stet/index/document"
)

// phrase finds words side by side, in their order. Positions are costly, so
// they are read only where all the words are.
func (e *Evaluation) phrase(c *clause, found []bool) error {
	lists := make([][]document.Posting, len(c.exact))
	seen := make([]uint16, len(e.scores))
	for i, t := range c.exact {
		list, err := e.src.Term(document.FieldExact, t.Term, nil)
		if err != nil {
			return err
		}
		for _, p := range list {
			if int(seen[p.Doc]) == i {
				seen[p.Doc]++
			}
		}
		lists[i] = list
	}
	// Lists come by ascending number, so what is left of them is the same
	// documents in the same order.
	var docs []document.Posting
	for i, t := range c.exact {
		list := slices.DeleteFunc(slices.Clone(lists[i]), func(p document.Posting) bool { return int(seen[p.Doc]) < len(c.exact) })
		if err := e.src.Places(t.Term, list); err != nil {
			return err
		}
		docs = follow(docs, list, int32(t.Pos-c.exact[0].Pos))
	}
	docs = slices.DeleteFunc(docs, func(p document.Posting) bool { return p.Freq == 0 })
	e.add(leafKey{document.FieldExact, strings.ToLower(c.raw)}, fieldBoost(document.FieldExact), c, docs, found)
	return nil
}

// follow keeps the beginnings in docs that list, shift places on, continues;
// without docs all of list's places are beginnings.
func follow(docs, list []document.Posting, shift int32) []document.Posting {
	for i := range list {
		p := &list[i]
		starts := make([]int32, len(p.Positions))
		for j, at := range p.Positions {
			starts[j] = at - shift
		}
		if docs != nil {
			starts = intersect(docs[i].Positions, starts)
		}
		p.Positions, p.Freq = starts, int32(len(starts))
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
