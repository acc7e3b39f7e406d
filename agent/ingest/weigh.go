package ingest

import (
	"strings"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/vault"
)

// unsure is the confidence of what was taken back because somebody disagrees.
const unsure = 0.7

// weighOne is what becomes of one stored memory, nil for nothing. Between the rules
// and the model the less destructive one wins, and where one of them is sure of a
// contradiction it never goes unsaid.
func (d *gatherer) weighOne(dr *draft, old vault.Memory, rule *encode.Verdict, a pipeline.Action) (*encode.Verdict, error) {
	v := &encode.Verdict{Old: string(old.Path), Rule: d.rule(), Confidence: a.Confidence, Said: strings.TrimSpace(dr.memory.Text), Was: strings.TrimSpace(string(old.Body))}
	conflict := func() *encode.Verdict {
		v.Kind, v.Confidence, v.Rest = encode.Conflict, min(v.Confidence, unsure), ""
		return v
	}
	switch a.Kind {
	case pipeline.Supersede:
		may, err := d.mayChange(dr, old)
		return superseded(v, rule, a, may, conflict), err
	case pipeline.Conflict:
		return conflict(), nil
	case pipeline.Duplicate, pipeline.Update:
		if rule != nil {
			return rule, nil
		}
		return d.instead(dr, old, v, a)
	}
	switch {
	case rule == nil:
		return nil, nil
	case rule.Kind == encode.Supersede, dr.memory.Authority < encode.Statement, a.Confidence < encode.Sure:
		taken := *rule
		taken.Kind, taken.Confidence, taken.Rest = encode.Conflict, min(rule.Confidence, unsure), ""
		return &taken, nil
	}
	return nil, nil // the rules were not sure, and the model is
}

// superseded is what becomes of a memory that the model takes for untrue.
func superseded(v, rule *encode.Verdict, a pipeline.Action, may bool, conflict func() *encode.Verdict) *encode.Verdict {
	rest := a.Text
	if rest != "" && !encode.IsRest(v.Was, rest) {
		rest = "" // it is not what remains of the memory
	}
	switch {
	case rule != nil && rule.Kind == encode.Supersede: // they agree
		agreed := *rule
		if agreed.Rest == "" {
			agreed.Rest = rest
		}
		return &agreed
	case !may, a.Confidence < encode.Sure, a.Text != rest:
		return conflict()
	}
	v.Kind, v.Rest = encode.Supersede, rest
	return v
}

// instead is a stored memory that makes writing the note needless, nil unless the
// words bear that out.
func (d *gatherer) instead(dr *draft, old vault.Memory, v *encode.Verdict, a pipeline.Action) (*encode.Verdict, error) {
	if a.Kind == pipeline.Duplicate {
		v.Kind = encode.Duplicate
		if dr.note.Blank || !encode.SaysSame(v.Was, v.Said) {
			return nil, nil
		}
		return v, nil
	}
	v.Kind, v.Rest = encode.Update, a.Text
	// A memory of several lines has a form of its own, which no model rewrites.
	if strings.Contains(v.Was, "\n") || strings.Contains(v.Rest, "\n") || dr.note.Form != nil || !encode.SaysBoth(v.Rest, v.Was, v.Said) {
		return nil, nil
	}
	may, err := d.mayChange(dr, old)
	if !may {
		return nil, err
	}
	return v, err
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
