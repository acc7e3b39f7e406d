package curator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/curator/fork"
	"stet/curator/merge"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/skill"
	"stet/vault/tombstone"
)

const longScope = 40 // memories, above which not only those of one scope that say nearly the same may be one
const nearly = .5    // of the words of two memories both have, where they say nearly the same

// A gathered memory may become one with others.
type gathered struct {
	vault.Memory
	name   string // that a model is told
	title  string // of its own
	author string // who wrote it first
}

// A gathering is the memories that may be one, as one commit has them.
type gathering struct {
	*runner
	base     vault.Revision
	at       *vault.Snapshot
	notes    map[string]gathered // those of clusters, by name
	clusters []fork.Cluster
}

// secondTier makes the second tier of skills, and of memories where that is due, or that alone.
func (r *runner) secondTier(ctx context.Context) (failed, err error) {
	if !r.notes {
		failed, err = r.consolidate(ctx)
	}
	if failed == nil && err == nil && r.o.Memories {
		return r.mergeMemories(ctx)
	}
	return failed, err
}

// mergeMemories makes the second tier of memories as [runner.consolidate] does that of skills. Where writes of machines
// wait for the person it only says which memories may be one.
func (r *runner) mergeMemories(ctx context.Context) (failed, err error) {
	g, failed := r.gather(ctx)
	if failed != nil || len(g.clusters) == 0 {
		return failed, nil
	}
	out, s := &r.out.Memories.Merging, r.a.Settings()
	for _, c := range g.clusters {
		out.Suggested = append(out.Suggested, fork.Cluster{Names: g.paths(c.Names), Why: c.Why})
	}
	waits := s.Text(settings.WriteApproval) == "stage" || s.Text(settings.SkillApproval) == "stage"
	r.inTurn(g.clusters, g.firstPath)
	job, ok := g.job()
	if r.o.Runner == nil || r.o.DryRun || waits || !ok {
		return nil, nil
	}
	result, failed := r.ask(ctx, job)
	r.noteAsked(ctx, g.clusters, job, result, g.firstPath)
	told := emptyReport(r.out.Run, r.begun)
	told.asked(result, failed)
	ctx = context.WithoutCancel(ctx) // what the model did is told whoever stops it
	j := &joining{gathering: g, now: map[vault.Path]vault.Hash{}, texts: map[string]string{}}
	if failed == nil {
		var now *gathering
		if now, failed = r.gather(ctx); failed == nil {
			for _, n := range now.notes {
				j.now[n.Path] = n.Hash
			}
		}
	}
	plan := merge.Judge(j.judging(job, result))
	told.judged(plan, job)
	told.redact(r.v)
	out.take(told, g)
	if failed == nil {
		r.view, r.clone = g.at, "" // how often skills were used was shared before
		failed = r.do(ctx, j.jobs(plan), r.noteMerges)
	}
	if r.unsure {
		return nil, failed
	}
	if failed != nil {
		return fmt.Errorf("merge memories: %w", failed), nil
	}
	return nil, nil
}

// gather finds the memories that may be one: agents' alone, of one place, with nothing in them that one memory of all
// could not have. Cost: one read of each, and the history of those that are alike.
func (r *runner) gather(ctx context.Context) (*gathering, error) {
	g := &gathering{runner: r, notes: map[string]gathered{}}
	n, _, err := listNotes(ctx, r.v, r.begun)
	if err == nil {
		g.base, err = r.v.Head()
	}
	if err == nil {
		g.at, err = r.v.Whole().History().View(ctx, string(g.base))
	}
	if err != nil {
		return nil, err
	}
	scopes, groups := map[string]int{}, map[string][]fork.Skill{}
	for i, m := range n.files {
		scopes[m.Scope]++
		if m.ID == "" || n.rows[i].Linked || len(bytes.TrimSpace(m.Body)) == 0 {
			continue
		}
		groups[place(m)] = append(groups[place(m)], asSkill(fmt.Sprint("n-", i), m))
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		scope, _, _ := strings.Cut(key, "\x00")
		for _, c := range merge.Clusters(groups[key]) {
			if scopes[scope] <= longScope {
				c.Names = alike(c.Names, groups[key])
			}
			if c.Names, err = g.free(ctx, n, c.Names); err != nil {
				return nil, err
			}
			if len(c.Names) > 1 {
				g.clusters = append(g.clusters, c)
			}
		}
	}
	return g, nil
}

// place is what memories that become one have in common: scope, kind, title and time.
func place(m vault.Memory) string {
	return strings.Join([]string{m.Scope, m.Kind, m.Title, m.ValidFrom.String(), m.ValidUntil.String()}, "\x00")
}

// asSkill is a memory as the tool of the model has it.
func asSkill(name string, m vault.Memory) fork.Skill {
	text := fmt.Sprintf("---\nname: %s\n---\n%s", name, m.Body)
	return fork.Skill{Name: name, Folder: vault.Path("skills/" + name),
		Files: map[string]fork.File{skill.File: {Data: []byte(text)}}}
}

// alike are those of the names whose memories say nearly what another one of them says.
func alike(names []string, all []fork.Skill) (out []string) {
	words := map[string]map[string]bool{}
	for _, s := range all {
		words[s.Name] = map[string]bool{}
		for w := range strings.FieldsSeq(markdown.Fold(string(markdown.Parse(s.Files[skill.File].Data).Body()))) {
			words[s.Name][strings.Trim(w, ".,;:!?()\"'`")] = true
		}
	}
	for _, a := range names {
		if slices.ContainsFunc(names, func(b string) bool {
			return a != b && tombstone.Jaccard(words[a], words[b]) >= nearly
		}) {
			out = append(out, a)
		}
	}
	return out
}

// kept are the keys of front matter that a memory which others became can have as well.
func kept(key string) bool {
	return slices.Contains([]string{"id", "kind", "categories", "importance", "created", "updated", "source", "title",
		"valid_from", "valid_until", "classified_by"}, key)
}

// free notes which of the names are memories that agents alone wrote, as they are on disk, that nobody took back and
// nothing leads to.
func (g *gathering) free(ctx context.Context, n *notes, names []string) (out []string, _ error) {
	for _, name := range names {
		var i int
		if _, err := fmt.Sscanf(name, "n-%d", &i); err != nil {
			return nil, err
		}
		m, row := n.files[i], &n.rows[i]
		data, hash, err := g.at.Read(m.Path)
		if err != nil {
			return nil, err
		}
		doc := markdown.Parse(data)
		if hash != m.Hash || slices.ContainsFunc(doc.Keys(), func(key string) bool { return !kept(key) }) {
			continue
		}
		if err := n.look(ctx, g.v, i); err != nil {
			return nil, err
		}
		if !row.Person && !row.Linked && !row.Kept && !row.Since.IsZero() {
			title, _ := doc.Meta("title")
			g.notes[name] = gathered{m, name, title.Text(), row.Author}
			out = append(out, name)
		}
	}
	return out, nil
}

func (g *gathering) paths(names []string) (out []string) {
	for _, name := range names {
		out = append(out, string(g.notes[name].Path))
	}
	return out
}

// job is what a model is asked: the clusters that fit. ok says that there are some, and that the model may still be
// used.
func (g *gathering) job() (job fork.Job, ok bool) {
	b, used, spent := g.bounds(), g.out.TokenUsage, false
	b.MaxTokens -= used.Input + used.Output
	b.MaxMinutes -= int(g.a.Now().Sub(g.begun) / time.Minute)
	if b.MaxUSD > 0 {
		b.MaxUSD -= g.out.Cost
		spent = b.MaxUSD <= 0
	}
	if spent || b.MaxTokens <= 0 || b.MaxMinutes <= 0 {
		return job, false
	}
	job = fork.Job{Version: fork.Version, Run: g.out.Run, Base: g.base, Bounds: b, Memories: true}
	room := maxAsked
	for _, c := range g.clusters {
		size := 0
		for _, name := range c.Names {
			size += len(g.notes[name].Body)
		}
		if size > room {
			continue
		}
		room -= size
		job.Clusters = append(job.Clusters, c)
		for _, name := range c.Names {
			job.Skills = append(job.Skills, asSkill(name, g.notes[name].Memory))
		}
	}
	slices.SortFunc(job.Skills, func(a, b fork.Skill) int { return strings.Compare(a.Name, b.Name) })
	return job, len(job.Clusters) > 0
}

// jobs are the merges of a plan, each one commit.
func (j *joining) jobs(plan merge.Plan) (out []job) {
	for _, m := range plan.Merges {
		var all []gathered
		for _, s := range m.Absorbed {
			all = append(all, j.notes[s.Name])
		}
		slices.SortStableFunc(all, func(a, b gathered) int { return a.Created.Compare(b.Created) })
		now := markdown.FirstWords([]byte(j.texts[m.Umbrella.Name]), 8)
		why := j.why(vault.OpMerge, templates.Plural(len(all), "memory", "memories")+" into one: "+now)
		for _, n := range all {
			why.Trail("Supersedes", n.ID)
		}
		var into vault.Path
		at := map[string]vault.Path{} // where each went, by name
		stage := func(_ context.Context, tx *vault.Tx) error {
			for _, n := range all {
				if err := j.asCommitted(tx, n.Path); err != nil {
					return fmt.Errorf("%s: %w", n.Path, err)
				}
				if err := tx.Archive(n.Memory, false); err != nil {
					return err
				}
				moved := tx.Why().Moved
				at[n.name] = moved[len(moved)-1][1]
			}
			made, err := tx.Remember([]vault.Note{one(all, j.texts[m.Umbrella.Name])})
			if err != nil {
				return err
			}
			if into = made[0].Path; into.Dir() != all[0].Path.Dir() { // links in it would lead elsewhere
				return fmt.Errorf("%q: %w: stet makes no folder of that name", all[0].Path.Dir(), vault.ErrInvalid)
			}
			return nil
		}
		out = append(out, job{name: string(all[0].Path), own: &why, stage: stage, tell: func(by vault.Revision) {
			for i := range j.out.Memories.Consolidated {
				a := &j.out.Memories.Consolidated[i]
				if to, did := at[a.Name]; did {
					a.Applied, a.Veto, a.Into, a.To, a.Commit = true, "", string(into), to, by
				}
			}
		}})
	}
	return out
}

// one is the memory that others become, the oldest first. Dates and sources of all of them stay in it.
func one(all []gathered, text string) vault.Note {
	first := all[0]
	n := vault.Note{Text: text, Title: first.title, Scope: first.Scope, Kind: first.Kind, Source: first.Source,
		Created: first.Created}
	var ids, sources []string
	for _, m := range all {
		ids, n.Categories = append(ids, m.ID), append(n.Categories, m.Categories...)
		sources = append(sources, strings.TrimSpace(m.Created.UTC().Format(time.RFC3339)+" "+m.Source))
		if m.Importance != nil && (n.Importance == nil || *m.Importance > *n.Importance) {
			n.Importance = m.Importance
		}
	}
	n.Meta = []vault.KeyValue{{Key: "supersedes", Value: markdown.Strings(ids)},
		{Key: "sources", Value: markdown.Strings(sources)}}
	for key, at := range map[string]time.Time{"valid_from": first.ValidFrom, "valid_until": first.ValidUntil} {
		if !at.IsZero() {
			n.Meta = append(n.Meta, vault.KeyValue{Key: key, Value: markdown.Time(at)})
		}
	}
	return n
}

// noteMerges writes down which memories became one.
func (r *runner) noteMerges(ctx context.Context, jobs []job, done *vault.Result) error {
	own := r.ownCommits(done)
	r.own = append(r.own, own...)
	r.a.Settle(ctx, done)
	for i, j := range jobs {
		j.tell(own[i].Rev)
	}
	r.out.Commits = nil
	err := r.out.list(ctx, r.v, r.own, false)
	r.unsure = err != nil // then the next run tells of it
	return err
}

// Merging is what a model did to memories, in the words of a [Report].
type Merging struct {
	Model      string      `json:"model,omitempty"`
	Provider   string      `json:"provider,omitempty"`
	ToolCalls  []fork.Call `json:"tool_calls,omitempty"`
	LLMSummary string      `json:"llm_summary,omitempty"`
	LLMFinal   string      `json:"llm_final,omitempty"`
	LLMError   string      `json:"llm_error,omitempty"`
	TokenUsage fork.Usage  `json:"token_usage,omitzero"`
	Cost       float64     `json:"cost,omitempty"`
	// Consolidated are memories by the names that the model was told; from and to are their files.
	Consolidated []Absorbed       `json:"consolidated,omitempty"`
	Pruned       []Absorbed       `json:"pruned,omitempty"` // none of it is done
	Coverage     []merge.Coverage `json:"coverage,omitempty"`
	Claims       []merge.Claim    `json:"claims,omitempty"`
	Suggested    []fork.Cluster   `json:"suggested,omitempty"` // memories that may be one, by their files
}

// nameLike finds whole words and paths: a name that a model was told may stand in another word.
var nameLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\pN_./-]*[\pL\pN_-]`) })

// take takes over what is told of a model.
func (m *Merging) take(r *Report, g *gathering) {
	m.Model, m.Provider, m.ToolCalls, m.TokenUsage, m.Cost = r.Model, r.Provider, r.ToolCalls, r.TokenUsage, r.Cost
	m.LLMSummary, m.LLMFinal, m.LLMError = r.LLMSummary, r.LLMFinal, r.LLMError
	m.Consolidated, m.Pruned, m.Coverage, m.Claims = r.Consolidated, r.Pruned, r.Coverage, r.Claims
	asFile := func(word string) string { return cmp.Or(string(g.notes[word].Path), word) }
	for _, list := range [][]Absorbed{m.Consolidated, m.Pruned} {
		for i := range list {
			list[i].From = g.notes[list[i].Name].Path
			list[i].Veto = nameLike().ReplaceAllStringFunc(list[i].Veto, asFile)
		}
	}
}

// recover notes which memories became one in a commit of a run that could not report it.
func (m *Merging) recover(c vault.Commit) {
	var into vault.Path
	for _, ch := range c.Changes {
		if ch.From == "" && vault.ClassOf(ch.Path) == vault.ClassMemory {
			into = ch.Path
		}
	}
	for _, ch := range c.Changes {
		if vault.ClassOf(ch.From) == vault.ClassMemory {
			m.Consolidated = append(m.Consolidated, Absorbed{From: ch.From, To: ch.Path, Commit: c.Rev,
				Verdict: merge.Verdict{Applied: true, Class: merge.Class{Name: ch.From.Base(), Into: string(into),
					Source: "the commit"}}})
		}
	}
}

// asks reports whether a model was asked, or was to be.
func (r *Report) asks() bool {
	return r.Model+r.LLMError+r.Memories.Model+r.Memories.LLMError != ""
}

// Refused are the memories that a model took away and that stand where they did.
func (m *Merging) Refused() []Absorbed {
	return (&Report{Consolidated: m.Consolidated, Pruned: m.Pruned}).Refused()
}

// Denied says why calls of the model were refused, as [Report.Denied].
func (m *Merging) Denied() []string { return (&Report{ToolCalls: m.ToolCalls}).Denied() }

// merged counts the memories that became one with others.
func (m *Merging) merged() int { return len(m.Consolidated) + len(m.Pruned) - len(m.Refused()) }
