package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
)

func showCommand() *console.Command {
	return &console.Command{
		Name: "show", Aliases: []string{"cat"}, Group: console.Memory,
		Summary: "print a memory or note, now or as it was",
		Args:    "MEMORY...", MinArgs: 1, MaxArgs: -1,
		Details: "Without a terminal the bytes of the file are printed unchanged.",
		Examples: []console.Example{
			{Line: "stet show memories/infra/db.md", Says: "by path"},
			{Line: "stet show 01jd7q", Says: "by id, six characters or more"},
			{Line: "stet show gate-code --at HEAD~3", Says: "as it was three commits ago"},
			{Line: "stet show gate-code --as-of 2w", Says: "as it was two weeks ago"},
			{Line: "stet show USER.md#1a2b3c4d", Says: "one entry of a notebook"},
			{Line: "stet show gate-code --body", Says: "the text without front matter"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "as it was in the revision `REV`"},
			&cli.StringFlag{Name: "as-of", Usage: "as it was at the `TIME`: a date, or an age as 2w"},
			&cli.BoolFlag{Name: "body", Usage: "leave out the front matter"},
		},
		Run: show,
	}
}

// shown is one memory with the bytes it was read from.
type shown struct {
	memory vault.Memory
	data   []byte
	doubt  *doubtView // the memory that may outdate it
}

func show(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	rev, past := in.String("at"), pastView{}
	if in.IsSet("as-of") {
		if in.IsSet("at") {
			return agent.Usagef("--at and --as-of exclude each other")
		}
		var err error
		if _, past.AsOf, err = asOf(ctx, e, v, in.String("as-of")); err != nil {
			return err
		}
		rev = string(past.AsOf.Rev)
	}
	if rev != "" {
		var err error
		if past.Rev, err = v.ResolveRevision(rev); err != nil {
			return err
		}
	}
	var all []shown
	for _, word := range in.Words {
		s, err := readEntry(ctx, e, v, word, rev)
		if err != nil {
			return err
		}
		if s.memory.Problem != "" {
			e.Warn("%s: %s", s.memory.Path, s.memory.Problem)
		}
		all = append(all, s)
	}
	if rev == "" {
		doubt(ctx, e, v, all)
	}
	return e.PagedAnswer(ctx, showAnswer(all, past), func(w io.Writer) error {
		for i, s := range all {
			if err := printMemory(w, e, s, in.Bool("body"), len(all) > 1, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// doubt looks up in the search index which memories may outdate those that are shown.
// Without an index nothing is known of it.
func doubt(ctx context.Context, e *console.Env, v *vault.Vault, all []shown) {
	x, err := e.Index(v, true)
	if err != nil {
		return
	}
	for i := range all {
		m := &all[i].memory
		if m.ID == "" || m.Class != vault.ClassMemory {
			continue
		}
		if all[i].doubt = viewDoubt(x.Doubted(ctx, m.ID)); all[i].doubt != nil && !e.JSON {
			e.Note("%s %s", console.Line1(string(m.Path)), all[i].doubt)
		}
	}
	if err := x.Close(); err != nil {
		e.Warn("close search index: %v", err)
	}
}

// readEntry reads what a word names: a file, or with "FILE#HASH" one entry of it.
func readEntry(ctx context.Context, e *console.Env, v *vault.Vault, word, rev string) (shown, error) {
	file, hash, ok := console.CutAddress(word)
	if !ok {
		return read(ctx, v, e.Ref(v, word), rev)
	}
	s, err := read(ctx, v, e.Ref(v, file), rev)
	if err != nil {
		return s, err
	}
	for _, entry := range markdown.Parse(s.data).Entries() {
		if entry.Hash() == hash {
			address := vault.Path(string(s.memory.Path) + "#" + hash)
			return shown{
				memory: vault.Memory{Path: address, Class: s.memory.Class, Kind: entry.Kind, Body: []byte(entry.Text), BodyLine: entry.Line},
				data:   []byte(entry.Text + "\n"),
			}, nil
		}
	}
	return s, vault.WithHint(&vault.NotFoundError{Ref: word}, "%q has no such entry now; \"stet history %s\" lists its versions", file, file)
}

func read(ctx context.Context, v *vault.Vault, ref, rev string) (shown, error) {
	if rev != "" {
		m, data, err := v.ReadAt(ctx, rev, ref)
		return shown{memory: m, data: data}, err
	}
	m, err := v.Resolve(ctx, ref)
	if errors.Is(err, vault.ErrNotFound) {
		return readPath(v, ref, err)
	}
	if err != nil {
		return shown{}, err
	}
	data, _, err := v.ReadFile(m.Path)
	if err != nil {
		return shown{}, err
	}
	return shown{memory: vault.ReadMemory(m.Path, data), data: data}, nil
}

// readPath reads a file that is no memory. What stands there but cannot be read
// (a FIFO, a link, another person's file) is named for what it is; unknown is
// the error for a word that is no path either.
func readPath(v *vault.Vault, ref string, unknown error) (shown, error) {
	p, err := vault.ParsePath(ref)
	if err != nil {
		return shown{}, unknown
	}
	data, _, err := v.ReadFile(p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, vault.ErrNotFound):
		return shown{}, unknown
	case err != nil:
		return shown{}, err
	}
	return shown{memory: vault.ReadMemory(p, data), data: data}, nil
}

// A pastView says of an answer that it is not about what is there now.
type pastView struct {
	Rev  vault.Revision `json:"rev,omitempty"`
	AsOf *asOfView      `json:"as_of,omitempty"`
}

// showAnswer is one memory, or a list of them when more were asked for.
func showAnswer(all []shown, past pastView) any {
	type shownView struct {
		agent.Memory
		MayBeOutdatedBy *doubtView `json:"may_be_outdated_by,omitempty"`
	}
	views := make([]shownView, 0, len(all))
	for _, s := range all {
		view := shownView{agent.ViewMemory(s.memory), s.doubt}
		body := strings.ToValidUTF8(string(s.memory.Body), "\ufffd")
		view.Body = &body
		views = append(views, view)
	}
	if len(views) == 1 {
		return struct {
			shownView
			pastView
		}{views[0], past}
	}
	return struct {
		Memories []shownView `json:"memories"`
		pastView
	}{views, past}
}

func printMemory(w io.Writer, e *console.Env, s shown, bodyOnly, named bool, i int) error {
	data := s.data
	if bodyOnly {
		data = s.memory.Body
	}
	if named {
		gap := ""
		if i > 0 {
			gap = "\n"
		}
		if _, err := fmt.Fprintf(w, "%s==> %s <==\n", gap, console.Line1(string(s.memory.Path))); err != nil {
			return err
		}
	}
	text := e.Stored(string(data))
	if e.OutTerminal && text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n" // the prompt would stand on the text's last line
	}
	_, err := io.WriteString(w, text)
	return err
}
