package ingest

import (
	"fmt"
	"strings"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/vault"
)

// unsure is the confidence of what was taken back because somebody disagrees.
const unsure = 0.7

// weighOne is what becomes of one stored memory, nil for nothing: what the words allow of
// an action, and whose word counts more. Between the rules and the model the less
// destructive one wins, and where one of them is sure of a contradiction it never goes
// unsaid.
func (d *gatherer) weighOne(dr *draft, old vault.Memory, rule *encode.Verdict, a pipeline.Action, r pipeline.Ruling) (*encode.Verdict, error) {
	v := &encode.Verdict{Kind: encode.Kind(r.Kind), Old: string(old.Path), Rule: d.rule(), Confidence: a.Confidence, Rest: r.Text, Gone: r.Gone,
		Said: strings.TrimSpace(dr.memory.Text), Was: strings.TrimSpace(string(old.Body))}
	changes := r.Kind == pipeline.Supersede || r.Kind == pipeline.Update
	if changes {
		may, err := d.mayChange(dr, old)
		if err != nil {
			return nil, err
		}
		if !may {
			dr.refuse(old, a, "it is a person's word, or the later one")
			r.Kind = pipeline.Conflict
			if a.Kind == pipeline.Update {
				r.Kind = pipeline.Keep
			}
		}
	}
	if r.Kind == pipeline.Update && a.Kind == pipeline.Update && !joinable(dr.note, old) {
		dr.refuse(old, a, "their front matter tells them apart")
		r.Kind = pipeline.Keep
	}
	proven := rule != nil && rule.Kind == encode.Supersede
	switch r.Kind {
	case pipeline.Supersede:
		if proven && (rule.Rest != "" || r.Text == "") {
			return rule, nil // they agree
		}
		return v, nil
	case pipeline.Conflict:
		if proven && a.Kind == pipeline.Supersede {
			return rule, nil
		}
		v.Kind, v.Confidence, v.Rest, v.Gone = encode.Conflict, min(v.Confidence, unsure), "", nil
		return v, nil
	case pipeline.Duplicate, pipeline.Update:
		if rule != nil && rule.Kind != encode.Flag {
			return rule, nil
		}
		if dr.note.Blank || dr.note.Form != nil {
			return nil, nil
		}
		return v, nil
	}
	switch {
	case rule == nil:
		return nil, nil
	case a.Kind == pipeline.Duplicate, a.Kind == pipeline.Update, a.Kind == pipeline.Correct:
		return rule, nil
	case rule.Kind == encode.Flag && a.Kind == pipeline.Keep && a.Confidence >= encode.Sure:
		return nil, nil // the rules guess, and the model is sure
	case rule.Kind == encode.Flag:
		return rule, nil
	case rule.Kind == encode.Supersede, dr.memory.Authority < encode.Statement, a.Confidence < encode.Sure:
		taken := *rule
		taken.Kind, taken.Confidence, taken.Rest, taken.Gone = encode.Conflict, min(rule.Confidence, unsure), "", nil
		return &taken, nil
	}
	return nil, nil // the rules were not sure, and the model is
}

// joinable reports whether a memory can say what a note says without saying for how long, or
// from where it is known: those would be lost, or hold for both.
func joinable(n vault.Note, old vault.Memory) bool {
	return len(n.Meta) == 0 && n.Source == "" && (n.Kind == "" || n.Kind == old.Kind) && old.ValidFrom.IsZero() && old.ValidUntil.IsZero()
}

// refuse keeps what a model wanted and does not get, to be told.
func (dr *draft) refuse(old vault.Memory, a pipeline.Action, why string) {
	wanted := strings.TrimSpace(fmt.Sprintf("%s %s", a.Kind, old.Path))
	if a.Quote != "" {
		wanted += fmt.Sprintf(" where it says %q", a.Quote)
	}
	if a.Text != "" {
		wanted += fmt.Sprintf(" with %q", a.Text)
	}
	dr.refused = append(dr.refused, fmt.Sprintf("The model wanted to %s: refused, %s.", wanted, why))
}

// mayChange reports whether the word of whoever writes counts as much as that of the
// stored memory, and whether it is the later one.
func (d *gatherer) mayChange(dr *draft, old vault.Memory) (bool, error) {
	if when := dr.note.Created; !when.IsZero() && !old.Created.IsZero() && when.Before(old.Created) {
		return false, nil
	}
	if dr.memory.Authority >= encode.Statement {
		return true, nil
	}
	have, err := d.authorityOf(string(old.Path))
	return dr.memory.Authority >= have, err
}
