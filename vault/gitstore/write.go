package gitstore

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"path"
	"sort"

	"stet/vault/durable"
)

// A Flush is the writing of staged objects in two steps, so that their fsyncs
// can wait together with those of other files: the batch is synced in between.
//
// All objects of a commit go into one pack. Loose files would cost a file, two
// fsyncs and maybe a folder each, and git itself starts to mind at some
// thousands of them; [Repo.Gather] keeps the packs few. An object that the
// repository has already is written again: C git does not fsync what it
// writes, and a power cut may leave it empty.
type Flush struct {
	objects *Objects
	temps   [][2]string // temporary file, final place
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

// encode builds the pack of what is staged.
func (o *Objects) encode() (packImage, error) {
	b := newPackBuilder(len(o.order), o.repo.compressor())
	for _, id := range o.order {
		if err := b.add(o.staged[id].kind, id, o.staged[id].data); err != nil {
			return packImage{}, err
		}
	}
	return b.finish()
}

// compressor is the one writer of compressed bytes; r.mu is held. Speed counts
// more than size here: git compresses anew when it collects.
func (r *Repo) compressor() *zlib.Writer {
	if r.deflate == nil {
		r.deflate, _ = zlib.NewWriterLevel(io.Discard, zlib.BestSpeed) // the level is valid
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
// ref may point to them. The batch has been synced.
func (f *Flush) Publish() (err error) {
	f.objects.repo.mu.Lock()
	defer f.objects.repo.mu.Unlock()
	if len(f.temps) == 0 {
		return nil
	}
	if f.temps, err = f.objects.repo.publishPack(f.temps); err != nil {
		return fmt.Errorf("write git objects: %w", err)
	}
	clear(f.objects.staged)
	f.objects.order = nil
	return nil
}

// Discard removes what was not published.
func (f *Flush) Discard() error {
	err := f.objects.repo.discard(f.temps)
	f.temps = nil
	return err
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
