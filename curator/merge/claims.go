package merge

import (
	"maps"
	"slices"
)

// claims lists what the model says, or did, of which nothing is done.
func (j *judging) claims(block Block, removed []string) {
	add := func(name, claimed, done string) { j.plan.Claims = append(j.plan.Claims, Claim{name, claimed, done}) }
	if block.Problem != "" && len(j.plan.Calls) > 0 {
		add("", "an account of what was done", block.Problem)
	}
	into := map[string]string{}
	for _, v := range slices.Concat(j.plan.Consolidated, j.plan.Pruned) {
		into[v.Name] = v.Into
	}
	for _, c := range block.Consolidations {
		switch at, was := into[c.From]; {
		case !slices.Contains(removed, c.From):
			add(c.From, "went into "+c.Into, "it was not removed")
		case was && at == "":
			add(c.From, "went into "+c.Into, "it went into none")
		case at != c.Into:
			add(c.From, "went into "+c.Into, "it went into "+at)
		}
	}
	for _, p := range block.Prunings {
		if at := into[p.Name]; !slices.Contains(removed, p.Name) {
			add(p.Name, "pruned", "it was not removed")
		} else if at != "" {
			add(p.Name, "pruned", "it went into "+at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.after)) {
		s, was := j.after[name], j.before[name]
		used := slices.ContainsFunc(j.plan.Merges, func(m Merge) bool { return m.Umbrella.Name == name })
		if !maps.EqualFunc(s.Files, was.Files, same) && !used {
			did := "changed"
			if was.Files == nil {
				did = "made"
			}
			add(name, "the model "+did+" it", "the curator did not, because nothing went into it")
		}
	}
}
