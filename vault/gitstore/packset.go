package gitstore

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"stet/vault/durable"
)

// A packSet reads objects out of the repository's packs. It looks ids up in the bytes of
// a pack's index; go-git decodes all of every index before the first object, 10 ms for
// 60,000 objects. It is not safe for concurrent use.
type packSet struct {
	root   *durable.Root
	packs  []*openPack // the one that answered last comes first
	listed bool
	gone   bool // a pack that was listed had gone when it was to be read
	open   int  // packs whose contents are open
	zip    io.ReadCloser
	in     *bufio.Reader
	head   *bufio.Reader          // on zip, for loose objects
	bases  map[baseKey]packObject // of deltas
	held   int                    // bytes in bases
}

type openPack struct {
	name  string // "objects/pack/pack-<hex>"
	index []byte // all of it; nil until it is read
	data  *os.File
}

type packObject struct {
	kind plumbing.ObjectType
	data []byte
}

type baseKey struct {
	pack   *openPack
	offset int64
}

const (
	// maxOpenPacks bounds the files kept open: "stet watch" gets along with 128 in all.
	maxOpenPacks = 32
	// maxBases bounds the bytes of objects kept because deltas build on them.
	maxBases = 8 << 20
	// maxDelta bounds a chain of deltas: git writes at most 4,095.
	maxDelta = 4096
)

// errDamagedPack reports bytes that no pack has. The caller falls back to
// go-git, which says more.
var errDamagedPack = errors.New("damaged pack")

// forget makes the next look list the packs anew.
func (s *packSet) forget() { s.listed, s.gone = false, false }

// object looks for an object in every pack; found is false when none has it,
// or none that can be read.
func (s *packSet) object(id ID) (obj packObject, found bool) {
	if !s.listed {
		s.list()
	}
	return s.find(id, 0)
}

func (s *packSet) find(id ID, depth int) (packObject, bool) {
	for _, p := range slices.Clone(s.packs) { // find puts packs to the front, also below read
		at, ok, err := s.offset(p, id)
		if err != nil || !ok {
			s.gone = s.gone || errors.Is(err, fs.ErrNotExist)
			continue // an unreadable pack counts as one without the object
		}
		obj, err := s.read(p, at, depth)
		if err != nil {
			s.gone = s.gone || errors.Is(err, fs.ErrNotExist)
			continue
		}
		s.front(p)
		return obj, true
	}
	return packObject{}, false
}

// has reports whether a pack lists the object.
func (s *packSet) has(id ID) bool {
	if !s.listed {
		s.list()
	}
	return slices.ContainsFunc(s.packs, func(p *openPack) bool {
		_, ok, err := s.offset(p, id)
		return ok && err == nil
	})
}

// front makes a pack the first to be asked: what is read together was mostly
// written together.
func (s *packSet) front(p *openPack) {
	i := slices.Index(s.packs, p)
	copy(s.packs[1:i+1], s.packs[:i])
	s.packs[0] = p
}

// list brings the set up to date with the folder.
func (s *packSet) list() {
	have := map[string]*openPack{}
	for _, p := range s.packs {
		have[p.name] = p
	}
	s.packs = s.packs[:0:0]
	names, err := s.root.Names(packDir)
	slices.Sort(names)
	s.listed = err == nil || errors.Is(err, fs.ErrNotExist)
	for _, name := range names {
		base, ok := strings.CutSuffix(name, ".idx")
		if !ok || !strings.HasPrefix(base, "pack-") {
			continue
		}
		name = packDir + "/" + base
		p := have[name]
		if p == nil {
			p = &openPack{name: name}
		}
		delete(have, name)
		s.packs = append(s.packs, p)
	}
	for _, p := range have {
		s.shut(p)
	}
	clear(s.bases)
	s.held = 0
}

// close gives back the files.
func (s *packSet) close() {
	for _, p := range s.packs {
		s.shut(p)
	}
	s.packs, s.listed = nil, false
}

func (s *packSet) shut(p *openPack) {
	p.index = nil
	if p.data == nil {
		return
	}
	_ = p.data.Close() // opened for reading: there is nothing to lose
	p.data = nil
	s.open--
}

// ensure reads the index of a pack.
func (s *packSet) ensure(p *openPack) error {
	if p.index != nil {
		return nil
	}
	index, _, err := s.root.ReadFile(p.name+".idx", 0)
	if err != nil {
		return err
	}
	if _, err = indexLen(index); err != nil {
		return fmt.Errorf("%s.idx: %w", p.name, err)
	}
	p.index = index
	return nil
}

// contents opens a pack.
func (s *packSet) contents(p *openPack) (f *os.File, err error) {
	if p.data != nil {
		return p.data, nil
	}
	if s.open >= maxOpenPacks {
		for _, o := range s.packs {
			s.shut(o)
		}
	}
	if p.data, _, err = s.root.OpenRegular(p.name + ".pack"); err == nil {
		s.open++
	}
	return p.data, err
}

// offset finds where an object stands in a pack.
func (s *packSet) offset(p *openPack, id ID) (at int64, ok bool, err error) {
	if err := s.ensure(p); err != nil {
		return 0, false, err
	}
	upTo := func(first int) int { return int(binary.BigEndian.Uint32(p.index[idxFanout+4*first:])) }
	from, to, all := 0, upTo(int(id[0])), upTo(255)
	if id[0] > 0 {
		from = upTo(int(id[0]) - 1)
	}
	if from >= to || to > all {
		return 0, false, nil
	}
	ids, offsets := p.index[idxIDs:], p.index[idxIDs+all*(sha1.Size+4):]
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(ids[(from+i)*sha1.Size:][:sha1.Size], id[:]) >= 0 })
	if i == to || ID(ids[i*sha1.Size:][:sha1.Size]) != id {
		return 0, false, nil
	}
	small := binary.BigEndian.Uint32(offsets[4*i:])
	if small&(1<<31) == 0 {
		return int64(small), true, nil
	}
	large := 4*all + 8*int(small&^(1<<31))
	if large+8 > len(offsets) {
		return 0, false, errDamagedPack
	}
	return int64(binary.BigEndian.Uint64(offsets[large:])), true, nil
}

// read decodes the object at an offset of a pack.
func (s *packSet) read(p *openPack, at int64, depth int) (packObject, error) {
	if obj, ok := s.bases[baseKey{p, at}]; ok {
		return obj, nil
	}
	if depth > maxDelta {
		return packObject{}, errDamagedPack
	}
	f, err := s.contents(p)
	if err != nil {
		return packObject{}, err
	}
	s.input(io.NewSectionReader(f, at, 1<<62-at))
	h, err := readPackHeader(s.in, at)
	if err != nil {
		return packObject{}, err
	}
	data, err := s.inflate(h.size)
	if err != nil {
		return packObject{}, err
	}
	obj := packObject{h.kind, data}
	switch h.kind {
	case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		base, err := s.base(p, at, h, depth)
		if err != nil {
			return packObject{}, err
		}
		obj.kind = base.kind
		if obj.data, err = packfile.PatchDelta(base.data, data); err != nil {
			return packObject{}, err
		}
	}
	if depth > 0 || h.isDelta() {
		s.keep(baseKey{p, at}, obj)
	}
	return obj, nil
}

// base is the object that a delta changes.
func (s *packSet) base(p *openPack, at int64, h packHeader, depth int) (packObject, error) {
	if h.kind == plumbing.OFSDeltaObject {
		return s.read(p, at-h.back, depth+1)
	}
	obj, ok := s.find(h.base, depth+1)
	if !ok {
		return obj, errDamagedPack
	}
	return obj, nil
}

func (s *packSet) keep(key baseKey, obj packObject) {
	if s.bases == nil || s.held+len(obj.data) > maxBases {
		s.bases, s.held = map[baseKey]packObject{}, 0
	}
	s.bases[key] = obj
	s.held += len(obj.data)
}

// inflate decompresses size bytes from where s.in stands.
func (s *packSet) inflate(size int64) ([]byte, error) {
	if err := s.unzip(); err != nil {
		return nil, err
	}
	return exactly(s.zip, size)
}

// decompress makes s.zip read from.
func (s *packSet) decompress(from io.Reader) error {
	s.input(from)
	return s.unzip()
}

// input makes s.in read from.
func (s *packSet) input(from io.Reader) {
	if s.in == nil {
		s.in = bufio.NewReader(from)
	} else {
		s.in.Reset(from)
	}
}

// unzip makes s.zip decompress what stands next in s.in.
func (s *packSet) unzip() (err error) {
	if s.zip == nil {
		s.zip, err = zlib.NewReader(s.in)
	} else {
		err = s.zip.(zlib.Resetter).Reset(s.in, nil)
	}
	if err != nil {
		s.zip = nil
	}
	return err
}

// A packHeader stands before the compressed bytes of an object.
type packHeader struct {
	kind plumbing.ObjectType
	size int64 // of the inflated bytes
	back int64 // distance to the base of an offset delta
	base ID    // of a delta by id
}

func (h packHeader) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

// readPackHeader reads the header of the object at an offset and leaves in at
// its compressed bytes.
func readPackHeader(in *bufio.Reader, at int64) (packHeader, error) {
	c, err := in.ReadByte()
	h := packHeader{kind: plumbing.ObjectType(c >> 4 & 7), size: int64(c & 0x0f)}
	for shift := 4; err == nil && c&0x80 != 0 && shift < 60; shift += 7 {
		c, err = in.ReadByte()
		h.size |= int64(c&0x7f) << shift
	}
	if err != nil {
		return packHeader{}, err
	}
	switch h.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return h, nil
	case plumbing.OFSDeltaObject:
		c, err = in.ReadByte()
		h.back = int64(c & 0x7f)
		for err == nil && c&0x80 != 0 && h.back < at {
			c, err = in.ReadByte()
			h.back = (h.back+1)<<7 | int64(c&0x7f)
		}
		if err == nil && (h.back <= 0 || h.back > at) {
			err = errDamagedPack
		}
		return h, err
	case plumbing.REFDeltaObject:
		_, err = io.ReadFull(in, h.base[:])
		return h, err
	}
	return packHeader{}, errDamagedPack
}
