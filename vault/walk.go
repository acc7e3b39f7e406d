package vault

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stet/vault/settings"
	"stet/vault/store"
)

// WalkOptions choose what [Vault.Files] lists.
type WalkOptions struct {
	Archive bool // archive/ as well
	Under   Path // only this folder
	All     bool // every file that stet looks after, not Markdown alone; also canvases, for the links in them
	Hidden  bool // files and folders with a dot in front as well
	Reports bool // the curator's reports and nothing else, wherever Under points
	// Passed is told, one at a time, of links, of what is no file, and of folders that are repositories
	// or vaults of their own, and of what git ignores, a folder once for all that is in it; nil: they are
	// passed over in silence.
	Passed func(p Path, ignored bool)
	// Denied is told of each folder that this user may not list, one at a time;
	// nil: they are passed over in silence.
	Denied func(Path, error)
}

// Files lists the vault's Markdown files in path order as they are on disk:
// memories, notebooks, skills, transcripts and notes. Hidden and git-ignored
// paths, logs/, symbolic links, other file types, nested repositories and
// nested vaults are passed over. Cost: one listing per folder and one lstat
// per file, spread over the processors.
func (v *Vault) Files(ctx context.Context, o WalkOptions) ([]File, error) {
	if o.Reports {
		o.Under = reportsFolder
	}
	seen := func(p Path) bool { return o.Hidden || !dotted(p) }
	f := store.Filter{Keep: func(p Path) bool { return o.wants(p) && seen(p) }, Shown: v.shown(), Whole: o.Reports,
		Enter: func(p Path) bool {
			return seen(p) && (o.Reports || p != "logs") && (o.Archive || p != "archive")
		}, Passed: o.Passed}
	files, _, err := v.store.Walk(ctx, f, o.Under, o.Denied)
	if err != nil {
		return v.unfinished(files, o), err
	}
	return v.shownFiles(ctx, v.unfinished(files, o))
}

func (o WalkOptions) wants(p Path) bool {
	if o.Reports {
		return IsReport(p)
	}
	return p.IsMarkdown() || o.All && (inDomain(p) || p.IsCanvas())
}

// unfinished adds and drops what a published commit says that this reader may not
// finish.
func (v *Vault) unfinished(files []File, o WalkOptions) []File {
	changed := v.store.Unfinished()
	if len(changed) == 0 {
		return files
	}
	files = slices.DeleteFunc(files, func(f File) bool { _, ok := changed[f.Path]; return ok })
	for p, data := range changed {
		class := ClassOf(p)
		hidden := class == ClassReport && !o.Reports || class == ClassConfig || class == ClassArchive && !o.Archive
		if data != nil && !hidden && o.wants(p) && (o.Under == "" || strings.HasPrefix(string(p), string(o.Under)+"/")) {
			files = append(files, File{Path: p, Size: int64(len(data))})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files
}

// A Survey is what stands below a folder.
type Survey struct {
	Folders []Path // that hold, or may hold, files that stet looks after
	Files   []File // those files: Markdown anywhere, anything in stet's own folders
}

// Survey lists the folder under, "" for the whole vault, for somebody who means
// to follow it: in path order, under itself among the folders. Without files it
// lists folders alone. A folder that is not there, or that stet does not enter,
// has nothing in it. Cost: as [Vault.Files].
func (v *Vault) Survey(ctx context.Context, under Path, files bool) (out Survey, err error) {
	f := domain()
	f.Whole = true
	if !files {
		f.Keep = func(Path) bool { return false }
	}
	out.Files, out.Folders, err = v.store.Walk(ctx, f, under, nil)
	slices.Sort(out.Folders)
	if err == nil {
		out.Files, err = v.shownFiles(ctx, out.Files)
	}
	return out, err
}

// Pick returns those of the paths, in their order, that [Vault.Files] with the
// archive would list. Cost: a few calls a folder and one lstat a path, however
// large the vault is.
func (v *Vault) Pick(ctx context.Context, paths []Path) ([]File, error) {
	f := store.Filter{Enter: followed, Shown: v.shown(), Keep: func(p Path) bool {
		class := ClassOf(p)
		return p.IsMarkdown() && !dotted(p) && class != ClassReport && class != ClassConfig
	}}
	files, err := v.store.Pick(ctx, f, paths)
	if err != nil {
		return files, err
	}
	return v.shownFiles(ctx, files)
}

// scan compares the working tree with HEAD.
func (v *Vault) scan(ctx context.Context) (*store.Scan, error) {
	s, err := v.store.Scan(ctx, domain())
	if err == nil {
		s.Changed = slices.DeleteFunc(s.Changed, func(c Change) bool { // nothing would find it
			return c.Status == Added && c.Path.IsMarkdown() && dotted(c.Path)
		})
	}
	return s, err
}

// domain is everything that a person's edits can be committed from.
func domain() store.Filter { return store.Filter{Keep: inDomain, Enter: followed} }

// inDomain reports whether stet looks after a path: Markdown anywhere, and anything
// in stet's own folders, .stet included.
func inDomain(p Path) bool {
	return ClassOf(p) != ClassNote || p.IsMarkdown() && !dotted(p)
}

func followed(dir Path) bool { return !dotted(dir) || dir == ".stet" }

// shown lists transcripts although git ignores them, where they are not tracked.
func (v *Vault) shown() func(Path) bool {
	if v.settings.Bool(settings.SessionsTrack) {
		rules, err := v.store.Look(sessionsIgnore)
		if err != nil || string(rules.Data) != sessionsIgnoreText { // else the setting is newer than these rules
			return nil
		}
	}
	return func(p Path) bool { return p == sessionsFolder || ClassOf(p) == ClassSession }
}

// A Look is what one walk over the working tree found.
type Look struct {
	v    *Vault
	scan *store.Scan // its files are Markdown
}

// Look compares the working tree with HEAD, as Status does, for who asks for less.
func (t told) Look(ctx context.Context) (*Look, error) {
	s, err := t.v.scan(ctx)
	if err != nil {
		return nil, t.v.store.Explain(err)
	}
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return !f.Path.IsMarkdown() })
	return &Look{t.v, s}, nil
}

// Head is the commit that the files were compared with.
func (l *Look) Head() Revision { return Revision(l.scan.Head.ID.String()) }

// Files are the Markdown files that search knows, transcripts that git ignores excepted, as [Vault.Files] lists
// them, with what is private: for an index, which keeps all.
func (l *Look) Files() []File {
	files := make([]File, 0, len(l.scan.Files))
	for _, f := range l.scan.Files {
		if class := ClassOf(f.Path); class != ClassReport && class != ClassConfig && !dotted(f.Path) {
			files = append(files, f)
		}
	}
	return l.v.unfinished(files, WalkOptions{Archive: true})
}

// Shown are files without those that are withheld.
func (l *Look) Shown(ctx context.Context, files []File) ([]File, error) {
	if len(files) == 0 {
		return nil, nil
	}
	now, err := l.private(ctx)
	return slices.DeleteFunc(files, func(f File) bool { return err != nil || now.has(f.Path) }), err
}

// Changed are the uncommitted changes, without those of what is withheld.
func (l *Look) Changed(ctx context.Context) ([]Change, error) {
	return l.v.shownChanges(ctx, store.JoinRenames(l.scan.Changed), l.v.hidesChange)
}

// private is what is withheld. Transcripts that git ignores are not among the files.
func (l *Look) private(ctx context.Context) (*concealed, error) {
	if l.v.o.Reader == "" {
		return &concealed{}, nil
	}
	return l.v.privateAmong(ctx, func() ([]File, error) {
		files := l.Files()
		if l.v.shown() == nil {
			return files, nil
		}
		more, err := l.v.Whole().Files(ctx, WalkOptions{Under: sessionsFolder})
		files = append(files, more...)
		slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		return slices.CompactFunc(files, func(a, b File) bool { return a.Path == b.Path }), err
	})
}

// dotted reports a name that systems hide.
func dotted(p Path) bool {
	return strings.HasPrefix(string(p[strings.LastIndexByte(string(p), '/')+1:]), ".")
}

// dottedNote is Markdown that nothing shows because its name is dotted. What systems and editors themselves keep
// beside a file is none.
func dottedNote(p Path) bool {
	own := func(mark string) bool { return strings.HasPrefix(p.Base(), mark) }
	return p.IsMarkdown() && dotted(p) && !slices.ContainsFunc([]string{"._", ".#"}, own)
}

// hiddenNotes names the Markdown files below dir that nothing shows, since their names begin with a dot; it does not
// look into folders whose names do. What cannot be listed has none.
func hiddenNotes(dir string) (found []Problem) {
	_ = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(dir, file)
		p := Path(filepath.ToSlash(rel))
		switch {
		case err != nil || rerr != nil:
			return nil
		case d.IsDir() && file != dir && dotted(p):
			return fs.SkipDir
		case d.Type().IsRegular() && dottedNote(p):
			found = append(found, Problem{ID: "hidden", Path: p, Text: dottedText, Hint: dottedHint, Advice: true})
		}
		return nil
	})
	return found
}

const (
	dottedText = "its name begins with a dot, so it counts as hidden and is no note"
	dottedHint = "give it a name without the dot"
)

// refusedDotted is the error for such a file where somebody names it.
func refusedDotted(p Path) error {
	return WithHint(fmt.Errorf("adopt %q: %w: %s", p, ErrRefused, dottedText), "%s", dottedHint)
}
