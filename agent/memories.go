package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stet/agent/cite"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/agent/route"
	"stet/index"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
)

// Memories holds the use cases of memories.
type Memories struct{ a *App }

// RememberOptions are notes to store, as one commit.
type RememberOptions struct {
	Write
	Notes []vault.Note
	// Each makes one commit for each note, published together.
	Each bool
	// Plain stores the notes as they are: compared with nothing, shown to no model.
	Plain bool
	// Progress reports how many notes the model has judged; nil for nobody.
	Progress func(done, total int)
}

// Remember stores notes. A note of an agent without a scope gets that of its project where the
// agent works outside of any vault. Unless Plain is given or the setting memory.cognitive is
// false, the rules, and a model where one is configured, compare each with what is stored:
// duplicates are not stored again, what a note outdates is archived or cut, contradictions are
// linked. It fails as [vault.Vault.Remember] does.
func (m Memories) Remember(ctx context.Context, o RememberOptions) (*Written, error) {
	a := m.a
	w, err := a.permit(o.Write, "remember", "")
	if err != nil {
		return nil, err
	}
	var texts []string
	for i, n := range o.Notes {
		if _, err := n.Check(); err != nil { // before anything is looked up
			if len(o.Notes) > 1 {
				err = fmt.Errorf("note %d: %w", i+1, err)
			}
			return nil, err
		}
		texts = append(texts, n.Title, n.Text, string(n.Form))
	}
	if err := a.askLikely(o.Write, texts...); err != nil {
		return nil, err
	}
	w.Each = o.Each
	o.Notes = slices.Clone(o.Notes) // the caller's stay as they are
	if scope := a.projectScope(o.Write); scope != "" {
		for i := range o.Notes {
			if o.Notes[i].Scope == "" {
				o.Notes[i].Scope = scope
			}
		}
	}
	if err := a.attest(ctx, o.Write, &w.Writer, o.Notes...); err != nil {
		return nil, err
	}
	if o.Plain || !a.Settings().Bool(settings.Cognitive) {
		res, err := ingest.Store(ctx, a.v, o.Notes, w)
		return a.finished(ctx, res, err)
	}
	c, err := a.compare(true)
	if err != nil {
		return nil, err
	}
	if c.mind != nil {
		c.mind.Progress = o.Progress
	}
	res, err := ingest.Remember(ctx, a.v, c, c.mind, o.Notes, w)
	c.done()
	if err != nil {
		if ctx.Err() != nil && ingest.Kept(a.v) {
			a.note("the note is kept: the next stet command stores it, marked as pending")
		}
		return nil, err
	}
	out := a.finish(ctx, res.Result)
	out.planned(res.Plan)
	a.tellSwallowed(ctx, o.Notes, out.Items)
	return out, nil
}

// attest says of notes that read like orders to a model whose words they are: where an agent stores them, the
// turns of the user's that they are taken from; and what the user stores the user stands by, also where it is
// stored already as an agent's.
func (a *App) attest(ctx context.Context, by Write, w *vault.Writer, notes ...vault.Note) error {
	var own []string
	for _, n := range notes {
		id, _ := vault.SourceTurns(n.Source)
		switch {
		case by.Agent != "" && id == "": // it names no turn
		case len(guard.Injections([]byte(n.Text))) == 0:
		case by.Agent != "":
			said, err := cite.Said(ctx, a.v, n.Source, n.Text)
			if err != nil && !errors.Is(err, vault.ErrNotFound) && !errors.Is(err, vault.ErrRefused) {
				return err
			}
			for line, turn := range said {
				w.Said(turn, route.Bare(line))
			}
		case by.Via == "" && !by.DryRun:
			own = append(own, strings.Split(n.Text, "\n")...)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return a.v.History().Vouch(ctx, own...)
}

// tellSwallowed says of a note that is stored already what it may be taken to settle or to move: a conflict of the
// stored one, and a scope.
func (a *App) tellSwallowed(ctx context.Context, notes []vault.Note, items []ingest.Item) {
	for i, it := range items {
		if it.Outcome != ingest.Skip || it.Decisions[0].ID == "" {
			continue
		}
		m, err := a.v.Resolve(ctx, it.Decisions[0].ID)
		if err != nil {
			continue // the reply names it all the same
		}
		against := a.flagging(ctx, m.ID)
		if beside, err := m.Disputing(ctx, a.v); err == nil {
			for _, o := range beside {
				against = append(against, o.Path)
			}
		}
		for _, p := range against {
			if _, err := a.v.Resolve(ctx, string(p)); err == nil { // else it is withheld
				a.note("%s is in conflict with %s, and saying it again settles nothing: "+
					"\"stet conflicts --keep %s\" does", m.Path, p, m.ID)
			}
		}
		if scope := vault.Scope(notes[i].Scope); notes[i].Scope != "" && scope.Slug() != m.Scope {
			a.note("%s stays where it is: \"stet move %s %s\" gives it the scope", m.Path, m.ID,
				templates.Quote(notes[i].Scope))
		}
	}
}

// A comparison is what a memory is compared with: the search index, and the model for small
// tasks, nil where there is none.
type comparison struct {
	*index.Index
	mind *ingest.Mind
	done func() // gives both back
}

// compare opens what a memory is compared with, without a model unless asked is set.
func (a *App) compare(asked bool) (*comparison, error) {
	var model llm.Client
	done := func() {}
	if asked {
		model, done = a.auxiliary(a.Settings())
	}
	x, err := a.writerIndex(model != nil)
	if err != nil {
		done()
		return nil, err
	}
	c := &comparison{Index: x, done: done}
	if model != nil {
		c.mind = &ingest.Mind{Model: ingest.Keeping(model, a.v), Now: a.o.Now(), Meaning: x,
			Similar: a.Settings().Float(settings.SimilarFrom),
			Wait:    a.Settings().Duration(settings.ForegroundWait)}
	}
	return c, nil
}

// projectScope is /projects/NAME for an agent that works in a project which is no vault and so
// writes to the user's default vault; else "".
func (a *App) projectScope(w Write) string {
	if !a.place.Fallback || w.Agent == "" {
		return ""
	}
	for dir := a.o.Dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return "/projects/" + filepath.Base(dir)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

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
