package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"stet/index/document"
	"stet/index/segfile"
	"stet/vault"
)

// The bounds of what is read at a time. A batch taken apart takes some ten
// times its text, and three are under way at once.
const (
	batchBytes = 1 << 19
	batchFiles = 2000
)

// segmentText is how much text makes a segment full. What the writer keeps of
// it takes some thirteen times as much. A segment of it takes more than
// mergeBytes, so that a full build has nothing to merge.
//
// Messages get larger ones: the words of many conversations are the same, and of 96 MB of them the index takes .64 of
// the text with segments of 4 MB, and .48 with 16.
const (
	segmentText = 4 << 20
	segmentTalk = 16 << 20
)

// A batch is one segment ready to be stored, with the records of its files.
type batch struct {
	data []byte // nil when no file had text
	info segmentInfo
	recs []document.Record
	gone []vault.Path // vanished while they were to be read
	text int64        // bytes of the files
}

// add appends the files of another batch, whose documents are numbered behind
// docs others.
func (t *batch) add(more *batch, docs int) {
	for _, r := range more.recs {
		if r.Docs > 0 {
			r.Doc += uint32(docs)
		}
		t.recs = append(t.recs, r)
	}
	t.gone = append(t.gone, more.gone...)
	t.text += more.text
}

// A builder reads files and makes segments of them.
type builder struct {
	src     document.FileReader
	now     func() time.Time
	split   splitFunc
	lang    *document.Language
	nextSeg uint64
	done    func(files int) // told after every batch; may be nil
	full    int64           // the text of a segment
	out     *segfile.Writer
	keep    func(field int, term string) bool // the terms that are indexed; nil is all
}

// build reads files in batches and hands the segments made of them to sink, in
// order. While one batch goes into a segment the files of the next are read.
func (b *builder) build(ctx context.Context, files []vault.File, sink func(*batch) error) error {
	type read struct {
		docs []*document.Document
		*batch
	}
	ready := make(chan read, 1)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(ready)
		for len(files) > 0 && ctx.Err() == nil {
			n := batchLen(files)
			docs, out := b.read(ctx, files[:n])
			if ctx.Err() != nil {
				return // part of it was not read
			}
			files = files[n:]
			select {
			case ready <- read{docs, out}:
			case <-ctx.Done():
			}
		}
	})
	var err error
	count, full := 0, &batch{}
	for r := range ready {
		if err != nil {
			continue // drain, so that the reader can end
		}
		full.add(r.batch, b.out.Len())
		writeDocuments(b.out, r.docs)
		r.docs = nil // a segment that is put together takes room enough
		if full.text >= b.full {
			if err = b.finish(full, sink); err != nil {
				stop(err)
			}
			full = &batch{}
		}
		count += len(r.recs) + len(r.gone)
		if b.done != nil && err == nil {
			b.done(count)
		}
	}
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && len(full.recs)+len(full.gone) > 0 {
		err = b.finish(full, sink)
	}
	return err
}

// batchLen is how many of files go into one segment.
func batchLen(files []vault.File) int {
	size := int64(0)
	for i, f := range files {
		size += f.Size
		if i+1 == batchFiles || i > 0 && size > batchBytes {
			return max(1, min(i+1, len(files)))
		}
	}
	return len(files)
}

// read reads and analyses the files of one batch side by side, not all of them once
// ctx has ended.
func (b *builder) read(ctx context.Context, files []vault.File) ([]*document.Document, *batch) {
	type item struct {
		docs []*document.Document
		rec  document.Record
		gone bool
	}
	items := make([]item, len(files))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 8, len(files))
	for w := range workers {
		wg.Go(func() {
			a := document.NewAnalyzer(b.lang)
			a.Files = b.src
			for i := w; i < len(files) && ctx.Err() == nil; i += workers {
				at := b.now()
				data, info, err := b.src.ReadFile(files[i].Path)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					items[i].gone = true
				case err != nil:
					items[i].rec = document.Textless(files[i], err)
				default:
					info.Path = files[i].Path
					items[i].docs, items[i].rec = b.split(a, data, info)
					b.trim(items[i].docs)
					if document.Racy(info, at) {
						items[i].rec.Flags |= document.FlagRacy
					}
				}
			}
		})
	}
	wg.Wait()
	out := &batch{}
	var docs []*document.Document
	for i := range items {
		out.text += items[i].rec.Size
		switch {
		case items[i].gone:
			out.gone = append(out.gone, files[i].Path)
			continue
		case len(items[i].docs) > 0:
			items[i].rec.Doc, items[i].rec.Docs = uint32(len(docs)), uint32(len(items[i].docs))
			docs = append(docs, items[i].docs...)
		}
		out.recs = append(out.recs, items[i].rec)
	}
	return docs, out
}

// trim leaves out the terms that are not indexed. Lengths stay as they are.
func (b *builder) trim(docs []*document.Document) {
	if b.keep == nil {
		return
	}
	for _, d := range docs {
		for f := range d.Bags {
			d.Bags[f].Terms = slices.DeleteFunc(d.Bags[f].Terms, func(t document.TermFreq) bool { return !b.keep(f, t.Term) })
		}
	}
}

// finish makes the segment of what was written since the last and hands it on.
func (b *builder) finish(out *batch, sink func(*batch) error) error {
	if docs := b.out.Len(); docs > 0 {
		data, err := b.out.Finish()
		if err != nil {
			return fmt.Errorf("build segment: %w", err)
		}
		out.data = data
		out.info = segmentInfo{id: b.nextSeg, bytes: uint64(len(data)), docs: uint32(docs), crc: checksum(data)}
		b.nextSeg++
		for i := range out.recs {
			out.recs[i].Seg = out.info.id
		}
	}
	return sink(out)
}
