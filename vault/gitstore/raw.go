package gitstore

import (
	"bytes"
	"encoding/hex"
	"fmt"
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
// not asked for.
type rawReader struct {
	objects *Objects
}

func (r *rawReader) commit(id ID) (rawCommit, error) {
	data, err := r.objects.get(plumbing.CommitObject, id)
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
	t, err := r.objects.encodedTree(tree)
	if err != nil {
		return ID{}, err
	}
	for data := t.data; len(data) > 0; {
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
