package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"stet/index/document"
	"stet/vault"
)

// changes are the differences between a manifest and the files on disk.
type changes struct {
	read    []vault.File      // new, or with other contents
	restat  []document.Record // same contents, other description
	removed []vault.Path
	added   int // of read
}

func (c *changes) empty() bool {
	return len(c.read) == 0 && len(c.restat) == 0 && len(c.removed) == 0
}

// compare finds what changed. Files that only look changed, or that could have
// changed unseen, are read and told apart by their hash. It fails with what ended
// ctx and with nothing else.
func compare(ctx context.Context, src document.FileReader, now func() time.Time, m *manifest, files []vault.File) (*changes, error) {
	out := &changes{}
	recs := m.recs
	known := func(f vault.File) {
		if r := &recs[0]; (!r.SameFile(f) || r.Flags&document.FlagRacy != 0) && ctx.Err() == nil {
			out.look(src, now, r, f)
		}
		recs = recs[1:]
	}
	// Where nothing came or went the lists run side by side, and equality is
	// cheaper to see than order.
	for len(files) > 0 && len(recs) > 0 && recs[0].Path == files[0].Path {
		known(files[0])
		files = files[1:]
	}
	for _, f := range InOrder(files) {
		for len(recs) > 0 && recs[0].Path < f.Path {
			out.removed = append(out.removed, recs[0].Path)
			recs = recs[1:]
		}
		if len(recs) > 0 && recs[0].Path == f.Path {
			known(f)
			continue
		}
		out.read = append(out.read, f)
		out.added++
	}
	for i := range recs {
		out.removed = append(out.removed, recs[i].Path)
	}
	return out, context.Cause(ctx)
}

// InOrder sorts files where the Source did not keep its promise to.
func InOrder(files []vault.File) []vault.File {
	for i := 1; i < len(files); i++ {
		if files[i-1].Path >= files[i].Path {
			files = slices.SortedFunc(slices.Values(files), func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
			return slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
		}
	}
	return files
}

// look decides by contents whether a file changed.
func (c *changes) look(src document.FileReader, now func() time.Time, r *document.Record, f vault.File) {
	at := now()
	data, info, err := src.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.removed = append(c.removed, r.Path)
	case err != nil:
		if r.Docs > 0 || !r.SameFile(f) {
			c.read = append(c.read, f)
		}
	case r.Docs == 0 || document.HashOf(data) != r.Hash:
		c.read = append(c.read, f)
	default:
		fresh := *r
		fresh.Size, fresh.MTime, fresh.Identity = info.Size, info.ModTime.UnixNano(), info.Identity
		fresh.Flags &^= document.FlagRacy
		if document.Racy(info, at) {
			fresh.Flags |= document.FlagRacy
		}
		if fresh != *r {
			c.restat = append(c.restat, fresh)
		}
	}
}

// onto indexes what c lists in memory: the state behind st.
func (c *changes) onto(ctx context.Context, st *State, b *builder) (*State, error) {
	d := &delta{recs: slices.Clone(c.restat)}
	mem := map[uint64]*segmentFile{}
	err := b.build(ctx, c.read, func(part *batch) error {
		if part.data != nil {
			mem[part.info.id] = &segmentFile{info: part.info, data: part.data}
			d.segs = append(d.segs, part.info)
		}
		d.recs = append(d.recs, part.recs...)
		c.removed = append(c.removed, part.gone...)
		return nil
	})
	d.recs, d.removed = document.SortRecords(d.recs), c.removed
	up := newState(st.man.apply(d), st.byMessage)
	up.stamp, up.mem = st.stamp, mem
	return up, err
}

// Has reports whether a file is known as its description has it.
func (st *State) Has(f vault.File) bool {
	r, known := st.man.find(f.Path)
	return known && r.SameFile(f)
}

// Unlike lists what is not as files, all there is below dir, describe it: what came
// or was replaced, and what went, for a memory that is gone replaces none.
func (st *State) Unlike(dir vault.Path, files []vault.File) (out []vault.Path) {
	there := make(map[vault.Path]bool, len(files))
	for _, f := range files {
		there[f.Path] = true
		if !st.Has(f) {
			out = append(out, f.Path)
		}
	}
	for i := range st.man.recs {
		if p := st.man.recs[i].Path; strings.HasPrefix(string(p), string(dir)+"/") && !there[p] {
			out = append(out, p)
		}
	}
	return out
}
