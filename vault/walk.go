package vault

import (
	"context"
	"slices"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
	"stet/vault/listing"
)

// WalkOptions choose what [Vault.Files] lists.
type WalkOptions struct {
	Archive bool // archive/ as well
	Under   Path // only this folder
	All     bool // every file that stet looks after, not Markdown alone
	Reports bool // the curator's reports and nothing else, wherever Under points
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
	w := &walker[File]{v: v, ctx: ctx, take: fileOf, shown: v.showsIgnored(), told: o.Denied, keep: func(p Path) bool { return o.wants(p) && !dotted(p) },
		enter: func(p Path) bool { return !dotted(p) && (o.Reports || p != "logs") && (o.Archive || p != "archive") }}
	if o.Reports {
		if _, ok, err := w.admits(string(o.Under)); err != nil || !ok {
			return nil, err
		}
	}
	files, err := w.run(o.Under)
	if err != nil {
		return nil, err
	}
	return v.overlaid(files.Flat(), o), nil
}

func (o WalkOptions) wants(p Path) bool {
	if o.Reports {
		return p.IsReport()
	}
	return p.IsMarkdown() || o.All && inDomain(p)
}

// overlaid adds and drops what a journal that this reader may not finish says.
func (v *Vault) overlaid(files []File, o WalkOptions) []File {
	if len(v.overlay) == 0 {
		return files
	}
	files = slices.DeleteFunc(files, func(f File) bool { _, ok := v.overlay[f.Path]; return ok })
	for p, f := range v.overlay {
		hidden := ClassOf(p) == ClassReport && !o.Reports || ClassOf(p) == ClassConfig || ClassOf(p) == ClassArchive && !o.Archive
		if !f.remove && !hidden && o.wants(p) && (o.Under == "" || strings.HasPrefix(string(p), string(o.Under)+"/")) {
			files = append(files, File{Path: p, Size: int64(len(f.data))})
		}
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return files
}

// walked is what of a file's description is compared with the git index.
type walked struct {
	path Path
	stat gitindex.Stat
}

// trackable lists every file that stet looks after: Markdown anywhere, and
// anything in stet's own folders, .stet included.
func (v *Vault) trackable(ctx context.Context) (*listing.Of[walked], []Problem, error) {
	w := &walker[walked]{v: v, ctx: ctx, keep: inDomain, enter: followed,
		take: func(p Path, e *durable.Entry) walked { return walked{p, gitStat(e)} }}
	files, err := w.run("")
	return files, w.shut, err
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
func (v *Vault) Survey(ctx context.Context, under Path, files bool) (Survey, error) {
	w := v.follower(ctx)
	w.keep = func(p Path) bool { return files && inDomain(p) }
	if under != "" {
		if _, ok, err := w.admits(string(under)); err != nil || !ok {
			return Survey{}, err
		}
	}
	found, err := w.run(under)
	if err != nil {
		return Survey{}, err
	}
	out := Survey{Folders: w.dirs, Files: found.Flat()}
	slices.Sort(out.Folders)
	return out, nil
}

// follower walks everything that a person's edits can be committed from.
func (v *Vault) follower(ctx context.Context) *walker[File] {
	return &walker[File]{v: v, ctx: ctx, take: fileOf, enter: followed}
}

func followed(dir Path) bool { return !dotted(dir) || dir == ".stet" }

// dotted reports a name that systems hide.
func dotted(p Path) bool {
	return strings.HasPrefix(string(p[strings.LastIndexByte(string(p), '/')+1:]), ".")
}

// Pick returns those of the paths, in their order, that [Vault.Files] with the
// archive would list. Cost: a few calls a folder and one lstat a path, however
// large the vault is.
func (v *Vault) Pick(ctx context.Context, paths []Path) ([]File, error) {
	type rules struct {
		below gitstore.Below
		ok    bool
	}
	w, seen := v.follower(ctx), map[string]rules{}
	w.shown = v.showsIgnored()
	var out []File
	for _, p := range paths {
		if class := ClassOf(p); !p.IsMarkdown() || dotted(p) || class == ClassReport || class == ClassConfig {
			continue
		}
		dir := p.Dir()
		in, known := seen[dir]
		if !known {
			var err error
			if in.below, in.ok, err = w.admits(dir); err != nil {
				return nil, err
			}
			seen[dir] = in
		}
		if !in.ok || strings.HasPrefix(p.Base(), tempPrefix) || w.hides(in.below, p, false) {
			continue
		}
		if info, err := v.tree.Lstat(string(p)); err == nil && info.Mode().IsRegular() {
			out = append(out, fileAt(p, info))
		}
	}
	return out, context.Cause(ctx)
}

// inDomain reports whether stet looks after a path.
func inDomain(p Path) bool {
	return ClassOf(p) != ClassNote || p.IsMarkdown() && !dotted(p)
}
