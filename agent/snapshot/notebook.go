package snapshot

import (
	"context"
	"fmt"
	"strings"

	"stet/markdown"
	"stet/templates"
	"stet/vault/notebook"
)

// A piece is an entry of a notebook, or what a person wrote between two.
type piece struct {
	under  string // the heading above it
	text   string
	pinned bool
	shown  bool
}

// readNotebooks reads USER.md and MEMORY.md.
func (t *taking) readNotebooks(ctx context.Context) error {
	limits := notebook.LimitsOf(t.v)
	for _, n := range []*notebook.Notebook{notebook.Profile(t.v, limits), notebook.Core(t.v, limits)} {
		data, err := t.read(ctx, n.Path())
		if err != nil {
			return err
		}
		page, doc := n.PageOf(data), markdown.Parse(data)
		out := Notebook{Path: n.Path(), Characters: page.Usage.Characters, Limit: page.Usage.Limit,
			Percent: page.Usage.Percent()}
		if doc.Private() {
			continue
		}
		if err := (&cutter{t: t, n: &out, doc: doc}).cut(ctx, page.Entries); err != nil {
			return err
		}
		if len(out.pieces) > 0 {
			t.out.Notebooks = append(t.out.Notebooks, out)
		}
	}
	return nil
}

// A cutter takes a notebook apart.
type cutter struct {
	t     *taking
	n     *Notebook
	doc   *markdown.Document
	under string
}

func (c *cutter) cut(ctx context.Context, entries []markdown.Entry) error {
	data := c.doc.Bytes()
	at := len(data) - len(c.doc.Body())
	for _, e := range entries {
		if err := c.between(ctx, string(data[at:e.Start])); err != nil {
			return err
		}
		by := c.t.by(string(c.n.Path)+"#"+e.Hash(), "")
		if err := c.add(ctx, string(data[e.Start:e.End]), e.Text, by, e.Pinned()); err != nil {
			return err
		}
		at = e.End
	}
	return c.between(ctx, string(data[at:]))
}

// between adds what stands between entries, which headings part.
func (c *cutter) between(ctx context.Context, text string) error {
	run := ""
	for line := range strings.Lines(text) {
		heading, ok := headingOf(line)
		if !ok {
			run += line
			continue
		}
		if err := c.add(ctx, run, run, "", false); err != nil {
			return err
		}
		var err error
		if run = ""; heading != "" {
			heading, err = c.shown(ctx, spelled(heading), heading, line)
		}
		if c.under = heading; err != nil {
			return err
		}
	}
	return c.add(ctx, run, run, "", false)
}

// add adds a text that stands in the file as raw, and whose work it is; of comments nothing is shown.
func (c *cutter) add(ctx context.Context, raw, text, by string, pinned bool) error {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "<!--") && strings.Index(text, "-->") == len(text)-len("-->") {
		return nil
	}
	shown, err := c.shown(ctx, text, Clean(text), raw)
	if by != "" && !strings.HasSuffix(shown, ordersOfUser) {
		shown += " (" + oneLine(by) + ")"
	}
	c.n.pieces = append(c.n.pieces, piece{under: c.under, text: shown, pinned: pinned})
	return err
}

// shown is a cleaned text that stands in the file as raw, with a flag or a mask if it reads like orders.
func (c *cutter) shown(ctx context.Context, text, cleaned, raw string) (string, error) {
	rules, masked, err := c.t.orders(ctx, c.n.Path, text, []byte(raw))
	switch {
	case masked:
		c.n.Masked++
		return maskOf(rules), err
	case len(rules) > 0:
		cleaned += ordersOfUser
	}
	return cleaned, err
}

// headingOf is the text of a line that is a heading.
func headingOf(line string) (string, bool) {
	line = strings.TrimSpace(line)
	text := strings.TrimLeft(line, "#")
	level := len(line) - len(text)
	is := level > 0 && level <= 6 && (text == "" || text[0] == ' ' || text[0] == '\t')
	return oneLine(strings.TrimRight(text, "#: \t")), is
}

// render is what is shown of a notebook, "" for nothing.
func (n *Notebook) render() string {
	var out strings.Builder
	under := ""
	for _, p := range n.pieces {
		if !p.shown {
			continue
		}
		if p.under != under && p.under != "" {
			out.WriteString("### " + p.under + "\n")
		}
		under = p.under
		out.WriteString("- " + indented(p.text) + "\n")
	}
	if out.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("\n## %s (%d%% of %s)\n%s", n.Path, n.Percent,
		templates.Plural(n.Limit, "character"), out.String())
}
