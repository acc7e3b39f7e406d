package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/cmd/stet/console"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
)

// compared stores notes with the rules in front, and a model where one is
// configured, and says what was decided. With plain, or where the vault says so, it
// stores them as they are.
func compared(ctx context.Context, e *console.Env, v *vault.Vault, notes []vault.Note, w vault.Write, verb string, plain bool) error {
	if plain || !v.Settings().Bool(settings.Cognitive) {
		res, err := v.Remember(ctx, notes, w)
		if err != nil {
			return err
		}
		return e.Wrote(ctx, v, res, verb, false)
	}
	return e.Auxiliary(v.Settings(), func(model llm.Client) (err error) {
		x, err := e.Lexicon(v, model != nil)
		if err != nil {
			return err
		}
		mind := mindOf(v, x, model)
		if mind != nil {
			mind.Progress = asking(e)
		}
		res, err := ingest.Remember(ctx, v, x, mind, notes, w)
		if err = errors.Join(err, x.Close()); err != nil {
			return err
		}
		return e.WroteMore(ctx, v, res.Result, told(e, verb, res.Plan))
	})
}

// told is how a command that writes tells of a plan.
func told(e *console.Env, verb string, p *ingest.Plan) console.More {
	more := console.More{Verb: verb}
	if p == nil {
		return more
	}
	placed, decisions := p.Placed(), p.Decisions()
	more.After = func(w io.Writer, dry bool) error { return printDecisions(w, decisions, dry) }
	if len(decisions) > 0 {
		more.Decisions = decisions
	}
	if len(placed) > 0 {
		more.Placed = placed
	}
	tellPlaces(e, placed)
	return more
}

// toldPlaces is how many notes are told one by one where they went.
const toldPlaces = 3

// tellPlaces says where the rules filed notes, and why.
func tellPlaces(e *console.Env, placed []ingest.Placing) {
	if len(placed) > toldPlaces {
		e.Note("the rules say where %d of the notes belong; --json says why", len(placed))
		return
	}
	for _, p := range placed {
		var says []string
		if f := p.Scope; f != nil {
			says = append(says, fmt.Sprintf("scope %s (%s, %.2f)", f.Value, f.Rule, f.Confidence))
		}
		if f := p.Categories; f != nil {
			says = append(says, fmt.Sprintf("categories %s (%s, %.2f)", strings.Join(f.Value, ", "), f.Rule, f.Confidence))
		}
		if f := p.Importance; f != nil {
			says = append(says, fmt.Sprintf("importance %.2f (%s)", f.Value, f.Rule))
		}
		e.Note("filed by the rules: %s", strings.Join(says, ", "))
	}
}

// mindOf is a model with what it needs to know, nil without one.
func mindOf(v *vault.Vault, x *index.Index, model llm.Client) *ingest.Mind {
	if model == nil {
		return nil
	}
	return &ingest.Mind{Model: model, Meaning: x, Similar: v.Settings().Float(settings.SimilarFrom)}
}

// asking shows how far the model is with many notes, to whoever looks.
func asking(e *console.Env) func(done, total int) {
	line := e.ProgressLine()
	if line == nil {
		return nil
	}
	return func(done, total int) {
		line(func() string { return fmt.Sprintf("asking the model %d of %d", done, total) })
	}
}

func printDecisions(w io.Writer, decisions []ingest.Decision, dry bool) error {
	for _, d := range decisions {
		path, was := console.Line1(d.Place()), console.Line1(d.Was)
		line := fmt.Sprintf("said already  %s", path)
		switch {
		case d.Kind == encode.Conflict:
			line = fmt.Sprintf("in conflict with  %s: %s", path, was)
		case d.Kind == encode.Supersede && d.Kept != "":
			line = fmt.Sprintf("no longer true in  %s: %s", path, was)
		case d.Kind == encode.Update:
			line = fmt.Sprintf("said as well in  %s: %s", path, console.Line1(d.Kept))
		case d.Kind == encode.Supersede:
			line = fmt.Sprintf("takes the place of  %s: %s", path, was)
		}
		if _, err := fmt.Fprintf(w, "%s  (%s, %.2f)\n", line, d.Rule, d.Confidence); err != nil {
			return err
		}
	}
	return nil
}
