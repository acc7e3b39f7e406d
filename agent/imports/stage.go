package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
)

// write makes one commit of a batch, and says where each conversation stands; ""
// where there was nothing left to do. In a vault that keeps transcripts out of git
// (sessions.track is false) they are written one by one, and there is no commit.
func (w *writer) write(batch []*item) (paths []vault.Path, res *vault.Result, err error) {
	if !w.v.Settings().Bool(settings.SessionsTrack) {
		return w.writeIgnored(batch)
	}
	if err := w.v.ShowSessions(w.ctx); err != nil {
		return nil, nil, err
	}
	why := w.o.Write.Why(vault.OpImport, subject(batch, w.source.Name))
	res, err = w.v.Update(w.ctx, why, func(tx *vault.Tx) error {
		paths = paths[:0]
		if w.id == "" {
			w.id = tx.NewID()
		}
		tx.Why().Run = w.id
		for _, it := range batch {
			p, err := w.stage(tx, it)
			if err != nil {
				return err
			}
			paths = append(paths, p)
		}
		return nil
	})
	return paths, res, err
}

func (w *writer) writeIgnored(batch []*item) ([]vault.Path, *vault.Result, error) {
	res := &vault.Result{}
	paths := make([]vault.Path, len(batch))
	for i, it := range batch {
		folder, base := it.place()
		p := vault.Path(folder + "/" + base)
		have, was, err := w.standing(p)
		if err != nil {
			return nil, nil, err
		}
		if it.path == "" && was != "" { // another one's, with the same name
			p = vault.Path(folder + "/" + strings.TrimSuffix(base, ".md") + "-" + it.s.ID + ".md")
			if have, was, err = w.standing(p); err != nil {
				return nil, nil, err
			}
		}
		data, beside, err := w.files(it, p, have, was)
		if err != nil {
			return nil, nil, err
		}
		if data == nil {
			continue
		}
		for _, a := range beside {
			_, old, err := w.standing(a.path)
			if err == nil {
				err = w.v.PutIgnored(w.ctx, a.path, old, a.data)
			}
			if err != nil {
				return nil, nil, err
			}
		}
		if err := w.v.PutIgnored(w.ctx, p, was, data); err != nil {
			return nil, nil, err
		}
		paths[i] = p
		res.Changes = append(res.Changes, vault.Change{Status: vault.Added, Path: p})
	}
	return paths, res, nil
}

// standing is what stands at a path now.
func (w *writer) standing(p vault.Path) ([]byte, vault.Hash, error) {
	data, _, err := w.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return data, vault.ReadMemory(p, data).Hash, nil
}

// A besideFile stands in the folder beside a transcript.
type besideFile struct {
	path vault.Path
	data []byte
}

// files are the bytes of the item's transcript at p, where have stands now, and
// of what stands beside it; nil when there is nothing left to do.
func (w *writer) files(it *item, p vault.Path, have []byte, was vault.Hash) ([]byte, []besideFile, error) {
	if p.Base() != it.made.base {
		made, err := w.censor.render(it.s, p.Base())
		if err != nil {
			return nil, nil, err
		}
		it.made = made
	}
	data, from := it.made.text, 0
	if it.path != "" {
		g := compare(have, it.s, w.censor)
		if was == "" || !g.more(it.s) {
			return nil, nil, nil // a person was faster; the next import looks again
		}
		grown, err := g.grow(have, it.s, it.made)
		if err != nil {
			return nil, nil, err
		}
		data, from = grown, g.from
	}
	var beside []besideFile
	for _, a := range it.made.attached {
		var n int
		if _, err := fmt.Sscanf(a.Name, "%d-", &n); err == nil && n > from {
			at := p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + a.Name
			beside = append(beside, besideFile{vault.Path(at), a.Data})
		}
	}
	return data, beside, nil
}

// stage puts one transcript into the transaction and says where; "" when there
// was nothing left to do.
func (w *writer) stage(tx *vault.Tx, it *item) (vault.Path, error) {
	p := it.path
	if p == "" {
		folder, base := it.s.place()
		free, err := tx.FreeName(folder, base, it.s.ID)
		if err != nil {
			return "", err
		}
		p = free
	}
	have, was, err := tx.Read(p)
	if err != nil {
		return "", err
	}
	data, beside, err := w.files(it, p, have, was)
	if err != nil || data == nil {
		return "", err
	}
	for _, a := range beside {
		_, old, err := tx.Read(a.path)
		if err == nil {
			err = tx.Put(a.path, old, a.data)
		}
		if err != nil {
			return "", err
		}
	}
	return p, tx.Put(p, was, data)
}
