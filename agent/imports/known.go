package imports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// known finds the transcripts that a vault has, by the part of their id that does
// not depend on a time.
type known struct {
	v     *vault.Vault
	named map[string][]vault.Path // by the last six characters, which end a name
	// odd are those whose name a person changed, by the part of their id.
	odd      map[string]vault.Path
	rejected map[string]bool
	size     map[vault.Path]int64 // of those that were there at first
	in       map[string]int       // how many there are, by folder
	twice    map[string]bool      // ids that several transcripts were seen to have
	whole    bool                 // odd has those too whose new name looks like one of stet's
	private  map[string]bool      // conversations of this run, by the part of their id
}

func newKnown(ctx context.Context, v *vault.Vault) (*known, error) {
	k := &known{v: v, named: map[string][]vault.Path{}, odd: map[string]vault.Path{}, rejected: map[string]bool{},
		size: map[vault.Path]int64{}, in: map[string]int{}, twice: map[string]bool{}, private: map[string]bool{}}
	ids, err := v.History().RejectedIDs(ctx)
	if err != nil {
		return nil, err
	}
	for id := range ids {
		if len(id) >= 16 {
			k.rejected[hashPart(id)] = true
		}
	}
	for _, o := range []vault.WalkOptions{{Under: "sessions"}, {Under: "archive/sessions", Archive: true}} {
		files, err := v.Files(ctx, o)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, f := range files {
			k.size[f.Path] = f.Size
			if err := k.see(f.Path); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// lookUp finds what the vault has. Transcripts that were kept out of git, and are not any more, are for adopt.
func (w *writer) lookUp() (err error) {
	if w.v.Settings().Bool(settings.SessionsTrack) && !w.o.Write.DryRun && !w.source.Memories {
		if err = w.v.State().ShowSessions(w.ctx); err != nil {
			return err
		}
	}
	w.known, err = newKnown(w.ctx, w.v)
	return err
}

// tellTwice names conversations that several transcripts hold.
func (w *writer) tellTwice() {
	for _, id := range slices.Sorted(maps.Keys(w.known.twice)) {
		w.r.note(fmt.Sprintf(
			`conversation %s stands in several transcripts, and the longest goes on: "stet doctor" names them`, id))
	}
}

// see takes up a transcript by its name or, where that says nothing, by reading
// it.
func (k *known) see(p vault.Path) error {
	k.in[p.Dir()]++
	if six := lastSix(p); six != "" {
		k.named[six] = append(k.named[six], p)
		return nil
	}
	id, err := k.id(p)
	if err != nil {
		return err
	}
	if len(id) >= 16 {
		k.odd[hashPart(id)] = p
	}
	return nil
}

// lastSix is the end of an id in the name that stet gives to a transcript.
func lastSix(p vault.Path) string {
	stem := strings.TrimSuffix(strings.ToLower(p.Base()), path.Ext(p.Base()))
	six := stem[strings.LastIndexByte(stem, '-')+1:]
	if len(six) != 6 {
		return ""
	}
	return six
}

// id reads the id of a transcript; "" when there is none.
func (k *known) id(p vault.Path) (string, error) {
	head, err := k.head(p)
	return head.ID, err
}

func (k *known) head(p vault.Path) (session.Known, error) {
	head, err := session.Head(k.v, p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vault.ErrTooLarge) || errors.Is(err, vault.ErrNotRegular) {
		return session.Known{}, nil
	}
	return head, err
}

// find is where the transcript of that id stands, "" when there is none.
func (k *known) find(ctx context.Context, id string) (vault.Path, error) {
	var longest session.Known // two clones may each have named one
	var away vault.Path
	for _, p := range k.named[id[len(id)-6:]] {
		have, err := k.head(p)
		switch {
		case err != nil:
			return "", err
		case len(have.ID) < 16 || hashPart(have.ID) != hashPart(id):
			continue
		case vault.ClassOf(p) == vault.ClassArchive:
			away = p
			continue
		case longest.Path != "":
			k.twice[id] = true
		}
		if longest.Path == "" || have.Messages > longest.Messages {
			longest = have
		}
	}
	if p := cmp.Or(longest.Path, away); p != "" {
		return p, nil
	}
	if p := k.odd[hashPart(id)]; p != "" || k.whole {
		return p, nil
	}
	if err := k.lookIn(ctx); err != nil {
		return "", err
	}
	k.whole = true
	return k.odd[hashPart(id)], nil
}

// called is the id by which a conversation goes already: that of its transcript or of its open turns, which differs in
// its time from the one that its source makes.
func (k *known) called(ctx context.Context, id string) (string, error) {
	if !isID(id) {
		return id, nil
	}
	p, err := k.find(ctx, id)
	if err != nil {
		return "", err
	}
	if p != "" {
		have, err := k.id(p)
		return cmp.Or(have, id), err
	}
	open, err := session.Rest(k.v, id, nil)
	if errors.Is(err, session.ErrUnknownSession) {
		return id, nil
	}
	if err != nil {
		return "", err
	}
	return open.Facts.ID, nil
}

// lookIn reads the ids of all transcripts: a person may have called one by words
// of which the last is as long as the end of an id.
func (k *known) lookIn(ctx context.Context) error {
	var paths []vault.Path
	for _, named := range k.named {
		paths = append(paths, named...)
	}
	slices.Sort(paths)
	heads, err := session.Heads(ctx, k.v, paths)
	for i, head := range heads {
		if id := head.ID; len(id) >= 16 && !strings.HasSuffix(id, lastSix(paths[i])) {
			k.odd[hashPart(id)] = paths[i]
		}
	}
	return err
}

// gone reports a conversation that a person took back or put away.
func (k *known) gone(id string, p vault.Path) bool {
	return strings.HasPrefix(string(p), "archive/") || p == "" && k.rejected[hashPart(id)]
}
