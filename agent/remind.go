package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"stet/agent/remind"
	"stet/agent/route"
	"stet/agent/snapshot"
	"stet/index"
	"stet/vault"
	"stet/vault/session"
)

// RemindOptions are a prompt, and where it was typed.
type RemindOptions struct {
	Prompt string
	// Session is noted to have been shown what is found, and is not shown it again; "" notes nothing.
	Session string
	Agent   string // whose session it is
	// Least is the probability that the likeliest memory must have for any to be shown: up to two others that are
	// near to it, the odds of each at least a twentieth of its, come with it, also those below. 0 is the one that
	// the model was fitted for, negative shows the best in any case.
	Least float64
}

// A Reminder is the memories that a prompt needs, the likeliest first; mostly there are none.
type Reminder struct {
	Memories []Remembered `json:"memories"`
	Text     string       `json:"text"` // the block that an agent is given, "" for none
}

// A Remembered memory.
type Remembered struct {
	snapshot.Item
	Probability float64 `json:"probability"` // that the prompt needs it
}

// The bounds of a reminder: it comes with every prompt, and what is not needed costs attention.
const (
	mostCandidates  = 24
	excerptEach     = 330  // characters of one memory
	excerptTogether = 1200 // characters of the block
)

// Remind finds the memories that a prompt needs: at most three, together at most 1,200 characters, none that is
// private, replaced or not valid now, and each once a session. It asks no model. It fails with
// [vault.ErrRefused] for another agent's session, and as the vault and the index do.
func (m Memories) Remind(ctx context.Context, o RemindOptions) (*Reminder, error) {
	a := m.a
	if o.Session != "" {
		var err error
		if o.Session, err = a.noting(ctx, o.Agent, o.Session); err != nil {
			return nil, err
		}
	}
	if o.Least == 0 {
		o.Least = remind.Least()
	}
	x, err := a.openIndex(false, nil)
	if err != nil {
		return nil, err
	}
	f := &reminding{a: a, x: x, r: remind.NewReader(x.Language()), o: o}
	out := &Reminder{Memories: []Remembered{}}
	found, err := f.find(ctx)
	if err != nil || len(found) == 0 {
		return out, err
	}
	block, err := snapshot.Excerpts(ctx, a.v, f.standing(ctx, found), a.o.Now().UTC(), excerptEach, excerptTogether)
	if err != nil {
		return nil, err
	}
	out.Text = block.Text
	for _, item := range block.Items {
		k := slices.IndexFunc(found, func(c candidate) bool { return c.Path == item.Path })
		out.Memories = append(out.Memories, Remembered{item, found[k].needs})
	}
	return out, f.note(ctx, out.Memories)
}

// A reminding is one under way.
type reminding struct {
	a *App
	x *index.Index
	r *remind.Reader
	o RemindOptions
}

// A candidate is a memory, and the probability that the prompt needs it.
type candidate struct {
	vault.Memory
	needs float64
}

// find lists what to show, the likeliest first.
func (f *reminding) find(ctx context.Context) ([]candidate, error) {
	prompt := f.r.Prompt(f.o.Prompt)
	counts, err := f.count(ctx, prompt.Stems())
	if err != nil {
		return nil, err
	}
	var all []candidate
	var read []*remind.Memory
	stems := prompt.Stems()
	for _, query := range prompt.Queries(counts) {
		paths, err := f.x.Nearby(ctx, query, mostCandidates)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			if slices.ContainsFunc(all, func(c candidate) bool { return c.Path == p }) {
				continue
			}
			data, _, err := f.a.v.ReadFile(p)
			if err != nil {
				continue // it went, or is withheld
			}
			m := vault.ReadMemory(p, data)
			if m.Private || m.SupersededBy != "" || !m.Valid(f.a.o.Now()) {
				continue
			}
			read = append(read, f.r.Memory(m.Name(), string(m.Body)))
			stems = append(stems, read[len(read)-1].Stems()...)
			all = append(all, candidate{Memory: m})
		}
	}
	if counts, err = f.count(ctx, stems); err != nil {
		return nil, err
	}
	needs := prompt.Needs(read, counts)
	for i := range all {
		all[i].needs = needs[i]
	}
	return f.choose(all)
}

// choose leaves out what the session was shown, and what is not likely enough.
func (f *reminding) choose(all []candidate) (out []candidate, err error) {
	if all, err = f.unseen(all); err != nil {
		return nil, err
	}
	var needs []float64
	for _, c := range all {
		needs = append(needs, c.needs)
	}
	for _, i := range remind.Choose(needs, f.o.Least) {
		out = append(out, all[i])
	}
	return out, nil
}

// count counts the files that have words, once the index knows them.
func (f *reminding) count(ctx context.Context, stems []string) (remind.Counts, error) {
	slices.Sort(stems)
	stems = slices.Compact(stems)
	having, files, err := f.x.Having(ctx, stems)
	if err != nil && ctx.Err() == nil { // there is no index yet, or none to be used
		if _, err = f.x.CatchUp(ctx); err == nil {
			having, files, err = f.x.Having(ctx, stems)
		}
	}
	return remind.Counts{Files: files, Having: having}, err
}

// standing is what a block says beside the texts of memories.
func (f *reminding) standing(ctx context.Context, found []candidate) (out []index.Standing) {
	for _, c := range found {
		s := index.Standing{Path: c.Path, Importance: c.Importance, Updated: c.Updated,
			Pinned: c.Pinned}
		if c.ID != "" {
			s.DoubtedBy = f.x.Doubted(ctx, c.ID)
		}
		out = append(out, s)
	}
	return out
}

const remindedName = "reminded-"

func (f *reminding) mark() string {
	return remindedName + session.KeyOf(f.a.v, f.o.Agent, f.o.Session)
}

// unseen leaves out what the session was shown.
func (f *reminding) unseen(found []candidate) ([]candidate, error) {
	if f.o.Session == "" {
		return found, nil
	}
	data, err := f.a.v.State().Seen(f.mark())
	var shown []string
	if json.Unmarshal(data, &shown) != nil {
		shown = nil
	}
	return slices.DeleteFunc(found, func(c candidate) bool { return slices.Contains(shown, nameIn(c.ID, c.Path)) }), err
}

func nameIn(id string, p vault.Path) string {
	if id != "" {
		return id
	}
	return string(p)
}

// note notes what the session is about to be shown.
func (f *reminding) note(ctx context.Context, shown []Remembered) error {
	if f.o.Session == "" || len(shown) == 0 {
		return nil
	}
	return f.a.v.State().SetSeen(ctx, f.mark(), func(now []byte) ([]byte, error) {
		var all []string
		if json.Unmarshal(now, &all) != nil {
			all = nil
		}
		for _, m := range shown {
			all = append(all, nameIn(m.ID, m.Path))
		}
		return json.Marshal(all)
	})
}

// hint is what a model is given where a turn reads like something to keep.
func (h Hooks) hint(o HookOptions, text string) []string {
	for _, found := range route.Turn(text) {
		if found.Asked || found.Confidence >= route.Likely {
			return []string{fmt.Sprintf("This turn may hold something to keep: if it does, save it with memory_save, "+
				"session %q.", o.Session)}
		}
	}
	return nil
}
