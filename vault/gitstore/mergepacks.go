package gitstore

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"stet/vault/durable"
)

// Every commit brings a small pack. As soon as mergeAt of them have about the
// same size they become one, so that n commits leave some mergeAt·log(n) packs
// and each object is copied log(n) times: tiered compaction, as in a
// log-structured merge tree (O'Neil et al., 1996). At maxMerged a pack is left
// for "git gc", which starts by itself at gc.autoPackLimit (50) of them.
const (
	mergeAt   = 8
	smallest  = 64 << 10 // bytes; each tier is mergeAt times the one below
	maxMerged = 4 << 20
)

// MergePacks puts small packs together that hold no deltas: stet's own. Nothing is done
// once git keeps a list of its packs (multi-pack-index). tmp is a folder in the
// repository's root for unfinished files. Objects are durable in the new pack before an old one goes,
// and the order of removal leaves no moment at which one can be read from
// neither. Cost: nothing but a look at the folder in all but one call in eight.
func (m Mark) MergePacks(tmp string) error {
	r := m.repo
	r.mu.Lock()
	defer r.mu.Unlock()
	packs, err := r.smallPacks(m)
	if err != nil {
		return err
	}
	slices.SortFunc(packs, func(a, b smallPack) int { return cmp.Compare(a.size, b.size) })
	if due(packs) == 0 {
		return nil
	}
	packs = slices.DeleteFunc(packs, func(p smallPack) bool { return !r.looksOurs(p) })
	if n := due(packs); n > 0 {
		if err := r.merge(tmp, packs[:n]); err != nil {
			return fmt.Errorf("merge packs: %w", err)
		}
	}
	return nil
}

// due says how many packs, sorted by size, are to become one.
func due(packs []smallPack) int {
	n, from := 0, 0
	for tier := int64(smallest); tier <= maxMerged; tier *= mergeAt {
		to := from
		for to < len(packs) && packs[to].size < tier {
			to++
		}
		if to-from >= mergeAt || n > 0 && to-from == mergeAt-1 { // the one from below is the eighth
			n = to
		}
		from = to
	}
	return n
}

// fastest is how a stream begins that zlib wrote at its highest speed, as all of
// ours are; git's default level begins otherwise.
const fastest = "\x78\x01"

// looksOurs reads the first bytes of a pack, so that small packs of git's are
// not read again and again only to be found full of deltas.
func (r *Repo) looksOurs(p smallPack) bool {
	f, _, err := r.root.OpenRegular(packDir + "/" + p.name + ".pack")
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: nothing to lose
	var head [32]byte
	n, _ := f.ReadAt(head[:], packHead)
	in := bufio.NewReader(bytes.NewReader(head[:n]))
	if h, err := readPackHeader(in, packHead); err != nil || h.isDelta() {
		return false
	}
	begin, err := in.Peek(len(fastest))
	return err == nil && string(begin) == fastest
}

type smallPack struct {
	name string // "pack-<hex>"
	size int64
}

// smallPacks lists the packs that may be merged. An index without its pack,
// which a killed process leaves, is removed: git publishes the pack first.
func (r *Repo) smallPacks(mark Mark) ([]smallPack, error) {
	names, err := r.root.Names(packDir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	parts := map[string][]string{}
	for _, name := range names {
		if name == "multi-pack-index" {
			return nil, nil // it names packs: one that went would be missed
		}
		base, ext, _ := strings.Cut(name, ".")
		parts[base] = append(parts[base], ext)
	}
	var packs []smallPack
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		exts := parts[name]
		if at := slices.Index(exts, "keep"); at >= 0 && mark.made(packDir+"/"+name+".keep") {
			// A power cut brought it back.
			if err := r.root.Remove("keep", packDir+"/"+name+".keep"); err != nil {
				return nil, err
			}
			exts = slices.Delete(exts, at, at+1)
		}
		slices.Sort(exts)
		switch {
		case slices.Equal(exts, []string{"idx"}):
			if err := r.root.Remove("object", packDir+"/"+name+".idx"); err != nil {
				return nil, err
			}
		case len(parts) >= mergeAt && slices.Equal(exts, []string{"idx", "pack"}): // neither kept nor promised
			info, err := r.root.Lstat(packDir + "/" + name + ".pack")
			if err == nil && info.Size() < maxMerged {
				packs = append(packs, smallPack{name, info.Size()})
			}
		}
	}
	return packs, nil
}

// DropHalf removes a pack that a killed process published without its index, of
// which the index still waits under this name among the unfinished files. The
// caller holds the vault lock.
func (r *Repo) DropHalf(temp string) error {
	name, ok := strings.CutSuffix(temp, ".idx")
	if !ok || !strings.HasPrefix(name, "pack-") || r.root.Exists(packDir+"/"+temp) {
		return nil
	}
	return r.root.Remove("object", packDir+"/"+name+".pack")
}

// merge writes the objects of old packs into a new one and removes the old.
func (r *Repo) merge(tmp string, old []smallPack) (err error) {
	image, old, err := r.join(old)
	if err != nil || len(old) < 2 {
		return err
	}
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	temps, err := r.stagePack(tmp, image, &batch)
	if err == nil {
		err = batch.Sync()
	}
	if err == nil {
		temps, err = r.publishPack(temps)
	}
	if err != nil {
		return errors.Join(err, r.discard(temps))
	}
	for _, p := range old {
		if p.name == image.name {
			continue
		}
		// The pack goes first: an index without a pack is passed over by all
		// readers, a pack without an index stops go-git.
		for _, ext := range []string{".pack", ".idx"} {
			if err := r.root.Remove("object", path.Join(packDir, p.name+ext)); err != nil {
				return err
			}
		}
	}
	r.newPacks()
	return nil
}

// join builds the new pack and returns which of the old are in it: not those
// with deltas or damage.
func (r *Repo) join(old []smallPack) (packImage, []smallPack, error) {
	type source struct {
		data    []byte
		entries []packEntry
	}
	var sources []source
	var taken []smallPack
	count, seen := 0, map[ID]bool{}
	for _, p := range old {
		data, _, err := r.root.ReadFile(packDir+"/"+p.name+".pack", maxMerged)
		if err != nil {
			return packImage{}, nil, err
		}
		index, _, err := r.root.ReadFile(packDir+"/"+p.name+".idx", maxMerged)
		if err != nil {
			return packImage{}, nil, err
		}
		entries, err := entriesOf(index)
		if err != nil || !plain(data, index, entries) {
			continue
		}
		for _, e := range entries {
			if !seen[e.id] {
				seen[e.id] = true
				count++
			}
		}
		sources, taken = append(sources, source{data, entries}), append(taken, p)
	}
	b := newPackBuilder(count, nil)
	for _, s := range sources {
		for i, e := range s.entries {
			if !b.known[e.id] {
				b.addRaw(e.id, s.data[e.offset:end(s.data, s.entries, i)])
			}
		}
	}
	image, err := b.finish()
	return image, taken, err
}

// end is the offset behind a pack's i-th object.
func end(data []byte, entries []packEntry, i int) uint64 {
	if i+1 < len(entries) {
		return entries[i+1].offset
	}
	return uint64(len(data) - packTrailer)
}

// plain reports whether a pack has no deltas and its bytes are those its index
// was made for: damage is never copied under a fresh checksum.
func plain(data, index []byte, entries []packEntry) bool {
	trailers := index[len(index)-2*packTrailer:]
	if len(data) < packTrailer || !bytes.Equal(data[len(data)-packTrailer:], trailers[:packTrailer]) {
		return false
	}
	for i, e := range entries {
		to := end(data, entries, i)
		if e.offset >= to || to > uint64(len(data)) || crc32.ChecksumIEEE(data[e.offset:to]) != e.crc {
			return false
		}
		if kind := plumbing.ObjectType(data[e.offset] >> 4 & 7); kind > plumbing.TagObject {
			return false
		}
	}
	return true
}
