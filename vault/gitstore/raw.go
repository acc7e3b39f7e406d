package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// A rawCommit is what a walk needs of a commit.
type rawCommit struct {
	id, tree ID
	parents  []ID
	time     int64 // of the committer, in seconds
}

// A rawReader reads commits and single tree entries without decoding what is
// not asked for. A walk over ten thousand commits reads two or three times as
// many objects, so loose ones are read directly: zlib's checksum guards them
// against torn and flipped bytes. Whatever cannot be read that way, packed
// objects first of all, comes from the store.
type rawReader struct {
	objects *Objects
	dir     string // of the repository
	file    []byte // reused: a file as it is on disk
	data    []byte // reused: the object in it
	zlib    io.ReadCloser
	source  bytes.Reader
}

// read returns an object's contents, which hold until the next call.
func (r *rawReader) read(kind plumbing.ObjectType, id ID) ([]byte, error) {
	if data, ok := r.loose(kind, id); ok {
		return data, nil
	}
	return r.objects.get(kind, id)
}

// loose reads an object from a file of its own; ok is false when there is none,
// or when it is not whole: the store then says what is wrong with it.
func (r *rawReader) loose(kind plumbing.ObjectType, id ID) (data []byte, ok bool) {
	name := id.String()
	f, err := os.Open(filepath.Join(r.dir, "objects", name[:2], name[2:]))
	if err != nil {
		return nil, false
	}
	whole := r.slurp(f)
	if err := f.Close(); err != nil || !whole {
		return nil, false
	}
	return r.inflate(kind)
}

// maxLoose bounds what is read this way; a larger object is the store's.
const maxLoose = 4 << 20

func (r *rawReader) slurp(f *os.File) bool {
	if r.file == nil {
		r.file = make([]byte, 64<<10)
	}
	n := 0
	for {
		m, err := f.Read(r.file[n:])
		n += m
		switch {
		case errors.Is(err, io.EOF):
			r.source.Reset(r.file[:n])
			return true
		case err != nil, n > maxLoose:
			return false
		case n == len(r.file):
			r.file = append(r.file, make([]byte, n)...)
		}
	}
}

// maxHeader is more than "commit 4194304" and its NUL take.
const maxHeader = 32

func (r *rawReader) inflate(kind plumbing.ObjectType) ([]byte, bool) {
	var err error
	if r.zlib == nil {
		r.zlib, err = zlib.NewReader(&r.source)
	} else {
		err = r.zlib.(zlib.Resetter).Reset(&r.source, nil)
	}
	if err != nil {
		return nil, false
	}
	if r.data == nil {
		r.data = make([]byte, 64<<10)
	}
	n := 0
	for {
		m, err := r.zlib.Read(r.data[n:])
		n += m
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n > maxLoose {
			return nil, false
		}
		if n == len(r.data) {
			r.data = append(r.data, make([]byte, n)...)
		}
	}
	head, _, found := bytes.Cut(r.data[:min(n, maxHeader)], []byte{0})
	name, size, _ := bytes.Cut(head, []byte(" "))
	length, err := strconv.Atoi(string(size))
	if !found || err != nil || string(name) != kind.String() || length != n-len(head)-1 {
		return nil, false
	}
	return r.data[len(head)+1 : n], true
}

func (r *rawReader) commit(id ID) (rawCommit, error) {
	data, err := r.read(plumbing.CommitObject, id)
	if err != nil {
		return rawCommit{}, err
	}
	c, ok := parseRawCommit(data)
	if !ok {
		return rawCommit{}, fmt.Errorf("commit %s: %w: its header cannot be read", id, ErrMissing)
	}
	c.id = id
	if len(c.parents) == 0 {
		return c, nil
	}
	ends, err := r.objects.endsAt(id)
	if ends {
		c.parents = nil
	}
	return c, err
}

func parseRawCommit(data []byte) (c rawCommit, ok bool) {
	for line := range bytes.Lines(data) {
		key, value, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if !found {
			return c, false
		}
		switch string(key) {
		case "tree":
			if c.tree, ok = rawID(value); !ok {
				return c, false
			}
		case "parent":
			p, ok := rawID(value)
			if !ok {
				return c, false
			}
			c.parents = append(c.parents, p)
		case "committer":
			// name <email> seconds zone
			at := bytes.LastIndexByte(value, '>')
			seconds, _, _ := bytes.Cut(bytes.TrimSpace(value[at+1:]), []byte(" "))
			var err error
			c.time, err = strconv.ParseInt(string(seconds), 10, 64)
			return c, err == nil && !c.tree.IsZero()
		}
	}
	return c, false
}

func rawID(hexed []byte) (id ID, ok bool) {
	if len(hexed) != 2*len(id) {
		return id, false
	}
	_, err := hex.Decode(id[:], hexed)
	return id, err == nil
}

// entry is the id of one name in a tree, zero when it has none of that kind. A
// link or submodule counts as absent: neither holds a person's text.
func (r *rawReader) entry(tree ID, name string, dir bool) (ID, error) {
	data, err := r.read(plumbing.TreeObject, tree)
	if err != nil {
		return ID{}, err
	}
	for len(data) > 0 {
		space, zero := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || zero < space || len(data) < zero+1+len(ID{}) {
			return ID{}, fmt.Errorf("tree %s: %w: it is cut short", tree, ErrMissing)
		}
		if string(data[space+1:zero]) == name {
			mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
			if err != nil {
				return ID{}, fmt.Errorf("tree %s: %w: mode %q", tree, ErrMissing, data[:space])
			}
			const kind, file = 0o170000, 0o100000
			if dir && uint32(mode) == ModeDir || !dir && mode&kind == file {
				return ID(data[zero+1 : zero+1+len(ID{})]), nil
			}
			return ID{}, nil
		}
		data = data[zero+1+len(ID{}):]
	}
	return ID{}, nil
}
