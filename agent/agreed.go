package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stet/agent/clients"
	"stet/agent/install"
	"stet/templates"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/guard"
	"stet/vault/settings"
)

// agreedName is the file in the user's state that lists the vaults, a line each, which the user
// writes to although another one is named. A line that begins with madeMark is a vault that init made
// while none was named: [Environment.Install] tells of it, and it is no agreement.
const (
	agreedName = "vaults"
	madeMark   = "made "
)

// agreed asks the user once whether to write to the vault that the current folder led to. It fails
// with [vault.ErrRefused] where nobody answers, and with [ErrDeclined] for a no.
func (a *App) agreed() error {
	known, _, err := a.agreements()
	if err != nil || slices.Contains(known, a.Root()) {
		return err
	}
	if a.o.Ask == nil {
		hint := "the user says which one is meant: -C names it"
		if a.o.Agent == "" {
			hint = fmt.Sprintf("if you mean this one, add \"-C .\" to the command; \"stet init %s\" says once that it "+
				"is yours, and changes nothing else", templates.Quote(a.Root()))
		}
		return vault.WithHint(fmt.Errorf("%q: %w: the current folder led to this vault, and %s names another one",
			a.Root(), vault.ErrRefused, a.place.Beats), "%s", hint)
	}
	yes, err := a.o.Ask(fmt.Sprintf("%s names another vault. Write to %s, from now on?", a.place.Beats, a.Root()))
	switch {
	case err != nil:
		return err
	case !yes:
		return ErrDeclined
	}
	return a.agree(a.Root())
}

// tellBeaten says that what is read comes from a vault that the current folder led to and nobody agreed to, although
// the user named another one: an agent may have made it there.
func (a *App) tellBeaten() {
	known, _, err := a.agreements()
	if a.place.Beats == "" || err != nil ||
		slices.ContainsFunc(known, func(line string) bool { return strings.TrimPrefix(line, madeMark) == a.Root() }) {
		return
	}
	hint := ""
	if a.o.Agent == "" {
		hint = fmt.Sprintf(`; "stet init %s" says once that it is yours`, templates.Quote(a.Root()))
	}
	a.warn("this is of %s, to which the current folder led; %s names another vault%s", a.Root(), a.place.Beats, hint)
}

// agreements lists the vaults that the user agreed to, and the file that says so.
func (e *Environment) agreements() (known []string, file string, err error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, "", err
	}
	file = filepath.Join(dir, agreedName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n"), file, err
}

// agree adds a line to the file of agreements, where it does not have it.
func (e *Environment) agree(line string) (err error) {
	_, file, err := e.agreements()
	if err != nil {
		return err
	}
	unlock, err := e.lockFile(context.Background(), "agreed", file+".lock", 0o700)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	known, _, err := e.agreements()
	if err != nil || slices.Contains(known, line) {
		return err
	}
	r, err := durable.OpenRoot(filepath.Dir(file), e.o.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	text := strings.TrimLeft(strings.Join(append(known, line), "\n"), "\n") + "\n"
	return r.Overwrite("agreed", agreedName, []byte(text), 0o600, false)
}

// vaultMade is the vault that the user made last, or agreed to write to, and that is still there; "" is none.
func (e *Environment) vaultMade() string {
	known, _, err := e.agreements()
	if err != nil {
		return "" // it is shown, and nothing depends on it
	}
	for _, line := range slices.Backward(known) {
		root := strings.TrimPrefix(line, madeMark)
		if found, err := vault.Find(root); err == nil && root != "" && found == root {
			return root
		}
	}
	return ""
}

// again is a command on the same files of a client.
func again(verb string, c clients.Client, o InstallOptions) string {
	line := "stet " + verb + " " + c.Name
	if o.Project != "" {
		line += " --project"
	}
	return line
}

// leftSet says that default_vault stays where a client is taken out: a user may have set it.
func (e *Environment) leftSet() []string {
	s, err := e.Settings()
	if err != nil || s.Text(settings.DefaultVault) == "" {
		return nil
	}
	return []string{fmt.Sprintf("default_vault stays %s: \"stet config unset default_vault\" takes it out of your "+
		"configuration", s.Text(settings.DefaultVault))}
}

// askLikely asks a user at a terminal about what may be a secret in texts that are to be stored, and
// fails with [ErrDeclined] for a no. Where nobody can be asked, the write tells of it. It fails with [ErrUsage]
// for texts of an agent as [unmasked] does.
func (a *App) askLikely(by Write, texts ...string) error {
	if by.Agent != "" {
		return unmasked(texts...)
	}
	if a.o.Ask == nil || by.DryRun || a.Settings().Text(settings.GuardSecrets) == guard.Off {
		return nil
	}
	var rules []string
	for _, text := range texts {
		for _, f := range guard.Likely("text.md", []byte(text)) {
			if !slices.Contains(a.Settings().List(settings.GuardAllow), f.Fingerprint) {
				rules = append(rules, f.Rule)
			}
		}
	}
	if len(rules) == 0 {
		return nil
	}
	slices.Sort(rules)
	yes, err := a.o.Ask(fmt.Sprintf("This may be a secret (%s), and history keeps what is stored. Store it?",
		strings.Join(slices.Compact(rules), ", ")))
	if err != nil || yes {
		return err
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			a.note("not stored: %s", line)
		}
	}
	return ErrDeclined
}

// unmasked fails where a text of an agent's holds a mask: it would take the place of what it hides.
func unmasked(texts ...string) error {
	if !slices.ContainsFunc(texts, guard.HasMask) {
		return nil
	}
	return Usagef("the text holds a mask, which stands for what agents are not told, and would take its place").
		Suggest("change another part of it, or leave what is masked to the user")
}

// A fileNote is what the user's state holds of a file in which a client was set up for stet.
type fileNote struct {
	Top    string         `json:"top,omitempty"` // where the file was made: the deepest folder that was there
	Record install.Record `json:"record"`
	// Begun says that a change began and nobody knows how far it came.
	Begun bool `json:"begun,omitempty"`
}

// notesName is the file in the user's state that holds them, by the path of each behind links.
const notesName = "installed.json"

// notes are what the user's state holds of the files of clients, and the folder of it.
func (e *Environment) notes() (notes map[string]fileNote, dir string, err error) {
	if dir, err = e.stateDir(); err != nil {
		return nil, "", err
	}
	notes = map[string]fileNote{}
	file := filepath.Join(dir, notesName)
	_, data, _, err := durable.ReadLinked(file)
	if err == nil && data != nil {
		if err = json.Unmarshal(data, &notes); err != nil {
			err = vault.WithHint(fmt.Errorf("%q: %w", file, err),
				"it says what stet added to the files of clients; restore it, or remove it")
		}
	}
	return notes, dir, err
}

// noted writes what is known of files, before they are changed also of what they were.
func (e *Environment) noted(dir string, notes map[string]fileNote, files []InstalledFile, before bool) error {
	next := maps.Clone(notes)
	for _, f := range files {
		record := install.Record{}
		if before {
			maps.Copy(record, f.known)
		}
		maps.Copy(record, f.then.Record)
		if next[f.Path] = (fileNote{f.then.Top, record, before}); len(record) == 0 {
			delete(next, f.Path)
		}
	}
	_, err := e.rewrite("install", filepath.Join(dir, notesName), 0o600, func([]byte) ([]byte, error) {
		if len(next) == 0 {
			return nil, nil
		}
		return json.MarshalIndent(next, "", " ")
	})
	return err
}

// takeBack undoes what was done before something failed, the last first.
func takeBack(out *Installation, err error, undo []func() error) error {
	var failed error
	for _, back := range slices.Backward(undo) {
		failed = errors.Join(failed, back())
	}
	if failed != nil {
		return fmt.Errorf("%w; and what was written before cannot be taken back: %w", err, failed)
	}
	hint := "what was written before was taken back"
	if out.NewVault {
		hint += fmt.Sprintf("; the new vault %s stays", out.Vault)
	}
	return vault.WithHint(err, "%s", hint)
}

// lockInstalls waits for other installs, and keeps them waiting.
func (e *Environment) lockInstalls(ctx context.Context) (unlock func() error, err error) {
	dir, err := e.stateDir()
	if err != nil {
		return nil, err
	}
	return e.lockFile(ctx, "install", filepath.Join(dir, "install.lock"), 0o700)
}
