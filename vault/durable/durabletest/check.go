package durabletest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"stet/vault/durable"
)

// Check compares the followed folders with what the recorded steps make of
// them, and reports every path that differs: a write that bypassed package
// durable, or a step that was announced and failed. Paths for which skip (nil
// skips none) returns true, slash-separated and relative to their folder, are
// left out with all that is below them. So are permissions, which the umask
// changes, and the contents of kernel lock files.
func (d *Disk) Check(skip func(path string) bool) error {
	now := &epoch{}
	d.mu.Lock()
	locks := map[*inode]bool{}
	e := d.epochs[len(d.epochs)-1]
	for n, s := range d.steps[e.start:] {
		if s.Op == durable.OpLock {
			at, _ := d.find(e, s.Path)
			_, i := e.existing(e.start+n, at, true)
			locks[i] = true
		}
	}
	d.mu.Unlock()
	image := d.Image(d.Len(), All, nil)
	var errs []error
	for _, r := range d.roots {
		real, err := now.scan(r.real)
		if err != nil {
			return err
		}
		c := comparison{skip: skip, locks: locks}
		c.compare(".", image.tops[r.dir], real)
		for _, diff := range c.diffs {
			errs = append(errs, fmt.Errorf("%s: %s", r.dir, diff))
		}
	}
	return errors.Join(errs...)
}

type comparison struct {
	skip  func(string) bool
	locks map[*inode]bool
	diffs []string
}

func (c *comparison) compare(p string, want *file, got *inode) {
	if c.skip != nil && p != "." && c.skip(p) {
		return
	}
	switch {
	case want == nil:
		c.diffs = append(c.diffs, fmt.Sprintf("%q was made without a step", p))
	case got == nil:
		c.diffs = append(c.diffs, fmt.Sprintf("%q is gone without a step", p))
	case want.node.kind != got.kind:
		c.diffs = append(c.diffs, fmt.Sprintf("%q is a %v, by the steps a %v", p, got.kind, want.node.kind))
	case got.kind != fs.ModeDir:
		if !c.locks[want.node] && !bytes.Equal(want.data, got.base) {
			c.diffs = append(c.diffs, fmt.Sprintf("%q holds %d bytes, by the steps %d others", p, len(got.base), len(want.data)))
		}
	default:
		names := maps.Clone(got.live)
		for name := range want.list {
			names[name] = got.live[name]
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			c.compare(path.Join(p, name), want.list[name], got.live[name])
		}
	}
}
