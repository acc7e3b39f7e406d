package curator

import (
	"fmt"
	"slices"

	"stet/curator/fork"
	"stet/templates"
)

// parted are clusters of which each can be shown to a model: one that is too long becomes several, in the order of its
// names. size are the bytes of the SKILL.md of skills. What finds no other then is in alone, with why.
func parted(found []fork.Cluster, size map[string]int) (out, alone []fork.Cluster) {
	for _, c := range found {
		whole := c
		whole.Names = nil
		n := 0
		add := func() {
			if len(whole.Names) > 1 {
				out = append(out, whole)
			} else if len(whole.Names) == 1 {
				whole.Note = fmt.Sprintf("with the others it is more than the %s that a model is shown",
					templates.Plural(maxAsked, "byte"))
				alone = append(alone, whole)
			}
			whole.Names, n = nil, 0
		}
		for _, name := range c.Names {
			if n += size[name]; n > maxAsked {
				add()
				n = size[name]
			}
			whole.Names = append(whole.Names, name)
		}
		add()
	}
	return out, alone
}

// suggested leaves of the skills that could be merged those that still can, and says why they were not.
func (t *second) suggested(job fork.Job, result fork.Result) {
	made := slices.Concat(t.out.Consolidated, t.out.Pruned)
	is := func(name string, applied bool) bool {
		return slices.ContainsFunc(made, func(a Absorbed) bool { return a.Name == name && a.Applied == applied })
	}
	called := touched(result)
	var out []fork.Cluster
	for _, c := range t.out.Suggested {
		some := func(which func(string) bool) bool { return slices.ContainsFunc(c.Names, which) }
		merged := some(func(name string) bool { return is(name, true) })
		asked := slices.ContainsFunc(job.Clusters, func(one fork.Cluster) bool {
			return slices.Contains(c.Names, one.Names[0])
		})
		switch {
		case c.Note != "":
		case some(func(name string) bool { return is(name, false) }):
			c.Note = "what the model made of them was not done: see above"
		case merged:
			c.Note = "the others went into an umbrella"
		case asked && (result.Ended == fork.Done || some(func(name string) bool { return called[name] })):
			c.Note = "the model left them as they are"
		case asked:
			c.Note = "the work of the model ended before it came to them"
		default:
			c.Note = "the model was not asked: a later run comes to them"
		}
		c.Names = slices.DeleteFunc(slices.Clone(c.Names), func(name string) bool { return is(name, true) })
		if len(c.Names) > 1 || len(c.Names) == 1 && !merged {
			out = append(out, c)
		}
	}
	t.out.Suggested = out
}
