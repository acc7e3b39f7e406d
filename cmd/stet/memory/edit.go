package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func editCommand() *console.Command {
	return &console.Command{
		Name: "edit", Group: console.Memory,
		Summary: "open a memory in your editor and commit what you saved",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: "The editor is $VISUAL, else $EDITOR, else vi; it may have arguments. It works on a\n" +
			"copy and holds no lock. Saved unchanged, nothing happens. When the memory changed\n" +
			"meanwhile nothing is overwritten (exit 3) and the message names the file that\n" +
			"holds your text.",
		Examples: []console.Example{
			{Line: "stet edit gate-code", Says: "by slug"},
			{Line: `EDITOR="code --wait" stet edit 01jd7q`, Says: "any editor that waits"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			console.AgainFlag(),
		}, console.ActorFlags()),
		Run: edit,
	}
}

func edit(ctx context.Context, e *console.Env, in *console.Input) error {
	return editFile(ctx, e, in, func(ctx context.Context, v *vault.Vault) (vault.Path, error) {
		m, err := v.Resolve(ctx, e.Ref(v, in.Words[0]))
		return m.Path, err
	}, func(*vault.Vault) error { return nil })
}

// editFile opens the file that find names, which need not exist, and commits
// what was saved; after may say something about it.
func editFile(ctx context.Context, e *console.Env, in *console.Input, find func(context.Context, *vault.Vault) (vault.Path, error), after func(*vault.Vault) error) error {
	if e.NoInput {
		return agent.Usagef("edit starts an editor, which --no-input forbids").
			Suggest(`"stet update MEMORY --text TEXT" changes a memory without one`)
	}
	editor, err := editorOf(e)
	if err != nil {
		return err
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	p, err := find(ctx, v)
	if err != nil {
		return err
	}
	before, was, err := readForEdit(v, p)
	if err != nil {
		return err
	}
	draft, err := e.NewDraft(ctx, v, p, before)
	if err != nil {
		return err
	}
	saved, err := editDraft(ctx, e, editor, draft, before)
	if err != nil {
		return err
	}
	if bytes.Equal(before, saved) {
		return errors.Join(draft.Remove(), e.Wrote(ctx, v, &vault.Result{Root: v.Root(), Unchanged: true}, "edited", false))
	}
	w := e.WriteInSession(in)
	w.Message = in.String("message")
	var res *vault.Result
	if err = vault.CheckEdit(p, before, saved); err == nil {
		res, err = v.Replace(ctx, p, was, saved, w)
	}
	if err != nil {
		return keep(draft, fmt.Errorf("edit %q: %w", p, err), "your text is kept in %s", draft.Path())
	}
	return errors.Join(draft.Remove(), after(v), e.Wrote(ctx, v, res, "edited", false))
}

// keep leaves the person's text in place and says where; the reason of err goes
// before it.
func keep(draft *console.Draft, err error, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		text = hinter.Hint() + "; " + text
	}
	return vault.WithHint(errors.Join(err, draft.Keep()), "%s", text)
}

// readForEdit reads a file and its hash; one that does not exist is empty.
func readForEdit(v *vault.Vault, p vault.Path) ([]byte, vault.Hash, error) {
	data, _, err := v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return data, vault.ReadMemory(p, data).Hash, err
}

// editorOf is the editor's command line, cut into words.
func editorOf(e *console.Env) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words, err := console.SplitWords(e.Getenv(name))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		if len(words) > 0 {
			return words, nil
		}
	}
	if program, err := exec.LookPath("vi"); err == nil && e.InTerminal {
		return []string{program}, nil
	}
	return nil, agent.Usagef("no editor").Suggest("set EDITOR, for example EDITOR=nano")
}

// editDraft lets the editor work on the copy and returns what was saved. The copy
// is left in place when the editor failed after saving something, so that no
// typed word is lost.
func editDraft(ctx context.Context, e *console.Env, editor []string, draft *console.Draft, data []byte) ([]byte, error) {
	// Not CommandContext: Ctrl-C belongs to the editor while it runs.
	cmd := exec.Command(editor[0], append(editor[1:], draft.Path())...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
	ran := cmd.Run()
	after, err := os.ReadFile(draft.Path())
	if err != nil {
		return nil, errors.Join(ran, err, draft.Remove())
	}
	if ran == nil && ctx.Err() == nil {
		return after, nil
	}
	err = fmt.Errorf("editor %q: %w", editor[0], errors.Join(ran, ctx.Err()))
	if bytes.Equal(data, after) {
		return nil, errors.Join(err, draft.Remove())
	}
	return nil, keep(draft, err, "nothing was committed; your text is kept in %s", draft.Path())
}
