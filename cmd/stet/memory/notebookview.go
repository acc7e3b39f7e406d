package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

func usageText(u agent.Usage) string {
	return fmt.Sprintf("%s/%s characters (%d %%)", thousands(u.Characters), thousands(u.Limit), u.Percent)
}

// thousands writes 1375 as 1,375.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func printPage(p *console.Printer, page *agent.Page) {
	p.Printf("%s  %s\n", page.Path, usageText(page.Usage))
	var under []string
	for i, entry := range page.Entries {
		if i == 0 || !slices.Equal(under, entry.Under) {
			under = entry.Under
			p.Printf("\n")
			if len(under) > 0 {
				p.Printf("%s\n", p.Paint(console.Bold, console.Line1(strings.Join(under, " / "))))
			}
		}
		indent := strings.Repeat(" ", len(entry.Hash())+2)
		text := strings.ReplaceAll(p.Stored(entry.Text), "\n", "\n"+indent)
		p.Printf("%s  %s\n", p.Paint(console.Cyan, entry.Hash()), strings.ReplaceAll(text, indent+"\n", "\n"))
	}
}

// printNoted prints what an edit left where.
func printNoted(ctx context.Context, e *console.Env, res *agent.Noted) error {
	if len(res.Proposed) > 0 {
		return e.Print(ctx, res.Written, console.More{})
	}
	e.Adopted(res.Commits, "", res.DryRun)
	err := e.ShowPaged(ctx, res, func(p *console.Printer) {
		p.Change(res.Written, false)
		printEdit(p, res)
		p.Printf("%s  %s%s\n", res.Notebook, usageText(res.Usage), p.Where())
	}, res.DryRun)
	console.NoteRejections(e, res.Written)
	return err
}

func printEdit(p *console.Printer, res *agent.Noted) {
	would := ""
	if res.DryRun {
		would = "would be "
	}
	switch {
	case res.Unchanged && res.Duplicate:
		p.Printf("unchanged  %s is already stored\n", res.Entry.Address)
		return
	case res.Unchanged:
		p.Printf("unchanged\n")
		return
	case res.Duplicate:
		p.Printf("%sremoved  %s; %s is already stored\n", would, res.Old.Address, res.Entry.Address)
	case res.Entry == nil && res.Old != nil:
		p.Printf("%sremoved  %s\n", would, res.Old.Address)
	case res.Old != nil:
		p.Printf("%sreplaced  %s -> %s\n", would, res.Old.Address, res.Entry.Address)
	case res.Entry != nil:
		p.Printf("%sadded  %s\n", would, res.Entry.Address)
	}
	if s := res.Stored; s != nil {
		why := fmt.Sprintf("too long for %s", res.Notebook)
		if !res.Pointed {
			why += ", which has no room for a line that points to it"
		}
		p.Printf("%sstored  %s  (%s): %s\n", would, console.Line1(string(s.Path)), console.Line1(s.ID), why)
	}
	for _, m := range res.Moved {
		p.Printf("%smoved  %s -> %s  (%s)  %s\n", would, m.Entry.Address, console.Line1(string(m.Path)),
			console.Line1(m.ID), console.Line1(cutTo(m.Entry.Text, 60)))
	}
}

// cutTo is at most n code points of a text on one line.
func cutTo(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}
