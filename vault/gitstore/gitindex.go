package gitstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/index"

	"stet/vault/durable"
	"stet/vault/gitindex"
)

// GitIndexPath is the worktree's git index relative to the repository's root.
func (r *Repo) GitIndexPath() string { return r.Own("index") }

// maxGitIndex bounds the git index read into memory: 100,000 files take 10 MB.
const maxGitIndex = 1 << 30

// ReadGitIndex reads the worktree's git index. A missing one is empty, as for
// git. Version 4 is read through go-git and becomes version 2 when it is next
// written. One that no git can read is built anew from head's tree, with
// rebuilt true: entries then carry no stat data, so that every file is looked
// at. It fails with [ErrUnsupported] for split and sparse indexes.
func (r *Repo) ReadGitIndex(head ID) (f *gitindex.File, rebuilt bool, err error) {
	data, info, err := r.root.ReadFile(r.GitIndexPath(), maxGitIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return gitindex.Empty(), false, nil
	}
	if err != nil {
		return nil, false, err
	}
	f, err = gitindex.Parse(data)
	if errors.Is(err, gitindex.ErrUnsupported) {
		if f, err = convertIndex(data); err != nil {
			return nil, false, fmt.Errorf("git index: %w: %w", ErrUnsupported, err)
		}
		return f.WithTimestamp(uint32(info.ModTime().Unix())), false, nil
	}
	if err != nil {
		f, err = r.indexFromTree(head)
		return f, true, err
	}
	return f.WithTimestamp(uint32(info.ModTime().Unix())), false, nil
}

// A GitIndexStamp tells whether the git index is still the file it was. Git and
// stet replace the file by rename, so a new one has another inode.
type GitIndexStamp struct{ info fs.FileInfo }

// GitIndexStamp looks at the git index as it is now.
func (r *Repo) GitIndexStamp() (GitIndexStamp, error) {
	info, err := r.root.Lstat(r.GitIndexPath())
	if errors.Is(err, fs.ErrNotExist) {
		return GitIndexStamp{}, nil
	}
	return GitIndexStamp{info}, err
}

// Same reports whether both stamps are of one unchanged file, or of none.
func (s GitIndexStamp) Same(o GitIndexStamp) bool {
	if s.info == nil || o.info == nil {
		return s.info == nil && o.info == nil
	}
	return os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

// Time is when the git index was written, zero when there is none.
func (s GitIndexStamp) Time() time.Time {
	if s.info == nil {
		return time.Time{}
	}
	return s.info.ModTime()
}

// convertIndex rewrites a version 4 git index as version 2 or 3, which go-git
// can decode and this project can patch.
func convertIndex(data []byte) (*gitindex.File, error) {
	if len(data) < 8 || binary.BigEndian.Uint32(data[4:]) != 4 {
		_, err := gitindex.Parse(data) // it says best what is not supported
		return nil, err
	}
	var idx index.Index
	if err := index.NewDecoder(bytes.NewReader(data)).Decode(&idx); err != nil {
		return nil, err
	}
	idx.Version = 2
	for _, e := range idx.Entries {
		if e.IntentToAdd || e.SkipWorktree {
			idx.Version = 3
		}
	}
	var buf bytes.Buffer
	if err := index.NewEncoder(&buf).Encode(&idx); err != nil {
		return nil, err
	}
	return gitindex.Parse(buf.Bytes())
}

func (r *Repo) indexFromTree(head ID) (*gitindex.File, error) {
	var edits []gitindex.Edit
	if !head.IsZero() {
		objects := r.Stage()
		c, err := objects.Commit(head)
		if err != nil {
			return nil, err
		}
		for e, err := range objects.Walk(c.Tree) {
			if err != nil {
				return nil, err
			}
			edits = append(edits, gitindex.Edit{Path: e.Name, Hash: e.ID, Mode: e.Mode})
		}
	}
	data, err := gitindex.Empty().Apply(edits)
	if err != nil {
		return nil, err
	}
	return gitindex.Parse(data)
}

// PublishGitIndex replaces the git index; the caller holds its lock file. It is
// fsynced and renamed in; then also, which syncs the folders of the files in it,
// and the folder of its own name are waited for together: a git index older than
// HEAD would show the difference as staged, and the person's next commit would
// undo it.
func (r *Repo) PublishGitIndex(temp string, data []byte, also func() error) error {
	var batch durable.Batch
	if err := batch.Create(r.root, "index", temp, data, 0o666); err != nil {
		return err
	}
	if err := batch.Sync(); err != nil {
		return err
	}
	if err := r.root.Rename("index", temp, r.GitIndexPath()); err != nil {
		return err
	}
	return errors.Join(also(), r.root.SyncDir("index", r.Own(".")))
}

// IndexDiff yields where the tree root of the folder dir and the git index differ,
// see [gitindex.File.Diff].
func (o *Objects) IndexDiff(f *gitindex.File, dir string, root ID) iter.Seq2[gitindex.Difference, error] {
	return f.Diff(dir, root, o.treeItems)
}

// ApplyIndex is [gitindex.File.ApplyTo] with the trees of this repository, also those that are only staged.
func (o *Objects) ApplyIndex(f *gitindex.File, edits []gitindex.Edit, root ID) ([]byte, error) {
	return f.ApplyTo(edits, root, o.treeItems)
}

func (o *Objects) treeItems(id [20]byte) ([]gitindex.TreeItem, error) {
	tree, err := o.decodeTree(id)
	items := make([]gitindex.TreeItem, len(tree))
	for i, e := range tree {
		items[i] = gitindex.TreeItem{Name: e.Name, Mode: e.Mode, Hash: e.ID}
	}
	return items, err
}
