package curator

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"stet/vault"
	"stet/vault/settings"
)

// merges says whether a run has the second tier: where it is asked for, and else after curator.consolidate_hours. By
// itself the curator makes it with a model alone, and the first one is deferred for an interval.
func (r *runner) merges(ctx context.Context) (bool, error) {
	r.notes = r.o.Memories && !r.o.Consolidate && r.o.Tier != 2
	switch {
	case r.o.Consolidate || r.o.Memories || r.o.Tier == 2:
		return true, nil
	case r.o.Tier == 1 || r.o.Runner == nil:
		return false, nil
	}
	at, err := lastMerge(ctx, r.v, r.begun)
	if err != nil || r.o.DryRun && at.IsZero() {
		return false, err
	}
	if at.IsZero() {
		return false, r.merged(ctx)
	}
	return r.begun.Sub(at) >= hours(r.a.Settings(), settings.CuratorMerge), nil
}

// merged notes that the second tier is made now. It is noted before the model is asked: a crash is no reason to ask
// again at once.
func (r *runner) merged(ctx context.Context) error {
	if r.o.Runner == nil || r.o.DryRun {
		return nil
	}
	return setMark(ctx, r.v, func(m *mark) { m.Merged = r.begun })
}

// lastMerge is when a model was asked last, in this clone or in one whose reports came here; zero is never.
func lastMerge(ctx context.Context, v *vault.Vault, now time.Time) (time.Time, error) {
	at := readMark(v).Merged
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
		if m := &told.Memories; rerr == nil && json.Unmarshal(data, &told) == nil &&
			told.Model+told.Error+m.Model+m.LLMError != "" {
			at = begun
		}
	}
	if at.After(now) {
		at = now // the clock went back
	}
	return at, err
}
