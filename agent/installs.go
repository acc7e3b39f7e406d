// Long: install, uninstall and check share one plan of the files of a client.

package agent

import (
	"bytes"
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

	"stet/agent/clients"
	"stet/agent/install"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/settings"
)

// InstallOptions say which client is set up for stet, where, and by whom.
type InstallOptions struct {
	Write
	Client  string
	Project string // folder whose files are meant; "" is the user's own
	MCPOnly bool   // no hooks, no skill
	AskEach bool   // no list of tools that may be called unasked
	Print   bool   // give what belongs into the files, and write nothing
	Binary  string // absolute; what the client is to start
	// Start runs a program of the client's and is nil where none can be run; Has reports whether it is there.
	Start func(ctx context.Context, words []string) error
	Has   func(program string) bool
	// Confirm is shown what would be done; nil does it.
	Confirm func(*Installation) (bool, error)

	gone bool // uninstall
}

// An Installation is what was, or would be, done to the files of a client.
type Installation struct {
	Client  string          `json:"client"`
	Title   string          `json:"title"`
	Project string          `json:"project,omitempty"`
	Files   []InstalledFile `json:"files"`
	// Vault is where the client's memories go; NewVault is made, and SetsDefault is written to the
	// user's configuration.
	Vault       string   `json:"vault,omitempty"`
	NewVault    bool     `json:"new_vault,omitempty"`
	SetsDefault bool     `json:"sets_default_vault,omitempty"`
	Then        []string `json:"then"`            // what is left to the user
	About       []string `json:"about,omitempty"` // what an install comes to, a line each
	Unchanged   bool     `json:"unchanged"`
	DryRun      bool     `json:"dry_run,omitempty"`
	Printed     bool     `json:"printed,omitempty"` // Content is given, nothing was looked at
}

// An InstalledFile is one file, behind links. Command does it in place of stet.
type InstalledFile struct {
	Path    string `json:"path"`
	Action  string `json:"action"` // create, change, remove, unchanged, print, kept
	Command string `json:"command,omitempty"`
	Diff    string `json:"diff,omitempty"`
	Content string `json:"content,omitempty"`

	target install.Target
	perm   fs.FileMode // of the file, or of a new one
	known  install.Record
	then   fileNote
}

// newVault is the vault, in the user's home, that is made for whoever has none.
const newVault = "notes-stet"

// PluginClient is the name of what is no client but a folder that Claude Code takes as a plugin.
const PluginClient = "plugin"

func (e *Environment) options(c clients.Client, o InstallOptions) install.Options {
	return install.Options{Client: c, Project: o.Project, Getenv: e.o.Getenv, Binary: o.Binary,
		MCPOnly: o.MCPOnly, Ask: o.AskEach, Gone: o.gone}
}

func (e *Environment) targets(o InstallOptions) (clients.Client, []install.Target, error) {
	c, ok := clients.Find(o.Client)
	if o.Client == PluginClient {
		c, ok = install.Plugin(), true
	}
	if !ok {
		var names []string
		near := ""
		for _, c := range clients.All() {
			if names = append(names, c.Name); near == "" && o.Client != "" && strings.HasPrefix(c.Name, o.Client) {
				near = c.Name
			}
		}
		hint := "known are " + strings.Join(names, ", ")
		if near = cmp.Or(Nearest(o.Client, names), near); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return c, nil, Usagef("no client is called %q", o.Client).Suggest("%s", hint)
	}
	all, err := e.options(c, o).Targets()
	if err != nil {
		return c, nil, Usagef("%v", err)
	}
	if o.Client == PluginClient {
		manifest := install.Manifest(o.Project)
		manifest.Gone = o.gone
		all = append(all, manifest)
	}
	return c, all, nil
}

// Install sets a client up for stet in its own files, and makes a vault where there is none. Nothing is written before
// all of it is known to work and Confirm has agreed. It fails with [ErrUsage] for an unknown client, with
// [install.PositionError] for a malformed file, with [fs.ErrPermission] for one that is read-only, and with
// [ErrDeclined].
func (e *Environment) Install(ctx context.Context, o InstallOptions) (*Installation, error) {
	out, c, all, err := e.begin(o)
	if err != nil {
		return nil, err
	}
	if !install.Known(o.Binary) {
		return nil, vault.WithHint(fmt.Errorf("%q: %w: a client's entries of stet are known by the name of the program",
			o.Binary, vault.ErrRefused), "nothing was changed; call the program stet, or stet-…")
	}
	out.Then = slices.Clone(c.Then)
	if out.Printed = out.Printed || o.Print; out.Printed {
		return out, printed(out, all)
	}
	err = e.homeOf(out, o)
	if errors.Is(err, vault.ErrRefused) && !o.DryRun { // another install may be making the vault
		unlock, lerr := e.lockInstalls(ctx)
		if err = lerr; err == nil {
			err = errors.Join(unlock(), e.homeOf(out, o))
		}
	}
	if err != nil {
		return nil, err
	}
	off := append(out.Then, e.hooksOff(c, o)...)
	out.Then, out.About = nil, e.about(out, c, all, o)
	err = e.carryOut(ctx, out, c, all, o)
	if out.Unchanged {
		off, out.About = off[len(c.Then):], nil
	}
	out.Then = append(off, out.Then...)
	return out, err
}

// about says in short what is written where, what is allowed, what is recorded, and how all of it ends.
func (e *Environment) about(
	out *Installation, c clients.Client, all []install.Target, o InstallOptions,
) (lines []string) {
	var files []string
	for _, t := range all {
		if !t.Wanted() {
			continue
		}
		files = append(files, t.Path)
		if t.Shared {
			lines = append(lines, filepath.Dir(filepath.Dir(t.Path))+" is where several clients look for skills")
		}
	}
	lines = append([]string{"the files that set " + c.Title + " up for stet: " + strings.Join(files, ", ")}, lines...)
	if root := e.vaultMade(); out.NewVault && root != "" {
		lines = append(lines, fmt.Sprintf("you have made a vault before, %s: \"stet -C %s install %s\" uses it, and "+
			"makes none", root, templates.Quote(root), c.Name))
	}
	if !o.AskEach && c.Allow.Entry != nil {
		lines = append(lines, "it may call unasked: "+strings.Join(install.Tools(), ", "))
	}
	if !o.MCPOnly && c.Hooks.Entry != nil {
		lines = append(lines,
			fmt.Sprintf("its hooks record everything that you type into %s and what it answers, in %s", c.Title,
				out.Vault),
			"where the vault has sessions.track on, these transcripts are committed, and go where it is pushed",
			`"stet config add hooks.exclude FOLDER" leaves a folder out, --mcp-only all hooks`)
	}
	if o.Client != PluginClient {
		lines = append(lines, fmt.Sprintf("%q takes all of it out of these files again", again("uninstall", c, o)))
	}
	return lines
}

// Uninstall takes out of the files of a client what Install added to them. The vault stays. The errors are those of
// Install.
func (e *Environment) Uninstall(ctx context.Context, o InstallOptions) (*Installation, error) {
	o.MCPOnly, o.AskEach, o.gone = false, false, true
	out, c, all, err := e.begin(o)
	if err != nil {
		return nil, err
	}
	if !c.Print {
		if err = e.carryOut(ctx, out, c, all, o); err == nil && !out.Unchanged && o.Project == "" {
			out.Then = append(out.Then, e.leftSet()...)
		}
		return out, err
	}
	out.Then = []string{"take the entry stet out of " + c.Server.User + " by hand: it was put there by hand"}
	return out, nil
}

// begin is an installation of which nothing is planned, with the files of the client.
func (e *Environment) begin(o InstallOptions) (*Installation, clients.Client, []install.Target, error) {
	if err := e.check(o.Write, "install", o.Client); err != nil {
		return nil, clients.Client{}, nil, err
	}
	c, all, err := e.targets(o)
	if err != nil {
		return nil, c, nil, err
	}
	return &Installation{Client: c.Name, Title: c.Title, Project: o.Project, Files: []InstalledFile{},
		Then: []string{}, DryRun: o.DryRun, Printed: c.Print}, c, all, nil
}

// printed gives what belongs into each file of a client, as it would be where there is none.
func printed(out *Installation, all []install.Target) error {
	for _, t := range all {
		if !t.Wanted() {
			continue
		}
		change, err := t.Edit(nil, nil)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, InstalledFile{Path: t.Path, Action: "print", Content: string(change.Data)})
	}
	return nil
}

// plan says what becomes of each file, and what the user is to know of it.
func (e *Environment) plan(
	out *Installation, c clients.Client, all []install.Target, notes map[string]fileNote, o InstallOptions,
) error {
	out.Files, out.Then = []InstalledFile{}, []string{}
	for _, t := range all {
		if t.Shared && t.Gone {
			if by := e.sharedWith(c, o); by != "" {
				out.Then = append(out.Then, fmt.Sprintf("%s stays: %s uses it", t.Path, by))
				continue
			}
		}
		f := InstalledFile{Path: t.Path, target: t, perm: 0o644}
		change, err := e.planFile(&f, notes, o)
		if err != nil {
			return placed(f.Path, o, err)
		}
		out.Files = append(out.Files, f)
		if len(change.Kept) > 0 {
			out.Then = append(out.Then, fmt.Sprintf(
				"%s keeps %s: it was there before, or nothing shows that stet added it",
				f.Path, strings.Join(change.Kept, ", ")))
		}
		if len(change.Out) > 0 {
			out.Then = append(out.Then, fmt.Sprintf(
				"%s stays without %s, which somebody took out: %q and install bring it back",
				f.Path, strings.Join(change.Out, ", "), again("uninstall", c, o)))
		}
	}
	return nil
}

// planFile says what becomes of one file. Where the program of the client's that can do it is there, it does.
func (e *Environment) planFile(
	f *InstalledFile, notes map[string]fileNote, o InstallOptions,
) (c install.Change, err error) {
	if err := followable(f.Path, o.Project); err != nil {
		return c, err
	}
	path, was, info, err := durable.ReadLinked(f.Path)
	if err != nil {
		return c, err
	}
	f.Path = path
	f.then = notes[f.Path]
	f.known = f.then.Record
	c, err = f.target.Edit(was, f.known)
	if f.then.Begun && err == nil && len(c.Out) > 0 { // nobody took them out: they were not put in
		maps.DeleteFunc(f.known, func(id, _ string) bool { return slices.Contains(c.Out, id) })
		c, err = f.target.Edit(was, f.known)
	}
	if err != nil {
		return c, err
	}
	if f.then.Record = c.Record; info != nil {
		f.perm = info.Mode().Perm()
	} else if !f.then.Begun { // else the folders may be ours
		f.then.Top = durable.Standing(filepath.Dir(f.target.Path))
	}
	switch now := c.Data; {
	case c.Foreign:
		f.Action = "kept"
		return c, nil
	case bytes.Equal(now, was) && (now == nil) == (was == nil):
		f.Action = "unchanged"
		return c, nil
	case info != nil && f.perm&0o200 == 0:
		return c, vault.WithHint(fmt.Errorf("%q is read-only: %w", f.Path, fs.ErrPermission),
			`"stet install %s --print" shows what belongs into it`, o.Client)
	case was == nil:
		f.Action = "create"
	case now == nil:
		f.Action = "remove"
	default:
		f.Action = "change"
	}
	name := filepath.Base(filepath.Dir(f.Path)) + "/" + filepath.Base(f.Path)
	f.Diff = markdown.Diff(was, c.Data, "a/"+name, "b/"+name, 3)
	if len(c.By) > 0 && o.Start != nil && o.Has(c.By[0]) {
		f.Command = templates.Quote(c.By...)
	}
	return c, nil
}

// placed names the file of an error, with its line and column.
func placed(path string, o InstallOptions, err error) error {
	const mend = "nothing was changed; %s: \"stet install %s --print\" shows what stet puts there"
	if at, ok := errors.AsType[*install.PositionError](err); ok {
		return vault.WithHint(fmt.Errorf("%s:%d:%d: %w: %s", path, at.Line, at.Column, vault.ErrRefused, at.What),
			mend, "mend the file at that line, or edit it by hand", o.Client)
	}
	if errors.Is(err, install.ErrUneditable) {
		return vault.WithHint(fmt.Errorf("%s: %w: %w", path, vault.ErrRefused, err), mend, "edit it by hand", o.Client)
	}
	return err
}

// homeOf says which vault the client will use, and makes up for there being none. The vault of the current folder
// becomes the one of every folder only where the user named it or can say no.
func (e *Environment) homeOf(out *Installation, o InstallOptions) error {
	s, err := e.Settings()
	if err != nil {
		return err
	}
	place, err := e.Locate()
	named := s.Text(settings.DefaultVault)
	if out.Vault = place.Root; err == nil && named == "" && o.Project == "" {
		if out.SetsDefault = o.Confirm != nil || e.o.At != ""; !out.SetsDefault {
			out.Then = append(out.Then, fmt.Sprintf("no default_vault is set: %s uses this vault in its folder alone; "+
				"\"stet config set default_vault %s\" has it used everywhere", out.Title, templates.Quote(place.Root)))
		}
	}
	if named != "" && o.Project == "" && e.o.At == "" {
		if root, ferr := vault.Find(e.expand(named)); ferr == nil {
			out.Vault = root // wherever the client is started, but in a vault
		}
	}
	if err == nil || !errors.Is(err, vault.ErrNotVault) || named != "" || e.o.At != "" {
		return err
	}
	if root := e.vaultMade(); root != "" && o.Confirm != nil { // the user is shown it, and asked
		out.Vault, out.SetsDefault = root, true
		return nil
	}
	home := e.o.Getenv("HOME")
	if home == "" {
		return Usagef("there is no home folder to make a vault in").Suggest("set HOME, or name a vault with -C")
	}
	out.Vault, out.SetsDefault = filepath.Join(home, newVault), true
	if root, err := vault.Find(out.Vault); err == nil && root == out.Vault {
		return nil
	}
	if names, err := os.ReadDir(out.Vault); err == nil && len(names) > 0 {
		return vault.WithHint(fmt.Errorf("%q: %w: it is there and no vault", out.Vault, vault.ErrRefused),
			`"stet init DIR" makes a vault where you want it, "stet config set default_vault DIR" names it`)
	}
	out.NewVault = true
	return nil
}

// carryOut plans, asks, and does what was planned as it is once more under a lock that other installs wait for.
func (e *Environment) carryOut(
	ctx context.Context, out *Installation, c clients.Client, all []install.Target, o InstallOptions,
) (err error) {
	notes, dir, err := e.notes()
	if err != nil {
		return err
	}
	if err := e.plan(out, c, all, notes, o); err != nil {
		return err
	}
	out.Unchanged = !slices.ContainsFunc(out.Files, InstalledFile.changes) && !out.NewVault && !out.SetsDefault
	if o.DryRun {
		return nil
	}
	if o.Confirm != nil && !out.Unchanged {
		if yes, err := o.Confirm(out); err != nil || !yes {
			return cmp.Or(err, ErrDeclined)
		}
	}
	// Two at once leave one of each.
	unlock, err := e.lockInstalls(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := e.makeHome(ctx, out); err != nil {
		return err
	}
	if notes, _, err = e.notes(); err == nil {
		err = e.plan(out, c, all, notes, o)
	}
	if err == nil {
		err = e.noted(dir, notes, out.Files, true)
	}
	if err != nil {
		return err
	}
	// The client's own commands come last: what they did is not ours to take back.
	files := slices.DeleteFunc(slices.Clone(out.Files), func(f InstalledFile) bool { return f.Action == "kept" })
	slices.SortStableFunc(files, func(a, b InstalledFile) int { return len(a.Command) - len(b.Command) })
	undo := []func() error{func() error { return e.noted(dir, notes, nil, false) }}
	for _, f := range files {
		back, err := e.change(ctx, f, o)
		if undo = append(undo, back); err != nil {
			return takeBack(out, placed(f.Path, o, err), undo)
		}
	}
	for _, f := range files {
		if !f.target.Wanted() {
			top := cmp.Or(f.then.Top, o.Project, e.o.Getenv("HOME"))
			if err := durable.SweepFolders("install", filepath.Dir(f.target.Path), top, e.o.Hook); err != nil {
				return err
			}
		}
	}
	if err := e.noted(dir, notes, out.Files, false); err != nil { // last: it says which folders are ours
		return takeBack(out, err, undo)
	}
	return nil
}

func (f InstalledFile) changes() bool { return f.Action != "unchanged" && f.Action != "kept" }

// change does what was planned of one file. back takes it back, also of a half, unless somebody saved meanwhile.
func (e *Environment) change(ctx context.Context, f InstalledFile, o InstallOptions) (back func() error, err error) {
	var was, now []byte
	path := f.target.Path
	top := durable.Standing(filepath.Dir(path))
	back = func() error {
		_, err := e.rewrite("install", path, f.perm, func(data []byte) ([]byte, error) {
			if bytes.Equal(data, now) && (data == nil) == (now == nil) {
				return was, nil
			}
			return data, nil
		})
		return errors.Join(err, durable.SweepFolders("install", filepath.Dir(path), top, e.o.Hook))
	}
	if f.Command != "" {
		if err := o.Start(ctx, install.Words(f.Command)); err != nil {
			return back, fmt.Errorf("%s: %w", f.Command, err)
		}
	}
	// What the client's own command did is looked at, and done by bytes where it was not.
	_, err = e.rewrite("install", path, f.perm, func(data []byte) ([]byte, error) {
		c, err := f.target.Edit(data, f.known)
		was, now = data, c.Data
		return c.Data, err
	})
	return back, err
}

func (e *Environment) makeHome(ctx context.Context, out *Installation) error {
	if out.NewVault {
		if _, err := e.Init(ctx, InitOptions{Dir: out.Vault}); err != nil {
			return err
		}
	}
	if !out.SetsDefault || out.Vault == "" {
		return nil
	}
	_, _, err := e.Configure(ctx, ConfigureOptions{User: true, Key: string(settings.DefaultVault), Value: &out.Vault})
	return err
}

// hooksOff says which settings keep the client from running any hook.
func (e *Environment) hooksOff(c clients.Client, o InstallOptions) (out []string) {
	for _, place := range c.OffIn {
		for _, o.Project = range slices.Compact([]string{"", o.Project}) {
			file, err := e.options(c, o).Path(place)
			if err != nil {
				continue
			}
			file, data, _, err := durable.ReadLinked(file)
			if err != nil || data == nil {
				continue
			}
			for _, key := range install.Off(data, c.Off) {
				out = append(out, fmt.Sprintf("%s: %s is set, so that %s runs no hook of yours", file, key, c.Title))
			}
		}
	}
	return out
}

// sharedWith is another client that is set up for stet in the same file.
func (e *Environment) sharedWith(c clients.Client, o InstallOptions) string {
	for _, other := range clients.All() {
		o.Client, o.MCPOnly, o.gone = other.Name, false, false
		if other.Name != c.Name && !other.Print && len(e.look(o, nil)) > 0 {
			return other.Title
		}
	}
	return ""
}

// An Installed is what stands of stet in one file of a client.
type Installed struct {
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Project bool     `json:"project,omitempty"`
	Starts  []string `json:"starts"` // programs of ours that the client starts
	Hooks   int      `json:"hooks"`
	Skill   bool     `json:"skill,omitempty"`
	// Problem says what is wrong, "" for nothing, and Hint what to do about it.
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Installed says what stands of stet in the files of a client, of every client without a name, in the user's own files
// and in those of a project. Nothing is written. It fails with [ErrUsage] for an unknown client.
func (e *Environment) Installed(o InstallOptions) ([]Installed, error) {
	out := []Installed{}
	if _, _, err := e.targets(o); o.Client != "" && err != nil {
		return nil, err
	}
	notes, _, err := e.notes()
	if errors.Is(err, fs.ErrPermission) { // who may not read what the user added, has added nothing
		err = nil
	}
	for _, c := range clients.All() {
		if c.Print || o.Client != "" && c.Name != o.Client {
			continue
		}
		for _, project := range slices.Compact([]string{"", o.Project}) {
			one := o
			one.Client, one.Project = c.Name, project
			out = append(out, e.look(one, notes)...)
		}
	}
	return out, err
}

// look is what stands of stet in the files of one client.
func (e *Environment) look(o InstallOptions, notes map[string]fileNote) (out []Installed) {
	c, all, err := e.targets(o)
	if err != nil {
		return nil // such as a client without files of a project
	}
	for _, t := range all {
		path, data, _, err := durable.ReadLinked(t.Path)
		if data == nil && err == nil || t.Text != nil && len(out) == 0 {
			continue
		}
		s := Installed{Client: c.Name, Path: path, Project: o.Project != "", Starts: []string{}, Skill: t.Text != nil}
		missing := 0
		if err == nil && !s.Skill {
			s.Starts, s.Hooks, missing, err = t.Look(data, notes[path].Record)
		}
		s.Hint = again("install", c, o)
		if err != nil {
			s.Problem, s.Hint = fmt.Sprintf("cannot be read: %v", err), "mend the file"
		}
		for _, binary := range s.Starts {
			switch info, err := os.Stat(binary); {
			case filepath.IsAbs(binary) && (err != nil || info.IsDir()):
				s.Problem = fmt.Sprintf("starts %s, which is not there", binary)
			case o.Binary != "" && filepath.IsAbs(binary) && !sameFile(binary, o.Binary):
				s.Problem = fmt.Sprintf("starts %s, and this is %s", binary, o.Binary)
			}
		}
		switch {
		case s.Problem != "":
		case s.Hooks > 0 && missing > 0:
			s.Problem = fmt.Sprintf("has %d of %s", s.Hooks, Plural(len(c.Events), "hook"))
		case s.Skill && install.OwnsSkill(data) && !bytes.Equal(data, t.Text):
			s.Problem = "is the skill of another stet"
		default:
			s.Hint = ""
		}
		if len(s.Starts) > 0 || s.Skill || s.Problem != "" {
			out = append(out, s)
		}
	}
	return out
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, yerr := os.Stat(b)
	return err == nil && yerr == nil && os.SameFile(x, y)
}
