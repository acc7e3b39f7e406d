package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// A TreeEntry is one name in a tree.
type TreeEntry struct {
	Name string
	Mode uint32
	ID   ID
}

// IsDir reports whether the entry is a sub-tree.
func (e TreeEntry) IsDir() bool { return e.Mode == ModeDir }

// A Commit is a decoded commit.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Signature
	Committer Signature
	When      time.Time // of the author
	Committed time.Time // of the committer
	Message   string
	Cut       bool // a shallow clone ends here: it has parents, and nobody has those
}

// Objects reads objects, those staged and not yet written included. The zero
// value reads nothing; make one with [Repo.Stage].
type Objects struct {
	repo   *Repo
	staged map[ID]stagedObject
	order  []ID
	// trees keeps trees: a bulk update looks up thousands of paths in the same few folders, and a log compares
	// each tree with the one before it.
	trees map[ID]*knownTree
	held  int // bytes of their encoded form
	// shallow lists the commits where a shallow clone's history ends; nil until
	// it is asked for.
	shallow map[ID]bool
}

// A knownTree is a tree as git encodes it and, once somebody looks for a name, decoded.
type knownTree struct {
	data    []byte
	entries []TreeEntry
	at      map[string]int // nil: not decoded yet
}

// maxHeld bounds the trees kept by one set of objects.
const maxHeld = 16 << 20

type stagedObject struct {
	kind plumbing.ObjectType
	data []byte
	base ID // of a tree the one that it was made of
}

// Stage returns an empty set of new objects on top of the repository's. It is
// not safe for concurrent use.
func (r *Repo) Stage() *Objects {
	return &Objects{repo: r, staged: map[ID]stagedObject{}, trees: map[ID]*knownTree{}}
}

func (o *Objects) put(kind plumbing.ObjectType, data []byte) ID {
	id := hashOf(kind, data)
	if _, ok := o.staged[id]; !ok {
		o.staged[id] = stagedObject{kind: kind, data: data}
		o.order = append(o.order, id)
	}
	return id
}

func (o *Objects) get(kind plumbing.ObjectType, id ID) ([]byte, error) {
	if s, ok := o.staged[id]; ok && s.kind == kind {
		return s.data, nil
	}
	if id.IsZero() {
		return nil, fmt.Errorf("the zero id: %w", ErrMissing)
	}
	return o.repo.object(kind, id)
}

// PutBlob stages a blob. data must not be changed afterwards.
func (o *Objects) PutBlob(data []byte) ID { return o.put(plumbing.BlobObject, data) }

// Blob reads a blob's contents, which must not be changed.
func (o *Objects) Blob(id ID) ([]byte, error) { return o.get(plumbing.BlobObject, id) }

// Content reads the blob with an id in hex; "" has none.
func (o *Objects) Content(hex string) ([]byte, error) {
	id, err := ParseID(hex)
	if err != nil || id.IsZero() {
		return nil, err
	}
	return o.Blob(id)
}

// Tree reads a tree's entries in git's order. The zero id is the empty tree.
func (o *Objects) Tree(id ID) ([]TreeEntry, error) {
	t, err := o.tree(id)
	return slices.Clone(t.entries), err
}

func (o *Objects) tree(id ID) (*knownTree, error) {
	t, err := o.encodedTree(id)
	if err != nil || t.at != nil {
		return t, err
	}
	if t.entries, err = treeEntries(id, t.data); err != nil {
		return t, err
	}
	t.at = make(map[string]int, len(t.entries))
	for i, e := range t.entries {
		t.at[e.Name] = i
	}
	return t, nil
}

// encodedTree is a tree that may not be decoded yet.
func (o *Objects) encodedTree(id ID) (*knownTree, error) {
	if t, ok := o.trees[id]; ok || id.IsZero() {
		return cmp.Or(t, &knownTree{}), nil
	}
	data, err := o.get(plumbing.TreeObject, id)
	if err != nil {
		return &knownTree{}, err
	}
	if o.held += len(data); o.held > maxHeld {
		clear(o.trees)
		o.held = len(data)
	}
	t := &knownTree{data: data}
	o.trees[id] = t
	return t, nil
}

// decodeTree is the entries of a tree that is not kept.
func (o *Objects) decodeTree(id ID) ([]TreeEntry, error) {
	data, err := o.get(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	return treeEntries(id, data)
}

func treeEntries(id ID, data []byte) ([]TreeEntry, error) {
	const usual = 64 // bytes of an entry
	entries := make([]TreeEntry, 0, len(data)/usual)
	for len(data) > 0 {
		e, err := decodeEntry(id, data)
		if err != nil {
			return nil, err
		}
		entries, data = append(entries, e), data[entryLen(data):]
	}
	return entries, nil
}

// entryLen is how many bytes the first entry of an encoded tree has: a mode, a space, a name, a zero, an id.
func entryLen(data []byte) int {
	return min(bytes.IndexByte(data, 0)+1+len(ID{}), len(data))
}

// entryName is the name of the first entry of an encoded tree.
func entryName(data []byte) []byte {
	head := data[:max(bytes.IndexByte(data, 0), 0)]
	return head[bytes.IndexByte(head, ' ')+1:]
}

// appendEntry encodes an entry.
func appendEntry(data []byte, e TreeEntry) []byte {
	data = append(strconv.AppendUint(data, uint64(e.Mode), 8), ' ')
	return append(append(append(data, e.Name...), 0), e.ID[:]...)
}

// decodeEntry is the first entry of an encoded tree.
func decodeEntry(id ID, data []byte) (e TreeEntry, err error) {
	head, _, whole := bytes.Cut(data, []byte{0})
	mode, name, named := bytes.Cut(head, []byte(" "))
	bits, err := strconv.ParseUint(string(mode), 8, 32)
	if !whole || !named || err != nil || len(data) < len(head)+1+len(e.ID) {
		return e, fmt.Errorf("tree %s: %w: it is damaged", id, ErrMissing)
	}
	e.Name, e.Mode = string(name), uint32(bits)
	copy(e.ID[:], data[len(head)+1:])
	return e, nil
}

func (o *Objects) stageEncoded(obj *plumbing.MemoryObject) (ID, error) {
	rd, err := obj.Reader()
	if err != nil {
		return ID{}, err
	}
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(rd); err != nil {
		return ID{}, err
	}
	return o.put(obj.Type(), buf.Bytes()), rd.Close()
}

// PutCommit stages a commit; a commit without files has git's empty tree.
// ID is ignored. Times are stored in whole seconds with their zone.
func (o *Objects) PutCommit(c Commit) (ID, error) {
	if c.Tree.IsZero() {
		c.Tree = o.put(plumbing.TreeObject, nil)
	}
	oc := object.Commit{
		Author:    object.Signature{Name: c.Author.Name, Email: c.Author.Email, When: c.When},
		Committer: object.Signature{Name: c.Committer.Name, Email: c.Committer.Email, When: c.Committed},
		Message:   c.Message,
		TreeHash:  plumbing.Hash(c.Tree),
	}
	for _, p := range c.Parents {
		oc.ParentHashes = append(oc.ParentHashes, plumbing.Hash(p))
	}
	obj := &plumbing.MemoryObject{}
	if err := oc.Encode(obj); err != nil {
		return ID{}, err
	}
	return o.stageEncoded(obj)
}

// Commit reads a commit. As for git, one at which a shallow clone ends has no
// parents.
func (o *Objects) Commit(id ID) (Commit, error) {
	data, err := o.get(plumbing.CommitObject, id)
	if err != nil {
		return Commit{}, err
	}
	// A message may name thousands of files, and go-git hashes it and reads it line by line.
	_, message, _ := bytes.Cut(data, []byte("\n\n"))
	obj := &plumbing.MemoryObject{}
	obj.SetType(plumbing.CommitObject)
	if _, err := obj.Write(data[:len(data)-len(message)]); err != nil {
		return Commit{}, err
	}
	var oc object.Commit
	if err := oc.Decode(obj); err != nil {
		return Commit{}, fmt.Errorf("commit %s: %w: %w", id, ErrMissing, err)
	}
	c := Commit{
		ID: id, Tree: ID(oc.TreeHash), Message: oc.Message + string(message),
		Author:    Signature{oc.Author.Name, oc.Author.Email},
		Committer: Signature{oc.Committer.Name, oc.Committer.Email},
		When:      oc.Author.When, Committed: oc.Committer.When,
	}
	if c.Cut, err = o.endsAt(id); err != nil || c.Cut {
		return c, err
	}
	for _, p := range oc.ParentHashes {
		c.Parents = append(c.Parents, ID(p))
	}
	return c, nil
}

// TreeOf is the tree of a commit; the zero id has the zero tree.
func (o *Objects) TreeOf(commit ID) (ID, error) {
	if commit.IsZero() {
		return commit, nil
	}
	data, err := o.get(plumbing.CommitObject, commit)
	if err != nil {
		return ID{}, err
	}
	head, _, _ := bytes.Cut(data, []byte("\n"))
	tree, ok := rawID(bytes.TrimPrefix(head, []byte("tree ")))
	if !ok {
		return tree, fmt.Errorf("commit %s: %w: it names no tree", commit, ErrMissing)
	}
	return tree, nil
}

// endsAt reports whether a shallow clone's history ends at a commit.
func (o *Objects) endsAt(id ID) (bool, error) {
	if o.shallow != nil {
		return o.shallow[id], nil
	}
	data, _, err := o.repo.root.ReadFile("shallow", maxShallow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	o.shallow = map[ID]bool{}
	for line := range strings.FieldsSeq(string(data)) {
		end, err := ParseID(line)
		if err != nil {
			return false, fmt.Errorf("shallow: %w", err)
		}
		o.shallow[end] = true
	}
	return o.shallow[id], nil
}

// maxShallow bounds the list of a shallow clone's ends: 41 bytes for each of
// 100,000 branches.
const maxShallow = 4 << 20
