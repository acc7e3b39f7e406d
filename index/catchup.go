package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"stet/vault"
)

// changes are the differences between a manifest and the files on disk.
type changes struct {
	read    []vault.File // new, or with other contents
	restat  []record     // same contents, other description
	removed []vault.Path
	added   int // of read
}

func (c *changes) empty() bool {
	return len(c.read) == 0 && len(c.restat) == 0 && len(c.removed) == 0
}

// onlyRestat reports that an answer from the old manifest is right already.
func (c *changes) onlyRestat() bool { return len(c.read) == 0 && len(c.removed) == 0 }

// bytes is the size of what must be read.
func (c *changes) bytes() (n int64) {
	for _, f := range c.read {
		n += f.Size
	}
	return n
}

// compare finds what changed. Files that only look changed, or that could have
// changed unseen, are read and told apart by their hash. It fails with what ended
// ctx and with nothing else.
func compare(ctx context.Context, src Source, now func() time.Time, m *manifest, files []vault.File) (*changes, error) {
	out := &changes{}
	recs := m.recs
	known := func(f vault.File) {
		if r := &recs[0]; (!r.sameFile(f) || r.flags&flagRacy != 0) && ctx.Err() == nil {
			out.look(src, now, r, f)
		}
		recs = recs[1:]
	}
	// Where nothing came or went the lists run side by side, and equality is
	// cheaper to see than order.
	for len(files) > 0 && len(recs) > 0 && recs[0].path == files[0].Path {
		known(files[0])
		files = files[1:]
	}
	for _, f := range inOrder(files) {
		for len(recs) > 0 && recs[0].path < f.Path {
			out.removed = append(out.removed, recs[0].path)
			recs = recs[1:]
		}
		if len(recs) > 0 && recs[0].path == f.Path {
			known(f)
			continue
		}
		out.read = append(out.read, f)
		out.added++
	}
	for i := range recs {
		out.removed = append(out.removed, recs[i].path)
	}
	return out, context.Cause(ctx)
}

// inOrder sorts files where the Source did not keep its promise to.
func inOrder(files []vault.File) []vault.File {
	for i := 1; i < len(files); i++ {
		if files[i-1].Path >= files[i].Path {
			files = slices.SortedFunc(slices.Values(files), func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
			return slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
		}
	}
	return files
}

// look decides by contents whether a file changed.
func (c *changes) look(src Source, now func() time.Time, r *record, f vault.File) {
	at := now()
	data, info, err := src.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.removed = append(c.removed, r.path)
	case err != nil:
		if r.docs > 0 || !r.sameFile(f) {
			c.read = append(c.read, f)
		}
	case r.docs == 0 || hashOf(data) != r.hash:
		c.read = append(c.read, f)
	default:
		fresh := *r
		fresh.size, fresh.mtime, fresh.identity = info.Size, info.ModTime.UnixNano(), info.Identity
		fresh.flags &^= flagRacy
		if racy(info, at) {
			fresh.flags |= flagRacy
		}
		if fresh != *r {
			c.restat = append(c.restat, fresh)
		}
	}
}

// gather builds what c asks for in memory: the delta and its segments.
func (c *changes) gather(ctx context.Context, b *builder) (*delta, map[uint64]*segmentFile, error) {
	d := &delta{recs: c.restat, removed: c.removed}
	mem := map[uint64]*segmentFile{}
	err := b.build(ctx, c.read, func(part *batch) error {
		if part.data != nil {
			mem[part.info.id] = &segmentFile{info: part.info, data: part.data}
			d.segs = append(d.segs, part.info)
		}
		d.recs = append(d.recs, part.recs...)
		d.removed = append(d.removed, part.gone...)
		return nil
	})
	d.recs = sortRecords(slices.Clone(d.recs))
	return d, mem, err
}
