package lineage

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"stet/vault"
)

// A Lost is a file that history has and the disk has not. Rev is the commit that deleted it, "" of one that HEAD
// still has; At is one that has it.
type Lost struct {
	Path    vault.Path
	Rev, At vault.Revision
	Op      vault.Op // of the commit that deleted it
}

// mostDeleting bounds the commits in which deletions are looked for.
const mostDeleting = 500

// LostFiles are the files that were deleted, those that HEAD still has first, then the newest; not what was moved,
// forgotten or purged. Cost: the trees of HEAD and of the newest five hundred commits, and exists for what they name.
func LostFiles(ctx context.Context, v *vault.Vault, exists func(vault.Path) bool) iter.Seq2[Lost, error] {
	return func(yield func(Lost, error) bool) {
		told := map[vault.Path]bool{}
		tell := func(l Lost, err error) bool {
			if err == nil && (told[l.Path] || vault.ClassOf(l.Path) == vault.ClassConfig ||
				exists(l.Path)) {
				return true
			}
			told[l.Path] = true
			return yield(l, err) && err == nil
		}
		head, err := v.History().View(ctx, "")
		if err != nil {
			tell(Lost{}, err)
			return
		}
		for p, err := range head.Files() {
			if !tell(Lost{Path: p}, err) {
				return
			}
		}
		for c, err := range v.History().Log(ctx, vault.LogOptions{Limit: mostDeleting, Changes: true}) {
			if err != nil {
				tell(Lost{}, err)
				return
			}
			for _, ch := range c.Changes {
				if len(c.Parents) == 1 && ch.Status == vault.Deleted && c.Op != vault.OpForget &&
					!tell(Lost{ch.Path, c.Rev, c.Parents[0], c.Op}, nil) {
					return
				}
			}
		}
	}
}

// restoreFolder brings back the files of a folder that HEAD has and the disk has not, or else those that the newest
// commit deleted which took any of them; nil where there are none. An agent names each file.
func restoreFolder(ctx context.Context, v *vault.Vault, ref string, w vault.Write) (*vault.Result, error) {
	dir, err := vault.ParsePath(strings.TrimSuffix(ref, "/"))
	if err != nil || v != v.Whole() || strings.HasPrefix(string(dir)+"/", ".") {
		return nil, nil
	}
	there := func(p vault.Path) bool {
		_, err := os.Lstat(filepath.Join(v.Root(), filepath.FromSlash(string(p))))
		return err == nil
	}
	var lost []Lost
	for l, err := range LostFiles(ctx, v, there) {
		if err != nil {
			return nil, err
		}
		byHand := l.Op == "" || l.Op == vault.OpAdopt // what stet took away comes back by its name alone
		if !strings.HasPrefix(string(l.Path), string(dir)+"/") || !byHand {
			continue
		}
		if len(lost) > 0 && l.Rev != lost[0].Rev {
			break
		}
		lost = append(lost, l)
	}
	if len(lost) == 0 {
		return nil, nil
	}
	was, err := v.History().View(ctx, string(lost[0].At))
	if err != nil {
		return nil, err
	}
	var back []vault.Memory
	res, err := v.Transact(ctx, w.Why(vault.OpRestore, string(dir)), w.DryRun, func(tx *vault.Tx) error {
		back = nil // another try
		for _, l := range lost {
			data, _, err := was.Read(l.Path)
			if err != nil {
				return err
			}
			m := vault.ReadMemory(l.Path, data)
			if _, err := v.Resolve(ctx, m.ID); m.ID != "" && err == nil {
				continue // it only left its place
			}
			if err := tx.Put(l.Path, "", data); err != nil {
				return err
			}
			back = append(back, m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories = back
	return res, nil
}
