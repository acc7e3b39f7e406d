package agent

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"stet/agent/ingest"
	"stet/agent/match"
	"stet/index"
	"stet/templates"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/links"
	"stet/vault/settings"
)

// ErrDeclined reports that the user was asked and said no: nothing was changed.
var ErrDeclined = errors.New("nothing was changed")

// A Match is a memory that a description means.
type Match struct {
	Path  vault.Path `json:"path"`
	ID    string     `json:"id,omitempty"`
	Score float64    `json:"score"`
	Text  string     `json:"text"` // the sentence that says it
}

func viewMatches(found []match.Found) []Match {
	out := make([]Match, 0, len(found))
	for _, f := range found {
		out = append(out, Match{f.Path, f.ID, f.Score, f.Line})
	}
	return out
}

// meant finds the memories that a description means. Entries of notebooks that it means as well
// are named in notices: they are no files of their own, so nothing happens to them.
func (a *App) meant(ctx context.Context, description, hint string, several bool, w vault.Write) ([]match.Found, error) {
	found, err := match.Live(ctx, a.v, description)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return nil, err
	}
	if len(found) > 1 && !several {
		// What each of them says, which their names do not.
		ambiguous := &vault.AmbiguousError{Ref: description}
		for _, f := range found {
			m := f.Memory
			m.Title = f.Line
			ambiguous.Candidates = append(ambiguous.Candidates, m)
		}
		return nil, vault.WithHint(ambiguous, "%s", hint)
	}
	mentions, failed := match.Mentions(a.v, description)
	for _, m := range mentions {
		command := "core"
		if vault.ClassOf(m.File) == vault.ClassProfile {
			command = "profile"
		}
		a.note("left alone: %s says %q; \"stet %s remove %s\" takes it out", m.File, m.Text, command, m.Hash)
	}
	return found, errors.Join(err, failed)
}

// ForgetOptions name memories to archive.
type ForgetOptions struct {
	Write
	Refs []string
	// Match describes the memories in place of Refs; without All it must mean one, unless its
	// words say "everything".
	Match string
	All   bool
	// Purge removes them from the tree, the archive and the search index instead.
	Purge bool
	// Confirm asks the user about what Match or Purge found; nil asks nobody. An answer of no is
	// [ErrDeclined].
	Confirm func([]Match) (bool, error)
}

// Forget moves memories to the archive, as one commit; agents do not write them again. It fails
// with [vault.ErrNotFound], and with [vault.ErrAmbiguous] when a ref or a description means
// several.
func (m Memories) Forget(ctx context.Context, o ForgetOptions) (*Written, error) {
	a, operation := m.a, "forget"
	if o.Purge {
		operation = "purge"
	}
	w, err := a.permit(o.Write, operation, "")
	if err != nil {
		return nil, err
	}
	refs := a.refs(o.Refs)
	var found []match.Found
	if o.Match != "" {
		if found, err = a.meant(ctx, o.Match, "say more in QUERY, name one by its path, or take them all with --all",
			o.All || match.Parse(o.Match).All(), w); err != nil {
			return nil, err
		}
	}
	if o.Purge {
		return a.purge(ctx, o, refs, found, w)
	}
	if o.Match == "" {
		res, err := a.v.Forget(ctx, refs, w)
		return a.finished(ctx, res, err)
	}
	if err := confirm(o.Confirm, viewMatches(found), w); err != nil {
		return nil, err
	}
	res, err := match.Forget(ctx, a.v, found, w)
	return a.matched(ctx, res, found, err)
}

// matched is finished for a write to what a description found.
func (a *App) matched(ctx context.Context, res *vault.Result, found []match.Found, err error) (*Written, error) {
	out, err := a.finished(ctx, res, err)
	if err == nil {
		out.Matched = viewMatches(found)
	}
	return out, err
}

// confirmed carries out a write after the user was asked about the difference that it makes, if any.
func confirmed(
	ask func(string) (bool, error), w vault.Write, write func(vault.Write) (*vault.Result, error),
) (*vault.Result, error) {
	if ask != nil && !w.DryRun {
		dry := w
		dry.DryRun = true
		res, err := write(dry)
		if err == nil && !res.Unchanged {
			err = confirm(ask, res.Diff, w)
		}
		if err != nil {
			return nil, err
		}
	}
	return write(w)
}

func confirm[T any](ask func(T) (bool, error), what T, w vault.Write) error {
	if ask == nil || w.DryRun {
		return nil
	}
	yes, err := ask(what)
	if err == nil && !yes {
		err = ErrDeclined
	}
	return err
}

// purge removes what refs name, or what a description found.
func (a *App) purge(
	ctx context.Context, o ForgetOptions, refs []string, found []match.Found, w vault.Write,
) (*Written, error) {
	for _, f := range found {
		refs = append(refs, string(f.Path))
	}
	plan, err := lineage.PlanPurge(ctx, a.v, refs)
	if err != nil {
		return nil, err
	}
	var what []Match
	for _, m := range plan.Memories {
		i := slices.IndexFunc(found, func(f match.Found) bool { return f.Path == m.Path })
		if i >= 0 && found[i].Hash != m.Hash {
			return nil, vault.WithHint(fmt.Errorf("purge %q: %w: it changed after it was found", m.Path,
				vault.ErrConflict), "review it and try again")
		}
		what = append(what, Match{Path: m.Path, ID: m.ID, Text: m.Name()})
	}
	if err := confirm(o.Confirm, what, w); err != nil {
		return nil, err
	}
	res, err := plan.Run(ctx, a.v, w)
	out, err := a.matched(ctx, res, found, err)
	if err != nil || len(res.Proposed) > 0 {
		return out, err
	}
	out.Erase, out.Diff = &plan.Erasure, "" // what is to be gone is not shown once more
	if !w.DryRun {
		var texts []string
		for _, m := range plan.Memories {
			texts = append(texts, string(m.Body))
		}
		if err := a.v.State().NotePurged(ctx, texts); err != nil {
			a.warn("agents are not kept from writing it again: %v", err)
		}
		// The old index keeps the words of what was removed until its files are merged some day.
		if _, err := a.rebuild(ctx); err != nil {
			a.warn("the search index still holds its words: %v; \"stet reindex\" rebuilds it", err)
		}
	}
	return out, nil
}

func (a *App) rebuild(ctx context.Context) (stats index.Stats, err error) {
	x, err := a.Index(false)
	if err != nil {
		return stats, err
	}
	return x.Rebuild(ctx)
}

// UpdateOptions change one memory.
type UpdateOptions struct {
	Write
	Ref string
	// Match describes the memory in place of Ref. Of a memory with two facts Patch.Text then
	// replaces the one that is meant, unless Whole is set.
	Match string
	Whole bool
	Patch vault.Patch
	// RewriteNotes also rewrites links in notes when Patch.Scope moves the memory.
	RewriteNotes bool
	// Confirm shows the user the difference that Match makes, and asks; nil asks nobody. An
	// answer of no is [ErrDeclined].
	Confirm func(diff string) (bool, error)
}

// Update changes a memory. A new text is compared with what is stored, by the rules, as a new
// memory's is: what it outdates goes in the same commit.
func (m Memories) Update(ctx context.Context, o UpdateOptions) (*Written, error) {
	a := m.a
	w, err := a.permit(o.Write, "update", o.Ref)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, text := range []*string{o.Patch.Text, o.Patch.Append, o.Patch.Title} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	if err := a.askLikely(o.Write, texts...); err != nil {
		return nil, err
	}
	if o.Match != "" {
		return a.updateMatch(ctx, o, w)
	}
	res, plan, err := a.reword(ctx, a.ref(o.Ref), o, w)
	if err != nil {
		return nil, err
	}
	out := a.moved(ctx, res)
	out.planned(plan)
	return out, nil
}

// reword carries out a patch, with the rules in front of a new text unless the vault's settings
// say otherwise.
func (a *App) reword(
	ctx context.Context, ref string, o UpdateOptions, w vault.Write,
) (*links.Result, *ingest.Plan, error) {
	if o.Patch.Text == nil || !a.Settings().Bool(settings.Cognitive) {
		res, err := links.Update(ctx, a.v, ref, o.Patch, o.RewriteNotes, w)
		return res, nil, err
	}
	x, err := a.writerIndex(false)
	if err != nil {
		return nil, nil, err
	}
	return ingest.Update(ctx, a.v, x, ref, o.Patch, o.RewriteNotes, w)
}

func (a *App) updateMatch(ctx context.Context, o UpdateOptions, w vault.Write) (*Written, error) {
	found, err := a.meant(ctx, o.Match, "say more in QUERY, or name one by its path", false, w)
	if err != nil {
		return nil, err
	}
	if o.Patch.Scope != nil {
		if o.Patch.Text != nil {
			return nil, Usagef("--match with --text and --scope: do one after the other")
		}
		res, err := links.Update(ctx, a.v, string(found[0].Path), o.Patch, o.RewriteNotes, w)
		if err != nil {
			return nil, err
		}
		out := a.moved(ctx, res)
		out.Matched = viewMatches(found)
		return out, nil
	}
	kept := false
	res, err := confirmed(o.Confirm, w, func(w vault.Write) (res *vault.Result, err error) {
		res, kept, err = match.Update(ctx, a.v, found[0], o.Match, o.Patch, o.Whole, w)
		return res, err
	})
	if err == nil && kept {
		a.note("the rest of what it says stays; --whole replaces that too")
	}
	return a.matched(ctx, res, found, err)
}

// Moves is what a move did to files and links.
type Moves struct {
	Moves     [][2]vault.Path `json:"moves"`     // old path, new path
	Rewritten []links.Rewrite `json:"rewritten"` // in the same commit
	Listed    []links.Rewrite `json:"listed"`    // left to the user
}

// moved is finish for what may have moved files.
func (a *App) moved(ctx context.Context, res *links.Result) *Written {
	out := a.finish(ctx, res.Result)
	if len(res.Moves) > 0 {
		out.Links = &Moves{append([][2]vault.Path{}, res.Moves...), append([]links.Rewrite{}, res.Rewritten...),
			append([]links.Rewrite{}, res.Listed...)}
	}
	return out
}

// MoveOptions name what moves, and where to.
type MoveOptions struct {
	Write
	// Refs are memories or notes, or alone a scope that begins with "/".
	Refs []string
	// To is a scope, a folder, or for one file its new path.
	To           string
	RewriteNotes bool
}

// Move moves or renames memories and notes, and rewrites the links that would lead elsewhere
// afterwards, as one commit. It fails as [links.Move] does.
func (m Memories) Move(ctx context.Context, o MoveOptions) (*Written, error) {
	a := m.a
	w, err := a.permit(o.Write, "move", "")
	if err != nil {
		return nil, err
	}
	w.Given = []string{o.To}
	r := links.Request{RewriteNotes: o.RewriteNotes}
	if r.To, r.File, err = a.destination(o.To); err != nil {
		return nil, a.meantTo(ctx, o, err)
	}
	for _, word := range o.Refs {
		if strings.HasPrefix(word, "/") && a.ref(word) == word {
			if len(o.Refs) > 1 {
				return nil, Usagef("a scope moves alone: %q is one of %d", word, len(o.Refs))
			}
			r.Scope = path.Clean(word)
			continue
		}
		named, err := a.v.Resolve(ctx, a.ref(word))
		if err != nil {
			return nil, err
		}
		r.From = append(r.From, named)
	}
	res, err := links.Move(ctx, a.v, r, w)
	if err != nil {
		return nil, err
	}
	if r.File && len(res.Moves) == 1 && strings.EqualFold(r.From[0].Headline(), r.From[0].Name()) && !o.DryRun &&
		!strings.EqualFold(r.From[0].Name(), strings.TrimSuffix(path.Base(string(r.To)), ".md")) {
		a.note(`its title is still %q: "stet edit %s" changes it`, r.From[0].Headline(), templates.Quote(r.To))
	}
	for _, move := range res.Moves {
		if vault.ClassOf(move[0]) == vault.ClassMemory && vault.ClassOf(move[1]) == vault.ClassNote && !o.DryRun {
			hint := ""
			if dir := path.Dir(string(move[1])); dir != "." {
				hint = fmt.Sprintf("; a folder of memories is /%s", dir)
			}
			a.note(`%s is a note now, and no memory: "stet undo" takes the move back%s`, move[1], hint)
			break // one says it for all: they went to one place
		}
	}
	return a.moved(ctx, res), nil
}

// destination reads where something moves to: a scope, a folder, a Markdown file.
func (a *App) destination(word string) (to vault.Path, file bool, err error) {
	inside := a.ref(word) != word // an absolute path that leads into the vault
	if strings.HasPrefix(word, "/") && !inside {
		if to = vault.Path(path.Join("memories", word)); a.exists(to) {
			return to, false, nil // the user's own folder keeps its name
		}
		to, err = vault.Scope(word).Folder()
		return to, false, err
	}
	if to, err = a.path(word); err != nil {
		return to, false, err
	}
	switch folder := strings.HasSuffix(word, "/") || strings.HasPrefix(string(to)+"/", "memories/"); {
	case to.IsMarkdown():
		return to, true, nil
	case folder:
		return to, false, nil
	}
	return to, false, Usagef("%q is neither a scope, a folder nor a Markdown file", word)
}

// Pin marks memories as always relevant, or with pinned false takes the mark away.
func (m Memories) Pin(ctx context.Context, refs []string, pinned bool, by Write) (*Written, error) {
	return m.a.write(ctx, by, "pin", "", func(w vault.Write) (*vault.Result, error) {
		return m.a.v.Pin(ctx, m.a.refs(refs), pinned, w)
	})
}
