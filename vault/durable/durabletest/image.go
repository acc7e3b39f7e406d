package durabletest

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"

	"stet/vault/durable"
)

// A Mode says what becomes of effects that were not fsynced.
type Mode string

// The modes. What they have in common is in the package's documentation; where
// it leaves a choice, after the fsync of a rename's target folder alone, the old
// name is beside the new one in [Strict], gone in [Data], and either in [Random].
const (
	Strict Mode = "strict" // nothing that was not synced is there
	Names  Mode = "names"  // names are there, unsynced bytes are not: new files are empty
	Torn   Mode = "torn"   // names are there, of each unsynced write the first half
	Zeros  Mode = "zeros"  // names and sizes are there, unsynced bytes read as zero
	Data   Mode = "data"   // bytes are there, unsynced names are not
	Random Mode = "random" // of each file and name, some of what was not synced
	All    Mode = "all"    // everything is there, as after kill -9
)

// Modes lists all modes.
func Modes() []Mode { return []Mode{Strict, Names, Torn, Zeros, Data, Random, All} }

// An Image is what the folders may hold when the power fails after the first N
// steps.
type Image struct {
	N    int
	Mode Mode
	tops map[string]*file
	key  uint64
}

// A file is an inode as it is found after the crash.
type file struct {
	node *inode
	perm fs.FileMode
	set  bool // perm is exact
	data []byte
	list map[string]*file
}

// Key is equal for images with the same contents.
func (m *Image) Key() uint64 { return m.key }

func (m *Image) String() string { return fmt.Sprintf("power loss after step %d (%s)", m.N, m.Mode) }

// Crash writes to other folders what may be found when the power fails right
// before step n: into maps each folder given to [NewDisk] to the one that takes
// its place, whose former contents are removed. rng decides in mode [Random]
// and may be nil otherwise.
func (d *Disk) Crash(n int, mode Mode, rng *rand.Rand, into map[string]string) error {
	return d.Image(n, mode, rng).Write(into)
}

// Images yields every different image of all crash points in the given modes,
// the latest point first. So of equal images the one with the strongest demand
// is tried: what a writer had reported as done at an earlier point, it had
// reported at the later one.
func (d *Disk) Images(rng *rand.Rand, modes ...Mode) iter.Seq[*Image] {
	return func(yield func(*Image) bool) {
		seen := map[uint64]bool{}
		for n := d.Len(); n >= 0; n-- {
			for _, mode := range modes {
				m := d.Image(n, mode, rng)
				if seen[m.key] {
					continue
				}
				seen[m.key] = true
				if !yield(m) {
					return
				}
			}
		}
	}
}

// Image works out one crash point without touching a disk.
func (d *Disk) Image(n int, mode Mode, rng *rand.Rand) *Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.epochs[0]
	for _, later := range d.epochs[1:] {
		if later.start <= n {
			e = later
		}
	}
	c := &crash{disk: d, n: n, mode: mode, rng: rng, files: map[*inode]*file{}}
	c.names = c.survivors(e.names)
	m := &Image{N: n, Mode: mode, tops: map[string]*file{}}
	sum := fnv.New64a()
	fmt.Fprintln(sum, e.start)
	for _, r := range d.roots {
		m.tops[r.dir] = c.file(e.tops[r.dir])
		c.hash(sum, m.tops[r.dir])
	}
	m.key = sum.Sum64()
	return m
}

// A crash is one image in the making.
type crash struct {
	disk  *Disk
	n     int
	mode  Mode
	rng   *rand.Rand
	names map[*inode]map[string]*inode // folders that changed
	files map[*inode]*file
}

// survivors replays the name effects that are there after the crash.
func (c *crash) survivors(effects []*nameEffect) map[*inode]map[string]*inode {
	for len(effects) > 0 && effects[len(effects)-1].step >= c.n {
		effects = effects[:len(effects)-1]
	}
	keep, lost, names := c.durable(effects), map[key]bool{}, map[*inode]map[string]*inode{}
	for k, e := range effects {
		if c.mode == Random {
			c.toss(e, keep[k], lost)
		}
		for n, a := range e.sets {
			if !keep[k][n] {
				continue
			}
			if names[a.dir] == nil {
				names[a.dir] = maps.Clone(a.dir.born)
			}
			if names[a.dir][a.name] = a.to; a.to == nil {
				delete(names[a.dir], a.name)
			}
		}
	}
	return names
}

// durable says of every assignment of every effect whether it must survive. In
// the modes that keep names, all do.
func (c *crash) durable(effects []*nameEffect) [][]bool {
	keep, needed := make([][]bool, len(effects)), map[key]bool{}
	for k := len(effects) - 1; k >= 0; k-- {
		e := effects[k]
		keep[k] = make([]bool, len(e.sets))
		whole, some := true, false // of the names that the effect gives
		for n, a := range e.sets {
			// What a surviving change of a name builds on survives as well.
			keep[k][n] = needed[a.key] || c.synced(a.dir, e.step)
			whole = whole && (keep[k][n] || a.to == nil)
			some = some || keep[k][n] && (a.to != nil || needed[a.key] || len(e.sets) == 1)
		}
		for n, a := range e.sets {
			switch {
			case some && (c.mode == Data || a.to != nil && takesForNeed(e, needed)):
				keep[k][n] = true
			case a.to == nil && !whole && !needed[a.key]:
				keep[k][n] = false // nothing is taken away before it is elsewhere
			}
			needed[a.key] = needed[a.key] || keep[k][n]
		}
	}
	return keep
}

// takesForNeed reports whether the name that e takes away was used again by a
// change that survives.
func takesForNeed(e *nameEffect, needed map[key]bool) bool {
	return slices.ContainsFunc(e.sets, func(a assign) bool { return a.to == nil && needed[a.key] })
}

// toss lets chance decide what of an effect survives beyond what must. A name
// of which one change is lost shows no later one.
func (c *crash) toss(e *nameEffect, keep []bool, lost map[key]bool) {
	whole := true
	for _, taken := range []bool{false, true} { // names are given before others are taken away
		for n, a := range e.sets {
			if (a.to == nil) != taken {
				continue
			}
			keep[n] = keep[n] || (!taken || whole) && !lost[a.key] && c.rng.IntN(2) == 0
			whole = whole && keep[n]
			lost[a.key] = lost[a.key] || !keep[n]
		}
	}
}

// synced reports whether the names of a folder were fsynced after a step.
func (c *crash) synced(dir *inode, step int) bool {
	switch c.mode {
	case Strict, Data, Random:
		return c.disk.lastSync(dir, c.n) > step
	}
	return true
}

func (c *crash) file(i *inode) *file {
	if f := c.files[i]; f != nil {
		return f
	}
	f := &file{node: i, perm: i.perm, set: i.exact, data: i.base}
	c.files[i] = f
	c.replay(f)
	if i.kind != fs.ModeDir {
		return f
	}
	list, changed := c.names[i]
	if !changed {
		list = i.born
	}
	f.list = make(map[string]*file, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) { // rng needs one order
		f.list[name] = c.file(list[name])
	}
	return f
}

// replay brings the contents of f to what is there after the crash.
func (c *crash) replay(f *file) {
	log := f.node.log
	for len(log) > 0 && log[len(log)-1].step >= c.n {
		log = log[:len(log)-1]
	}
	if len(log) == 0 {
		return
	}
	f.data = slices.Clone(f.data)
	synced, last := 0, c.disk.lastSync(f.node, c.n)
	for synced < len(log) && log[synced].step < last {
		f.apply(log[synced])
		synced++
	}
	rest := log[synced:]
	if c.mode == Random && len(rest) > 0 {
		kept := c.rng.IntN(len(rest) + 1)
		if kept < len(rest) && len(rest[kept].data) > 0 {
			torn := rest[kept]
			torn.data = torn.data[:c.rng.IntN(len(torn.data))]
			rest = append(slices.Clone(rest[:kept]), torn)
		} else {
			rest = rest[:kept]
		}
	}
	for _, e := range rest {
		switch c.mode {
		case Strict, Names:
			continue
		case Torn:
			e.data = e.data[:len(e.data)/2]
		case Zeros:
			e = f.zeroed(e)
		}
		f.apply(e)
	}
}

func (f *file) apply(e dataEffect) {
	switch e.op {
	case durable.OpChmod:
		f.perm, f.set = e.perm, true
	case durable.OpTruncate:
		f.resize(e.off)
	case durable.OpWrite:
		if len(e.data) == 0 {
			return
		}
		f.resize(max(int64(len(f.data)), e.off+int64(len(e.data))))
		copy(f.data[e.off:], e.data)
	}
}

func (f *file) resize(size int64) {
	if grow := size - int64(len(f.data)); grow > 0 {
		f.data = append(f.data, make([]byte, grow)...)
		return
	}
	f.data = f.data[:size]
}

// zeroed is e with the new size and without the new bytes. Bytes that were
// there before stay, since their blocks were not moved.
func (f *file) zeroed(e dataEffect) dataEffect {
	if e.op == durable.OpWrite {
		e.data = make([]byte, len(e.data))
		if e.off < int64(len(f.data)) {
			copy(e.data, f.data[e.off:])
		}
	}
	return e
}

// hash tells images apart. Inodes that no step touched are known by number.
func (c *crash) hash(sum interface{ Write([]byte) (int, error) }, f *file) {
	fmt.Fprintln(sum, f.node.id, f.perm)
	if len(f.node.log) > 0 {
		fmt.Fprintf(sum, "%d:%s", len(f.data), f.data)
	}
	for _, name := range slices.Sorted(maps.Keys(f.list)) {
		fmt.Fprintf(sum, "%q", name)
		c.hash(sum, f.list[name])
	}
	fmt.Fprintln(sum, "up")
}
