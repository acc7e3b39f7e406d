package memory

import (
	"context"
	"fmt"
	"os/exec"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

func editCommand() *console.Command {
	return &console.Command{
		Name: "edit", Group: console.Memory,
		Summary: "open a memory in your editor and commit what you saved",
		Args:    "[MEMORY]", MinArgs: 1, MaxArgs: 1, Picks: true,
		Details: `The editor is $VISUAL, else $EDITOR, else vi; it may have arguments. It works on a copy and
			holds no lock. Saved unchanged, nothing happens. When the memory changed meanwhile nothing is overwritten
			(exit 3) and the message names the file that holds your text.`,
		Examples: `stet edit gate-code  # by slug
			EDITOR="code --wait" stet edit 01jd7q  # any editor that waits
			stet edit  # choose one on a terminal`,
		Flags: console.ActorFlags(console.MessageFlag(), console.AgainFlag()),
		Run:   edit,
	}
}

func edit(ctx context.Context, e *console.Env, in *console.Input) error {
	editor, err := editorOf(e, "edit", `"stet update MEMORY --text TEXT" changes a memory without one`)
	if err != nil && e.By(in).Agent == "" { // an agent is refused in any case
		return err
	}
	return e.Writing(ctx, console.More{Verb: "edited"}, func(a *agent.App) (*agent.Written, error) {
		words, err := choice.Named(ctx, e, a, in.Words, true)
		if err != nil {
			return nil, err
		}
		return a.Memories().Edit(ctx, words[0], e.ByInSession(in), editor)
	})
}

// editorOf is the user's editor, for a command that may not run without one; instead is the
// next step where --no-input forbids it.
func editorOf(e *console.Env, command, instead string) (agent.Editor, error) {
	if e.NoInput {
		return nil, agent.Usagef("%s starts an editor, which --no-input forbids", command).Suggest("%s", instead)
	}
	words, err := editorCommand(e)
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0:
		return nil, agent.Usagef("no editor").Suggest("set EDITOR, for example EDITOR=nano; %s", instead)
	}
	return func(_ context.Context, file string) error {
		// Not CommandContext: Ctrl-C belongs to the editor while it runs.
		e.Busy.Store(true)
		defer e.Busy.Store(false)
		cmd := exec.Command(words[0], append(words[1:len(words):len(words)], file)...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = e.In, e.Out, e.Err
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%q: %w", words[0], err)
		}
		return nil
	}, nil
}

// editorCommand is the editor's command line, cut into words; none where there is no editor.
func editorCommand(e *console.Env) ([]string, error) {
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
	return nil, nil
}
