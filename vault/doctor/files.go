package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/links"
	"stet/vault/notebook"
	"stet/vault/proposal"
)

// files reads every file that is to be read once and looks at it from all sides.
func files(ctx context.Context, x *exam) error {
	list, err := x.v.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return err
	}
	ids, refs := map[string][]vault.Path{}, map[vault.Path][]string{}
	pending, names := 0, map[string]vault.Path{}
	for _, f := range list {
		x.name(f.Path, names)
	}
	read, unread := x.choose(list)
	defer x.progress(len(read), len(read))
	for i, f := range read {
		x.progress(i, len(read))
		if err := context.Cause(ctx); err != nil {
			return err
		}
		data, _, err := x.v.ReadFile(f.Path)
		if err != nil {
			continue // gone since, or among the unreadable ones that are named already
		}
		m := vault.ReadMemory(f.Path, data)
		if m.Problem != "" {
			x.add(vault.Problem{ID: "front-matter", Path: f.Path, Text: m.Problem, Hint: "mend it by hand; the text is still found"})
		}
		if line := markdown.ConflictAt(data); line > 0 {
			x.add(vault.Problem{ID: "conflict-marker", Path: f.Path, Text: fmt.Sprintf("a merge was not finished at line %d", line), Hint: "choose one side in an editor"})
		}
		if line, what := markdown.Parse(data).Unread(); line > 0 {
			x.add(vault.Problem{ID: "deep-nesting", Path: f.Path, Text: fmt.Sprintf("%s at line %d", what, line),
				Hint: "they are read as text from there; nothing is lost"})
		}
		x.secrets(f.Path, data)
		if m.ID != "" {
			ids[m.ID] = append(ids[m.ID], f.Path)
		}
		refs[f.Path] = references(m)
		if m.Encoding == "pending" && !m.Archived() {
			pending++
		}
	}
	if pending > 0 {
		x.add(vault.Problem{ID: "pending", Text: fmt.Sprintf("memories that wait for a model: %d", pending), Hint: "stet encode finishes them", Advice: true})
	}
	known := x.idsOf(unread, ids)
	x.duplicates(ctx, ids)
	if !known {
		return nil
	}
	return x.dangling(ctx, ids, refs)
}

// choose is what of the files is read, in the order of list, and what is not.
func (x *exam) choose(list []vault.File) (read, unread []vault.File) {
	if x.o.Read == 0 || len(list) <= x.o.Read {
		return list, nil
	}
	isNote := func(f vault.File) int {
		if vault.ClassOf(f.Path) == vault.ClassNote {
			return 1
		}
		return 0
	}
	byNeed := slices.SortedStableFunc(slices.Values(list), func(a, b vault.File) int {
		return cmp.Or(cmp.Compare(isNote(a), isNote(b)), b.ModTime.Compare(a.ModTime))
	})
	byPath := func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) }
	read, unread = byNeed[:x.o.Read], byNeed[x.o.Read:]
	slices.SortFunc(read, byPath)
	slices.SortFunc(unread, byPath)
	x.unread = len(unread)
	return read, unread
}

// idsOf adds the ids of files that were not read as the index has them, and reports whether it could.
func (x *exam) idsOf(unread []vault.File, ids map[string][]vault.Path) bool {
	if len(unread) == 0 {
		return true
	}
	if x.o.Index == nil {
		return false
	}
	left := make(map[vault.Path]bool, len(unread))
	for _, f := range unread {
		left[f.Path] = true
	}
	err := x.o.Index.IDs(unread, func(p vault.Path, id string) {
		if id != "" && left[p] {
			ids[id] = append(ids[id], p)
		}
	})
	return err == nil
}

// progress tells how many of the files were read.
func (x *exam) progress(done, total int) {
	if x.o.Progress != nil {
		x.o.Progress(vault.Event{Phase: "examining", Done: done, Total: total})
	}
}

// name looks at the name of a file beside those of the others, by what they are where case does not count.
func (x *exam) name(p vault.Path, names map[string]vault.Path) {
	text, folded := "", markdown.Fold(string(p))
	if part := p.Unportable(); part != "" {
		text = fmt.Sprintf("Windows cannot check out a file with the name %q", part)
	} else if other, twin := names[folded]; twin {
		text = fmt.Sprintf("is one name with %s where case does not count, as on Windows and macOS", other)
	}
	if names[folded] = p; text != "" {
		x.add(vault.Problem{ID: "name", Path: p, Text: text, Advice: true, Hint: "git mv gives it another name"})
	}
}

func (x *exam) secrets(p vault.Path, data []byte) {
	found := x.v.Secrets(p, data)
	refused := found
	if p.Transcript() {
		refused = guard.Sure(string(p), found, data)
	}
	for _, f := range found {
		if !slices.Contains(refused, f) {
			x.add(vault.Problem{ID: "likely-secret", Path: p, Advice: true,
				Text: fmt.Sprintf("may hold %s (%s)", f, f.Excerpt),
				Hint: "take it out if it is one; if it is harmless: stet config add guard.allow " + f.Fingerprint})
			continue
		}
		x.add(vault.Problem{ID: "secret", Path: p, Text: fmt.Sprintf("%s (%s)", f, f.Excerpt),
			Hint: "take it out, and make a new one where it was committed: history keeps it; if it is harmless: stet config add guard.allow " + f.Fingerprint})
	}
}

// references are the ids that a memory names.
func references(m vault.Memory) []string {
	out := slices.Clone(m.Supersedes)
	if m.SupersededBy != "" {
		out = append(out, m.SupersededBy)
	}
	return slices.Concat(out, m.Conflicts, m.MayOutdate)
}

// duplicates reports, for each id that several files have, all but the oldest.
func (x *exam) duplicates(ctx context.Context, ids map[string][]vault.Path) {
	var twice []vault.Path
	for _, paths := range ids {
		if len(paths) > 1 {
			twice = append(twice, paths...)
		}
	}
	if len(twice) == 0 {
		return
	}
	age := x.ages(ctx, twice)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		paths := ids[id]
		slices.SortFunc(paths, func(a, b vault.Path) int { return cmp.Or(cmp.Compare(age[b], age[a]), cmp.Compare(a, b)) })
		for _, p := range paths[1:] {
			twice := vault.Problem{ID: "duplicate-id", Path: p, Text: fmt.Sprintf("has the id of %s", paths[0]),
				Hint: "stet doctor --fix gives it one of its own", Fixable: true}
			if vault.ClassOf(p) == vault.ClassSession {
				twice.Hint, twice.Fixable = `the same conversation: keep the longer one, and "stet forget" the file of the other`, false
			}
			x.add(twice)
		}
	}
}

// ages counts, for each path, the commits since it came to be where it is; 0
// is a file that was never committed.
func (x *exam) ages(ctx context.Context, paths []vault.Path) map[vault.Path]int {
	out, n := map[vault.Path]int{}, 0
	for c, err := range x.v.History().Log(ctx, vault.LogOptions{Changes: true}) {
		if err != nil {
			return out // the order is a courtesy: without it names decide
		}
		n++
		for _, ch := range c.Changes {
			if slices.Contains(paths, ch.Path) && (ch.Status == vault.Added || ch.Status == vault.Renamed) {
				out[ch.Path] = max(out[ch.Path], n)
			}
		}
	}
	return out
}

// dangling reports ids that nothing has, what was purged excepted.
func (x *exam) dangling(ctx context.Context, ids map[string][]vault.Path, refs map[vault.Path][]string) error {
	purged, err := x.v.History().RejectedIDs(ctx)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(refs)) {
		for _, id := range refs[p] {
			id = strings.ToLower(strings.TrimSpace(id))
			if id == "" || len(ids[id]) > 0 || purged[id] {
				continue
			}
			x.add(vault.Problem{ID: "dangling-id", Path: p, Text: fmt.Sprintf("names %q, which no memory has", id), Hint: "remove the id, or bring the memory back"})
		}
	}
	return nil
}

// mendIDs gives each copy an id of its own.
func mendIDs(ctx context.Context, x *exam, found []vault.Problem) error {
	for _, problem := range found {
		why := vault.Why{Op: vault.OpUpdate, Subject: "an id of its own for " + string(problem.Path), Writer: vault.Writer{Door: x.o.Door}}
		res, err := x.v.Transact(ctx, why, false, func(tx *vault.Tx) error {
			data, was, err := tx.Read(problem.Path)
			if err != nil {
				return err
			}
			id, d := tx.NewID(), markdown.Parse(data)
			tx.Why().Memories = []string{id}
			if err := d.SetMeta("id", markdown.String(id)); err != nil {
				return fmt.Errorf("%q: %w", problem.Path, err)
			}
			return tx.Put(problem.Path, was, d.Bytes())
		})
		if err != nil {
			return err
		}
		x.commits, x.changes, x.warned = append(x.commits, res.Commits...), append(x.changes, res.Changes...), append(x.warned, res.Warnings...)
	}
	return nil
}

// hookDays is for how long a failure of a hook is told.
const hookDays = 7

// hooks tells the newest failure of hooks, which fail no agent and so are seen by nobody.
func hooks(_ context.Context, x *exam) error {
	lines, err := x.v.State().Notes("hook")
	if err != nil || len(lines) == 0 {
		return err
	}
	last := lines[len(lines)-1]
	stamp, _, _ := strings.Cut(last, " ")
	if at, err := time.Parse(time.RFC3339, stamp); err == nil && x.o.Now.Sub(at) > hookDays*24*time.Hour {
		return nil
	}
	x.add(vault.Problem{ID: "hook-log", Advice: true,
		Text: "a hook of a client could not handle an event, last: " + last})
	return nil
}

// Where the copies lie that editors work on, in the vault's local state, and how the names of those begin that were not
// stored and that the user was told of.
const (
	EditsFolder = "edits"
	KeptEdit    = "kept-"
)

// keptEdits reports the texts of edits that were not stored.
func keptEdits(_ context.Context, x *exam) error {
	dir := filepath.Join(x.v.StateDir(), EditsFolder)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), KeptEdit) {
			x.add(vault.Problem{ID: "kept-edit", Advice: true, Hint: "remove it when you no longer need it",
				Text: "the text of an edit that was not stored is in " + filepath.Join(dir, e.Name())})
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// proposals reports what waits for the person and cannot be read.
func proposals(ctx context.Context, x *exam) error {
	survey, err := x.v.Survey(ctx, proposal.Dir, true)
	if err != nil {
		return err
	}
	for _, f := range survey.Files {
		data, _, err := x.v.ReadFile(f.Path)
		if err == nil {
			_, _, err = proposal.Decode(data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			x.add(vault.Problem{ID: "proposal", Path: f.Path, Text: "cannot be read: " + err.Error(), Hint: "mend it, or remove it: nothing was written of it"})
		}
	}
	return nil
}

func notebooks(_ context.Context, x *exam) error {
	l := notebook.LimitsOf(x.v)
	for _, n := range []*notebook.Notebook{notebook.Core(x.v, l), notebook.Profile(x.v, l)} {
		page, err := n.Read()
		if err != nil {
			continue // an unreadable file is named by another check
		}
		if u := page.Usage; u.Characters > u.Limit {
			x.add(vault.Problem{ID: "notebook-size", Path: n.Path(), Text: fmt.Sprintf("its entries hold %s, the limit is %d", templates.Plural(u.Characters, "character"), u.Limit),
				Hint: "nothing is cut: move what not every session needs to memories/"})
		}
	}
	return nil
}

// mostDead bounds the dead links of one file that are listed: a file can have hundreds of thousands.
const mostDead = 50

// deadLinks reports links in stet's own files. What a person's notes link to
// is the person's affair: "stet links --dead" lists it.
func deadLinks(ctx context.Context, x *exam) error {
	if x.unread > 0 {
		return nil // a link may lead to what a file that was not read calls itself
	}
	g, err := links.Load(ctx, x.v)
	if err != nil {
		return err
	}
	dead := map[vault.Path]int{}
	for _, e := range g.Dead() {
		if vault.ClassOf(e.From) == vault.ClassNote || vault.ClassOf(e.From) == vault.ClassSession {
			continue
		}
		if dead[e.From]++; dead[e.From] > mostDead {
			continue
		}
		x.add(vault.Problem{ID: "dead-link", Path: e.From, Text: fmt.Sprintf("line %d links to %q, which is not there", e.Link.Line, e.Link.Target), Hint: `"stet search" finds where it went, "stet links --dead" lists all`})
	}
	for _, p := range slices.Sorted(maps.Keys(dead)) {
		if more := dead[p] - mostDead; more > 0 {
			text := fmt.Sprintf("links to what is not there, besides these: %d", more)
			x.add(vault.Problem{ID: "dead-link", Path: p, Text: text, Hint: `"stet links --dead" lists all`})
		}
	}
	return nil
}
