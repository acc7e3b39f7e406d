package curator

import (
	"fmt"
	"strings"

	"stet/agent"
)

// Summary is the run in one line.
func (r *Report) Summary() string {
	var parts []string
	memories := "memories archived"
	if len(r.Memories.Archived) == 1 {
		memories = "memory archived"
	}
	auto := r.AutoTransitions
	for _, n := range []struct {
		n    int
		what string
	}{{auto.Archived, "archived"}, {auto.MarkedStale, "stale"}, {auto.Reactivated, "active again"}} {
		switch {
		case n.n > 0 && len(parts) == 0:
			parts = append(parts, agent.Plural(n.n, "skill")+" "+n.what)
		case n.n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	umbrellas, skills := r.umbrellas()
	for _, n := range []struct {
		n    int
		what string
	}{{umbrellas, skills}, {r.Counts.Pruned, "pruned"}, {len(r.Memories.Archived), memories},
		{len(r.Memories.Moved), "moved out of a notebook"}, {r.Memories.merged(), "memories merged"},
		{len(r.Proposed), "proposed"}, {len(r.Left), "left"}} {
		if n.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if r.LLMError+r.Memories.LLMError != "" {
		parts = append(parts, "the work of the model ended early")
	}
	refused := r.refusals()
	switch asked := r.Model+r.Memories.Model != ""; {
	case len(parts) > 0:
		parts = append(parts, refused...)
	case len(refused) > 0:
		parts = []string{"nothing done: " + strings.Join(refused, ", ")}
	case asked:
		parts = []string{"nothing done: the model merged nothing"}
	default:
		parts = []string{"nothing to do"}
	}
	if r.Interrupted {
		parts = append(parts, "interrupted")
	}
	return strings.Join(parts, ", ")
}

// refusals count what a model did and the curator did not.
func (r *Report) refusals() (out []string) {
	built, whole, rest, pruned := map[string]bool{}, map[string]bool{}, 0, 0
	for _, a := range r.Consolidated {
		built[a.Into] = built[a.Into] || a.Applied
	}
	for _, a := range r.Refused() {
		switch {
		case a.Veto == waits:
		case a.Into == "":
			pruned++
		case built[a.Into]:
			rest++
		default:
			whole[a.Into] = true
		}
	}
	count := func(n int, what string) {
		if n > 0 {
			out = append(out, agent.Plural(n, what)+" refused")
		}
	}
	count(len(whole), "umbrella")
	count(rest, "more skill")
	count(pruned, "pruning")
	return out
}
