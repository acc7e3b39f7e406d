package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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
	// Folder begins a note in a folder that exists, seen from where the user is, else from the top of the vault.
	Folder string
	Edit   Editor // of a note; nil stores the form as it is
}

// New stores a memory that a form begins: a Markdown file with {{title}}, {{kind}}, {{scope}},
// {{date}} and {{time}} filled in. The vault's own forms go before the built-in ones. With a folder it
// stores a note instead, called after its title, where no kind is given with that as its heading alone; with an editor,
// nothing where nothing was written: the result is Unchanged. It fails with [vault.ErrNotFound] where the folder is not
// there, with [vault.ErrConflict] where the file is, and with [vault.ErrRefused] for a folder whose files are no notes.
func (m Memories) New(ctx context.Context, o NewOptions) (*Written, error) {
	if o.Folder != "" {
		return m.a.newNote(ctx, o)
	}
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

// newNote is [Memories.New] in a folder.
func (a *App) newNote(ctx context.Context, o NewOptions) (*Written, error) {
	w, err := a.permit(o.Write, "remember", o.Title)
	if err == nil && o.Edit != nil {
		err = a.check(o.Write, "edit", o.Title)
	}
	if err != nil {
		return nil, err
	}
	title := strings.TrimSuffix(strings.Join(strings.Fields(o.Title), " "), ".md")
	p, err := a.notePath(o.Folder, title)
	if err != nil {
		return nil, err
	}
	form := []byte("# {{title}}\n\n")
	if o.Kind != "" {
		if form, err = a.readForm(o.Kind); err != nil {
			return nil, err
		}
	}
	if _, form, err = a.fillForm(form, o.Kind, vault.Note{Title: title}); err != nil {
		return nil, err
	}
	doc := markdown.Parse(form)
	if err := (vault.Patch{AddCategories: o.Categories}).Tag(p, doc); err != nil {
		return nil, err
	}
	return a.begin(ctx, p, doc.Bytes(), w, o.Edit)
}

// notePath is where a note with a title goes.
func (a *App) notePath(folder, title string) (vault.Path, error) {
	dir, err := a.folder(folder)
	inside := path.Dir(folder)
	if errors.Is(err, vault.ErrNotFound) && strings.Contains(folder, "/") && a.isFolder(inside) {
		return "", vault.WithHint(err,
			"\"stet new --in %s %s\" has the \"/\" in its title; else make the folder: mkdir %s",
			templates.Quote(inside), templates.Quote(path.Base(folder)+"/"+title), templates.Quote(folder))
	}
	if err != nil {
		return "", err
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*\/#^[]`, r) { // what Windows, or a link of Obsidian's, cannot name
			return -1
		}
		return r
	}, title), ". ")
	p, err := vault.ParsePath(path.Join(dir, name+".md"))
	switch {
	case err != nil || name == "":
		return "", Usagef("%q is no title of a note", title).Suggest("give one with letters or digits")
	case vault.ClassOf(p) != vault.ClassNote || p.Steers():
		return "", vault.WithHint(fmt.Errorf("new %q: %w: a file there is no note", p, vault.ErrRefused),
			"give a folder of your own; \"stet new KIND TITLE --scope SCOPE\" begins a memory")
	case p.Unportable() != "":
		return "", Usagef("%q is a name that Windows gives to no file", p.Unportable()).Suggest("use another title")
	}
	return p, nil
}

// folder is a folder that the user names, seen from where they are, else from the top of the vault: "." is that.
func (a *App) folder(word string) (string, error) {
	dir := strings.TrimSuffix(filepath.ToSlash(a.ref(word)), "/")
	if dir == "." {
		return dir, nil
	}
	p, err := vault.ParsePath(dir)
	if err != nil {
		return "", Usagef("%q is no folder of the vault", word).Suggest("give one that you see in %s", a.Root())
	}
	if info, err := os.Stat(filepath.Join(a.Root(), filepath.FromSlash(dir))); err != nil || !info.IsDir() {
		return "", vault.WithHint(fmt.Errorf("folder %q: %w", dir, vault.ErrNotFound),
			"make it first: mkdir -p %s", templates.Quote(dir))
	}
	return string(p), nil
}

func (a *App) isFolder(word string) bool {
	_, err := a.folder(word)
	return err == nil
}

// begin stores a new file, with an editor what the user makes of it.
func (a *App) begin(ctx context.Context, p vault.Path, form []byte, w vault.Write, edit Editor) (*Written, error) {
	taken := func(err error) error {
		if errors.Is(err, vault.ErrConflict) {
			err = vault.WithHint(err, "\"stet edit %s\" opens the file that stands there", templates.Quote(p))
		}
		return fmt.Errorf("new %q: %w", p, err)
	}
	trial := w
	trial.DryRun = w.DryRun || edit != nil // what cannot be stored opens no editor
	res, err := a.v.Replace(ctx, p, "", form, trial)
	if err != nil {
		return nil, taken(err)
	}
	if edit == nil {
		return a.finish(ctx, res), nil
	}
	d, saved, err := a.editCopy(ctx, p, form, edit)
	if err != nil {
		return nil, err
	}
	if sameLines(form, saved) || len(bytes.TrimSpace(saved)) == 0 {
		a.removed(d)
		return a.finish(ctx, &vault.Result{Root: a.Root(), Unchanged: true}), nil
	}
	if err = vault.CheckEdit(p, nil, saved); err == nil {
		res, err = a.v.Replace(ctx, p, "", saved, w)
	}
	if err != nil {
		return nil, d.keepFor(taken(err), "your text is kept in %s")
	}
	a.removed(d)
	return a.finish(ctx, res), nil
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
