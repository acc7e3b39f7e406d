package gitindex

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// An Edit sets or removes the stage 0 entry of one path. Removing a path that has
// no entry is not an error. An edit that sets what the entry already has
// (hash and mode) only refreshes its Stat.
type Edit struct {
	Path   string
	Remove bool
	// Hash and Mode as in [Entry]; ignored when Remove is set.
	Hash [20]byte
	Mode uint32
	// Stat of the file after it was written; the zero Stat makes git compare
	// the content once.
	Stat Stat
}

// A change is an edit placed in the base index.
type change struct {
	*Edit
	// pos is the entry's place, or where it would stand.
	pos    int
	exists bool
	// delta is by how many entries the index grows: -1, 0 or 1.
	delta int
	// content: the edit changes what a tree made from the index would hold.
	content bool
}

// A plan is a checked set of edits in path order.
type plan struct {
	changes []change
	// sum[i] is the growth by the first i changes.
	sum []int
}

// Apply returns the bytes of a new index with the edits made; f stays as it is.
// Untouched entries are copied byte for byte (but see [File.WithTimestamp]). A
// touched entry keeps its assume-valid mark and loses intent-to-add. The errors are
// [ErrConflicted], [ErrSkipWorktree], [ErrDirFile] and [ErrEdit]; each names the
// path.
//
// Cost: one copy and one SHA-1 of the file; allocations grow with the number of
// edits, not of entries.
func (f *File) Apply(edits []Edit) ([]byte, error) { return f.ApplyTo(edits, [hashSize]byte{}, nil) }

// ApplyTo is [File.Apply] where the index is then to hold the tree root, as after a commit. The cache-tree of the new
// index says so of each folder of which it is true: without it git and Diff read the trees of all folders above an
// edit, until git commits. read returns the items of a tree in git's order; where it fails, the edits invalidate what
// they touch, as in Apply.
func (f *File) ApplyTo(
	edits []Edit, root [hashSize]byte, read func([hashSize]byte) ([]TreeItem, error),
) ([]byte, error) {
	p, err := f.plan(edits)
	if err != nil {
		return nil, err
	}
	tree := f.editedTree(p)

	size := len(f.b) + headerSize + hashSize + len(tree)
	for _, c := range p.changes {
		size += entrySize(fixedSize, len(c.Path))
	}
	out := make([]byte, 0, size)
	out = append(out, "DIRC"...)
	out = binary.BigEndian.AppendUint32(out, uint32(f.version))
	out = binary.BigEndian.AppendUint32(out, uint32(f.Len()+p.sum[len(p.changes)]))
	from := 0
	for _, c := range p.changes {
		out = f.appendSpan(out, from, c.pos)
		from = c.pos
		var keep uint16
		if c.exists {
			keep = f.flags(c.pos) & flagAssumeValid
			from++
		}
		if !c.Remove {
			out = appendEntry(out, c.Edit, keep)
		}
	}
	out = f.appendSpan(out, from, f.Len())
	if next := (&File{b: out, version: f.version, tree: tree}); read != nil && next.scanEntries(len(out)) == nil {
		d := differ{f: next, read: read, known: next.cached()}
		if all, _, err := d.trees("", "", root, 0, next.Len()); err == nil {
			tree = all
		}
	}
	out = appendExtension(out, "TREE", tree)
	out = appendExtension(out, "REUC", f.undo)
	var trailer [hashSize]byte
	if !f.skipHash {
		trailer = sha1.Sum(out)
	}
	return append(out, trailer[:]...), nil
}

// plan sorts the edits, finds their places and refuses impossible ones.
func (f *File) plan(edits []Edit) (*plan, error) {
	p := &plan{changes: make([]change, len(edits)), sum: make([]int, len(edits)+1)}
	for i := range edits {
		p.changes[i].Edit = &edits[i]
	}
	slices.SortFunc(p.changes, func(a, b change) int { return strings.Compare(a.Path, b.Path) })
	for i := range p.changes {
		c := &p.changes[i]
		if i > 0 && p.changes[i-1].Path == c.Path {
			return nil, fmt.Errorf("edit %q: %w: given twice", c.Path, ErrEdit)
		}
		if err := f.place(c); err != nil {
			return nil, fmt.Errorf("edit %q: %w", c.Path, err)
		}
		p.sum[i+1] = p.sum[i] + c.delta
	}
	for i := range p.changes {
		if c := &p.changes[i]; c.delta > 0 {
			if err := f.checkClash(p, c.Path); err != nil {
				return nil, fmt.Errorf("edit %q: %w", c.Path, err)
			}
		}
	}
	return p, nil
}

func (f *File) place(c *change) error {
	if err := checkEdit(c.Edit); err != nil {
		return err
	}
	c.pos = f.search(c.Path)
	if c.pos < f.Len() && string(f.name(c.pos)) == c.Path {
		if f.stage(c.pos) != 0 {
			return ErrConflicted
		}
		ext := f.extended(c.pos)
		if ext&extSkipWorktree != 0 {
			return ErrSkipWorktree
		}
		c.exists, c.content = true, ext&extIntentToAdd != 0 // which no tree holds
	}
	switch {
	case c.Remove && c.exists:
		c.delta, c.content = -1, true
	case c.Remove:
	case !c.exists:
		c.delta, c.content = 1, true
	default:
		c.content = c.content || c.Hash != f.hash(c.pos) || c.Mode != f.mode(c.pos)
	}
	return nil
}

func checkEdit(e *Edit) error {
	if strings.IndexByte(e.Path, 0) >= 0 {
		return fmt.Errorf("%w: NUL in the path", ErrEdit)
	}
	for part := range strings.SplitSeq(e.Path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("%w: path element %q", ErrEdit, part)
		}
	}
	if e.Remove {
		return nil
	}
	switch e.Mode {
	case 0o100644, 0o100755, 0o120000, 0o160000:
	default:
		return fmt.Errorf("%w: mode %o", ErrEdit, e.Mode)
	}
	if e.Hash == [20]byte{} {
		return fmt.Errorf("%w: zero hash", ErrEdit)
	}
	return nil
}

// checkClash refuses a new path that has entries below it, or a file above it,
// once all edits are made.
func (f *File) checkClash(p *plan, path string) error {
	lo, hi := f.below(path)
	if hi-lo+p.growth(path) != 0 {
		return fmt.Errorf("%w: entries remain below it", ErrDirFile)
	}
	for dir := parent(path); dir != ""; dir = parent(dir) {
		i := f.search(dir)
		file := i < f.Len() && string(f.name(i)) == dir
		if k := p.search(dir); k < len(p.changes) && p.changes[k].Path == dir {
			file = !p.changes[k].Remove
		}
		if file {
			return fmt.Errorf("%w: %q is a file", ErrDirFile, dir)
		}
	}
	return nil
}

func (p *plan) search(path string) int {
	return sort.Search(len(p.changes), func(i int) bool { return p.changes[i].Path >= path })
}

// growth is by how many entries the index grows inside dir.
func (p *plan) growth(dir string) int {
	if dir == "" {
		return p.sum[len(p.changes)]
	}
	return p.sum[p.search(dir+"0")] - p.sum[p.search(dir+"/")]
}

// parent returns the directory of path, "" at the root.
func parent(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// appendSpan copies the entries from lo up to hi.
func (f *File) appendSpan(out []byte, lo, hi int) []byte {
	if lo == hi {
		return out
	}
	base, start := f.off[lo], len(out)
	out = append(out, f.b[base:f.off[hi]]...)
	if f.timestamp == 0 {
		return out
	}
	for i := lo; i < hi; i++ {
		e := start + int(f.off[i]-base)
		if binary.BigEndian.Uint32(out[e+8:]) >= f.timestamp {
			clear(out[e+36 : e+40])
		}
	}
	return out
}

func appendEntry(out []byte, e *Edit, keep uint16) []byte {
	start := len(out)
	out = appendStat(out, e.Stat, e.Mode)
	out = append(out, e.Hash[:]...)
	out = binary.BigEndian.AppendUint16(out, keep|uint16(min(len(e.Path), maskName)))
	out = append(out, e.Path...)
	pad := entrySize(fixedSize, len(e.Path)) - (len(out) - start)
	return append(out, make([]byte, pad)...)
}

func appendExtension(out []byte, name string, data []byte) []byte {
	if len(data) == 0 {
		return out
	}
	out = append(out, name...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	return append(out, data...)
}
