package llm

import (
	"cmp"
	"slices"
	"strings"
)

// A Total is what several calls have used up together.
type Total struct {
	Name  string
	Calls int
	// Failed and Unfinished are among the calls; the latter belong to processes
	// that were killed or are at work, and count with the most they can cost.
	Failed, Unfinished int
	Usage              Usage
}

// The ways to sum calls up.
const (
	ByTask  = "task"
	ByModel = "model"
	ByDay   = "day" // UTC
)

// Sum groups calls, days in their order and everything else by cost and name,
// the dearest first.
func Sum(calls []Entry, by string) []Total {
	at, out := map[string]int{}, []Total{}
	for _, e := range calls {
		name := e.Model
		switch by {
		case ByTask:
			name = e.Task
		case ByDay:
			name = dayOf(e.At)
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, Total{Name: name})
		}
		out[i].add(e)
	}
	slices.SortFunc(out, func(a, b Total) int {
		if by == ByDay {
			return strings.Compare(a.Name, b.Name)
		}
		return cmp.Or(cmp.Compare(b.Usage.USD, a.Usage.USD), strings.Compare(a.Name, b.Name))
	})
	return out
}

// SumAll is the total of all calls.
func SumAll(calls []Entry) Total {
	t := Total{Name: "total"}
	for _, e := range calls {
		t.add(e)
	}
	return t
}

func (t *Total) add(e Entry) {
	t.Calls++
	switch e.State {
	case Failed:
		t.Failed++
	case Asked:
		t.Unfinished++
	}
	t.Usage = t.Usage.Plus(Usage{e.Input, e.Output, e.CacheRead, e.CacheWrite, e.Guessed, e.USD, e.Status})
}
