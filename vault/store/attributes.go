package store

import (
	"fmt"
	"path"

	"stet/vault/gitstore"
)

// attributes finds the rules of .gitattributes files for one path. It keeps
// what it read, so that many paths cost one look per folder.
type attributes struct {
	store *Store
	dirs  map[string]*gitstore.Attributes // by folder as git names it, "" is the top
}

func (s *Store) attributes() *attributes {
	return &attributes{store: s, dirs: map[string]*gitstore.Attributes{}}
}

// in returns the rules for the files of a folder.
func (a *attributes) in(dir string) (*gitstore.Attributes, error) {
	if have, ok := a.dirs[dir]; ok {
		return have, nil
	}
	var rules *gitstore.Attributes
	var err error
	if dir == "" {
		rules, err = a.store.repo.Attributes()
	} else {
		parent := path.Dir(dir)
		if parent == "." {
			parent = ""
		}
		rules, err = a.in(parent)
	}
	if err != nil {
		return nil, err
	}
	data, err := readSmall(a.store.top, path.Join(dir, ".gitattributes"))
	if err != nil {
		return nil, err
	}
	rules = rules.In(dir, data)
	a.dirs[dir] = rules
	return rules, nil
}

// check fails with [errUnsupported] when git would store other bytes
// for p than data: a filter may encrypt them, and stet must not commit what
// the filter would have hidden.
func (a *attributes) check(p Path, data []byte) error {
	name := a.store.GitPath(p)
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	rules, err := a.in(dir)
	if err != nil {
		return err
	}
	if attribute := rules.Converts(name, data); attribute != "" {
		return WithHint(fmt.Errorf("%q: %w: git attribute %q changes its bytes", p, errUnsupported, attribute),
			`stet leaves such files to git; a line "%s -text -filter" in .gitattributes would hand it over`, path.Base(string(p)))
	}
	return nil
}
