package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"stet/agent"
	"stet/cmd/stet/console"
)

// hitFormat reads --format of search.
func hitFormat(text string) (*template.Template, error) {
	return parseFormat(text, `'{{.Path}}:{{.Line}} {{.Title}}'`, agent.Hit{Categories: []string{"word"}})
}

// pickHit lets the user choose a hit and opens it in the editor. Where nobody can
// be asked the numbered list is all there is.
func pickHit(ctx context.Context, e *console.Env, in *console.Input, a *agent.App, hits []agent.Hit) error {
	if len(hits) == 0 {
		e.Note("no hits")
		return nil
	}
	n := -1
	var err error
	if fzf, missing := exec.LookPath("fzf"); missing == nil && e.CanAsk() {
		n, err = pickWithFzf(ctx, e, fzf, a.Root(), hits)
	} else {
		n, err = pickFromList(e, hits)
	}
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
	return e.Print(res, console.More{Verb: "edited"})
}

// pickFromList prints the hits with numbers and reads one; -1 is none.
func pickFromList(e *console.Env, hits []agent.Hit) (int, error) {
	err := e.Show(nil, func(p *console.Printer) {
		for i, h := range hits {
			p.Printf("%2d  %s  %s\n", i+1, hitPlace(e, h), highlight(e, h))
		}
	})
	if err != nil || !e.CanAsk() {
		return -1, err
	}
	text, err := e.Ask(fmt.Sprintf("Open which? [1-%d, Enter for none]", len(hits)))
	if errors.Is(err, io.EOF) || err == nil && text == "" {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(hits) {
		return -1, agent.Usagef("%q is no number from 1 to %d", text, len(hits))
	}
	return n - 1, nil
}

// pickWithFzf lets fzf choose, with the file beside the list; -1 is none. fzf
// reads from the terminal itself; its answer is the chosen line.
func pickWithFzf(ctx context.Context, e *console.Env, fzf string, root string, hits []agent.Hit) (int, error) {
	var lines bytes.Buffer
	for i, h := range hits {
		// The first three fields are for the preview and for us.
		fmt.Fprintf(&lines, "%d\t%s\t%d\t%s  %s\n", i+1, filepath.Join(root, filepath.FromSlash(string(h.Path))),
			h.Line,
			console.Line1(string(h.Path)), console.Line1(h.Snippet))
	}
	cmd := exec.CommandContext(ctx, fzf, "--delimiter", "\t", "--with-nth", "4..", "--no-sort",
		"--preview", "cat -- {2}", "--preview-window", "wrap,+{3}-/3")
	cmd.Stdin, cmd.Stderr = &lines, e.Err
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 130) {
		return -1, nil // nothing chosen
	}
	if err != nil {
		return -1, fmt.Errorf("fzf: %w", err)
	}
	number, _, _ := strings.Cut(string(out), "\t")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(hits) {
		return -1, fmt.Errorf("fzf answered %q, which is no line it was given", out)
	}
	return n - 1, nil
}
