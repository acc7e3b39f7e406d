package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"stet/vault/durable"
)

// packAbove is the number of new objects from which one pack is written
// instead of loose files: a loose object costs two fsyncs, a pack three in all,
// and git itself starts to mind at some thousands of loose files.
const packAbove = 64

// A Flush is the writing of staged objects in two steps, so that their fsyncs
// can wait together with those of other files: the batch is synced in between.
type Flush struct {
	objects *Objects
	tmp     string
	temps   [][2]string     // temporary file, final place
	dirs    map[string]bool // folders to fsync
}

// Flush writes every staged object aside, into the batch. tmp is a folder in
// the repository's root for unfinished files.
func (o *Objects) Flush(tmp string, batch *durable.Batch) (*Flush, error) {
	o.repo.mu.Lock()
	defer o.repo.mu.Unlock()
	f := &Flush{objects: o, tmp: tmp, dirs: map[string]bool{}}
	write := f.loose
	if len(o.order) > packAbove {
		write = f.pack
	}
	if err := write(batch); err != nil {
		return nil, errors.Join(fmt.Errorf("write git objects: %w", err), f.Discard())
	}
	return f, nil
}

// Publish gives the objects their names and makes these durable: afterwards a
// ref may point to them. The batch has been synced.
func (f *Flush) Publish() error {
	f.objects.repo.mu.Lock()
	defer f.objects.repo.mu.Unlock()
	root := f.objects.repo.root
	for len(f.temps) > 0 {
		t := f.temps[0]
		if err := root.Rename("object", t[0], t[1]); err != nil {
			return fmt.Errorf("write git objects: %w", err)
		}
		f.temps = f.temps[1:]
	}
	for _, dir := range sortedKeys(f.dirs) {
		if err := root.SyncDir("object", dir); err != nil {
			return fmt.Errorf("write git objects: %w", err)
		}
	}
	if f.dirs[packDir] {
		f.objects.repo.storage.Reindex()
	}
	clear(f.objects.staged)
	f.objects.order = nil
	return nil
}

// Discard removes what was not published.
func (f *Flush) Discard() error {
	var errs []error
	for _, t := range f.temps {
		errs = append(errs, f.objects.repo.root.Remove("object", t[0]))
	}
	f.temps = nil
	return errors.Join(errs...)
}

// loose writes each object to a file of its own.
func (f *Flush) loose(batch *durable.Batch) error {
	root := f.objects.repo.root
	for _, id := range f.objects.order {
		hex := id.String()
		dir := "objects/" + hex[:2]
		f.dirs[dir] = true
		target := dir + "/" + hex[2:]
		if done, err := f.objects.trusted(target, id); err != nil || done {
			if err != nil {
				return err
			}
			continue
		}
		data, err := encodeLoose(f.objects.staged[id])
		if err != nil {
			return err
		}
		temp := path.Join(f.tmp, "obj-"+hex)
		if err := batch.Create(root, "object", temp, data, 0o444); err != nil {
			return err
		}
		f.temps = append(f.temps, [2]string{temp, target})
		if err := f.folder(dir); err != nil {
			return err
		}
	}
	return nil
}

// folder makes a folder of objects. A temporary file must exist by then and
// stay until the folder's name is synced: a later process takes a folder it
// finds for durable, unless a leftover tells it of a kill in between.
func (f *Flush) folder(dir string) error {
	made, err := f.objects.repo.root.Mkdir("object", dir, 0o777)
	if made {
		f.dirs["objects"] = true
	}
	return err
}

// trusted reports whether a loose object is there, whole and on the disk. C git
// does not fsync loose objects, so after a power cut one may be empty: such a
// file is written anew, and a good one is fsynced before it is relied on.
func (o *Objects) trusted(target string, id ID) (bool, error) {
	data, _, err := o.repo.root.ReadFile(target, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	rd, err := objfile.NewReader(bytes.NewReader(data))
	if err != nil {
		return false, nil
	}
	kind, _, err := rd.Header()
	if err != nil {
		return false, errors.Join(rd.Close())
	}
	content, err := io.ReadAll(rd)
	if cerr := rd.Close(); err != nil || cerr != nil || hashOf(kind, content) != id {
		return false, nil // unreadable is the same as absent: it is replaced
	}
	return true, o.repo.root.SyncFile("object", target)
}

func encodeLoose(s stagedObject) ([]byte, error) {
	var buf bytes.Buffer
	w := objfile.NewWriter(&buf)
	if err := w.WriteHeader(s.kind, int64(len(s.data))); err != nil {
		return nil, err
	}
	if _, err := w.Write(s.data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// packDir is where git looks for packs.
const packDir = "objects/pack"

// pack writes one pack and its index. The .idx is what makes a pack visible to
// git, so it comes last.
func (f *Flush) pack(batch *durable.Batch) error {
	pack, index, name, err := f.objects.encodePack()
	if err != nil {
		return err
	}
	root := f.objects.repo.root
	f.dirs[packDir] = true
	for _, part := range []struct {
		ext  string
		data []byte
	}{{".pack", pack}, {".idx", index}} {
		temp := path.Join(f.tmp, name+part.ext)
		if err := batch.Create(root, "object", temp, part.data, 0o444); err != nil {
			return err
		}
		f.temps = append(f.temps, [2]string{temp, packDir + "/" + name + part.ext})
	}
	return f.folder(packDir)
}

func (o *Objects) encodePack() (pack, index []byte, name string, err error) {
	store := memory.NewStorage()
	hashes := make([]plumbing.Hash, 0, len(o.order))
	for _, id := range o.order {
		obj := &plumbing.MemoryObject{}
		obj.SetType(o.staged[id].kind)
		if _, err := obj.Write(o.staged[id].data); err != nil {
			return nil, nil, "", err
		}
		if _, err := store.SetEncodedObject(obj); err != nil {
			return nil, nil, "", err
		}
		hashes = append(hashes, plumbing.Hash(id))
	}
	var buf bytes.Buffer
	sum, err := packfile.NewEncoder(&buf, store, false).Encode(hashes, 0)
	if err != nil {
		return nil, nil, "", err
	}
	w := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(bytes.NewReader(buf.Bytes())), w)
	if err != nil {
		return nil, nil, "", err
	}
	if _, err := parser.Parse(); err != nil {
		return nil, nil, "", err
	}
	idx, err := w.Index()
	if err != nil {
		return nil, nil, "", err
	}
	var out bytes.Buffer
	if _, err := idxfile.NewEncoder(&out).Encode(idx); err != nil {
		return nil, nil, "", err
	}
	return buf.Bytes(), out.Bytes(), "pack-" + sum.String(), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
