package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"stet/index/document"
	"stet/index/segfile"
	"stet/vault"
)

// This file makes and opens Bluge segments in the calling goroutine.
// Bluge's own writer works in background goroutines, where a panic (it has
// some, and bad data finds them) ends the process; here it is an error.

// Guarded begins what calls into Bluge or touches mapped files; what it returns is to be
// deferred, and makes [ErrDamaged] of a panic. A mapped file that another process cuts
// short faults when it is touched; that is a panic here as well.
//
//	defer Guarded("search", &err)()
func Guarded(what string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%s: %w: %v", what, ErrDamaged, r)
		}
	}
}

// writeDocuments adds documents to a segment, in order.
func writeDocuments(w *segfile.Writer, docs []*document.Document) {
	for _, d := range docs {
		w.Begin(d.Name)
		for f := range document.FieldCount {
			if len(d.Bags[f].Terms) == 0 {
				continue
			}
			w.Field(document.FieldName(f), d.Bags[f].Length)
			for i := range d.Bags[f].Terms {
				t := &d.Bags[f].Terms[i]
				w.Term(t.Term, t.Freq, t.Positions)
			}
		}
	}
}

// idName is what the segment format calls the field with the stored names.
const idName = "_id"

// A segmentFile is a segment in memory or mapped into it, verified.
type segmentFile struct {
	info  segmentInfo
	data  []byte
	found uint64    // see foundAs; 0 for a small one
	wrote time.Time // when the file was last written
}

// A large segment is verified once after the system started, and again when somebody wrote
// it: to read all of 240 MB takes longer than most searches. What a crash tears is torn before
// the system starts again, and the change time of a file, which no program can set, tells of
// every write. The next manifest says as what a segment was found whole.

// foundAs tells a file, as it is since the system started, from any other; 0 where the system
// does not tell.
func foundAs(fi fs.FileInfo) uint64 {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id := vault.Identity(fi)
	if err != nil || id == 0 {
		return 0
	}
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(boot, id))
	return h.Sum64()
}

// settled is how old a change has to be: of two within one tick of the file system's clock the
// second leaves no trace.
const settled = time.Second

// confirm notes which of the segments st has found whole.
func (st *State) confirm(segs []segmentInfo, now time.Time) {
	if st.opened == nil {
		return
	}
	for _, f := range st.opened.segs {
		i := slices.IndexFunc(segs, func(s segmentInfo) bool { return s.id == f.info.id })
		if i >= 0 && now.Sub(f.wrote) > settled {
			segs[i].found = f.found
		}
	}
}

// mapAbove is the size in bytes from which a segment is mapped rather than
// read: mapping costs page faults, reading costs memory that is ours alone.
const mapAbove = 1 << 20

// openSegment reads or maps a segment, which is still to be verified.
func (s *Folder) openSegment(info segmentInfo) (*segmentFile, error) {
	f, fi, err := s.Root.OpenRegular(s.segmentPath(info.id))
	if err != nil {
		return nil, fmt.Errorf("segment %d: %w: %w", info.id, ErrDamaged, err)
	}
	if fi.Size() != int64(info.bytes) {
		return nil, errors.Join(fmt.Errorf("segment %d: size: %w", info.id, ErrDamaged), f.Close())
	}
	out := &segmentFile{info: info}
	if info.bytes >= mapAbove {
		data, unmap, err := mapFile(f, int(info.bytes))
		if err == nil {
			out.data, out.found, out.wrote = data, foundAs(fi), fi.ModTime()
			// Searches keep the segmentFile alive for as long as they use data.
			runtime.AddCleanup(out, func(u func()) { u() }, unmap)
		}
	}
	if out.data == nil {
		out.data = make([]byte, info.bytes)
		if _, err := f.ReadAt(out.data, 0); err != nil {
			return nil, errors.Join(fmt.Errorf("segment %d: %w: %w", info.id, ErrDamaged, err), f.Close())
		}
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("segment %d: %w", info.id, err)
	}
	return out, nil
}

// verify checks the checksums of segments on all processors: Bluge computes garbage, or
// panics, from a single flipped bit.
func verify(list ...*segmentFile) error {
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, f := range list {
		wg.Go(func() {
			defer Guarded("verify segment", &errs[i])()
			if checksum(f.data) != f.info.crc {
				errs[i] = fmt.Errorf("segment %d: checksum: %w", f.info.id, ErrDamaged)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
