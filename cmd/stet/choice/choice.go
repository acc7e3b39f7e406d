// Package choice holds the questions with several answers that commands ask on a terminal.
package choice

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/templates"
	"stet/vault/scan"
)

// Findings prints what the scan of a skill found, a line each.
func Findings(p *console.Printer, found []scan.Finding) {
	for _, f := range found {
		colour := console.Bold
		if f.Verdict == scan.Danger {
			colour = console.Red
		}
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		p.Printf("    %s  %s  %s  %s\n", p.Paint(colour, string(f.Verdict)), console.Line1(at), console.Line1(f.Rule),
			console.Line1(f.Excerpt))
	}
}

// PrintSkill prints a skill from elsewhere that waits, with what the scan finds.
func PrintSkill(p *console.Printer, s agent.WaitingSkill) {
	p.Printf("%s  %s  (%s)\n", p.Paint(console.Cyan, console.Line1(string(s.Path))), s.Verdict,
		agent.Plural(s.Files, "file"))
	if s.Description != "" {
		p.Printf("    %s: %s\n", console.Line1(s.Name), console.Line1(s.Description))
	}
	if s.Changed != "" {
		p.Printf("    %s is not as it was committed: it cannot be accepted so\n", console.Line1(string(s.Changed)))
	}
	Findings(p, s.Findings)
	p.Printf("    its text: stet skill view %s\n", console.Line1(templates.Quote(s.Path)))
}

const skillAnswers = "yes lets agents see it and follow it; no takes it out again; later leaves it waiting; all " +
	"accepts this one and shows and accepts those that follow, but for what is called a danger; " +
	"quit leaves the rest waiting"

// AskSkills asks about each skill that waits on a terminal.
func AskSkills(ctx context.Context, e *console.Env, h agent.Skills, all []agent.WaitingSkill) error {
	accepted, rejected, rest := 0, 0, false
	for n, s := range all {
		answer := byte('y')
		err := e.Show(nil, func(p *console.Printer) { PrintSkill(p, s) })
		if err == nil {
			err = h.Shown(ctx, agent.Write{}, all[n:n+1])
		}
		if err != nil {
			return err
		}
		if !rest || s.Verdict == scan.Danger {
			answer, err = console.Choose(e, false, "ynlaq", fmt.Sprintf(
				"[%d/%d] let agents follow it? [y]es, [n]o: take it out, [l]ater, [a]ll, [q]uit:", n+1,
				len(all)), skillAnswers)
			if err != nil {
				return err
			}
		}
		rest = rest || answer == 'a'
		if answer == 'q' {
			break
		}
		if answer == 'l' {
			continue
		}
		decision, err := h.Decide(ctx, s, answer != 'n', agent.Write{})
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			e.Warn("left for later: %v", err)
			continue
		}
		if decision == "accepted" {
			accepted++
		} else {
			rejected++
		}
	}
	e.Note("%d accepted, %d taken out, %d left for later", accepted, rejected, len(all)-accepted-rejected)
	return nil
}
