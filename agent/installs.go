// Long: install, uninstall and check share one plan of the files of a client.

package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stet/agent/clients"
	"stet/agent/install"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/settings"
)

// InstallOptions say which client is told of stet, where, and by whom.
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

	words  [][]string
	target install.Target
	perm   fs.FileMode // of the file, or of a new one
}

// newVault is the vault, in the user's home, that is made for whoever has none.
const newVault = "notes-stet"

// PluginClient is the name of what is no client but a folder that Claude Code takes as a plugin.
const PluginClient = "plugin"

func (e *Environment) targets(o InstallOptions) (clients.Client, []install.Target, error) {
	c, ok := clients.Find(o.Client)
	if o.Client == PluginClient {
		c, ok = install.Plugin(), true
	}
	if !ok {
		var names []string
		for _, c := range clients.All() {
			names = append(names, c.Name)
		}
		hint := "known are " + strings.Join(names, ", ")
		near := Nearest(o.Client, names)
		for _, name := range names {
			if near == "" && o.Client != "" && strings.HasPrefix(name, o.Client) {
				near = name
			}
		}
		if near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return c, nil, Usagef("no client is called %q", o.Client).Suggest("%s", hint)
	}
	all, err := install.Options{Client: c, Project: o.Project, Getenv: e.o.Getenv, Binary: o.Binary,
		MCPOnly: o.MCPOnly, Ask: o.AskEach}.Targets()
	if err != nil && !c.Print {
		return c, nil, Usagef("%v", err)
	}
	if o.Client == PluginClient {
		all = append(all, install.Manifest(o.Project))
	}
	return c, all, nil
}

// Install tells a client of stet in its own files, and makes a vault where there is none. Nothing is written before
// all of it is known to work and Confirm has agreed. It fails with [ErrUsage] for an unknown client, with
// [install.PositionError] for a malformed file, with [fs.ErrPermission] for one that is read-only, and with
// [ErrDeclined].
func (e *Environment) Install(ctx context.Context, o InstallOptions) (*Installation, error) {
	if err := e.check(o.Write, "install", o.Client); err != nil {
		return nil, err
	}
	c, all, err := e.targets(o)
	if err != nil {
		return nil, err
	}
	out := &Installation{Client: c.Name, Title: c.Title, Project: o.Project, Files: []InstalledFile{}, DryRun: o.DryRun,
		Then: append([]string{}, c.Then...), Printed: o.Print || c.Print}
	if out.Printed {
		return out, printed(out, c, all, o)
	}
	if err := e.homeOf(out, o); err != nil {
		return nil, err
	}
	for _, t := range all {
		if err := e.plan(out, t, t.Edit, t.AddBy, o); err != nil {
			return nil, err
		}
	}
	out.Then, out.About = append(out.Then, e.hooksOff(c, o)...), about(out, c, all, o)
	err = e.carryOut(ctx, out, o, func(t install.Target) func([]byte) ([]byte, error) { return t.Edit })
	if out.Unchanged {
		out.Then, out.About = out.Then[len(c.Then):], nil
	}
	return out, err
}

// about says in short what is written where, what is allowed, what is recorded, and how all of it ends.
func about(out *Installation, c clients.Client, all []install.Target, o InstallOptions) (lines []string) {
	var files []string
	for _, t := range all {
		files = append(files, t.Path)
		if t.Shared {
			lines = append(lines, filepath.Dir(filepath.Dir(t.Path))+" is where several clients look for skills")
		}
	}
	lines = append([]string{"told of stet in " + strings.Join(files, ", ")}, lines...)
	if !o.AskEach && c.Allow.Entry != nil {
		lines = append(lines, "it may call unasked: "+strings.Join(install.Tools(), ", "))
	}
	if !o.MCPOnly && c.Hooks.Entry != nil {
		lines = append(lines,
			fmt.Sprintf("its hooks record everything that you type into %s and what it answers, in %s", c.Title,
				cmp.Or(out.Vault, "the vault")),
			"where the vault has sessions.track on, these transcripts are committed, and go where it is pushed",
			`"stet config add hooks.exclude FOLDER" leaves a folder out, --mcp-only all hooks`)
	}
	undo := "stet uninstall " + c.Name
	if o.Project != "" && o.Client != PluginClient {
		undo += " --project"
	}
	if o.Client != PluginClient {
		lines = append(lines, fmt.Sprintf("%q takes all of it out again", undo))
	}
	return lines
}

// Uninstall takes out of the files of a client what is ours. The vault stays. The errors are those of Install.
func (e *Environment) Uninstall(ctx context.Context, o InstallOptions) (*Installation, error) {
	if err := e.check(o.Write, "install", o.Client); err != nil {
		return nil, err
	}
	o.MCPOnly, o.AskEach = false, false
	c, all, err := e.targets(o)
	if err != nil {
		return nil, err
	}
	out := &Installation{Client: c.Name, Title: c.Title, Project: o.Project, Files: []InstalledFile{}, Then: []string{},
		DryRun: o.DryRun, Printed: c.Print}
	if c.Print {
		out.Then = append(out.Then, "take the entry stet out of "+c.Server.User+" by hand: it was put there by hand")
		return out, nil
	}
	for _, t := range all {
		if t.Shared && e.sharedWith(c, o) != "" {
			out.Then = append(out.Then, fmt.Sprintf("%s stays: %s uses it", t.Path, e.sharedWith(c, o)))
			continue
		}
		if err := e.plan(out, t, t.Clear, t.RemoveBy, o); err != nil {
			return nil, err
		}
	}
	return out, e.carryOut(ctx, out, o, func(t install.Target) func([]byte) ([]byte, error) { return t.Clear })
}

// printed gives what belongs into each file of a client, as it would be where there is none.
func printed(out *Installation, c clients.Client, all []install.Target, o InstallOptions) error {
	if len(all) == 0 { // it is in no known place
		o.Project = o.Binary
		blank := c
		blank.Server.Project = c.Server.User
		all, _ = install.Options{Client: blank, Project: "/", Binary: o.Binary, MCPOnly: true, Ask: true}.Targets()
		for i := range all {
			all[i].Path = c.Server.User
		}
	}
	for _, t := range all {
		data, err := t.Edit(nil)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, InstalledFile{Path: t.Path, Action: "print", Content: string(data)})
	}
	return nil
}

// plan says what becomes of one file. With by, and where its program is there, the client does it.
func (e *Environment) plan(
	out *Installation, t install.Target, edit func([]byte) ([]byte, error), by []string, o InstallOptions,
) error {
	f := InstalledFile{Path: t.Path, Action: "unchanged", target: t, perm: 0o644}
	if err := followable(t.Path, o.Project); err != nil {
		return err
	}
	was, info, err := readTarget(&f.Path)
	if err != nil {
		return err
	}
	now, err := edit(was)
	if err != nil {
		if t.Text != nil && errors.Is(err, install.ErrUneditable) {
			f.Action = "kept"
			out.Files = append(out.Files, f)
			return nil
		}
		return placed(f.Path, err)
	}
	switch {
	case now == nil && was == nil, bytes.Equal(now, was) && now != nil && was != nil:
		if t.Text != nil && was != nil && now != nil && !install.OwnsSkill(was) {
			f.Action = "kept"
		}
	case info != nil && info.Mode().Perm()&0o200 == 0:
		return vault.WithHint(fmt.Errorf("%q is read-only: %w", f.Path, fs.ErrPermission),
			`"stet install %s --print" shows what belongs into it`, o.Client)
	default:
		f.Action = "change"
		if was == nil {
			f.Action = "create"
		} else if f.perm = info.Mode().Perm(); now == nil {
			f.Action = "remove"
		}
		name := filepath.Base(filepath.Dir(f.Path)) + "/" + filepath.Base(f.Path)
		f.Diff = markdown.Diff(was, now, "a/"+name, "b/"+name, 3)
		if len(by) > 0 && o.Start != nil && o.Has(by[0]) {
			f.Command, f.words = install.Quote(slices.Clone(by)...), [][]string{by}
			if found, ferr := t.Entries(was); ferr == nil && len(found) > 0 && !slices.Equal(by, t.RemoveBy) {
				f.words = [][]string{t.RemoveBy, by} // it starts another binary
			}
		}
	}
	out.Files = append(out.Files, f)
	return nil
}

// followable reports what keeps a file from being written where its links lead: one that leads nowhere and, whoever
// made a project, one that leads out of it to what is the user's own.
func followable(file, project string) (err error) {
	top, terr := filepath.EvalSymlinks(project)
	for at := file; at != project && at != filepath.Dir(at); at = filepath.Dir(at) {
		to, eerr := filepath.EvalSymlinks(at)
		if errors.Is(eerr, fs.ErrNotExist) {
			if _, lerr := os.Lstat(at); lerr == nil {
				return vault.WithHint(fmt.Errorf("%q: the link leads nowhere: %w", at, vault.ErrInvalid),
					"nothing was changed; mend the link")
			}
			continue
		}
		if eerr != nil {
			return eerr
		}
		rel, rerr := filepath.Rel(top, to)
		if project != "" && terr == nil && (rerr != nil || !filepath.IsLocal(rel)) {
			err = vault.WithHint(
				fmt.Errorf("%q: %w: the link leads out of the project, to %q", at, vault.ErrRefused, to),
				"nothing was changed; see who made the link, and remove it; without --project your own files are told")
		}
	}
	return err
}

// placed names the file of an error, with its line and column.
func placed(path string, err error) error {
	if at, ok := errors.AsType[*install.PositionError](err); ok {
		return vault.WithHint(fmt.Errorf("%s:%d:%d: %s: %w", path, at.Line, at.Column, at.What, vault.ErrRefused),
			"nothing was changed; mend the file, or add by hand what --print shows")
	}
	if errors.Is(err, install.ErrUneditable) {
		return vault.WithHint(fmt.Errorf("%s: %w: %w", path, vault.ErrRefused, err),
			"nothing was changed; add by hand what --print shows")
	}
	return err
}

// homeOf says which vault the client will use, and makes up for there being none.
func (e *Environment) homeOf(out *Installation, o InstallOptions) error {
	s, err := e.Settings()
	if err != nil {
		return err
	}
	place, err := e.Locate()
	out.Vault, out.SetsDefault = place.Root, s.Text(settings.DefaultVault) == ""
	if err == nil || !errors.Is(err, vault.ErrNotVault) || !out.SetsDefault || e.o.At != "" {
		return err
	}
	home := e.o.Getenv("HOME")
	if home == "" {
		return Usagef("there is no home folder to make a vault in").Suggest("set HOME, or name a vault with -C")
	}
	out.Vault = filepath.Join(home, newVault)
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

// carryOut asks, and does what was planned; each file is read once more under a lock that other installs wait for.
func (e *Environment) carryOut(ctx context.Context, out *Installation, o InstallOptions,
	edit func(install.Target) func([]byte) ([]byte, error),
) (err error) {
	idle := func(f InstalledFile) bool { return f.Action == "unchanged" || f.Action == "kept" }
	changes := slices.ContainsFunc(out.Files, func(f InstalledFile) bool { return !idle(f) })
	if out.Unchanged = !changes && !out.NewVault && !out.SetsDefault; out.Unchanged || o.DryRun {
		return nil
	}
	if o.Confirm != nil {
		if yes, err := o.Confirm(out); err != nil || !yes {
			return cmp.Or(err, ErrDeclined)
		}
	}
	dir, err := e.stateDir()
	if err != nil {
		return err
	}
	// Two at once leave one of each.
	unlock, err := e.lockFile(ctx, "install", filepath.Join(dir, "install.lock"), 0o700)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := e.makeHome(ctx, out); err != nil {
		return err
	}
	// The client's own commands come last: what they did is not ours to take back.
	files := slices.DeleteFunc(slices.Clone(out.Files), idle)
	slices.SortStableFunc(files, func(a, b InstalledFile) int { return len(a.words) - len(b.words) })
	var undo []func() error
	for _, f := range files {
		back, err := e.change(ctx, f, o, edit(f.target))
		if undo = append(undo, back); err != nil {
			return takeBack(out, placed(f.Path, err), undo)
		}
	}
	for _, f := range files {
		if f.Action == "remove" {
			if err := e.sweepFolders(filepath.Dir(f.target.Path), cmp.Or(o.Project, e.o.Getenv("HOME"))); err != nil {
				return err
			}
		}
	}
	return nil
}

// change does what was planned of one file. back takes it back, also of a half, unless somebody saved meanwhile.
func (e *Environment) change(
	ctx context.Context, f InstalledFile, o InstallOptions, edit func([]byte) ([]byte, error),
) (back func() error, err error) {
	var was, now []byte
	path, top := f.target.Path, filepath.Dir(f.target.Path)
	for _, err := os.Stat(top); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(top) {
		top = filepath.Dir(top)
	}
	back = func() error {
		_, err := e.rewrite("install", path, f.perm, func(data []byte) ([]byte, error) {
			if bytes.Equal(data, now) && (data == nil) == (now == nil) {
				return was, nil
			}
			return data, nil
		})
		return errors.Join(err, e.sweepFolders(filepath.Dir(path), top))
	}
	for _, words := range f.words {
		if err := o.Start(ctx, words); err != nil {
			return back, fmt.Errorf("%s: %w", install.Quote(slices.Clone(words)...), err)
		}
	}
	// What the client's own command did is looked at, and done by bytes where it was not.
	_, err = e.rewrite("install", path, f.perm, func(data []byte) ([]byte, error) {
		next, err := edit(data)
		was, now = data, next
		return next, err
	})
	return back, err
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

// sweepFolders removes a folder and those above it, below top, while they are empty.
func (e *Environment) sweepFolders(dir, top string) error {
	for {
		rel, err := filepath.Rel(top, dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			return nil
		}
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) { // it was never made
			dir = filepath.Dir(dir)
			continue
		}
		if err != nil || !info.IsDir() {
			return nil
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			return nil
		}
		root, err := durable.OpenRoot(filepath.Dir(dir), e.o.Hook)
		if err != nil {
			return err
		}
		if err := errors.Join(root.Remove("install", filepath.Base(dir)), root.Close()); err != nil {
			return err
		}
		dir = filepath.Dir(dir)
	}
}

// hooksOff says which settings keep the client from running any hook.
func (e *Environment) hooksOff(c clients.Client, o InstallOptions) (out []string) {
	for _, name := range c.OffIn {
		for _, top := range []string{o.Project, e.o.Getenv("HOME")} {
			file := filepath.FromSlash(name)
			if !filepath.IsAbs(file) {
				file = filepath.Join(top, file)
			}
			if !filepath.IsAbs(file) {
				continue
			}
			data, _, err := readTarget(&file)
			if err != nil || data == nil {
				continue
			}
			for _, key := range install.Off(data, c.Off) {
				out = append(out, fmt.Sprintf("%s: %s is set, so that %s runs no hook of yours", file, key, c.Title))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sharedWith is another client that is told of stet in the same place.
func (e *Environment) sharedWith(c clients.Client, o InstallOptions) string {
	for _, other := range clients.All() {
		if other.Name == c.Name || other.Print {
			continue
		}
		o.Client, o.MCPOnly = other.Name, false
		for _, s := range e.look(o) {
			if s.Starts != nil {
				return other.Title
			}
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
	// Problem says what is wrong, "" for nothing, and Hint what to do about it.
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// Installed says what stands of stet in the files of a client, of every client without a name, in the user's own files
// and in those of a project. Nothing is written. It fails with [ErrUsage] for an unknown client.
func (e *Environment) Installed(o InstallOptions) ([]Installed, error) {
	out := []Installed{}
	if o.Client != "" {
		if _, _, err := e.targets(o); err != nil {
			return nil, err
		}
	}
	for _, c := range clients.All() {
		if c.Print || o.Client != "" && c.Name != o.Client {
			continue
		}
		for _, project := range slices.Compact([]string{"", o.Project}) {
			one := o
			one.Client, one.Project = c.Name, project
			out = append(out, e.look(one)...)
		}
	}
	return out, nil
}

// look is what stands of stet in the files of one client.
func (e *Environment) look(o InstallOptions) (out []Installed) {
	c, all, err := e.targets(o)
	if err != nil {
		return nil // such as a client without files of a project
	}
	for _, t := range all {
		data, _, err := readTarget(&t.Path)
		if t.Text != nil || data == nil && err == nil {
			continue
		}
		s := Installed{Client: c.Name, Path: t.Path, Project: o.Project != ""}
		if err == nil {
			s.Starts, s.Hooks, err = t.Binaries(data)
		}
		if err != nil {
			s.Problem, s.Hint = fmt.Sprintf("cannot be read: %v", err), "mend the file"
		}
		for _, binary := range s.Starts {
			again := fmt.Sprintf("stet install %s", c.Name)
			switch info, err := os.Stat(binary); {
			case filepath.IsAbs(binary) && (err != nil || info.IsDir()):
				s.Problem, s.Hint = fmt.Sprintf("starts %s, which is not there", binary), again
			case o.Binary != "" && filepath.IsAbs(binary) && !sameFile(binary, o.Binary):
				s.Problem, s.Hint = fmt.Sprintf("starts %s, and this is %s", binary, o.Binary), again
			}
		}
		if s.Hooks > 0 && s.Hooks < len(c.Events) && s.Problem == "" {
			s.Problem = fmt.Sprintf("has %d of %d hooks", s.Hooks, len(c.Events))
			s.Hint = fmt.Sprintf("stet install %s", c.Name)
		}
		if s.Starts != nil || s.Problem != "" {
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
