package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"stet/vault/gitstore"
	"stet/vault/settings"
)

// attributes finds the rules of .gitattributes files for one path. It keeps
// what it read, so that many paths cost one look per folder.
type attributes struct {
	v    *Vault
	dirs map[string]*gitstore.Attributes // by folder as git names it, "" is the top
}

func (v *Vault) attributes() *attributes {
	return &attributes{v: v, dirs: map[string]*gitstore.Attributes{}}
}

// in returns the rules for the files of a folder.
func (a *attributes) in(dir string) (*gitstore.Attributes, error) {
	if have, ok := a.dirs[dir]; ok {
		return have, nil
	}
	var rules *gitstore.Attributes
	var err error
	if dir == "" {
		rules, err = a.v.repo.Attributes()
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
	data, err := readSmall(a.v.top, path.Join(dir, ".gitattributes"))
	if err != nil {
		return nil, err
	}
	if rules, err = rules.In(dir, data); err != nil {
		return nil, err
	}
	a.dirs[dir] = rules
	return rules, nil
}

// check fails with [ErrUnsupportedRepository] when git would store other bytes
// for p than data: a filter may encrypt them, and stet must not commit what
// the filter would have hidden.
func (a *attributes) check(p Path, data []byte) error {
	name := a.v.git(p)
	dir := path.Dir(name)
	if dir == "." {
		dir = ""
	}
	rules, err := a.in(dir)
	if err != nil {
		return err
	}
	if attribute := rules.Converts(name, data); attribute != "" {
		return WithHint(fmt.Errorf("%q: %w: git attribute %q changes its bytes", p, ErrUnsupportedRepository, attribute),
			`stet leaves such files to git; a line "%s -text -filter" in .gitattributes would hand it over`, path.Base(string(p)))
	}
	return nil
}

// sessionsFolder is where transcripts are.
const sessionsFolder = "sessions"

// sessionsIgnore is the ignore file of a vault that keeps its transcripts out of
// git. It hides itself as well, so that it is no change of the person's.
const (
	sessionsIgnore     = sessionsFolder + "/.gitignore"
	sessionsIgnoreText = "# Written by stet: sessions.track is false.\n*\n"
)

// showsIgnored reports that transcripts are looked at although git ignores them.
func (v *Vault) showsIgnored() bool { return !v.settings.Bool(settings.SessionsTrack) }

// PutIgnored writes a transcript, or a file beside one, that git is told to
// ignore: it is in no commit. was is the hash of what stands there, "" for
// nothing. A process that dies leaves the old file or the new one.
func (v *Vault) PutIgnored(ctx context.Context, p Path, was Hash, data []byte) error {
	if _, err := ParsePath(string(p)); err != nil || ClassOf(p) != ClassSession {
		return fmt.Errorf("%q: %w: only transcripts can stand outside git", p, errors.Join(ErrInvalid, err))
	}
	return v.writeError(v.locked(ctx, func(context.Context) error {
		now, err := v.look(p)
		if err != nil {
			return err
		}
		if have := Hash(now.id.String()); now.exists && have != was || !now.exists && was != "" {
			return fmt.Errorf("%q: %w: it changed meanwhile", p, ErrConflict)
		}
		if err := v.tree.MkdirAll("session", p.Dir(), 0o777); err != nil {
			return err
		}
		if err := v.hideSessions(); err != nil {
			return err
		}
		return v.putWhole(p, data)
	}))
}

// hideSessions has git ignore the folder of transcripts. An ignore file that a
// person wrote there is never changed.
func (v *Vault) hideSessions() error {
	rules, err := v.look(sessionsIgnore)
	switch {
	case err != nil:
		return err
	case !rules.exists:
		return v.putWhole(sessionsIgnore, []byte(sessionsIgnoreText))
	case !slices.Contains(strings.Fields(string(rules.data)), "*"):
		return WithHint(fmt.Errorf("%q: %w: it is yours and does not ignore everything, but sessions.track is false", sessionsIgnore, ErrConflict),
			`add a line "*" to it, or "stet config set sessions.track true"`)
	}
	return nil
}

// putWhole puts a file in the place of another through a temporary one, of which
// a dead process leaves at most one.
func (v *Vault) putWhole(p Path, data []byte) error {
	temp := sessionsFolder + "/" + tempPrefix + "session"
	if err := v.tree.Remove("session", temp); err != nil {
		return err
	}
	if err := v.tree.CreateSync("session", temp, data, 0o666); err != nil {
		return err
	}
	if err := v.tree.Rename("session", temp, string(p)); err != nil {
		return err
	}
	return v.tree.SyncDir("session", p.Dir())
}

// ShowSessions takes back what [Vault.PutIgnored] told git, for a vault whose
// transcripts are committed again: those that were not are for adopt.
func (v *Vault) ShowSessions(ctx context.Context) error {
	if now, err := v.look(sessionsIgnore); err != nil || string(now.data) != sessionsIgnoreText {
		return err
	}
	return v.writeError(v.locked(ctx, func(context.Context) error {
		if err := v.tree.Remove("session", sessionsIgnore); err != nil {
			return err
		}
		return v.tree.SyncDir("session", sessionsFolder)
	}))
}
