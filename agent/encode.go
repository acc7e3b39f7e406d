package agent

import (
	"context"
	"fmt"

	"stet/agent/ingest"
	"stet/vault"
	"stet/vault/settings"
)

// EncodeOptions choose stored memories to compare again.
type EncodeOptions struct {
	Write
	All      bool   // every memory, not only those that a model failed
	Rule     string // act only on what this rule says, and ask no model; implies every memory
	Limit    int    // at most so many, the oldest first; 0 is all
	Progress func(done, total int)
}

// Encode compares stored memories again as [Memories.Remember] does new ones. Every memory that
// changes is one commit; when it ends early the result, beside the error, says what was done. It
// fails with [vault.ErrRefused] where the setting memory.cognitive is false.
func (m Memories) Encode(ctx context.Context, o EncodeOptions) (*Written, error) {
	a := m.a
	w, err := a.permit(o.Write, "encode", "")
	if err != nil {
		return nil, err
	}
	if !a.Settings().Bool(settings.Cognitive) {
		return nil, vault.WithHint(fmt.Errorf("encode: %w: %s is false, so memories are stored as they are",
			vault.ErrRefused, settings.Cognitive),
			"stet config set %s true", settings.Cognitive)
	}
	choice := ingest.Choice{All: o.All, Rule: o.Rule, Limit: o.Limit, Progress: o.Progress}
	c, err := a.compare(o.Rule == "")
	if err != nil {
		return nil, err
	}
	if c.mind == nil && o.Rule == "" {
		a.note("no model is configured: the rules alone decide")
	}
	res, err := ingest.Finish(ctx, a.v, c, c.mind, choice, w)
	c.done()
	if err != nil && (res == nil || len(res.Commits) == 0) {
		return nil, err
	}
	if res.Failed != nil && res.Finished == 0 && len(res.Changes) == 0 {
		return nil, vault.WithHint(fmt.Errorf("encode: %d pending are left as they are: %w", res.Left,
			res.Failed), "try again when the model answers")
	}
	if res.Failed != nil {
		a.warn("the model could not judge %s, still pending: %v", Plural(res.Left, "memory", "memories"), res.Failed)
	}
	for _, p := range res.Declined {
		a.note("left alone: what would change in %s was undone before; --again changes it", p)
	}
	out := a.finish(context.WithoutCancel(ctx), res.Result)
	out.planned(res.Plan)
	return out, err
}
