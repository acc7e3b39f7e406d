package match

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// A Found is a live memory that a description means.
type Found struct {
	vault.Memory
	Hit
}

// A Mention is an entry of a notebook that a description means as well.
type Mention struct {
	File vault.Path
	Hash string // of the entry: 1a2b3c4d of USER.md#1a2b3c4d
	Text string
}

// Live looks for what a description means among the memories that are neither archived
// nor superseded, best first. Where there is none it fails with a
// [vault.NotFoundError] that names what comes nearest.  Cost: every memory is read.
func Live(ctx context.Context, v *vault.Vault, description string) ([]Found, error) {
	q := Parse(description)
	if q.Empty() {
		return nil, vault.WithHint(fmt.Errorf("match %q: %w: it names nothing", description, vault.ErrInvalid), "say what it is about: a name, a number, an attribute")
	}
	all, err := v.List(ctx, vault.Filter{})
	if err != nil {
		return nil, err
	}
	byPath, texts := map[string]vault.Memory{}, []Text{}
	for _, m := range all {
		if m.SupersededBy != "" {
			continue
		}
		byPath[string(m.Path)] = m
		texts = append(texts, Text{Key: string(m.Path), Text: textOf(m)})
	}
	var out []Found
	for _, h := range q.Find(texts) {
		out = append(out, Found{byPath[h.Key], h})
	}
	if len(out) > 0 {
		return out, nil
	}
	none := &vault.NotFoundError{Ref: description}
	for _, h := range q.Near(texts, nearest) {
		none.Near = append(none.Near, h.Key)
	}
	return nil, none
}

// nearest is how many memories are named when none is meant.
const nearest = 3

// textOf is what a memory says, its title included where that says more.
func textOf(m vault.Memory) string {
	body := string(m.Body)
	if m.Title == "" || strings.Contains(body, m.Title) {
		return body
	}
	return body + "\n\n" + m.Title
}

// Mentions looks for what a description means in the notebooks, which are edited
// entry by entry.
func Mentions(v *vault.Vault, description string) ([]Mention, error) {
	q := Parse(description)
	var out []Mention
	for _, p := range []vault.Path{"USER.md", "MEMORY.md"} {
		data, _, err := v.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var texts []Text
		for _, e := range markdown.Parse(data).Entries() {
			texts = append(texts, Text{Key: e.Hash(), Text: e.Text})
		}
		for _, h := range q.Find(texts) {
			out = append(out, Mention{File: p, Hash: h.Key, Text: h.Line})
		}
	}
	return out, nil
}

// Forget moves memories to the archive in one commit, as [vault.Vault.Forget] does,
// but only as they were found: one that changed since is a [vault.ErrConflict].
func Forget(ctx context.Context, v *vault.Vault, found []Found, w vault.Write) (*vault.Result, error) {
	subject := templates.Plural(len(found), "memory", "memories")
	if len(found) == 1 {
		subject = found[0].Name()
	}
	why := w.Why(vault.OpForget, subject)
	for _, f := range found {
		if f.ID != "" {
			why.Memories = append(why.Memories, f.ID)
		}
	}
	return change(ctx, v, found, why, w.DryRun, func(tx *vault.Tx, m vault.Memory) (vault.Memory, error) {
		return m, tx.Archive(m, true)
	})
}

// Update applies a patch to a memory as it was found; one that changed since is a
// [vault.ErrConflict]. Of a memory with several facts the patch's text takes the place
// of the one that is meant, unless whole is set. kept reports that something stayed.
func Update(ctx context.Context, v *vault.Vault, f Found, description string, patch vault.Patch, whole bool, w vault.Write) (res *vault.Result, kept bool, err error) {
	if patch.Text != nil && !whole {
		var text string
		if text, kept = Parse(description).Replace(string(f.Body), strings.TrimRight(*patch.Text, "\r\n")); kept {
			text = strings.Trim(text, "\r\n")
			patch.Text = &text
		}
	}
	res, err = change(ctx, v, []Found{f}, w.Why(vault.OpUpdate, f.Name()), w.DryRun, patch.Apply)
	return res, kept, err
}

// change makes one commit of the same change of several memories, as they were found.
func change(ctx context.Context, v *vault.Vault, found []Found, why vault.Why, dry bool, do func(*vault.Tx, vault.Memory) (vault.Memory, error)) (*vault.Result, error) {
	changed := make([]vault.Memory, len(found))
	res, err := v.Transact(ctx, why, dry, func(tx *vault.Tx) error {
		for i, f := range found {
			_, hash, err := tx.Read(f.Path)
			if err == nil && hash != f.Hash {
				err = vault.WithHint(fmt.Errorf("%s %q: %w: it changed after it was found", why.Op, f.Path, vault.ErrConflict), "look at it and try again")
			}
			if err == nil {
				changed[i], err = do(tx, f.Memory)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories = changed
	return res, nil
}
