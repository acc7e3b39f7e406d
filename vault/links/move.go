package links

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// A Request says what is to move where.
type Request struct {
	// From are files; empty when Scope is what moves.
	From []vault.Memory
	// Scope is a whole scope, "/infra": every file below its folder.
	Scope string
	// To is the folder that everything goes into, or with one file in From its
	// new path.
	To   vault.Path
	File bool // To is a path
	// RewriteNotes lets links in notes be rewritten too; else they are listed.
	RewriteNotes bool
}

// A Result is a move with its links: those rewritten in the same commit, and
// those left to the person.
type Result struct {
	*vault.Result
	Moves     [][2]vault.Path // old path, new path
	Rewritten []Rewrite
	Listed    []Rewrite
	memories  []vault.Memory
}

// Move renames files and rewrites, in the same commit, the links that would
// lead elsewhere or nowhere afterwards: those in the moved files, in notebooks,
// memories and skills, and with RewriteNotes in notes. No other byte changes. A
// name that is taken gets the end of the memory's id, but a path that was named
// outright is refused with vault.ErrConflict when something stands there.
func Move(ctx context.Context, v *vault.Vault, r Request, w vault.Write) (*Result, error) {
	r.From = once(r.From)
	if err := r.check(); err != nil {
		return nil, err
	}
	return publish(ctx, v, w.Why(vault.OpMove, r.subject()), w.DryRun, r, func(*vault.Tx) error { return nil })
}

// Update is vault.UpdateMemory with the links taken along where the patch gives
// the memory another scope. A memory that only moves keeps every byte of its
// front matter.
func Update(ctx context.Context, v *vault.Vault, ref string, patch vault.Patch, rewriteNotes bool, w vault.Write) (*Result, error) {
	if patch.Scope == nil {
		res, err := v.UpdateMemory(ctx, ref, patch, w)
		return &Result{Result: res}, err
	}
	m, err := v.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	if m.Class != vault.ClassMemory {
		return nil, fmt.Errorf("update %q: %w: only memories have a scope to change, it is a %s file; move can make a memory of a note", m.Path, vault.ErrRefused, m.Class)
	}
	r := Request{From: []vault.Memory{m}, RewriteNotes: rewriteNotes}
	if r.To, err = vault.Scope(*patch.Scope).Folder(); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	w.Given = append(slices.Clip(w.Given), *patch.Scope)
	patch.Scope = nil
	after := m
	out, err := publish(ctx, v, w.Why(vault.OpUpdate, m.Name()), w.DryRun, r, func(tx *vault.Tx) error {
		after, err = patch.Apply(tx, m)
		return err
	})
	if err == nil && len(out.Memories) == 0 {
		out.Memories = []vault.Memory{after}
	}
	return out, err
}

// once drops all but the first of the same file: two names may mean one.
func once(files []vault.Memory) []vault.Memory {
	var out []vault.Memory
	for _, m := range files {
		if !slices.ContainsFunc(out, func(o vault.Memory) bool { return o.Path == m.Path }) {
			out = append(out, m)
		}
	}
	return out
}

// publish runs first and then the move in one transaction.
func publish(ctx context.Context, v *vault.Vault, why vault.Why, dry bool, r Request, first func(*vault.Tx) error) (*Result, error) {
	var out *Result
	res, err := v.Transact(ctx, why, dry, func(tx *vault.Tx) error {
		err := first(tx)
		if err == nil {
			out, err = r.Stage(ctx, v, tx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Memories = out.memories
	out.Listed = slices.DeleteFunc(out.Listed, func(r Rewrite) bool { return withheld(v, r.Path) })
	out.Result = res
	return out, nil
}

// Stage is [Move] as a part of a transaction. What the transaction staged before may
// concern the text of what moves, but neither where files stand nor their links.
func (r Request) Stage(ctx context.Context, v *vault.Vault, tx *vault.Tx) (*Result, error) {
	r.From = once(r.From)
	if err := r.check(); err != nil {
		return nil, err
	}
	m := &mover{v: v.Whole(), tx: tx, r: r, to: map[vault.Path]vault.Path{}}
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	return &m.out, nil
}

func (r Request) subject() string {
	switch {
	case r.Scope != "":
		return r.Scope + " to " + vault.ScopeOf(r.To+"/x")
	case len(r.From) == 1:
		return r.From[0].Name() + " to " + r.place()
	}
	return fmt.Sprintf("%s to %s", templates.Plural(len(r.From), "file"), r.place())
}

// place is To as a person calls it.
func (r Request) place() string {
	if !r.File && vault.ClassOf(r.To+"/x") == vault.ClassMemory {
		return vault.ScopeOf(r.To + "/x")
	}
	return string(r.To)
}

// check refuses what is no place for a memory or a note.
func (r Request) check() error {
	if c := vault.ClassOf(r.To + "/x.md"); c != vault.ClassMemory && c != vault.ClassNote {
		return fmt.Errorf("move to %q: %w: that folder is stet's own (%s)", r.To, vault.ErrRefused, c)
	}
	for _, m := range r.From {
		switch {
		case m.Archived():
			return fmt.Errorf("move %q: %w: it is in the archive; restore brings it back", m.Path, vault.ErrRefused)
		case m.Class != vault.ClassMemory && m.Class != vault.ClassNote:
			return fmt.Errorf("move %q: %w: its place is fixed, it is a %s file", m.Path, vault.ErrRefused, m.Class)
		}
	}
	switch {
	case r.File && (r.Scope != "" || len(r.From) > 1):
		return vault.WithHint(fmt.Errorf("move to %q: %w: it is a file, and more than one would go there", r.To, vault.ErrInvalid),
			"name a scope (/infra) or a folder (memories/infra/)")
	case r.Scope == "":
		return nil
	case strings.Trim(r.Scope, "/") == "":
		return fmt.Errorf("move scope %q: %w: that is everything", r.Scope, vault.ErrInvalid)
	}
	if from := "memories" + r.Scope; string(r.To) == from || strings.HasPrefix(string(r.To), from+"/") {
		return fmt.Errorf("move scope %q to %q: %w: a scope cannot go into itself", r.Scope, r.To, vault.ErrInvalid)
	}
	return nil
}

// A mover works out one move inside a transaction.
type mover struct {
	v   *vault.Vault
	tx  *vault.Tx
	r   Request
	out Result
	to  map[vault.Path]vault.Path // old path to new
	s   *surveyed
}

func (m *mover) run(ctx context.Context) error {
	s, err := survey(ctx, m.v)
	if err != nil {
		return err
	}
	if m.r.Scope != "" && !s.below("memories"+m.r.Scope) {
		m.r.Scope = vault.Scope(m.r.Scope).Slug() // what was given to remember names it too
	}
	if err := m.name(s); err != nil {
		return err
	}
	root, err := os.OpenRoot(m.v.Root())
	if err != nil {
		return err
	}
	if err = m.free(s); err == nil {
		err = m.rewrite(s, existing(root))
	}
	return errors.Join(err, root.Close())
}

// name finds the new path of everything that moves.
func (m *mover) name(s *surveyed) error {
	folder := vault.Path(strings.TrimSuffix("memories"+m.r.Scope, "/"))
	for _, p := range s.files {
		if rest, below := strings.CutPrefix(string(p), string(folder)+"/"); below && m.r.Scope != "" {
			if err := m.place(p, namesIn(document(m.v, p)), path.Join(string(m.r.To), path.Dir(rest))); err != nil {
				return err
			}
		}
	}
	if m.r.Scope != "" && len(m.to) == 0 {
		return &vault.NotFoundError{Ref: m.r.Scope}
	}
	for _, f := range m.r.From {
		switch {
		case m.r.File && m.r.To != f.Path:
			m.to[f.Path] = m.r.To
			for _, p := range s.files {
				if p != f.Path && markdown.Fold(string(p)) == markdown.Fold(string(m.r.To)) {
					err := fmt.Errorf("move %q to %q: %w: %q stands there", f.Path, m.r.To, vault.ErrConflict, p)
					return vault.WithHint(err, "choose another name; or make one of both: take the text over with "+
						"\"stet edit %s\", mend what \"stet links %s --back\" lists, then \"stet forget %[2]s\"",
						templates.Quote(p), templates.Quote(f.Path))
				}
			}
		case !m.r.File && f.Path.Dir() != string(m.r.To):
			if err := m.place(f.Path, []string{f.ID}, string(m.r.To)); err != nil {
				return err
			}
		}
	}
	return nil
}

// free refuses places below a file: one name cannot be a file and a folder.
func (m *mover) free(s *surveyed) error {
	files := map[string]bool{}
	for _, p := range s.files {
		files[string(m.moved(p))] = true
	}
	for from, to := range m.to {
		for dir := to.Dir(); dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				return fmt.Errorf("move %q to %q: %w: %q is a file", from, to, vault.ErrConflict, dir)
			}
		}
	}
	return nil
}

// place finds a free name for p in folder.
func (m *mover) place(p vault.Path, called []string, folder string) error {
	sum := sha256.Sum256([]byte(p))
	mark := hex.EncodeToString(sum[:]) // for a file without an id
	for _, name := range called {
		if _, err := ulid.ParseStrict(strings.ToUpper(name)); err == nil {
			mark = strings.ToLower(name)
		}
	}
	to, err := m.tx.FreeName(folder, p.Base(), mark)
	m.to[p] = to
	return err
}

// rewrite stages the moves and the changed links.
func (m *mover) rewrite(s *surveyed, exists func(vault.Path) bool) error {
	m.s = s
	before := newTable(s.files, s.called, exists)
	files, called := make([]vault.Path, 0, len(s.files)), names{}
	for _, p := range s.files {
		files = append(files, m.moved(p))
		called[m.moved(p)] = s.called[p]
	}
	after := newTable(files, called, func(p vault.Path) bool { return m.stays(p, s, exists) })
	for i, p := range s.files {
		to, moves := m.to[p]
		var changed []byte
		if slices.ContainsFunc(s.links[i], func(l markdown.Link) bool { _, broken := m.broken(p, l, before, after); return broken }) {
			next, err := m.relink(p, before, after)
			if err != nil {
				return err
			}
			changed = next
		}
		switch {
		case moves:
			if err := m.take(p, to, changed); err != nil {
				return err
			}
		case changed != nil:
			_, was, err := m.tx.Read(p)
			if err == nil {
				err = m.tx.Put(p, was, changed)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// take moves one file, with its own links changed where they had to be: nil is not at all.
func (m *mover) take(p, to vault.Path, changed []byte) error {
	data, was, err := m.tx.Read(p) // what stands at to once it moved
	if err != nil {
		return err
	}
	if changed != nil {
		data = changed
	}
	moved := vault.ReadMemory(to, data)
	m.out.Moves = append(m.out.Moves, [2]vault.Path{p, to})
	if p.IsMarkdown() {
		m.out.memories = append(m.out.memories, moved)
	}
	if id := moved.ID; id != "" && !slices.Contains(m.tx.Why().Memories, id) {
		m.tx.Why().Memories = append(m.tx.Why().Memories, id)
	}
	if err := m.tx.Move(p, to); err != nil || changed == nil {
		return err
	}
	return m.tx.Put(to, was, changed)
}

// moved is where a file will be, or a folder when the whole of it moves.
func (m *mover) moved(p vault.Path) vault.Path {
	if to, ok := m.to[p]; ok {
		return to
	}
	from := "memories" + m.r.Scope
	if rest, ok := strings.CutPrefix(string(p)+"/", from+"/"); ok && m.r.Scope != "" {
		return vault.Path(path.Join(string(m.r.To), rest))
	}
	return p
}

// stays is what exists after the move that is no file of stet's.
func (m *mover) stays(p vault.Path, s *surveyed, exists func(vault.Path) bool) bool {
	for from, to := range m.to {
		if strings.HasPrefix(string(to), string(p)+"/") {
			return true
		}
		if from == p {
			return false
		}
	}
	if m.r.Scope != "" && m.moved(p) != p {
		return false // the old folder
	}
	return exists(p)
}
