package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stet/agent"
	"stet/agent/ingest"
	"stet/cmd/stet/console"
	"stet/vault"
)

// merge settles a dispute with a text: of a flag, or of the editor.
func merge(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, c ingest.Case, w vault.Write) (*vault.Result, error) {
	switch {
	case !in.IsSet("text") && w.DryRun:
		return nil, agent.Usagef("--merge with --dry-run needs --text").Suggest("an editor shows both texts, and saving them unchanged changes nothing")
	case !in.IsSet("text"):
		return mergeInEditor(ctx, e, v, c, w)
	}
	text, err := textArgument(e, in.String("text"), true)
	if err != nil {
		return nil, err
	}
	return c.Merge(ctx, v, text, w)
}

// mergeInEditor lets the person write what is true. What was typed is committed, or
// kept in the draft, which the error names.
func mergeInEditor(ctx context.Context, e *console.Env, v *vault.Vault, c ingest.Case, w vault.Write) (*vault.Result, error) {
	if e.NoInput {
		return nil, agent.Usagef("--merge starts an editor, which --no-input forbids").Suggest("--text TEXT gives the text without one")
	}
	editor, err := editorOf(e)
	if err != nil {
		return nil, err
	}
	before, guides := mergeDraft(c)
	draft, err := e.NewDraft(ctx, v, c.Memory.Path, []byte(before))
	if err != nil {
		return nil, err
	}
	saved, err := editDraft(ctx, e, editor, draft, []byte(before))
	if err != nil {
		return nil, err
	}
	text := withoutGuides(string(saved), guides)
	if text == "" || text == withoutGuides(before, guides) {
		return &vault.Result{Root: v.Root(), Unchanged: true}, draft.Remove()
	}
	res, err := c.Merge(ctx, v, text, w)
	if err != nil {
		return nil, keep(draft, err, "your text is kept in %s", draft.Path())
	}
	return res, draft.Remove()
}

// mergeDraft is what the editor shows of a case: each text below a line that says
// where it comes from. The lines go when the text is saved.
func mergeDraft(c ingest.Case) (text string, guides []string) {
	guides = []string{"<!-- stet: write the one text that is true, and save it. Lines like this one are left out. -->"}
	var b strings.Builder
	b.WriteString(guides[0] + "\n")
	for _, m := range slices.Concat([]vault.Memory{c.Memory}, c.Others) {
		words := []string{"<!-- stet:", console.Line1(string(m.Path))}
		if !m.Created.IsZero() {
			words = append(words, console.Day(m.Created))
		}
		if m.Source != "" {
			words = append(words, console.Line1(m.Source))
		}
		guide := strings.ReplaceAll(strings.Join(words, " "), "-->", "") + " -->"
		guides = append(guides, guide)
		b.WriteString(guide + "\n" + strings.Trim(strings.ReplaceAll(string(m.Body), "\r\n", "\n"), "\n") + "\n\n")
	}
	return b.String(), guides
}

// withoutGuides is a text without the lines that mergeDraft added.
func withoutGuides(text string, guides []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !slices.Contains(guides, strings.TrimRight(line, " \r\n")) {
			b.WriteString(line)
		}
	}
	return strings.Trim(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
}

// settleEach asks about one dispute after the other until none is left that was not
// put off. Every answer is a commit of its own, made at once.
func settleEach(ctx context.Context, e *console.Env, v *vault.Vault, w vault.Write) error {
	if w.DryRun || !e.CanAsk() {
		return agent.Usagef("--settle asks on a terminal").Suggest("--keep, --both and --merge answer without one, with --dry-run as well")
	}
	s := settler{e: e, v: v, w: w, later: map[[2]string]bool{}}
	for {
		next, err := s.next(ctx)
		if err == nil && next != nil {
			err = s.ask(ctx, *next)
		}
		if err == nil && next != nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		e.Note("%d settled, %d left", s.settled, s.left)
		return err
	}
}

type settler struct {
	e             *console.Env
	v             *vault.Vault
	w             vault.Write
	later         map[[2]string]bool
	settled, left int
}

// next is the first dispute that was not put off, nil when there is none.
func (s *settler) next(ctx context.Context) (*ingest.Dispute, error) {
	found, err := ingest.Inbox(ctx, s.v)
	s.left = len(found)
	for i, d := range found {
		if !s.later[[2]string{d.A.ID, d.B.ID}] {
			return &found[i], err
		}
	}
	return nil, err
}

// ask asks until there is an answer; io.EOF ends the walk.
func (s *settler) ask(ctx context.Context, d ingest.Dispute) error {
	pair := viewDispute(d)
	if _, err := fmt.Fprintf(s.e.Out, "1  %s2  %s", side(s.e, pair.A), side(s.e, pair.B)); err != nil {
		return err
	}
	a, b := d.Cases()
	for {
		answer, err := s.e.Ask("which is true? [1], [2], [b]oth, [m]erge in the editor, [l]ater, [q]uit:")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "1":
			return s.settle(ctx, d, a.Keep)
		case "2":
			return s.settle(ctx, d, b.Keep)
		case "b", "both":
			return s.settle(ctx, d, b.Both)
		case "m", "merge":
			return s.settle(ctx, d, func(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
				return mergeInEditor(ctx, s.e, v, b, w)
			})
		case "l", "later":
			s.later[[2]string{d.A.ID, d.B.ID}] = true
			return nil
		case "q", "quit":
			return io.EOF
		}
	}
}

// settle does what was answered. What cannot be done is put off, with the reason:
// the others do not wait for it.
func (s *settler) settle(ctx context.Context, d ingest.Dispute, how func(context.Context, *vault.Vault, vault.Write) (*vault.Result, error)) error {
	res, err := how(ctx, s.v, s.w)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		s.e.Warn("left for later: %v%s", err, hintOf(err))
	case !res.Unchanged:
		s.e.AfterWrite(ctx, s.v, res, "settled")
		s.settled, s.left = s.settled+1, s.left-1
		return nil
	}
	s.later[[2]string{d.A.ID, d.B.ID}] = true
	return nil
}

// hintOf is the hint of an error, to be put behind it.
func hintOf(err error) string {
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		return " (" + hinter.Hint() + ")"
	}
	return ""
}
