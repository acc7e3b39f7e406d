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
)

// packAbove is the number of new objects from which one pack is written
// instead of loose files: a loose object costs two fsyncs, a pack three in all,
// and git itself starts to mind at some thousands of loose files.
const packAbove = 64

// Flush makes every staged object durable: afterwards a ref may point to them.
// tmp is a folder in the repository's root for unfinished files.
func (o *Objects) Flush(tmp string) error {
	if len(o.order) == 0 {
		return nil
	}
	o.repo.mu.Lock()
	defer o.repo.mu.Unlock()
	var err error
	if len(o.order) > packAbove {
		err = o.writePack(tmp)
	} else {
		err = o.writeLoose(tmp)
	}
	if err != nil {
		return fmt.Errorf("write git objects: %w", err)
	}
	clear(o.staged)
	o.order = nil
	return nil
}

// writeLoose writes all files first and fsyncs each folder once.
func (o *Objects) writeLoose(tmp string) error {
	root, dirs := o.repo.root, map[string]bool{}
	for _, id := range o.order {
		hex := id.String()
		dir := "objects/" + hex[:2]
		if err := root.MkdirAll("object", dir, 0o777); err != nil {
			return err
		}
		dirs[dir] = true
		target := dir + "/" + hex[2:]
		if done, err := o.trusted(target, id); err != nil || done {
			if err != nil {
				return err
			}
			continue
		}
		data, err := encodeLoose(o.staged[id])
		if err != nil {
			return err
		}
		temp := path.Join(tmp, "obj-"+hex)
		if err := root.Remove("object", temp); err != nil {
			return err
		}
		if err := root.CreateSync("object", temp, data, 0o444); err != nil {
			return err
		}
		if err := root.Rename("object", temp, target); err != nil {
			return errors.Join(err, root.Remove("object", temp))
		}
	}
	for _, dir := range sortedKeys(dirs) {
		if err := root.SyncDir("object", dir); err != nil {
			return err
		}
	}
	return nil
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

// writePack writes one pack and its index. The .idx is what makes a pack
// visible to git, so it comes last.
func (o *Objects) writePack(tmp string) error {
	pack, index, name, err := o.encodePack()
	if err != nil {
		return err
	}
	root := o.repo.root
	if err := root.MkdirAll("pack", "objects/pack", 0o777); err != nil {
		return err
	}
	for _, f := range []struct {
		ext  string
		data []byte
	}{{".pack", pack}, {".idx", index}} {
		temp, target := path.Join(tmp, name+f.ext), "objects/pack/"+name+f.ext
		if err := root.Remove("pack", temp); err != nil {
			return err
		}
		if err := root.CreateSync("pack", temp, f.data, 0o444); err != nil {
			return err
		}
		if err := root.Rename("pack", temp, target); err != nil {
			return errors.Join(err, root.Remove("pack", temp))
		}
	}
	if err := root.SyncDir("pack", "objects/pack"); err != nil {
		return err
	}
	o.repo.storage.Reindex()
	return nil
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
