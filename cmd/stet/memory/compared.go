package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/cmd/stet/console"
)

// store stores notes and says what was decided.
func store(ctx context.Context, e *console.Env, a *agent.App, o agent.RememberOptions, verb string) error {
	o.Progress = asking(e)
	res, err := a.Memories().Remember(ctx, o)
	if err != nil {
		return err
	}
	return e.Print(res, told(e, verb, res.Decisions, res.Placed))
}

// told is how a command that writes tells of the decisions of a plan.
func told(e *console.Env, verb string, decisions []ingest.Decision, placed []ingest.Placing) console.More {
	tellPlaces(e, placed)
	return console.More{Verb: verb, Decisions: decisions, Placed: placed,
		After: func(w io.Writer, dry bool) error { return printDecisions(w, decisions, dry) }}
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

// printReasons lists the features that decided.
func printReasons(w io.Writer, why []encode.Reason) error {
	for _, r := range why {
		line := fmt.Sprintf("    %+.2f  %s", r.Weight, r.Feature)
		if r.Words != "" {
			line += ": " + console.Line1(r.Words)
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
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
