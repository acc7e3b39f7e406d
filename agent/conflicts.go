package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/vault"
)

// A Conflict is two memories that contradict each other, or of which B may outdate A.
type Conflict struct {
	A      Memory          `json:"a"` // the older one, with its body
	B      Memory          `json:"b"`
	Likely float64         `json:"likely"`        // 1 for a contradiction, else that B may outdate A
	Why    []encode.Reason `json:"why,omitempty"` // the features that decided
}

// Conflicts lists what waits for the user to decide: contradictions first, then what a newer
// memory may outdate, the likeliest first. With explain each says which features decided.
func (m Memories) Conflicts(ctx context.Context, explain bool) ([]Conflict, error) {
	found, err := ingest.Inbox(ctx, m.a.v, m.a.doubts)
	out := make([]Conflict, 0, len(found))
	var sides []Memory
	for _, d := range found {
		c := Conflict{A: viewWithBody(d.A, string(d.A.Body), nil), B: viewWithBody(d.B, string(d.B.Body), nil),
			Likely: d.Likely}
		if explain {
			c.Why = d.Explain().Why
		}
		out, sides = append(out, c), append(sides, c.A, c.B)
	}
	if len(sides) > 0 {
		err = errors.Join(err, m.a.labelMemories(ctx, sides))
	}
	for i := range out {
		out[i].A, out[i].B = sides[2*i], sides[2*i+1]
	}
	return out, err
}

// doubts asks the index which memories are in doubt.
func (a *App) doubts(ctx context.Context) ([]vault.Path, map[string][]vault.Path, error) {
	x, err := a.openIndex(true, nil)
	if err != nil {
		return nil, nil, err
	}
	return x.Doubting(ctx)
}

// A Resolution is how a conflict is settled.
type Resolution string

// The resolutions.
const (
	Keep  Resolution = "keep"  // the memory is right, the others are archived
	Both  Resolution = "both"  // all are true
	Merge Resolution = "merge" // the memory gets a text that is true of all, the others are archived
)

// SettleOptions settle the conflicts of one memory.
type SettleOptions struct {
	Write
	Ref     string
	Against string // the id of the other memory; "" is all that Ref is in conflict with
	How     Resolution
	// Text is that of a merge; nil asks Editor for it, which begins with the texts of both.
	Text   *string
	Editor Editor
}

// Settle settles conflicts as one commit. A merge that is left empty or unchanged in the editor
// changes nothing.
func (m Memories) Settle(ctx context.Context, o SettleOptions) (*Written, error) {
	a := m.a
	w, err := a.permit(o.Write, "conflicts", o.Ref)
	if err != nil {
		return nil, err
	}
	c, err := a.conflictOf(ctx, o)
	if err != nil {
		return nil, err
	}
	plan, typed := (*ingest.Plan)(nil), (*draft)(nil)
	switch {
	case o.How == Keep:
		plan, err = c.Keep(ctx, a.v)
	case o.How == Both:
		plan, err = c.Both(ctx, a.v)
	case o.Text != nil:
		plan, err = c.Merge(ctx, a.v, *o.Text)
	default:
		if err = a.check(o.Write, "edit", o.Ref); err == nil {
			plan, typed, err = a.mergeInEditor(ctx, c, o.Editor)
		}
	}
	if err != nil {
		return nil, err
	}
	res := &vault.Result{Root: a.Root(), Unchanged: true}
	if plan != nil {
		res, err = plan.Settle(ctx, a.v, w)
	}
	if typed != nil {
		if err != nil {
			return nil, typed.keepFor(err, "your text is kept in %s")
		}
		a.removed(typed)
	}
	out, err := a.finished(ctx, res, err)
	if err == nil {
		out.planned(plan)
	}
	return out, err
}

func (a *App) conflictOf(ctx context.Context, o SettleOptions) (ingest.Case, error) {
	if o.Against == "" {
		return ingest.Find(ctx, a.v, a.doubts, a.ref(o.Ref))
	}
	found, err := ingest.Inbox(ctx, a.v, a.doubts)
	if err != nil {
		return ingest.Case{}, err
	}
	for _, d := range found {
		switch x, y := d.Cases(); {
		case d.A.ID == o.Ref && d.B.ID == o.Against:
			return x, nil
		case d.B.ID == o.Ref && d.A.ID == o.Against:
			return y, nil
		}
	}
	return ingest.Case{}, &vault.NotFoundError{Ref: o.Ref}
}

// mergeInEditor lets the user write what is true, which the copy holds as well; the plan is nil
// when nothing was written.
func (a *App) mergeInEditor(ctx context.Context, c ingest.Case, edit Editor) (*ingest.Plan, *draft, error) {
	before, guides := mergeText(c)
	draft, saved, err := a.editCopy(ctx, c.Memory.Path, []byte(before), edit)
	if err != nil {
		return nil, nil, err
	}
	text := withoutGuides(string(saved), guides)
	if text == "" || text == withoutGuides(before, guides) {
		return nil, draft, nil
	}
	plan, err := c.Merge(ctx, a.v, text)
	if err != nil {
		return nil, nil, draft.keepFor(err, "your text is kept in %s")
	}
	return plan, draft, nil
}

// mergeText is what the editor shows of a conflict: each text below a line that says where it
// comes from. Those lines go when the text is saved.
func mergeText(c ingest.Case) (text string, guides []string) {
	guides = []string{"<!-- stet: write the one text that is true, and save it. Lines like this one are left out. -->"}
	var b strings.Builder
	b.WriteString(guides[0] + "\n")
	for _, m := range slices.Concat([]vault.Memory{c.Memory}, c.Others) {
		words := append([]string{"<!-- stet:"}, strings.Fields(string(m.Path))...)
		if !m.Created.IsZero() {
			words = append(words, m.Created.Local().Format("2006-01-02 15:04"))
		}
		words = append(words, strings.Fields(m.Source)...)
		guide := strings.ReplaceAll(strings.Join(words, " "), "-->", "") + " -->"
		guides = append(guides, guide)
		b.WriteString(guide + "\n" + trimText(string(m.Body)) + "\n\n")
	}
	return b.String(), guides
}

func trimText(s string) string { return strings.Trim(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }

// withoutGuides is a text without the lines that mergeText added.
func withoutGuides(text string, guides []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.Contains(guides, strings.TrimRight(line, " \r\n")) {
			b.WriteString(line)
		}
	}
	return trimText(b.String())
}
