package vault

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A scan compares the working tree with HEAD. The git index serves as a cache
// of hashes: a file whose stat is the one it holds is not read, as in git.
type scan struct {
	head    gitstore.Head
	objects *gitstore.Objects
	tree    gitstore.ID
	index   *gitindex.File
	stamp   time.Time                   // when the git index was written
	tracked map[Path]gitstore.TreeEntry // of HEAD, in stet's domain
	rules   map[Path]gitstore.TreeEntry // of HEAD: the two files for git that init writes
	disk    map[Path]gitstore.ID
	changed []Change // hand edits: HEAD to disk
	staged  []Change // HEAD to git index
	skipped []Problem
}

func (v *Vault) scan(ctx context.Context) (*scan, error) {
	s := &scan{objects: v.repo.Stage(), tracked: map[Path]gitstore.TreeEntry{}, rules: map[Path]gitstore.TreeEntry{}, disk: map[Path]gitstore.ID{}}
	var err error
	if s.head, err = v.repo.Head(); err != nil {
		return nil, err
	}
	if s.tree, err = gitTree(s.objects, s.head.ID); err != nil {
		return nil, err
	}
	stamp, err := v.repo.GitIndexStamp()
	if err != nil {
		return nil, err
	}
	s.stamp = stamp.Time()
	if s.index, _, err = v.repo.ReadGitIndex(s.head.ID); err != nil {
		return nil, err
	}
	if err := s.readTree(v); err != nil {
		return nil, err
	}
	files, shut, err := v.trackable(ctx)
	if err != nil {
		return nil, err
	}
	s.skipped = shut
	for i, f := range files {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if err := s.hash(v, f); err != nil {
			return nil, err
		}
		v.progress("reading", i+1, len(files))
	}
	s.compare(v)
	return s, s.leaveToGit(ctx, v)
}

// leaveToGit takes files whose bytes git itself converts out of the changes:
// on disk they differ from their blobs without any edit.
func (s *scan) leaveToGit(ctx context.Context, v *Vault) error {
	rules := v.attributes()
	kept := s.changed[:0]
	for _, c := range s.changed {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.Status != Deleted {
			d, err := v.look(c.Path)
			if err != nil {
				return err
			}
			err = rules.check(c.Path, d.data)
			if errors.Is(err, ErrUnsupportedRepository) {
				s.skipped = append(s.skipped, Problem{ID: "attributes", Path: c.Path, Text: err.Error(), Hint: "commit it with git"})
				continue
			}
			if err != nil {
				return err
			}
		}
		kept = append(kept, c)
	}
	s.changed = kept
	return nil
}

func (s *scan) readTree(v *Vault) error {
	top, ok, err := s.objects.Lookup(s.tree, trimSlash(v.prefix))
	if err != nil || !ok {
		return err
	}
	for e, err := range s.objects.Walk(top.ID) {
		if err != nil {
			return err
		}
		p := Path(e.Name)
		switch {
		case e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExecutable:
		case inDomain(p):
			s.tracked[p] = e
		case p == ".gitattributes" || p == ".gitignore":
			s.rules[p] = e
		}
	}
	return nil
}

// hash finds the blob id of a file. One that cannot be read counts as
// unchanged: what stet cannot see it must not commit away.
func (s *scan) hash(v *Vault, f walked) error {
	if e, ok := s.index.Entry(v.git(f.path)); ok && !e.IntentToAdd {
		if e.Stat.Matches(statOf(f.info)) && !s.index.Racy(e, uint32(s.stamp.Unix()), uint32(s.stamp.Nanosecond())) {
			s.disk[f.path] = e.Hash
			return nil
		}
	}
	d, err := v.look(f.path)
	if err == nil {
		if d.exists {
			s.disk[f.path] = d.id
		}
		return nil
	}
	if !errors.Is(err, ErrTooLarge) && !isReadOnly(err) && !errors.Is(err, ErrBadPath) {
		return err
	}
	s.skipped = append(s.skipped, Problem{ID: "unreadable", Path: f.path, Text: err.Error(), Hint: "it is left as it is and not searched"})
	if e, ok := s.tracked[f.path]; ok {
		s.disk[f.path] = e.ID
	}
	return nil
}

func (s *scan) compare(v *Vault) {
	for p, id := range s.disk {
		switch e, ok := s.tracked[p]; {
		case !ok:
			s.changed = append(s.changed, Change{Status: Added, Path: p, New: Hash(id.String())})
		case e.ID != id:
			s.changed = append(s.changed, Change{Status: Modified, Path: p, Old: Hash(e.ID.String()), New: Hash(id.String())})
		}
	}
	for p, e := range s.tracked {
		if _, ok := s.disk[p]; !ok && !s.hidden(v, p) {
			s.changed = append(s.changed, Change{Status: Deleted, Path: p, Old: Hash(e.ID.String())})
		}
	}
	for e := range s.index.Under(v.prefix) {
		p, ok := v.own(e.Path)
		if !ok || !inDomain(p) || e.Stage != 0 || e.IntentToAdd {
			continue
		}
		if have := s.tracked[p]; have.ID != e.Hash {
			s.staged = append(s.staged, Change{Status: statusOf(have.ID, e.Hash), Path: p, Old: Hash(have.ID.String()), New: Hash(gitstore.ID(e.Hash).String())})
		}
	}
	for p, e := range s.tracked {
		if _, ok := s.index.Entry(v.git(p)); !ok {
			s.staged = append(s.staged, Change{Status: Deleted, Path: p, Old: Hash(e.ID.String())})
		}
	}
	sortChanges(s.changed)
	sortChanges(s.staged)
}

// hidden reports a tracked file that was not walked but is not gone either: it
// is ignored, lies in a nested vault, or in a folder that cannot be read.
func (s *scan) hidden(v *Vault, p Path) bool {
	_, err := v.tree.Lstat(string(p))
	return !absent(err)
}

func statusOf(before, after gitstore.ID) string {
	switch {
	case before.IsZero():
		return Added
	case after.IsZero():
		return Deleted
	}
	return Modified
}

func sortChanges(c []Change) {
	slices.SortFunc(c, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
}
