package vault

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

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
	w := &walker[File]{v: v, ctx: ctx, take: fileOf, shown: v.showsIgnored(), told: o.Denied, keep: func(p Path) bool { return o.wants(p) && !strings.HasPrefix(p.Base(), ".") },
		enter: func(p Path) bool {
			return !strings.HasPrefix(p.Base(), ".") && (o.Reports || p != "logs") && (o.Archive || p != "archive")
		}}
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
		take: func(p Path, info fs.FileInfo) walked { return walked{p, statOf(info)} }}
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

func followed(dir Path) bool { return !strings.HasPrefix(dir.Base(), ".") || dir == ".stet" }

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
		if class := ClassOf(p); !p.IsMarkdown() || strings.HasPrefix(p.Base(), ".") || class == ClassReport || class == ClassConfig {
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
			out = append(out, fileOf(p, info))
		}
	}
	return out, context.Cause(ctx)
}

// admits reports whether a walk from the vault's root would list dir, and the
// ignore rules that hold in it.
func (w *walker[T]) admits(dir string) (gitstore.Below, bool, error) {
	ignore, err := w.v.repo.Ignore()
	if err != nil {
		return gitstore.Below{}, false, err
	}
	if ignore, err = w.v.above(ignore, "."); err != nil {
		return gitstore.Below{}, false, err
	}
	at, rules := "", gitstore.Below{}
	for part := range strings.SplitSeq(path.Join(".", dir)+"/", "/") {
		data, err := readSmall(w.v.tree, path.Join(at, ".gitignore"))
		if err != nil {
			return gitstore.Below{}, false, err
		}
		in := trimSlash(w.v.prefix + at)
		ignore = ignore.In(in, data)
		rules = ignore.Below(in)
		if part == "" || dir == "." {
			break
		}
		at = path.Join(at, part)
		info, err := w.v.tree.Lstat(at)
		if err != nil || !info.IsDir() || !w.enter(Path(at)) {
			return gitstore.Below{}, false, nil
		}
		if w.hides(rules, Path(at), true) || w.v.tree.Exists(at+"/.git") || w.v.tree.Exists(at+"/"+string(Marker)) {
			return gitstore.Below{}, false, nil
		}
	}
	return rules, true, nil
}

// inDomain reports whether stet looks after a path.
func inDomain(p Path) bool {
	return ClassOf(p) != ClassNote || p.IsMarkdown() && !strings.HasPrefix(p.Base(), ".")
}

// walker lists a tree with a few goroutines, one folder at a time each. It keeps
// of each file what take makes of it, which is less than the system says.
type walker[T any] struct {
	v     *Vault
	ctx   context.Context
	keep  func(Path) bool
	enter func(Path) bool
	shown bool // transcripts that git ignores are not hidden
	take  func(Path, fs.FileInfo) T

	mu    sync.Mutex
	dirs  []Path // the folders listed, without the one the walk began in
	errs  []error
	shut  []Problem // folders that may not be listed
	slots chan struct{}
	told  func(Path, error) // of folders that may not be listed; may be nil
	wg    sync.WaitGroup
}

// walkers bounds the folders listed at once: listing waits for the kernel, so
// a few more than the usual two to eight processors pay.
const walkers = 8

func (w *walker[T]) run(under Path) (*listing.Of[T], error) {
	ignore, err := w.v.repo.Ignore()
	if err != nil {
		return nil, err
	}
	dir := "."
	if under != "" {
		dir = string(under)
	}
	if ignore, err = w.v.above(ignore, dir); err != nil {
		return nil, err
	}
	w.slots = make(chan struct{}, walkers)
	found := &listing.Of[T]{}
	w.list(dir, ignore, found)
	w.wg.Wait()
	if err := errors.Join(w.errs...); err != nil {
		return nil, err
	}
	if err := context.Cause(w.ctx); err != nil {
		return nil, err
	}
	return found, nil
}

// above loads the ignore files between the working tree's top and dir, which
// itself is read by list.
func (v *Vault) above(ignore *gitstore.Ignore, dir string) (*gitstore.Ignore, error) {
	full := trimSlash(v.prefix)
	if dir != "." {
		full = path.Join(full, dir)
	}
	at := ""
	for part := range strings.SplitSeq(full, "/") {
		if full == "" {
			break
		}
		data, err := readSmall(v.top, path.Join(at, ".gitignore"))
		if err != nil {
			return nil, err
		}
		ignore = ignore.In(at, data)
		at = path.Join(at, part)
	}
	return ignore, nil
}

// readSmall reads an ignore file; what is absent or not a file has no rules.
func readSmall(root *durable.Root, p string) ([]byte, error) {
	data, _, err := root.ReadFile(p, 1<<20)
	if absent(err) || errors.Is(err, durable.ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	return data, err
}

func (w *walker[T]) list(dir string, ignore *gitstore.Ignore, into *listing.Of[T]) {
	if w.ctx.Err() != nil {
		return
	}
	infos, err := w.v.tree.ReadDirInfo(dir)
	if err != nil {
		switch {
		case absent(err): // gone since its parent was listed
		case errors.Is(err, fs.ErrPermission) && dir != ".":
			w.pass(Path(dir), err)
		default:
			w.fail(err)
		}
		return
	}
	if dir != "." && nested(infos, w.v, dir) {
		return
	}
	at := ""
	if dir != "." {
		at = dir + "/"
	}
	ignore, err = w.rules(at, infos, ignore)
	if err != nil {
		w.fail(err)
		return
	}
	slices.SortFunc(infos, listing.ByPath)
	into.Grow(len(infos))
	below := ignore.Below(trimSlash(w.v.prefix + at))
	for _, info := range infos {
		p := Path(at + info.Name())
		if simpleName(info.Name()) && len(p) <= 4096 {
			// Below a folder that was parsed nothing is left to check.
		} else if _, err := ParsePath(string(p)); err != nil {
			if info.Name() != ".git" {
				w.pass(p, err)
			}
			continue
		}
		if info.IsDir() {
			if w.enter(p) && !w.hides(below, p, true) {
				w.descend(string(p), ignore, into.Folder())
			}
			continue
		}
		if info.Mode().IsRegular() && w.keep(p) && !strings.HasPrefix(info.Name(), tempPrefix) {
			if !w.hides(below, p, false) {
				into.Add(w.take(p, info))
			}
		}
	}
	if dir != "." {
		w.mu.Lock()
		w.dirs = append(w.dirs, Path(dir))
		w.mu.Unlock()
	}
}

// hides reports that the ignore rules of p's folder keep p out of sight.
func (w *walker[T]) hides(rules gitstore.Below, p Path, dir bool) bool {
	_, hidden := rules.Match(string(p[strings.LastIndexByte(string(p), '/')+1:]), dir)
	return hidden && !(w.shown && (p == sessionsFolder || ClassOf(p) == ClassSession))
}

// rules adds the ignore file of the folder with that prefix, if infos has one.
func (w *walker[T]) rules(at string, infos []fs.FileInfo, ignore *gitstore.Ignore) (*gitstore.Ignore, error) {
	byName := func(info fs.FileInfo, name string) int { return strings.Compare(info.Name(), name) }
	i, ok := slices.BinarySearchFunc(infos, ".gitignore", byName)
	if !ok || !infos[i].Mode().IsRegular() {
		return ignore, nil
	}
	data, err := readSmall(w.v.tree, at+".gitignore")
	if err != nil {
		return nil, err
	}
	return ignore.In(trimSlash(w.v.prefix+at), data), nil
}

// descend lists a folder in a goroutine of its own while there is a free slot,
// else at once.
func (w *walker[T]) descend(dir string, ignore *gitstore.Ignore, into *listing.Of[T]) {
	select {
	case w.slots <- struct{}{}:
		w.wg.Go(func() {
			defer func() { <-w.slots }()
			w.list(dir, ignore, into)
		})
	default:
		w.list(dir, ignore, into)
	}
}

func (w *walker[T]) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

// pass notes a folder that this user may not read: what is in it is neither
// found nor taken for gone.
func (w *walker[T]) pass(dir Path, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told != nil && errors.Is(err, fs.ErrPermission) {
		w.told(dir, err)
	}
	w.shut = append(w.shut, Problem{ID: "unreadable", Path: Path(strings.ToValidUTF8(string(dir), "\ufffd")), Text: err.Error(), Hint: "its files are left as they are and not searched"})
}

// nested reports whether a folder is a repository or a vault of its own.
func nested(infos []fs.FileInfo, v *Vault, dir string) bool {
	for _, info := range infos {
		switch {
		case info.Name() == ".git":
			return true
		case info.Name() == ".stet" && info.IsDir() && v.tree.Exists(path.Join(dir, string(Marker))):
			return true
		}
	}
	return false
}
