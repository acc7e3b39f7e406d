package index

import (
	"errors"
	"fmt"
	"runtime"
)

// A segmentFile is a segment in memory or mapped into it, verified.
type segmentFile struct {
	info segmentInfo
	data []byte
}

// mapAbove is the size in bytes from which a segment is mapped rather than
// read: mapping costs page faults, reading costs memory that is ours alone.
const mapAbove = 1 << 20

// openSegment reads or maps a segment and verifies its checksum: Bluge
// computes garbage, or panics, from a single flipped bit.
func (s *store) openSegment(gen string, info segmentInfo) (*segmentFile, error) {
	f, fi, err := s.root.OpenRegular(s.segmentPath(gen, info.id))
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
			out.data = data
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
	return out, guard("verify segment", func() error {
		if checksum(0, out.data) != info.crc {
			return fmt.Errorf("segment %d: checksum: %w", info.id, ErrDamaged)
		}
		return nil
	})
}
