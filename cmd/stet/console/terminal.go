package console

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"stet/agent"
	"stet/vault/guard"
)

// colours says whether standard output may carry colour.
func (e *Env) colours() bool {
	plain := e.Getenv("NO_COLOR") != "" || e.Getenv("TERM") == "dumb"
	switch {
	case e.JSON || e.NoColor || e.colour == "never":
		return false
	case e.colour == "always":
		return !plain
	}
	return e.OutTerminal && !plain
}

// The few colours stet uses, as terminals have understood them since ECMA-48.
const (
	Bold  = "\x1b[1m"
	Red   = "\x1b[31m"
	Green = "\x1b[32m"
	Cyan  = "\x1b[36m"
	reset = "\x1b[0m"
)

// Paint colours text when standard output may carry colour.
func (e *Env) Paint(colour, text string) string {
	if text == "" || colour == "" || !e.colours() {
		return text
	}
	return colour + text + reset
}

// Stored prepares text from the vault for standard output: a terminal gets it
// without control characters, so that a note can neither move the cursor nor
// hide what it says; a pipe or file gets the bytes as they are.
func (e *Env) Stored(text string) string {
	if !e.OutTerminal {
		return text
	}
	return Clean(text)
}

// Clean drops everything a terminal would obey instead of show, or that nobody
// sees: control characters but newline and tab, marks that reorder text, tags,
// selectors of variants and the like where writing does not need them.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == utf8.RuneError:
			return '�'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, guard.Seen(text))
}

// Line1 returns text as one clean line, for a place where a line is a record.
func Line1(text string) string {
	for _, gap := range []string{"\r\n", "\n", "\t"} {
		text = strings.ReplaceAll(text, gap, " ")
	}
	return strings.TrimRight(Clean(text), " ")
}

// Confirm asks a question and reports whether the answer was yes; nobody's
// answer is no. It may be called only when [Env.CanAsk] says so.
func (e *Env) Confirm(question string) (bool, error) {
	answer, err := Choose(e, false, "ynq", question+" [y/N]",
		"yes does it; no, quit or an empty line does nothing")
	return answer == 'y', err
}

// ConfirmDiff returns a function that shows a difference, through the user's pager, and asks about it.
func (e *Env) ConfirmDiff(ctx context.Context, question string) func(diff string) (bool, error) {
	return func(diff string) (bool, error) {
		if err := e.ShowPaged(ctx, nil, func(p *Printer) { p.Diff(agent.WithoutRecords(diff)) }); err != nil {
			return false, err
		}
		return e.Confirm(question)
	}
}

// CanAsk reports whether the user is there to answer a question. Where an agent acts, whoever answers on the terminal
// is the agent.
func (e *Env) CanAsk() bool {
	return e.actor == "" && e.InTerminal && e.ErrTerminal && !e.NoInput && !e.JSON
}

// page shows text in PAGER, less by default. A pager that cannot be started is
// not worth a failure: the text is printed plainly.
func (e *Env) page(ctx context.Context, text func(p *Printer)) error {
	e.clearLine()
	words, err := SplitWords(e.Getenv("PAGER"))
	if err != nil {
		return fmt.Errorf("read PAGER: %w", err)
	}
	if len(words) == 0 {
		words = []string{"less"}
	}
	program, err := exec.LookPath(words[0])
	if err != nil || words[0] == "cat" {
		return e.Show(nil, text)
	}
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Stdout, cmd.Stderr = e.Out, e.Err
	cmd.Env = cmd.Environ()
	if e.Getenv("LESS") == "" {
		// Quit when it fits on one screen, show colours, leave the text behind.
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return e.Show(nil, text)
	}
	err = errors.Join(e.print(pipe, text), pipe.Close())
	if errors.Is(err, syscall.EPIPE) {
		err = nil // the user left the pager before the end
	}
	if waited := cmd.Wait(); waited != nil && ctx.Err() == nil {
		err = errors.Join(err, fmt.Errorf("pager %q: %w", words[0], waited))
	}
	return err
}

// SplitWords cuts a command line as found in EDITOR or PAGER into words. Words
// may be quoted with ' or "; a backslash outside quotes keeps the next letter,
// but not where it separates folders.
func SplitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, quote = true, r
		case r == '\\' && filepath.Separator != '\\':
			open, escaped = true, true
		case unicode.IsSpace(r):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, agent.Usagef("%q has an open quote", line)
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}
