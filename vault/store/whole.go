package store

import (
	"maps"
	"path"
	"slices"

	"stet/vault/durable"
)

// A folderMove is a folder all of whose files a commit moves, unchanged, to the same places below another folder that
// is not there yet. It is renamed as a whole: that takes one step where each file would be written, fsynced and
// removed. What was changed in that instant, or cannot be renamed, goes file by file, as recovery does it.
type folderMove struct {
	from, to string
	files    []*placement    // of what goes and of what arrives
	names    map[string]bool // of the files, below the folder
}

// wholeFolders finds the folders that can be renamed, each as high up as it goes, and marks their files.
func (p *publication) wholeFolders() (out []*folderMove) {
	at, into := map[Path]*placement{}, map[string]int{} // into: how many files the commit puts below a folder
	for _, pl := range p.files {
		at[pl.path] = pl
		for dir := pl.path.Dir(); !pl.want.Remove && dir != "."; dir = path.Dir(dir) {
			into[dir]++
		}
	}
	pairs := map[string]*folderMove{}
	for to, from := range p.tx.moved {
		goes, arrives := at[from], at[to]
		if goes == nil || arrives == nil || !goes.want.Remove || arrives.exists || from.Base() != to.Base() ||
			!arrives.want.same(p.tx.touched[from].Disk) {
			continue
		}
		for a, b := from.Dir(), to.Dir(); a != "." && b != "."; a, b = path.Dir(a), path.Dir(b) {
			m := pairs[a+"\x00"+b]
			if m == nil {
				m = &folderMove{from: a, to: b, names: map[string]bool{}}
				pairs[a+"\x00"+b] = m
			}
			m.files, m.names[string(from)[len(a)+1:]] = append(m.files, goes, arrives), true
			if path.Base(a) != path.Base(b) {
				break
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		m := pairs[key]
		if m.files[0].whole || into[m.from] > 0 || into[m.to] > len(m.names) || !p.store.canRename(m) {
			continue
		}
		for _, pl := range m.files {
			pl.whole = true
		}
		out = append(out, m)
	}
	return out
}

func (s *Store) canRename(m *folderMove) bool {
	return durable.SyncsReaders && !s.tree.Exists(m.to) && s.holds(m.from, m.names) &&
		s.tree.CheckWritable(path.Dir(m.from)) == nil && s.tree.CheckWritable(path.Dir(m.to)) == nil
}

// holds reports whether there are files of these names in a folder and nothing else, nor empty folders.
func (s *Store) holds(folder string, names map[string]bool) bool {
	n := 0
	var walk func(below string) bool
	walk = func(below string) bool {
		entries, err := s.tree.ReadDir(path.Join(folder, below))
		for _, e := range entries {
			switch name := path.Join(below, e.Name()); {
			case e.IsDir() && !walk(name), !e.IsDir() && !(e.Type().IsRegular() && names[name]):
				return false
			case !e.IsDir():
				n++
			}
		}
		return err == nil && len(entries) > 0
	}
	return walk("") && n == len(names)
}

// ready makes the folders above the new place, whose names the finisher syncs.
func (m *folderMove) ready(s *Store) error {
	first := m.files[0]
	for dir := path.Dir(m.to); dir != "." && !s.tree.Exists(dir); dir = path.Dir(dir) {
		first.above = append(first.above, path.Dir(dir))
	}
	first.above = append(first.above, path.Dir(m.to))
	return s.tree.MkdirAllLazy("file", path.Dir(m.to), 0o777)
}

// moveFolders renames the folders. It leaves to [placement.place] what did not go as a whole.
func (f finisher) moveFolders() error {
	var alone []*placement
	for _, m := range f.folders {
		if f.store.tree.Rename("file", m.from, m.to) == nil {
			if f.store.arrived(m) {
				continue
			}
			// Where somebody made the folder again meanwhile it cannot go back: newer bytes then stay where they are.
			_ = f.store.tree.Rename("file", m.to, m.from)
		}
		for _, pl := range m.files {
			pl.whole, pl.inPlace = false, false
		}
		alone = append(alone, m.files...)
	}
	if len(alone) == 0 {
		return nil
	}
	return finisher{store: f.store, files: alone}.settleFiles()
}

// arrived reports whether a folder that was renamed is in its new place as the commit has it, with nothing left of it
// and nobody who still writes into it.
func (s *Store) arrived(m *folderMove) bool {
	if !s.holds(m.to, m.names) {
		return false
	}
	for _, pl := range m.files {
		open, _ := durable.Written(s.tree, string(pl.path)) // before the look: bytes may still come
		disk, err := s.Look(pl.path)
		if open || err != nil || !pl.want.same(disk) {
			return false
		}
		pl.inPlace, pl.stat = true, disk.stat
	}
	return true
}
