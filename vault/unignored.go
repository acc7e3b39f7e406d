package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/durable"
	"stet/vault/settings"
	"stet/vault/store"
)

// sessionsFolder is where transcripts are.
const sessionsFolder = "sessions"

// sessionsIgnore is the ignore file of a vault that keeps its transcripts out of
// git. It hides itself as well, so that it is no change of the person's.
const (
	sessionsIgnore     = sessionsFolder + "/.gitignore"
	sessionsIgnoreText = "# Written by stet: sessions.track is false.\n*\n"
)

// PutIgnored writes a transcript, or a file beside one, that git is told to
// ignore: it is in no commit. was is the hash of what stands there, "" for
// nothing. A process that dies leaves the old file or the new one.
func (s *State) PutIgnored(ctx context.Context, p Path, was Hash, data []byte) error {
	if _, err := ParsePath(string(p)); err != nil || ClassOf(p) != ClassSession {
		return fmt.Errorf("%q: %w: only transcripts can stand outside git", p, errors.Join(ErrInvalid, err))
	}
	return s.v.store.Explain(s.v.store.Locked(ctx, func(context.Context) error {
		now, err := s.v.store.Look(p)
		if err != nil {
			return err
		}
		if have := Hash(now.ID.String()); now.Exists && have != was || !now.Exists && was != "" {
			return fmt.Errorf("%q: %w: it changed meanwhile", p, ErrConflict)
		}
		if err := s.v.store.Tree().MkdirAll("session", p.Dir(), 0o777); err != nil {
			return err
		}
		if err := s.v.hideSessions(); err != nil {
			return err
		}
		return s.v.putWhole(p, data)
	}))
}

// untracked changes the front matter of a transcript that git ignores: it is in no commit. What the guard would keep
// out of a commit is refused.
func (p Patch) untracked(ctx context.Context, v *Vault, at Path, dry bool) (m Memory, err error) {
	if p.Text != nil || p.Append != nil || p.Scope != nil {
		return m, fmt.Errorf("update %q: %w: of a transcript outside git only front matter can change", at, ErrRefused)
	}
	data, _, err := v.ReadFile(at)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	if err := p.edit(at, doc); err != nil {
		return m, pathErrorf("update", at, err)
	}
	now := doc.Bytes()
	if found := v.Secrets(at, now); len(found) > len(v.Secrets(at, data)) {
		return m, fmt.Errorf("update %q: %w: it would hold what looks like a secret (%s)", at, ErrRefused,
			found[0].Rule)
	}
	if m = ReadMemory(at, now); dry {
		return m, nil
	}
	if m.Private && m.ID != "" {
		if err := v.State().KeepPrivate(ctx, m.ID); err != nil {
			return m, err
		}
	}
	return m, v.State().PutIgnored(ctx, at, hashOf(data), now)
}

// keptOut says of a write to a transcript that git ignores what it would have done:
// what stands there is committed before anything else becomes of it.
func (v *Vault) keptOut(err error) error {
	var e *store.UntrackedError
	if !errors.As(err, &e) || !e.Stands || ClassOf(e.Path) != ClassSession {
		return err
	}
	why := ""
	if !v.settings.Bool(settings.SessionsTrack) {
		why = " (sessions.track is false)"
	}
	return WithHint(fmt.Errorf("%w: this transcript is kept out of git%s, and this operation would commit it", e, why),
		"nothing was written; delete or change the file itself, and search follows: what you delete leaves it")
}

// hideSessions has git ignore the folder of transcripts. An ignore file that a
// person wrote there is never changed.
func (v *Vault) hideSessions() error {
	rules, err := v.store.Look(sessionsIgnore)
	switch {
	case err != nil:
		return err
	case !rules.Exists:
		return v.putWhole(sessionsIgnore, []byte(sessionsIgnoreText))
	case !slices.Contains(strings.Fields(string(rules.Data)), "*"):
		return WithHint(fmt.Errorf("%q: %w: it is yours and does not ignore everything, but sessions.track is false", sessionsIgnore, ErrConflict),
			`add a line "*" to it, or "stet config set sessions.track true"`)
	}
	return nil
}

// putWhole puts a file below the folder of transcripts in the place of another.
func (v *Vault) putWhole(p Path, data []byte) error {
	err := durable.PutWhole(v.store.Tree(), "session", sessionsFolder+"/"+store.TempPrefix+"session", string(p), data, 0o666)
	if err != nil {
		return err
	}
	return v.store.Tree().SyncDir("session", p.Dir())
}

// ShowSessions takes back what [State.PutIgnored] told git, for a vault whose
// transcripts are committed again: those that were not are for adopt.
func (s *State) ShowSessions(ctx context.Context) error {
	if now, err := s.v.store.Look(sessionsIgnore); err != nil || string(now.Data) != sessionsIgnoreText {
		return err
	}
	return s.v.store.Explain(s.v.store.Locked(ctx, func(context.Context) error {
		if err := s.v.store.Tree().Remove("session", sessionsIgnore); err != nil {
			return err
		}
		return s.v.store.Tree().SyncDir("session", sessionsFolder)
	}))
}

// WriteBlobs writes contents into the repository, durable and with nothing that
// leads to them, and returns their hashes in the same order. What [Tx.PutStored] puts
// into a commit need not be in memory, so that one commit can bring more than fits
// there. git removes a blob that no commit takes up after two weeks, unless somebody
// asks it to hurry. The guard looks at them here, as what is to stand at paths, so that the commit need not.
func (s *State) WriteBlobs(ctx context.Context, paths []Path, contents [][]byte) ([]Hash, error) {
	for _, data := range contents {
		if len(data) > MaxFileSize {
			return nil, fmt.Errorf("write blobs: %w (%d bytes, at most %d)", ErrTooLarge, len(data), int64(MaxFileSize))
		}
	}
	if err := s.v.judgeAhead(ctx, paths, contents); err != nil {
		return nil, err
	}
	return s.v.store.WriteBlobs(ctx, contents)
}
