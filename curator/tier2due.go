package curator

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"stet/vault"
	"stet/vault/settings"
)

// merges says whether a run has the second tier, and sets Memories where that has memories: where it is asked for,
// and else after curator.consolidate_hours. By itself the curator makes it with a model alone, and the first one is
// deferred for an interval.
func (r *runner) merges(ctx context.Context) (bool, error) {
	s := r.a.Settings()
	memories, every := s.Bool(settings.CuratorNotes), hours(s, settings.CuratorMerge)
	r.notes = r.o.Memories && !r.o.Consolidate && r.o.Tier != 2
	switch {
	case r.o.Consolidate || r.o.Memories || r.o.Tier == 2:
		r.o.Memories = r.o.Memories || memories
		return true, nil
	case r.o.Tier == 1 || r.o.Runner == nil:
		return false, nil
	}
	at, err := lastMerge(ctx, r.v, r.begun, false)
	if err != nil || r.o.DryRun && at.IsZero() {
		return false, err
	}
	if at.IsZero() {
		return false, r.merged(ctx)
	}
	if r.begun.Sub(at) < every || !memories {
		return r.begun.Sub(at) >= every, nil
	}
	at, err = lastMerge(ctx, r.v, r.begun, true)
	r.o.Memories = r.begun.Sub(at) >= every
	return true, err
}

// merged notes that the second tier of skills is made now. It is noted before the model is asked: a crash is no reason
// to ask again at once. A run that a person asked for goes on without.
func (r *runner) merged(ctx context.Context) error {
	if r.o.Runner == nil || r.o.DryRun || r.notes {
		return nil
	}
	err := setMark(ctx, r.v, func(m *mark) { m.Merged = r.begun })
	if !r.o.due && ctx.Err() == nil {
		err = nil
	}
	return err
}

// lastMerge is when a model was asked last about skills, or about memories, in this clone or in one whose reports came
// here; zero is never.
func lastMerge(ctx context.Context, v *vault.Vault, now time.Time, memories bool) (at time.Time, _ error) {
	if !memories {
		at = readMark(v).Merged
	}
	all, err := runs(ctx, v)
	for _, id := range slices.Backward(all) {
		begun, perr := begunAt(id)
		if perr != nil || begun.After(now) {
			continue
		}
		if !begun.After(at) {
			break // all others are older
		}
		var told struct {
			Model    string  `json:"model"`
			Error    string  `json:"llm_error"`
			Memories Merging `json:"memories"`
		}
		out := &Report{Run: id}
		data, _, rerr := v.ReadFile(vault.Path(out.Path().Dir() + "/run.json"))
		if rerr != nil || json.Unmarshal(data, &told) != nil {
			continue
		}
		asked := told.Model + told.Error
		if memories {
			asked = told.Memories.Model + told.Memories.LLMError
		}
		if asked != "" {
			at = begun
		}
	}
	if at.After(now) {
		at = now // the clock went back
	}
	return at, err
}
