package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
)

// ExportOptions choose what leaves the vault.
type ExportOptions struct {
	vault.Filter
	Private bool // what is marked private too
}

// Exported is what an export holds.
type Exported struct {
	Items   []Memory     `json:"items"`             // with bodies; each entry of a notebook is an item
	Skipped []vault.Path `json:"skipped,omitempty"` // not readable
}

// Export lists memories with their texts. Private ones are left out, and counted in a notice,
// unless o.Private is set.
func (m Memories) Export(ctx context.Context, o ExportOptions) (*Exported, error) {
	out := &Exported{Items: []Memory{}}
	found, err := m.a.exportable(ctx, o, out)
	for _, file := range found {
		out.Items = append(out.Items, records(file)...)
	}
	return out, err
}

func (a *App) exportable(ctx context.Context, o ExportOptions, out *Exported) ([]vault.Memory, error) {
	if o.Private && a.o.Agent != "" {
		return nil, Write{Agent: a.o.Agent}.refused("export", "--private", "what is private is kept from agents")
	}
	o.Skipped = func(p vault.Path, _ error) { out.Skipped = append(out.Skipped, p) }
	all, err := a.v.List(ctx, o.Filter)
	var found []vault.Memory
	for _, m := range all {
		if o.Private || !m.Private {
			found = append(found, m)
		}
	}
	if n := len(all) - len(found); n > 0 {
		a.note("%d marked private left out; --private takes them too", n)
	}
	return found, err
}

// records are the items of one file: one, or one for each entry of a notebook.
func records(m vault.Memory) []Memory {
	if m.Class != vault.ClassCore && m.Class != vault.ClassProfile {
		return []Memory{viewWithBody(m, string(m.Body), nil)}
	}
	var out []Memory
	for _, entry := range markdown.Parse(m.Body).Entries() {
		v := viewWithBody(m, entry.Text, nil)
		v.Path, v.Kind, v.Title, v.Hash = vault.Path(string(m.Path)+"#"+entry.Hash()), entry.Kind, "", ""
		out = append(out, v)
	}
	return out
}

// ExportedFiles says which files an export wrote.
type ExportedFiles struct {
	Exported int          `json:"exported"` // memories or entries
	Files    []string     `json:"files"`
	Skipped  []vault.Path `json:"skipped,omitempty"` // not readable
}

// ExportHermes writes the entries of the two notebooks as the files MEMORY.md and USER.md that
// Hermes keeps, into a folder that is made. Files that exist are a [vault.ErrConflict].
func (m Memories) ExportHermes(ctx context.Context, w Write, dir string, private bool) (*ExportedFiles, error) {
	if err := m.a.checkOutput(w, dir); err != nil {
		return nil, err
	}
	o := ExportOptions{Filter: vault.Filter{Classes: []vault.Class{vault.ClassCore, vault.ClassProfile}},
		Private: private}
	var seen Exported
	found, err := m.a.exportable(ctx, o, &seen)
	if err != nil {
		return nil, err
	}
	out := &ExportedFiles{Skipped: seen.Skipped}
	texts := map[string]string{}
	for _, file := range found {
		var entries []string
		for _, entry := range markdown.Parse(file.Body).Entries() {
			// A line of the delimiter alone would end the entry there.
			text := strings.ReplaceAll("\n"+entry.Text+"\n", "\n§\n", "\n §\n")
			if text = strings.TrimSpace(text); text != "" {
				entries = append(entries, text)
			}
		}
		out.Exported += len(entries)
		texts[string(file.Path)] = strings.Join(entries, "\n§\n")
	}
	var files []newFile
	for _, h := range []struct {
		name  string
		limit int // characters that Hermes itself lets the file hold
	}{{"MEMORY.md", 2200}, {"USER.md", 1375}} {
		text := texts[h.name]
		if size := utf8.RuneCountInString(text); size > h.limit {
			m.a.warn("%s: %s; Hermes keeps %d and refuses to add until there are fewer", h.name,
				Plural(size, "character"),
				h.limit)
		}
		files = append(files, newFile{h.name, []byte(text)})
		out.Files = append(out.Files, filepath.Join(dir, h.name))
	}
	return out, m.a.writeNew(dir, files)
}

// WriteFile writes a file outside the vault, which must not exist; its folder is made. It fails
// with [vault.ErrConflict] when it exists.
func (e *Environment) WriteFile(w Write, name string, data []byte) error {
	if err := e.checkOutput(w, name); err != nil {
		return err
	}
	name = e.expand(name)
	return e.writeNew(filepath.Dir(name), []newFile{{filepath.Base(name), data}})
}

// ReplaceFile writes a file outside the vault; what it replaces is gone. Its folder is made.
func (e *Environment) ReplaceFile(w Write, name string, data []byte) (err error) {
	if err := e.checkOutput(w, name); err != nil {
		return err
	}
	name = e.expand(name)
	if err := durable.MakeFolder("export", filepath.Dir(name), 0o777, e.o.Hook); err != nil {
		return err
	}
	r, err := durable.OpenRoot(filepath.Dir(name), e.o.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Overwrite("export", filepath.Base(name), data, 0o666, false)
}

// CheckOverwrite asks the policy for writing into a place where something may stand already.
func (e *Environment) CheckOverwrite(w Write, name string) error {
	return e.check(w, "overwrite", name)
}

// checkOutput refuses an agent every file: no list of names knows all that programs run or take orders from.
func (e *Environment) checkOutput(w Write, name string) error { return e.check(w, "export", name) }

// outside refuses an agent what it may write nowhere but in a place of its own: where something
// stands, where programs take orders, and in a vault, where the next command would take it for the
// user's. Links are followed first.
func (e *Environment) outside(w Write, operation, name string) error {
	if w.Agent == "" {
		return nil
	}
	at := e.expand(name)
	entries, err := os.ReadDir(at)
	if _, lerr := os.Lstat(at); !errors.Is(lerr, fs.ErrNotExist) && (err != nil || len(entries) > 0) {
		return w.refused(operation, name, "something stands there already")
	}
	real, err := resolved(at)
	if err != nil {
		return err
	}
	if vault.Path(filepath.ToSlash(at)).Steers() || vault.Path(filepath.ToSlash(real)).Steers() {
		return w.refused(operation, name, "programs take orders from what stands there")
	}
	if root, err := vault.Find(real); !errors.Is(err, vault.ErrNotVault) {
		return w.refused(operation, name, fmt.Sprintf("what stands in the vault %q is the user's", root))
	}
	return nil
}

// resolved follows the links in the part of a path that exists.
func resolved(at string) (string, error) {
	rest := ""
	for dir := at; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			real, err := filepath.EvalSymlinks(dir)
			return filepath.Join(real, rest), err
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

type newFile struct {
	name string
	data []byte
}

// writeNew writes files that must not exist into a folder that is made: all of them or none.
func (e *Environment) writeNew(dir string, files []newFile) (err error) {
	if err := durable.MakeFolder("export", dir, 0o777, e.o.Hook); err != nil {
		return err
	}
	root, err := durable.OpenRoot(dir, e.o.Hook)
	if err != nil {
		return err
	}
	var made []string
	defer func() {
		if err != nil {
			for _, name := range made {
				err = errors.Join(err, root.Remove("export", name))
			}
		}
		err = errors.Join(err, root.Close())
	}()
	exists := func(name string) error {
		return vault.WithHint(fmt.Errorf("export to %q: %w: it exists", root.Abs(name), vault.ErrConflict),
			"name another place, or move it away first")
	}
	for _, f := range files {
		if root.Exists(f.name) {
			return exists(f.name)
		}
	}
	for _, f := range files {
		err := root.CreateSync("export", f.name, f.data, 0o666)
		if errors.Is(err, fs.ErrExist) {
			err = exists(f.name)
		}
		if err != nil {
			return err
		}
		made = append(made, f.name)
	}
	return root.SyncDir("export", ".")
}
