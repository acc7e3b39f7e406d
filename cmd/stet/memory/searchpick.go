package memory

import (
	"context"
	"text/template"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

// hitFormat reads --format of search.
func hitFormat(text string) (*template.Template, error) {
	return parseFormat(text, `'{{.Path}}:{{.Line}} {{.Title}}'`, agent.Hit{Categories: []string{"word"}})
}

// pickHit lets the user choose a hit and opens it in the editor. Where nobody can be asked the numbered list is all
// there is.
func pickHit(ctx context.Context, e *console.Env, in *console.Input, a *agent.App, hits []agent.Hit) error {
	if len(hits) == 0 {
		e.Note("no hits")
		return nil
	}
	if !e.CanAsk() {
		return e.Show(nil, func(p *console.Printer) {
			for i, h := range hits {
				p.Printf("%2d  %s  %s\n", i+1, hitPlace(e, h), highlight(e, h))
			}
		})
	}
	var choices []choice.Choice
	for i, row := range hitRows(hits) {
		row.Text, row.Tail = hits[i].Title, placeOf(hits[i])
		choices = append(choices, choice.Choice{Row: row, Hidden: hits[i].Snippet + "  " + string(hits[i].Path)})
	}
	n, err := choice.Pick(e, "open which?", choices)
	if err != nil || n < 0 {
		return err
	}
	editor, err := editorOf(e, "search -i", "leave -i out to list the hits")
	if err != nil {
		return err
	}
	res, err := a.Memories().Edit(ctx, string(hits[n].Path), e.ByInSession(in), editor)
	if err != nil {
		return err
	}
	return e.Print(ctx, res, console.More{Verb: "edited"})
}
