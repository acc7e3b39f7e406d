package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

const formFolder = ".stet/templates"

// NewOptions begin a memory from a form.
type NewOptions struct {
	Write
	Kind       string // names the form
	Title      string
	Scope      string
	Categories []string
	Plain      bool // see [RememberOptions]
	Progress   func(done, total int)
}

// New stores a memory that a form begins: a Markdown file with {{title}}, {{kind}}, {{scope}},
// {{date}} and {{time}} filled in. The vault's own forms go before the built-in ones.
func (m Memories) New(ctx context.Context, o NewOptions) (*Written, error) {
	note := vault.Note{Title: o.Title, Scope: o.Scope, Categories: o.Categories, Blank: true}
	if note.Scope == "" {
		note.Scope = m.a.projectScope(o.Write)
	}
	form, err := m.a.readForm(o.Kind)
	if err != nil {
		return nil, err
	}
	if note.Kind, note.Form, err = m.a.fillForm(form, o.Kind, note); err != nil {
		return nil, err
	}
	if note.Scope == "" && bytes.Contains(form, []byte("{{scope}}")) {
		note.Scope = "/" // as it says
	}
	return m.Remember(ctx,
		RememberOptions{Write: o.Write, Notes: []vault.Note{note}, Plain: o.Plain, Progress: o.Progress})
}

// Compose lets the user write a memory in an editor, in the form of o.Kind or without a kind, and stores what they
// saved as [Memories.Remember] does; more is what else is known of it. Where they wrote nothing, nothing is stored: the
// result is Unchanged. When the editor fails, or what was saved is not stored, the error names the file that holds it.
func (m Memories) Compose(ctx context.Context, o NewOptions, more vault.Note, edit Editor) (*Written, error) {
	for _, operation := range []string{"edit", "remember"} {
		if err := m.a.check(o.Write, operation, ""); err != nil {
			return nil, err
		}
	}
	form, name := templates.Compose(), vault.Path("memory.md")
	note := more
	note.Title, note.Scope, note.Categories = o.Title, o.Scope, o.Categories
	if o.Kind != "" {
		empty, err := m.a.readForm(o.Kind)
		if err == nil {
			note.Kind, form, err = m.a.fillForm(empty, o.Kind, note)
		}
		if err != nil {
			return nil, err
		}
		name = vault.Path(strings.ToLower(o.Kind) + ".md")
	}
	d, saved, err := m.a.editCopy(ctx, name, form, edit)
	if err != nil {
		return nil, err
	}
	if !composed(&note, form, saved, o.Kind != "") {
		m.a.removed(d)
		return m.a.finish(ctx, &vault.Result{Root: m.a.Root(), Unchanged: true}), nil
	}
	out, err := m.Remember(ctx,
		RememberOptions{Write: o.Write, Notes: []vault.Note{note}, Plain: o.Plain, Progress: o.Progress})
	if err != nil {
		return nil, d.keepFor(err, "your text is kept in %s")
	}
	m.a.removed(d)
	return out, nil
}

// composed puts what was saved of a form into the note, and reports whether anything was written.
func composed(note *vault.Note, form, saved []byte, kind bool) bool {
	if !kind {
		saved = bytes.TrimSpace(bytes.Replace(saved, bytes.TrimSpace(form), nil, 1))
		note.Text = string(saved)
		return len(saved) > 0
	}
	doc := markdown.Parse(saved)
	head := bytes.TrimSuffix(saved, doc.Body())
	empty := len(bytes.TrimSpace(doc.Body())) == 0
	if sameLines(form, saved) || empty && (len(bytes.TrimSpace(head)) == 0 ||
		sameLines(head, bytes.TrimSuffix(form, markdown.Parse(form).Body()))) {
		return false
	}
	note.Form = saved
	if title := doc.Title(); title != "" {
		note.Title = title
	}
	return true
}

// sameLines reports texts that differ only in line ends, in blanks before them and in what an editor ends a file with.
func sameLines(a, b []byte) bool {
	plain := func(text []byte) string {
		var out strings.Builder
		for line := range bytes.Lines(text) {
			out.Write(append(bytes.TrimRight(line, " \t\r\n"), '\n'))
		}
		return strings.TrimRight(out.String(), "\n")
	}
	return plain(a) == plain(b)
}

// readForm finds the form of a kind: the vault's own, else a built-in one.
func (a *App) readForm(kind string) ([]byte, error) {
	name := strings.ToLower(kind)
	if p, err := vault.ParsePath(path.Join(formFolder, name+".md")); err == nil && p.Dir() == formFolder {
		data, _, err := a.v.ReadFile(p)
		if err == nil {
			return data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read form %q: %w", p, err)
		}
	}
	if form, ok := templates.NoteForm(name); ok {
		return form, nil
	}
	usage := Usagef("no form for the kind %q", kind)
	known := templates.NoteKinds()
	if near := Nearest(name, known); near != "" {
		return nil, usage.Suggest("did you mean %q?", near)
	}
	return nil, usage.Suggest("forms: %s; write one of your own at %s/%s.md, or use \"stet remember --kind %s\"",
		strings.Join(known, ", "), formFolder, name, templates.Quote(name))
}

// fillForm fills a form. The kind is the form's own when it names one.
func (a *App) fillForm(form []byte, kind string, note vault.Note) (string, []byte, error) {
	doc := markdown.Parse(form)
	if err := doc.FrontMatterError(); err != nil {
		return "", nil, vault.WithHint(fmt.Errorf("form of %q: %w: %w", kind, vault.ErrInvalid, err), "fix %s/%s.md",
			formFolder, strings.ToLower(kind))
	}
	now := a.o.Now().Local()
	err := doc.Fill(map[string]string{
		"title": strings.Join(strings.Fields(note.Title), " "), "kind": strings.ToLower(kind),
		"scope": vault.Scope("/" + strings.Trim(note.Scope, "/")).Slug(), "date": now.Format(time.DateOnly),
		"time": now.Format("15:04"),
	})
	if err != nil {
		return "", nil, fmt.Errorf("form of %q: %w", kind, err)
	}
	if value, ok := doc.Meta("kind"); ok && value.Text() != "" {
		kind = value.Text()
	}
	return kind, doc.Bytes(), nil
}

// A Form begins memories of a kind.
type Form struct {
	Kind  string `json:"kind"`
	Where string `json:"where"` // its path, "" for a built-in one
}

// Forms lists the forms of the vault in question, where there is one, and the built-in ones.
func (e *Environment) Forms() ([]Form, error) {
	var forms []Form
	switch place, err := e.Locate(); {
	case errors.Is(err, vault.ErrNotVault):
	case err != nil:
		return nil, err
	default:
		found, err := formsIn(place.Root)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			forms = append(forms, Form{strings.TrimSuffix(path.Base(p), ".md"), p})
		}
	}
	for _, kind := range templates.NoteKinds() {
		if !slices.ContainsFunc(forms, func(f Form) bool { return f.Kind == kind }) {
			forms = append(forms, Form{Kind: kind})
		}
	}
	slices.SortFunc(forms, func(a, b Form) int { return strings.Compare(a.Kind, b.Kind) })
	return forms, nil
}

// formsIn lists the vault's own forms, not looking through links that leave it.
func formsIn(dir string) (found []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if info, err := root.Stat(formFolder); err != nil || !info.IsDir() {
		return nil, nil // a pipe would keep who opens it waiting
	}
	return fs.Glob(root.FS(), formFolder+"/*.md")
}
