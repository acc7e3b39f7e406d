package history

import (
	"context"
	"fmt"
	"io"
	"strings"

	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/lineage"
)

// An entryHistoryAnswer is what history prints under --json for one entry of a
// notebook.
type entryHistoryAnswer struct {
	Path     string             `json:"path"` // FILE#HASH as it was asked for
	Versions []entryVersionView `json:"versions"`
}

type entryVersionView struct {
	originView
	Status string     `json:"status"`
	Path   vault.Path `json:"path"`
	Old    string     `json:"old,omitempty"` // the entry's text before
	New    string     `json:"new,omitempty"`
}

func entryHistory(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, file, hash string) error {
	p, err := pathOf(ctx, e, v, file)
	if err != nil {
		return err
	}
	answer := entryHistoryAnswer{Path: string(p) + "#" + hash, Versions: []entryVersionView{}}
	for version, err := range lineage.EntryVersions(ctx, v, in.String("rev"), p, hash) {
		if err != nil {
			return err
		}
		answer.Versions = append(answer.Versions, entryVersionView{viewOrigin(version.Commit), version.Status, version.Path, version.Old, version.New})
		if len(answer.Versions) == in.Int("limit") {
			break
		}
	}
	if len(answer.Versions) == 0 {
		return vault.WithHint(&vault.NotFoundError{Ref: in.Words[0]}, "no commit has such an entry; \"stet show %s\" has those of now, \"stet adopt %s\" commits them", p, p)
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for _, view := range answer.Versions {
			if err := printEntryVersion(w, e, view); err != nil {
				return err
			}
		}
		return nil
	})
}

func printEntryVersion(w io.Writer, e *console.Env, view entryVersionView) error {
	_, err := fmt.Fprintf(w, "%s  %s  %s\n    %s\n", e.Paint(console.Cyan, view.Rev.Short()), console.Day(view.at), console.Line1(view.Subject),
		strings.Join(append([]string{view.who(), view.Status + " in " + console.Line1(string(view.Path))}, view.reasons()...), "; "))
	if err != nil {
		return err
	}
	for _, side := range [...]struct{ mark, colour, text string }{{"-", console.Red, view.Old}, {"+", console.Green, view.New}} {
		if side.text == "" {
			continue
		}
		for line := range strings.SplitSeq(side.text, "\n") {
			if _, err := fmt.Fprintln(w, e.Paint(side.colour, side.mark+e.Stored(line))); err != nil {
				return err
			}
		}
	}
	return nil
}
