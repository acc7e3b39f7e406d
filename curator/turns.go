package curator

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stet/curator/fork"
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
	touched := map[string]bool{}
	for _, c := range result.Calls {
		var in struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(c.Arguments, &in) == nil {
			touched[in.Name] = true
		}
	}
	seen := func(c fork.Cluster) bool {
		return slices.ContainsFunc(c.Names, func(name string) bool { return touched[name] })
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

// firstName is how a cluster of skills is known from run to run: no skill is in two.
func firstName(c fork.Cluster) string { return c.Names[0] }

// firstPath is how one of memories is.
func (g *gathering) firstPath(c fork.Cluster) string { return string(g.notes[c.Names[0]].Path) }
