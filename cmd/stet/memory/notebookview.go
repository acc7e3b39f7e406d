package memory

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
)

// An entryView is an entry of a notebook as JSON shows it.
type entryView struct {
	Address    string   `json:"address"`
	Text       string   `json:"text"`
	Kind       string   `json:"kind,omitempty"`
	Task       bool     `json:"task,omitempty"`
	Pinned     bool     `json:"pinned,omitempty"`
	Under      []string `json:"under"`
	Characters int      `json:"characters"`
	Line       int      `json:"line,omitempty"`
}

func viewEntry(n *notebook.Notebook, e markdown.Entry) entryView {
	return entryView{Address: n.Address(e), Text: e.Text, Kind: e.Kind, Task: e.Task, Pinned: e.Pinned(),
		Under: append([]string{}, e.Under...), Characters: e.Characters(), Line: e.Line}
}

// A usageView says how full a notebook is.
type usageView struct {
	Characters int `json:"characters"`
	Limit      int `json:"limit"`
	Percent    int `json:"percent"`
	Entries    int `json:"entries"`
}

func viewUsage(u notebook.Usage) usageView {
	return usageView{u.Characters, u.Limit, u.Percent(), u.Entries}
}

func usageText(u notebook.Usage) string {
	return fmt.Sprintf("%s/%s characters (%d %%)", thousands(u.Characters), thousands(u.Limit), u.Percent())
}

// thousands writes 1375 as 1,375.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func showPage(ctx context.Context, e *console.Env, n *notebook.Notebook, page notebook.Page) error {
	view := struct {
		Path    vault.Path  `json:"path"`
		Usage   usageView   `json:"usage"`
		Entries []entryView `json:"entries"`
	}{n.Path(), viewUsage(page.Usage), []entryView{}}
	for _, entry := range page.Entries {
		view.Entries = append(view.Entries, viewEntry(n, entry))
	}
	return e.PagedAnswer(ctx, view, func(w io.Writer) error {
		var b strings.Builder
		fmt.Fprintf(&b, "%s  %s\n", n.Path(), usageText(page.Usage))
		var under []string
		for i, entry := range page.Entries {
			if i == 0 || !slices.Equal(under, entry.Under) {
				under = entry.Under
				b.WriteString("\n")
				if len(under) > 0 {
					b.WriteString(e.Paint(console.Bold, console.Line1(strings.Join(under, " / "))) + "\n")
				}
			}
			indent := strings.Repeat(" ", len(entry.Hash())+2)
			text := strings.ReplaceAll(e.Stored(entry.Text), "\n", "\n"+indent)
			fmt.Fprintf(&b, "%s  %s\n", e.Paint(console.Cyan, entry.Hash()), strings.ReplaceAll(text, indent+"\n", "\n"))
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// A movedView is an entry that became a memory.
type movedView struct {
	Entry entryView  `json:"entry"`
	Path  vault.Path `json:"path"`
	ID    string     `json:"id"`
}

// A notebookView is the answer of an edit.
type notebookView struct {
	agent.Written
	Notebook  vault.Path    `json:"notebook"`
	Entry     *entryView    `json:"entry"`
	Old       *entryView    `json:"old,omitempty"`
	Moved     []movedView   `json:"moved"`
	Stored    *agent.Memory `json:"stored,omitempty"`
	Duplicate bool          `json:"duplicate"`
	Usage     usageView     `json:"usage"`
}

func viewNotebook(n *notebook.Notebook, res *notebook.Result) notebookView {
	view := notebookView{Written: *agent.NewWritten(res.Result), Notebook: n.Path(), Moved: []movedView{},
		Duplicate: res.Duplicate, Usage: viewUsage(res.Usage)}
	if res.Entry.Text != "" {
		entry := viewEntry(n, res.Entry)
		view.Entry = &entry
	}
	if res.Old.End > 0 {
		old := viewEntry(n, res.Old)
		view.Old = &old
	}
	for _, m := range res.Moved {
		view.Moved = append(view.Moved, movedView{viewEntry(n, m.Entry), m.Memory.Path, m.Memory.ID})
	}
	if res.Stored != nil {
		stored := agent.ViewMemory(*res.Stored)
		view.Stored = &stored
	}
	return view
}

// wrote finishes an edit: the answer says what stands where.
func wrote(ctx context.Context, e *console.Env, v *vault.Vault, n *notebook.Notebook, res *notebook.Result) error {
	if len(res.Proposed) > 0 {
		return e.Wrote(ctx, v, res.Result, "", false)
	}
	e.AfterWrite(ctx, v, res.Result, "")
	return e.Answer(viewNotebook(n, res), func(w io.Writer) error {
		if err := e.PrintChange(w, agent.NewWritten(res.Result), false); err != nil {
			return err
		}
		for _, line := range editLines(n, res) {
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(w, "%s  %s%s\n", n.Path(), usageText(res.Usage), e.Where())
		return err
	})
}

func editLines(n *notebook.Notebook, res *notebook.Result) []string {
	would := ""
	if res.DryRun {
		would = "would be "
	}
	var lines []string
	switch {
	case res.Unchanged && res.Duplicate:
		return []string{"unchanged  " + n.Address(res.Entry) + " says so already"}
	case res.Unchanged:
		return []string{"unchanged"}
	case res.Duplicate:
		lines = append(lines, fmt.Sprintf("%sremoved  %s; %s says so already", would, n.Address(res.Old), n.Address(res.Entry)))
	case res.Entry.Text == "" && res.Old.End > 0:
		lines = append(lines, fmt.Sprintf("%sremoved  %s", would, n.Address(res.Old)))
	case res.Old.End > 0:
		lines = append(lines, fmt.Sprintf("%sreplaced  %s -> %s", would, n.Address(res.Old), n.Address(res.Entry)))
	case res.Entry.Text != "":
		lines = append(lines, fmt.Sprintf("%sadded  %s", would, n.Address(res.Entry)))
	}
	if s := res.Stored; s != nil {
		why := "too long for " + string(n.Path())
		if !res.Pointed {
			why += ", which has no room for a line that points to it"
		}
		lines = append(lines, fmt.Sprintf("%sstored  %s  (%s): %s", would, console.Line1(string(s.Path)), s.ID, why))
	}
	for _, m := range res.Moved {
		lines = append(lines, fmt.Sprintf("%smoved  %s -> %s  (%s)  %s", would, n.Address(m.Entry), console.Line1(string(m.Memory.Path)), m.Memory.ID, console.Line1(cutTo(m.Entry.Text, 60))))
	}
	return lines
}

// cutTo is at most n code points of a text on one line.
func cutTo(text string, n int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:n-1]), " ") + "…"
}
