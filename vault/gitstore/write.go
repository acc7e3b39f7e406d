package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"stet/vault/durable"
)

// A Flush is the writing of staged objects in two steps, so that their fsyncs
// can wait together with those of other files: the batch is synced in between.
//
// All objects of a commit go into one pack. Loose files would cost a file, two
// fsyncs and maybe a folder each, and git itself starts to mind at some
// thousands of them; [Repo.MergePacks] keeps the packs few. An object that the
// repository has already is written again: C git does not fsync what it
// writes, and a power cut may leave it empty.
type Flush struct {
	objects *Objects
	temps   [][2]string // temporary file, final place
	keep    string      // the file that holds git off the pack
}

// Flush writes every staged object aside, into the batch. tmp is a folder in
// the repository's root for unfinished files.
func (o *Objects) Flush(tmp string, batch *durable.Batch) (*Flush, error) {
	o.repo.mu.Lock()
	defer o.repo.mu.Unlock()
	f := &Flush{objects: o}
	if len(o.order) == 0 {
		return f, nil
	}
	image, err := o.encode()
	if err == nil {
		f.temps, err = o.repo.stagePack(tmp, image, batch)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write git objects: %w", err), f.Discard())
	}
	return f, nil
}

// encode builds the pack of what is staged. Where one transaction stages many versions of large trees, as many as a
// commit for each of 2,000 files makes, these are deltas: they stand first, for [Repo.looksOurs] to tell.
func (o *Objects) encode() (packImage, error) {
	b, whole := newPackBuilder(len(o.order), o.repo.compressor()), 0
	for _, id := range o.order {
		if s := o.staged[id]; s.kind == plumbing.TreeObject {
			whole += len(s.data)
		}
	}
	depth := map[ID]int{}
	for _, id := range o.order {
		s := o.staged[id]
		base, staged := o.staged[s.base]
		if whole < manyTrees || !staged || len(s.data) < tinyTree || depth[s.base] >= maxDepth {
			continue
		}
		depth[id] = depth[s.base] + 1
		if err := b.addDelta(id, s.base, deltaOf(base.data, s.data)); err != nil {
			return packImage{}, err
		}
	}
	for _, id := range o.order {
		if s := o.staged[id]; depth[id] == 0 {
			if err := b.add(s.kind, id, s.data); err != nil {
				return packImage{}, err
			}
		}
	}
	return b.finish()
}

const (
	manyTrees = 1 << 20 // bytes of trees in one pack
	tinyTree  = 1 << 12 // bytes of one: below it a delta saves too little
	maxDepth  = 50      // deltas on deltas, as git packs
)

// compressor is the one writer of compressed bytes; r.mu is held.
func (r *Repo) compressor() *compressor {
	if r.deflate == nil {
		r.deflate = newCompressor()
	}
	return r.deflate
}

// stagePack writes a pack and its index aside. The index is what makes a pack
// visible to git, so it is published last. On failure the files that were
// written are returned as well.
func (r *Repo) stagePack(tmp string, image packImage, batch *durable.Batch) (temps [][2]string, err error) {
	for _, part := range []struct {
		ext  string
		data []byte
	}{{".pack", image.pack}, {".idx", image.index}} {
		temp := path.Join(tmp, image.name+part.ext)
		if err := batch.Create(r.root, "object", temp, part.data, 0o444); err != nil {
			return temps, err
		}
		temps = append(temps, [2]string{temp, packDir + "/" + image.name + part.ext})
	}
	// A temporary file exists by now and stays until the folder's name is synced:
	// a later process takes a folder it finds for durable, unless a leftover tells
	// it of a kill in between.
	made, err := r.root.Mkdir("object", packDir, 0o777)
	if err == nil && made {
		err = r.root.SyncDir("object", path.Dir(packDir))
	}
	return temps, err
}

// publishPack gives a staged pack its names and makes these durable.
func (r *Repo) publishPack(temps [][2]string) (rest [][2]string, err error) {
	for len(temps) > 0 {
		if err := r.root.Rename("object", temps[0][0], temps[0][1]); err != nil {
			return temps, err
		}
		temps = temps[1:]
	}
	r.newPacks()
	return nil, r.root.SyncDir("object", packDir)
}

// discard removes what was not published, and a pack whose index was not.
func (r *Repo) discard(temps [][2]string) error {
	var errs []error
	for _, t := range temps {
		errs = append(errs, r.DropHalf(path.Base(t[0])), r.root.Remove("object", t[0]))
	}
	return errors.Join(errs...)
}

// Publish gives the objects their names and makes these durable: afterwards a
// ref may point to them. The batch has been synced. Until [Flush.Release] a
// .keep file, made of the lock mark, holds git off the pack: "git repack -ad"
// takes a pack whose objects no ref leads to yet for garbage.
func (f *Flush) Publish(mark Mark) (err error) {
	r := f.objects.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(f.temps) == 0 {
		return nil
	}
	keep := strings.TrimSuffix(f.temps[0][1], ".pack") + ".keep"
	switch err := r.root.Link("keep", mark.path, keep); {
	case err == nil, exists(err) && mark.made(keep):
		f.keep = keep
	case !exists(err): // else somebody else wants the pack kept
		return fmt.Errorf("write git objects: %w", err)
	}
	if f.temps, err = r.publishPack(f.temps); err != nil {
		return fmt.Errorf("write git objects: %w", err)
	}
	r.remember(f.objects.staged)
	f.objects.staged, f.objects.order = map[ID]stagedObject{}, nil
	return nil
}

// maxRecent bounds the bytes kept of the newest commit.
const maxRecent = 1 << 20

func (r *Repo) remember(objects map[ID]stagedObject) {
	size := 0
	for _, obj := range objects {
		size += len(obj.data)
	}
	if r.recent = nil; size <= maxRecent {
		r.recent = objects
	}
}

// Release leaves the pack to git: a ref leads to its objects, or none will.
func (f *Flush) Release() error {
	if f.keep == "" {
		return nil
	}
	err := f.objects.repo.root.Remove("keep", f.keep)
	f.keep = ""
	return err
}

// Discard removes what was not published.
func (f *Flush) Discard() error {
	err := errors.Join(f.objects.repo.discard(f.temps), f.Release())
	f.temps = nil
	return err
}

// DropKeeps removes the .keep files of dead processes of ours.
func (m Mark) DropKeeps() error {
	r := m.repo
	names, err := r.root.Names(packDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if keep := packDir + "/" + name; strings.HasSuffix(name, ".keep") && m.made(keep) {
			if err := r.root.Remove("keep", keep); err != nil {
				return err
			}
		}
	}
	return nil
}
