package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent/encode"
	"stet/agent/llm"
	"stet/agent/pipeline"
	"stet/agent/place"
	"stet/markdown"
	"stet/vault"
)

// A Mind is a model that helps the rules.
type Mind struct {
	Model    llm.Client
	Now      time.Time // as models are told; zero tells them nothing
	Progress func(done, total int)
	// Meaning finds what resembles a note; without it shared words do.
	Meaning Meaner
	// Similar is the cosine from which on two texts resemble each other.
	Similar float64
	// Wait bounds how long notes wait for all answers; 0 is no bound. What is not answered
	// by then is stored by the rules and marked as pending.
	Wait time.Duration
}

// offered bounds the scopes, and the categories, that a model is told of; told how many
// categories say what a scope holds.
const (
	offered = 24
	told    = 3
)

// A thought is what the model made of a note, and beside which memories.
type thought struct {
	pipeline.Thought
	near []vault.Memory
}

// think asks the model about the notes that the rules leave to be written, each
// once, however often the plan is made again, and weighs what it says.
func (d *gatherer) think(drafts []*draft) error {
	if d.mind == nil {
		return nil
	}
	if err := d.liken(drafts); err != nil {
		return err
	}
	p := &pipeline.Pipeline{Model: d.mind.Model, Now: d.mind.Now, Progress: d.mind.Progress}
	var notes []pipeline.Note
	var of []int
	if err := d.count(); err != nil {
		return err
	}
	placing, _ := d.placing(drafts) // [gatherer.file] and count say why not
	for i := range drafts {
		dr := drafts[i]
		if _, asked := d.thoughts[i]; asked || dr.plan.Duplicate != nil || dr.late {
			continue
		}
		n, near, err := d.question(dr, placing)
		if err != nil {
			return err
		}
		d.thoughts[i] = thought{near: near}
		notes, of = append(notes, n), append(of, i)
	}
	p.Scopes, p.Categories = d.vocabulary()
	got, err := d.ask(p, notes)
	if err != nil {
		return err
	}
	for k, i := range of {
		d.thoughts[i] = thought{got[k], d.thoughts[i].near}
	}
	if err := d.weighAll(drafts); err != nil {
		return err
	}
	var failed []*draft
	for _, dr := range drafts {
		if dr.failed != nil || len(dr.plan.Verdicts) > 0 {
			dr.book = nil
		}
		if dr.failed != nil && dr.self == nil {
			failed = append(failed, dr)
		}
	}
	return d.file(failed)
}

// ask asks the model, within the time that there is. It fails only with the cause of the
// gatherer's context, or when the notes cannot be kept.
func (d *gatherer) ask(p *pipeline.Pipeline, notes []pipeline.Note) ([]pipeline.Thought, error) {
	if slices.ContainsFunc(notes, func(n pipeline.Note) bool { return n.Place || len(n.Near) > 0 }) {
		if err := d.kept.hold(d.ctx); err != nil {
			return nil, err
		}
	}
	ctx := d.ctx
	if wait := d.mind.Wait; wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, wait, fmt.Errorf("no answer within %s", wait))
		defer cancel()
	}
	got, err := p.Think(ctx, notes)
	if err != nil && d.ctx.Err() == nil {
		err = nil // the time is over, and the thoughts say so
	}
	return got, err
}

// question is what the model is asked about a note, and beside which memories. What
// looks like a secret is shown to nobody.
func (d *gatherer) question(dr *draft, placing func(*draft) place.Placing) (pipeline.Note, []vault.Memory, error) {
	n, text := dr.note, dr.memory.Text
	q := pipeline.Note{Text: text, Title: n.Title, Kind: n.Kind, Scope: n.Scope, Author: author(dr.memory.Authority), When: n.Created,
		Place: d.voc != nil && !dr.placed && dr.book == nil && (n.Scope == "" || n.Importance == nil)}
	if d.unspoken(dr) {
		return pipeline.Note{}, nil, nil
	}
	if !pipeline.Judgeable(text) {
		return q, nil, nil
	}
	var at place.Placing
	if placing != nil {
		at = placing(dr)
	}
	near, err := d.beside(dr, at)
	if err != nil {
		return q, nil, err
	}
	for _, o := range near {
		word, err := d.wordOf(o)
		if err != nil {
			return q, nil, err
		}
		q.Near = append(q.Near, stored(o, word))
	}
	return q, near, nil
}

// stored is a memory as the pipeline sees it.
func stored(m vault.Memory, word encode.Authority) pipeline.Stored {
	return pipeline.Stored{Text: strings.TrimSpace(string(m.Body)), Title: m.Title, Scope: m.Scope, Author: author(word), When: m.Created}
}

// author is who says something, as a model is told.
func author(word encode.Authority) string {
	if word >= encode.Statement {
		return "user"
	}
	return "agent"
}

// count looks up which scopes and categories are in use. Where that fails, nothing is
// filed and no scope is read as a whole.
func (d *gatherer) count() (err error) {
	if d.voc != nil {
		return nil
	}
	if d.voc, err = d.find.Vocabulary(d.ctx, nil, nil, false); err != nil {
		d.voc = nil
		d.warnings = append(d.warnings, fmt.Sprintf("not filed by the model: %v", err))
	}
	return context.Cause(d.ctx)
}

// vocabulary lists the scopes and categories in use, the most used first, but no scope
// that stet would not make. Private memories do not count.
func (d *gatherer) vocabulary() (scopes []pipeline.Scope, categories []string) {
	if d.voc == nil {
		return nil, nil
	}
	for _, s := range mostUsed(usable(place.Usage(d.voc.All)).Scopes) {
		holds := mostUsed(d.voc.Tagged[s])
		scopes = append(scopes, pipeline.Scope{Path: s, Holds: strings.Join(holds[:min(told, len(holds))], ", ")})
	}
	return scopes, mostUsed(d.voc.All.Categories)
}

func mostUsed(counts map[string]int) []string {
	out := make([]string, 0, len(counts))
	for s := range counts {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return out[:min(offered, len(out))]
}

// weighAll gives every note what came of its thought.
func (d *gatherer) weighAll(drafts []*draft) error {
	for i := range drafts {
		dr := drafts[i]
		t, asked := d.thoughts[i]
		if !asked || dr.plan.Duplicate != nil {
			continue
		}
		if err := d.place(dr, &t); err != nil {
			return err
		}
		if dr.plan.Duplicate == nil {
			if err := d.weigh(dr, &t); err != nil {
				return err
			}
		}
		if dr.plan.Duplicate == nil {
			dr.failed = t.Err()
		}
	}
	return nil
}

// Pending marks a memory that a model was to understand and did not.
const Pending = "pending"

// place gives a note the place that was asked for, but nothing that was given.
func (d *gatherer) place(dr *draft, t *thought) (err error) {
	n, p := &dr.note, t.Placed
	if p == nil {
		return nil
	}
	if _, err := vault.Scope(p.Scope).Folder(); err != nil {
		t.PlaceErr = fmt.Errorf("%w: %w", llm.ErrAbsurd, err)
		return nil
	}
	if n.Scope == "" {
		n.Scope, d.filedIn[dr.memory.ID] = p.Scope, p.Scope
		if vault.Scope(p.Scope).In(projects) {
			err = d.compareIn(dr)
		}
	}
	if len(n.Categories) == 0 {
		d.spell(dr, p.Categories) // the index has them in lower case
		n.Categories = p.Categories
	}
	if n.Importance == nil {
		n.Importance = &p.Importance
	}
	for key, date := range map[string]string{"valid_from": p.ValidFrom, "valid_until": p.ValidUntil, "when": p.When} {
		given := slices.ContainsFunc(n.Meta, func(kv vault.KeyValue) bool { return kv.Key == key })
		if date != "" && !given && dr.self == nil {
			n.Meta = append(slices.Clip(n.Meta), vault.KeyValue{Key: key, Value: markdown.String(date)})
		}
	}
	dr.decided = append(dr.decided, d.rule())
	return err
}

// compareIn lets the rules compare a note with what a project says, which was not
// looked at before it was known to concern the project.
func (d *gatherer) compareIn(dr *draft) error {
	more, err := d.candidates(dr)
	if err != nil {
		return err
	}
	for _, m := range more {
		if !slices.ContainsFunc(dr.near, func(o encode.Memory) bool { return o.ID == m.ID }) {
			dr.near = append(dr.near, m)
		}
	}
	dr.memory.Scope = dr.note.Scope
	for k := range dr.earlier {
		dr.earlier[k].Scope = cmp.Or(d.filedIn[dr.earlier[k].ID], dr.earlier[k].Scope)
	}
	return d.decideNew(dr)
}

// rule is the name under which commits say that the model decided.
func (d *gatherer) rule() string {
	return "model/" + strings.Join(strings.Fields(d.mind.Model.Model().Name), "-")
}

// weigh joins what the model wants with what the rules found.
func (d *gatherer) weigh(dr *draft, t *thought) error {
	if t.Actions == nil {
		return nil
	}
	for _, o := range t.near {
		if now, ok := d.stored[string(o.Path)]; !ok || now.Hash != o.Hash {
			t.JudgeErr = errors.New("what it compared the note with has changed meanwhile")
			return nil
		}
	}
	ruled := map[string]*encode.Verdict{}
	for i, v := range dr.plan.Verdicts {
		ruled[v.Old] = &dr.plan.Verdicts[i]
	}
	q := pipeline.Note{Text: strings.TrimSpace(dr.memory.Text), Title: dr.note.Title, Scope: dr.note.Scope}
	for _, o := range t.near {
		q.Near = append(q.Near, stored(o, encode.Inference))
	}
	rulings := pipeline.Weigh(q, t.Actions)
	var verdicts []encode.Verdict
	var instead *encode.Verdict // of writing the note
	for i, a := range t.Actions {
		key := string(t.near[i].Path)
		v, err := d.weighOne(dr, t.near[i], ruled[key], a, rulings[i])
		if err != nil {
			return err
		}
		if why := rulings[i].Refused; why != "" && (v == nil || v.Rule == d.rule()) {
			dr.refuse(t.near[i], a, why)
		}
		delete(ruled, key)
		switch {
		case v == nil:
		case v.Kind == encode.Duplicate || v.Kind == encode.Update:
			if instead == nil {
				instead = v
			}
		default:
			verdicts = append(verdicts, *v)
		}
	}
	for _, v := range ruled {
		verdicts = append(verdicts, *v)
	}
	slices.SortFunc(verdicts, func(a, b encode.Verdict) int { return cmp.Compare(a.Old, b.Old) })
	switch {
	case instead == nil || len(verdicts) > 0: // what others make way for is written
	case instead.Kind == encode.Duplicate:
		dr.plan.Duplicate = instead
	default:
		verdicts = []encode.Verdict{*instead}
	}
	dr.plan.Verdicts = verdicts
	return nil
}
