package curator

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"stet/curator/fork"
	"stet/curator/merge"
)

// inTurn puts those clusters first about which a model was not asked for the longest time, in this clone, so that none
// waits for others that fail each time. key names a cluster: a skill, or the file of a memory.
func (r *runner) inTurn(found []fork.Cluster, key func(fork.Cluster) string) {
	asked := readMark(r.v).Asked
	slices.SortStableFunc(found, func(a, b fork.Cluster) int { return asked[key(a)].Compare(asked[key(b)]) })
}

// noteAsked notes about which of the clusters of a job a model was asked: all of them, but where it came to an end
// before it called the tool for some. What is noted of clusters that are no more is forgotten. Where that fails the
// report says so, and what the model did counts: turns are advice.
func (r *runner) noteAsked(ctx context.Context, found []fork.Cluster, job fork.Job, result fork.Result,
	key func(fork.Cluster) string) {
	called := touched(result)
	seen := func(c fork.Cluster) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool { return called[name] })
	}
	all := result.Ended == fork.Done || !slices.ContainsFunc(job.Clusters, seen)
	err := setMark(ctx, r.v, func(m *mark) {
		now := map[string]time.Time{}
		for at, when := range m.Asked {
			if strings.Contains(at, "/") != job.Memories { // those of the other kind
				now[at] = when
			}
		}
		for _, c := range found {
			if when, ok := m.Asked[key(c)]; ok {
				now[key(c)] = when
			}
		}
		for _, c := range job.Clusters {
			if all || seen(c) {
				now[key(c)] = r.begun
			}
		}
		m.Asked = now
	})
	if err != nil {
		r.out.leave("turns of the model", err)
	}
}

// touched are the names that the calls of a model have.
func touched(result fork.Result) map[string]bool {
	out := map[string]bool{}
	for _, c := range result.Calls {
		var in struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(c.Arguments, &in) == nil {
			out[in.Name] = true
		}
	}
	return out
}

// A refusal is why what a model made of a cluster of skills was not done.
type refusal struct {
	Names []string `json:"names"`
	Why   []string `json:"why"`
}

// What is kept of refusals, in bytes.
const (
	maxWhy     = 1500 // of one
	maxRefusal = 4000 // of those of a cluster
)

// noteRefused keeps why what a model made of the clusters of a job was not done, for the next model that is asked about
// the same skills. What the model did not touch stays as it was noted.
func (r *runner) noteRefused(ctx context.Context, found []fork.Cluster, job fork.Job, plan merge.Plan) {
	made := slices.Concat(plan.Consolidated, plan.Pruned)
	if !slices.ContainsFunc(made, func(v merge.Verdict) bool { return v.Veto != "" }) && readMark(r.v).Refused == nil {
		return
	}
	err := setMark(ctx, r.v, func(m *mark) {
		now := map[string]refusal{}
		for key, was := range m.Refused {
			if slices.ContainsFunc(found, func(c fork.Cluster) bool { return was.of(c.Names) }) {
				now[key] = was
			}
		}
		for _, c := range job.Clusters {
			why, size, judged := []string{}, 0, false
			for _, v := range made {
				if !slices.Contains(c.Names, v.Name) {
					continue
				}
				judged = true
				one := v.Veto[:min(len(v.Veto), maxWhy)]
				if one = strings.ToValidUTF8(one, ""); one == "" || slices.Contains(why, one) ||
					size+len(one) > maxRefusal || len(r.v.Secrets(r.out.Path(), []byte(one))) > 0 {
					continue
				}
				why, size = append(why, one), size+len(one)
			}
			if judged {
				maps.DeleteFunc(now, func(_ string, was refusal) bool { return was.of(c.Names) })
			}
			if len(why) > 0 {
				now[firstName(c)] = refusal{c.Names, why}
			}
		}
		m.Refused = now
	})
	if err != nil {
		r.out.leave("refusals for the model", err)
	}
}

// refused is why what a model made of these skills, or of two of them, was not done before.
func (m mark) refused(names []string) (why []string) {
	for _, key := range slices.Sorted(maps.Keys(m.Refused)) {
		if was := m.Refused[key]; was.of(names) {
			why = append(why, was.Why...)
		}
	}
	return why
}

// of reports whether a refusal is about a cluster: they have two skills in common. A cluster grows from run to run.
func (f refusal) of(names []string) bool {
	common := 0
	for _, n := range f.Names {
		if slices.Contains(names, n) {
			common++
		}
	}
	return common > 1
}

// firstName is how a cluster of skills is known from run to run: no skill is in two.
func firstName(c fork.Cluster) string { return c.Names[0] }

// firstPath is how one of memories is.
func (g *gathering) firstPath(c fork.Cluster) string { return string(g.notes[c.Names[0]].Path) }
