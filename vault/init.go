package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"stet/vault/store"
	"strings"

	"stet/templates"
	"stet/vault/durable"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/settings"
)

// InitOptions tune [Init].
type InitOptions struct {
	Writer
	DryRun bool
	// Unignore adds rules to the vault's .gitignore that undo those which hide
	// the vault's own files.
	Unignore bool
}

// InitResult says what [Init] made.
type InitResult struct {
	Root              string
	CreatedRepository bool
	AlreadyVault      bool
	Files             []Path    // written by stet
	Adopted           int       // the person's files committed as they are
	Held              []Problem // those the guard left uncommitted, and those that count as hidden
	Commits           []Commit
	Diff              string // of .gitattributes and .gitignore, where they are written
	Warnings          []string
	DryRun            bool
	// Beside is a file at the top of a repository that was there before and is neither Markdown nor hidden, "" for
	// none, and Branch what is checked out in it.
	Beside, Branch string
}

// Init makes dir, which is created when it is missing, a vault. A folder that
// is in no repository becomes one, and its Markdown is committed as the
// person's; in an existing repository only the marker is added, and neither
// staged nor unstaged work is touched. Doing it twice changes nothing. It
// fails with [ErrIgnored] when an ignore rule hides the vault, and before
// anything is written for every reason that [Open] has.
func Init(ctx context.Context, dir string, in InitOptions, o Options) (res *InitResult, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	res = &InitResult{Root: abs, DryRun: in.DryRun}
	if at := insideGit(abs); at != "" {
		err := fmt.Errorf("init %q: %w: %q is git's own folder, or a repository without a working tree", abs, ErrRefused, at)
		return nil, WithHint(err, "choose a folder of your own, or clone that repository and make the clone a vault")
	}
	_, err = gitstore.Locate(existing(abs))
	res.CreatedRepository = errors.Is(err, gitstore.ErrNoRepository)
	switch {
	case err != nil && !res.CreatedRepository:
		return nil, err
	case err == nil && in.actor() != ActorUser:
		return nil, WithHint(fmt.Errorf("init %q: %w: it stands in a repository, and only a person may make a vault there",
			abs, ErrRefused), "choose a new folder outside of it")
	}
	res.Held = hiddenNotes(abs)
	if in.DryRun && res.CreatedRepository {
		return previewNew(abs, res, policyOf(settings.Resolve(o.Settings...)))
	}
	if !in.DryRun {
		if err := durable.MakeFolder("init", abs, 0o777, o.Hook); err != nil {
			return nil, store.Explain(abs, err)
		}
		if res.CreatedRepository {
			if err := gitstore.Create(abs, o.Hook); err != nil {
				return nil, store.Explain(abs, fmt.Errorf("make repository %q: %w", abs, err))
			}
		}
	}
	v, err := attach(abs, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	if !res.CreatedRepository {
		res.Beside, res.Branch = v.beside()
	}
	return res, v.init(ctx, in, res)
}

// insideGit is the nearest folder at or above dir that is a git folder, as git tells one,
// "" when a working tree begins before.
func insideGit(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return ""
		}
		head, err := os.Stat(filepath.Join(at, "HEAD"))
		objects, err2 := os.Stat(filepath.Join(at, "objects"))
		refs, err3 := os.Stat(filepath.Join(at, "refs"))
		if errors.Join(err, err2, err3) == nil && !head.IsDir() && objects.IsDir() && refs.IsDir() {
			return at
		}
	}
}

// existing is the nearest folder at or above dir that exists.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// previewNew says what Init would do in a folder without a repository.
func previewNew(dir string, res *InitResult, policy guard.Policy) (*InitResult, error) {
	j := &judge{policy: policy, seen: map[seenKey][]guard.Finding{}}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && p != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.Type().IsRegular() && Path(d.Name()).IsMarkdown() && !dotted(Path(d.Name())):
			problem, err := j.preview(dir, p)
			if problem.ID != "" {
				res.Held = append(res.Held, problem)
				return nil
			}
			res.Adopted++
			return err
		}
		return nil
	})
	for _, f := range skeleton(true) {
		res.Files = append(res.Files, f.path)
		if f.path != Marker {
			res.Diff += fileDiff(Change{Status: Added, Path: f.path, New: hashOf(f.data)}, nil, f.data).Text
		}
	}
	return res, err
}

type skeletonFile struct {
	path Path
	data []byte
}

// skeleton lists what Init writes: git's own files only in a repository that
// it made.
func skeleton(own bool) []skeletonFile {
	config := templates.VaultConfig()
	if !own {
		return []skeletonFile{{Marker, config}}
	}
	config = append(config, "watch:\n  # Edits made by hand in any note are committed too, as yours.\n  commit: true\n"...)
	return []skeletonFile{
		{".gitattributes", templates.GitAttributes()},
		{".gitignore", templates.GitIgnore()},
		{Marker, config},
	}
}

func (v *Vault) init(ctx context.Context, in InitOptions, res *InitResult) error {
	res.Root = v.Root()
	switch err := v.prepare(ctx); {
	case err == nil:
		res.AlreadyVault = true
		return v.initAgain(ctx, in, res)
	case !errors.Is(err, ErrNotVault):
		return err
	}
	// A repository whose vault was never committed is one that Init, killed
	// half-way, left: it is finished as its own.
	own := res.CreatedRepository || v.bornHere()
	rules, err := v.unignore(in.Unignore)
	if err != nil {
		return err
	}
	if err := v.checkGitIndex(); err != nil {
		return err
	}
	var found []Change
	if own && in.actor() == ActorUser {
		if found, _, err = v.adoptable(ctx, AdoptOptions{All: true}); err != nil {
			return v.store.Explain(err)
		}
	}
	why := Why{Op: OpConfig, Subject: "make this a stet vault", Writer: in.Writer}
	// Both commits are published together, so that an interrupted init leaves
	// either nothing or a whole vault.
	r, err := v.Transact(ctx, why, in.DryRun, func(tx *Tx) error {
		res.Files, res.Diff = nil, ""
		adopted, err := tx.adopt(found, AdoptOptions{Message: "the notes found here"})
		if err != nil {
			return err
		}
		res.Adopted = len(adopted)
		files := skeleton(own)
		if len(rules) > 0 { // last, because the last rule that matches decides
			files = append(files, skeletonFile{".gitignore", rules})
		}
		for _, f := range files {
			if err := res.put(tx, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	res.add(r)
	return nil
}

// initAgain finishes what a first run left uncommitted, a marker copied by
// hand for instance.
func (v *Vault) initAgain(ctx context.Context, in InitOptions, res *InitResult) error {
	if _, hash, err := v.head(ctx, Marker); err != nil || hash != "" {
		return err
	}
	r, err := v.Adopt(ctx, AdoptOptions{Paths: []Path{Marker}, DryRun: in.DryRun})
	if err != nil {
		return err
	}
	res.add(r)
	return nil
}

// beside is [InitResult.Beside].
func (v *Vault) beside() (file, branch string) {
	h, err := v.store.Repo().Head()
	entries, rerr := os.ReadDir(v.store.Repo().Location().Worktree)
	if err != nil || rerr != nil || h.ID.IsZero() {
		return "", ""
	}
	for _, e := range entries {
		if p := Path(e.Name()); e.Type().IsRegular() && !p.IsMarkdown() && !dotted(p) && p.Base() != "LICENSE" {
			return e.Name(), h.Branch()
		}
	}
	return "", ""
}

func (v *Vault) head(ctx context.Context, p Path) ([]byte, Hash, error) {
	s, err := v.History().View(ctx, "")
	if err != nil {
		return nil, "", err
	}
	return s.Read(p)
}

// bornHere reports a repository at the vault's own folder without any commit
// or git index: nobody but Init can have work in it.
func (v *Vault) bornHere() bool {
	h, err := v.store.Repo().Head()
	return err == nil && h.ID.IsZero() && v.GitPath("") == "" && !v.store.Repo().Root().Exists(v.store.Repo().GitIndexPath())
}

func (res *InitResult) add(r *Result) {
	res.Commits = append(res.Commits, r.Commits...)
	res.Warnings = append(res.Warnings, r.Warnings...)
	res.Adopted -= len(r.Held)
	res.Held = append(res.Held, r.Held...)
}

// put stages one skeleton file. A .gitattributes or .gitignore that a person
// has is kept, and what is missing in it is added at its end.
func (res *InitResult) put(tx *Tx, f skeletonFile) error {
	have, was, err := tx.Read(f.path)
	if err != nil {
		return err
	}
	want := f.data
	if have != nil {
		want = appendMissing(have, f.data)
	}
	if bytes.Equal(have, want) && have != nil {
		return nil
	}
	res.Files = append(res.Files, f.path)
	if f.path != Marker {
		c := Change{Status: statusOfHash(was, hashOf(want)), Path: f.path, Old: was, New: hashOf(want)}
		res.Diff += fileDiff(c, have, want).Text
	}
	return tx.Put(f.path, was, want)
}

// appendMissing adds the lines of add that have lacks.
func appendMissing(have, add []byte) []byte {
	lines := map[string]bool{}
	for line := range strings.SplitSeq(string(have), "\n") {
		lines[strings.TrimSpace(line)] = true
	}
	out := bytes.Clone(have)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	added := false
	for line := range strings.SplitSeq(strings.TrimSuffix(string(add), "\n"), "\n") {
		if !lines[strings.TrimSpace(line)] {
			out, added = append(out, line+"\n"...), true
		}
	}
	if !added {
		return have
	}
	return out
}

// checkGitIndex refuses a git index that cannot be written, before there is
// even a state folder.
func (v *Vault) checkGitIndex() error {
	h, err := v.store.Repo().Head()
	if err == nil {
		_, _, err = v.store.Repo().ReadGitIndex(h.ID)
	}
	return err
}

// unignore returns the rules that make git see a vault's own files, none when it
// does. Rules are refused where they are not wanted, and where they would not
// help: git never looks into a folder that is ignored as a whole.
func (v *Vault) unignore(wanted bool) ([]byte, error) {
	h, err := v.hiding()
	switch {
	case err != nil || !h.hidden:
		return nil, err
	case h.above:
		return nil, v.ignoredBy(h.rule, "remove or narrow that rule, or choose another folder; nothing was written")
	case !wanted:
		return nil, v.ignoredBy(h.rule, `remove or narrow that rule, or let "stet init --unignore" add rules that undo it (with --dry-run it shows them); nothing was written`)
	}
	rules := templates.Unignore()
	if rule, hidden := v.hiddenBy(h.here.In(strings.TrimSuffix(v.GitPath(""), "/"), rules)); hidden {
		return nil, v.ignoredBy(rule, "remove or narrow that rule; nothing was written")
	}
	return rules, nil
}

// hiding is a rule that hides the vault, above its folder, or one of its own files.
type hiding struct {
	hidden, above bool
	rule          gitstore.Rule
	here          *gitstore.Ignore // the rules that hold in the vault
}

func (v *Vault) hiding() (h hiding, err error) {
	above, here, err := v.store.IgnoreRules()
	if err != nil {
		return h, err
	}
	h.here = here
	if at := strings.TrimSuffix(v.GitPath(""), "/"); at != "" {
		h.rule, h.above = above.Match(at, true)
	}
	if h.hidden = h.above; !h.hidden {
		h.rule, h.hidden = v.hiddenBy(here)
	}
	return h, nil
}

func (v *Vault) ignoredBy(rule gitstore.Rule, hint string) error {
	return WithHint(fmt.Errorf("init %q: %w: %s:%d: %s", v.Root(), ErrIgnored, rule.File, rule.Line, rule.Text),
		"%s", hint)
}

// hiddenBy finds a rule that hides one of the vault's own files, by a sample of
// each kind.
func (v *Vault) hiddenBy(ignore *gitstore.Ignore) (gitstore.Rule, bool) {
	for _, probe := range []Path{Marker, "memories/x.md", "memories/x/y.md", "MEMORY.md", "USER.md"} {
		for dir := probe.Dir(); dir != "."; dir = Path(dir).Dir() {
			if rule, hidden := ignore.Match(v.store.GitPath(Path(dir)), true); hidden {
				return rule, true
			}
		}
		if rule, hidden := ignore.Match(v.store.GitPath(probe), false); hidden {
			return rule, true
		}
	}
	return gitstore.Rule{}, false
}
