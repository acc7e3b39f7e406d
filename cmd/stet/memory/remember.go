package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"stet/agent"
	"stet/agent/encode"
	"stet/cmd/stet/console"
	"stet/vault"
)

func rememberCommand() *console.Command {
	return &console.Command{
		Name: "remember", Aliases: []string{"add"}, Group: console.Memory,
		Summary: "store a memory as a Markdown file and commit it",
		Args:    "[TEXT... | -]", MaxArgs: -1,
		Details: `Several words are joined by spaces; "-" reads the text from standard input. Without a text, on a
			terminal, your editor opens ($VISUAL, else $EDITOR, else vi), and what you wrote is stored; where you wrote
			nothing, nothing is. A batch file holds
			one JSON object per line with the keys text (required), title, scope, categories, importance, kind,
			pinned, private and source. It is stored whole or, when a line is malformed, not at all: the error names
			the line.

			The text is compared with what is stored. Duplicates are not stored again; what is no longer
			true ("we switched from A to B") goes to the archive in the same commit, or loses the clause that
			changed; what contradicts without being certain is stored as well and waits in "stet conflicts". One
			"stet undo" takes all of it back.

			One sentence about yourself, or about how you want to be answered ("I hate when you …", "my wife's
			birthday is …"), goes to USER.md with its kind, unless a scope, a kind or another flag says otherwise
			or it disagrees with what is stored.

			What is not given the rules fill in from the vault's own words: a scope where they are sure, else the one
			above or none, categories in use, how much it matters. They say so, and need a dozen memories with a
			scope to learn from.

			With a model configured (models.auxiliary or models.chat) it says where the memory belongs, unless
			--scope and --importance do, and judges what resembles it: at most two calls a memory, none with --plain
			or memory.cognitive: false. It is told neither private memories nor secrets. When it fails, the memory is
			stored by the rules alone.`,
		Examples: `stet remember "Production runs on MySQL 8.4."  # one memory, one commit
			stet remember --scope /infra/db -c mysql "Port 3307."  # the scope is the folder
			git log -1 | stet remember - --kind event  # text from standard input
			stet remember --batch notes.jsonl  # many at once, one commit`,
		Flags: console.WriteFlags(
			console.Text("scope", "the `SCOPE` (folder below memories/), for example /infra/db"),
			console.List("category tag c", "a `WORD` to tag it with"),
			console.Fraction("importance", "how much it matters, a `NUMBER` from 0 to 1"),
			console.Text("kind k", "fact, preference, decision, procedure or any other `WORD`"),
			console.Text("title t", "the `TITLE`; without one the first words name the file"),
			console.Text("source", "where it comes from, any `TEXT`; session:ID#4-5 is messages of a conversation"),
			console.Bool("pin", "mark it as always relevant"),
			console.Bool("private", "show it to no model and to no agent"),
			console.Text("batch", "read memories from a JSON Lines `FILE`, \"-\" for standard input"),
			console.Bool("each", "with --batch: one commit for each memory, published together"),
			console.Text("message m", "the commit's subject, a line of `TEXT`, instead of the first words"),
			console.Bool("explain", "name the rules, confidences and features that decided"),
			console.Bool("plain", "store it as it is: compared with nothing, shown to no model"),
			console.AgainFlag(),
		),
		Run: remember,
	}
}

func remember(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RememberOptions{Write: e.ByInSession(in), Each: in.Bool("each"), Plain: in.Bool("plain"),
		Progress: asking(e)}
	if composes := canCompose(e, in) && in.String("batch") == "" && !o.Each; composes && len(in.Words) == 0 {
		return compose(ctx, e, in, noteFromFlags(in))
	}
	notes, err := notesToRemember(e, in)
	if err != nil {
		return err
	}
	o.Notes = notes
	a, err := console.Open(ctx, e, false)
	if err != nil {
		return err
	}
	res, err := a.Memories().Remember(ctx, o)
	if err != nil {
		return err
	}
	return tellRemembered(ctx, e, in, a, res)
}

// tellRemembered prints what was stored, and asks about what it may outdate.
func tellRemembered(ctx context.Context, e *console.Env, in *console.Input, a *agent.App, res *agent.Written) error {
	by := e.ByInSession(in)
	err := printWritten(ctx, e, res, "remembered", reply{byUser: by.Agent == "", explain: in.Bool("explain")})
	if err != nil || by.Agent != "" || by.DryRun || len(res.Memories) != 1 {
		return err
	}
	return askFlags(ctx, e, a, res)
}

// askFrom is the probability from which on the user is asked about a flag.
const askFrom = 0.5

// askFlags asks the user on a terminal which of the memories that a new one may outdate are
// no longer true. A yes archives one, in a commit of its own.
func askFlags(ctx context.Context, e *console.Env, a *agent.App, res *agent.Written) error {
	for _, d := range res.Decisions {
		if d.Kind != encode.Flag || d.Confidence < askFrom || d.ID == "" || !e.CanAsk() {
			continue
		}
		answer, err := console.Choose(e, true, "ynq",
			fmt.Sprintf("archive %s as no longer true? [y/N]", quote(d.Was)),
			"yes moves it to the archive; no keeps both, and \"stet conflicts\" lists them; quit or an empty line "+
				"keeps both and asks no more")
		if err != nil || answer == 'q' {
			return err
		}
		if answer == 'n' {
			continue
		}
		o := agent.SettleOptions{Ref: res.Memories[0].ID, Against: d.ID, How: agent.Keep}
		settled, err := a.Memories().Settle(ctx, o)
		if err != nil {
			return err
		}
		if err := e.Print(ctx, settled, console.More{Verb: "settled"}); err != nil {
			return err
		}
	}
	return nil
}

// notesToRemember reads the notes from where the user says they are.
func notesToRemember(e *console.Env, in *console.Input) ([]vault.Note, error) {
	file := in.String("batch")
	switch {
	case file != "" && len(in.Words) > 0:
		return nil, agent.Usagef("--batch and TEXT cannot be used together")
	case file != "":
		return batch(e, in, file)
	case in.Bool("each"):
		return nil, agent.Usagef("--each goes with --batch")
	case len(in.Words) == 0:
		return nil, agent.Usagef("nothing to remember").
			Suggest(`give the text as an argument, or "-" to read standard input: stet remember -; on a terminal ` +
				`"stet remember" alone opens your editor`)
	}
	note := noteFromFlags(in)
	text, err := textArgument(e, strings.Join(in.Words, " "), in.Literal > 0)
	if err != nil {
		return nil, err
	}
	note.Text = text
	return []vault.Note{note}, nil
}

// textArgument returns text, or standard input for a "-" that was not literal.
func textArgument(e *console.Env, text string, mayBeDash bool) (string, error) {
	if text != "-" || !mayBeDash {
		return text, nil
	}
	if e.InTerminal {
		e.Note("reading standard input; end it with Ctrl-D")
	}
	data, err := io.ReadAll(io.LimitReader(e.In, vault.MaxFileSize+1))
	return string(data), err
}

func noteFromFlags(in *console.Input) vault.Note {
	return vault.Note{
		Title: in.String("title"), Scope: in.String("scope"), Kind: in.String("kind"),
		Source:     in.String("source"),
		Categories: in.StringSlice("category"), Importance: number(in, "importance"), Pinned: in.Bool("pin"),
		Private: in.Bool("private"),
	}
}

// number is the value of a flag that may be absent, which 0 does not say.
func number(in *console.Input, name string) *float64 {
	if !in.IsSet(name) {
		return nil
	}
	f := in.Float64(name)
	return &f
}
