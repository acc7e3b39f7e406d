package memory

import (
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/cmd/stet/console"
)

// writing runs a use case that writes, and tells what was decided and what moved.
func writing(
	ctx context.Context, e *console.Env, verb string, r reply, write func(*agent.App) (*agent.Written, error),
) error {
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := write(a)
		if err != nil {
			return err
		}
		return printWritten(ctx, e, res, verb, r)
	})
}

// printWritten prints a write with what was decided and what moved.
func printWritten(ctx context.Context, e *console.Env, res *agent.Written, verb string, r reply) error {
	r.tellPlaces(e, res.Placed)
	more := console.More{Verb: verb, After: func(p *console.Printer) { r.print(p, res) }}
	if res.Links != nil {
		more.Lines = func(p *console.Printer, verb string) { printMoves(p, verb, res.Links) }
	}
	return e.Print(ctx, res, more)
}

// A reply tells of the decisions of a plan.
type reply struct {
	byUser  bool // the user wrote, not an agent
	explain bool // name rules, confidences and features
}

// toldPlaces is how many notes are told one by one where they went.
const toldPlaces = 3

// tellPlaces names the scopes and categories that the rules chose.
func (r reply) tellPlaces(e *console.Env, placed []ingest.Placing) {
	if len(placed) > toldPlaces {
		e.Note("chose scope and categories of %s; --json shows them", agent.Plural(len(placed), "note"))
		return
	}
	by := func(rule string, confidence float64) string {
		if !r.explain {
			return ""
		}
		if confidence == 0 { // the rule tells none
			return fmt.Sprintf(" (%s)", rule)
		}
		return fmt.Sprintf(" (%s, %.2f)", rule, confidence)
	}
	for _, p := range placed {
		var says []string
		if f := p.Kind; f != nil {
			says = append(says, "kind "+f.Value+by(f.Rule, f.Confidence))
		}
		if p.Notebook != "" {
			says = append(says, "in "+string(p.Notebook))
		}
		if f := p.Scope; f != nil {
			says = append(says, "scope "+f.Value+by(f.Rule, f.Confidence))
		}
		if f := p.Categories; f != nil {
			says = append(says, "categories "+strings.Join(f.Value, ", ")+by(f.Rule, f.Confidence))
		}
		if f := p.Importance; f != nil {
			says = append(says, fmt.Sprintf("importance %.2f%s", f.Value, by(f.Rule, f.Confidence)))
		}
		e.Note("chosen automatically: %s", strings.Join(says, ", "))
	}
}

// asking shows how far the model is with many notes, to whoever looks.
func asking(e *console.Env) func(done, total int) {
	return e.ProgressCount("asking the model %d of %d")
}

// printReasons lists the features that decided.
func printReasons(p *console.Printer, why []encode.Reason) {
	for _, r := range why {
		line := fmt.Sprintf("    %+.2f  %s", r.Weight, r.Feature)
		if r.Words != "" {
			line += ": " + console.Line1(r.Words)
		}
		p.Printf("%s\n", line)
	}
}

// print names what was decided about each stored memory.
func (r reply) print(p *console.Printer, res *agent.Written) {
	removes := false
	for _, d := range res.Decisions {
		removes = removes || d.Kind == encode.Supersede || d.Kind == encode.Update
		p.Printf("%s", r.line(d))
		if r.explain {
			p.Printf("  (%s, %.2f)", d.Rule, d.Confidence)
		}
		p.Printf("\n")
		if d.Private {
			p.Printf("  it is private too, as that memory is\n")
		}
		if r.explain {
			printReasons(p, d.Why)
		}
	}
	if removes && !res.DryRun {
		p.Printf("Wrong? stet undo\n")
	}
}

// line is one decision: what happened to which memory, and which words say so.
func (r reply) line(d ingest.Decision) string {
	at := console.Line1(d.Place())
	said := "it says"
	if r.byUser {
		said = "you said"
	}
	because := fmt.Sprintf(": %s %s", said, quote(d.Said))
	switch {
	case d.Kind == encode.Duplicate:
		return "already stored  " + at
	case d.Kind == encode.Update:
		return fmt.Sprintf("added to %s, which says now %s", at, quote(d.Kept))
	case d.Kind == encode.Conflict:
		return fmt.Sprintf("contradicts %s (%s)%s", quote(d.Was), at, because)
	case d.Kind == encode.Flag:
		return fmt.Sprintf("may outdate %s (%s)%s", quote(d.Was), at, because)
	case d.Kept == "":
		return fmt.Sprintf("replaced %s (%s)%s", quote(d.Was), at, because)
	}
	var gone []string
	for _, clause := range d.Removed() {
		gone = append(gone, quote(clause))
	}
	return fmt.Sprintf("removed %s from %s%s", strings.Join(gone, " and "), at, because)
}

// quote is a text in quotation marks, on one line.
func quote(text string) string { return "\"" + console.Line1(strings.TrimSpace(text)) + "\"" }
