package lineage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stet/templates"
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
	var lost []Lost
	var left []string // what is said of files that do not come back
	for l, err := range LostFiles(ctx, v, standsIn(v)) {
		if err != nil {
			return nil, err
		}
		byHand := l.Op == "" || l.Op == vault.OpAdopt // what stet took away comes back by its name alone
		if !strings.HasPrefix(string(l.Path), string(dir)+"/") || !byHand {
			continue
		}
		if len(lost) > 0 && l.Rev != lost[0].Rev {
			left = append(left, fmt.Sprintf("%q: other commits deleted more of it; the same command brings it back", dir))
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
	var large []string
	res, err := v.Transact(ctx, w.Why(vault.OpRestore, string(dir)), w.DryRun, func(tx *vault.Tx) error {
		back = nil // another try
		large = nil
		for _, l := range lost {
			data, _, err := was.Read(l.Path)
			m := vault.ReadMemory(l.Path, data)
			if _, rerr := v.Resolve(ctx, m.ID); m.ID != "" && err == nil && rerr == nil {
				continue // it only left its place
			}
			if err == nil {
				err = tx.Put(l.Path, "", data)
			}
			if errors.Is(err, vault.ErrTooLarge) && len(lost) > 1 {
				large = append(large, l.tooLarge(v, err))
				continue
			}
			if err != nil {
				return err
			}
			back = append(back, m)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories, res.Warnings = back, slices.Concat(res.Warnings, large, left)
	return res, nil
}

// tooLarge says of a file that stet does not bring back how git does.
func (l Lost) tooLarge(v *vault.Vault, err error) string {
	return fmt.Sprintf("%v; \"git restore -s %s -- %s\" brings it back", err,
		templates.Quote(cmp.Or(l.At.Short(), "HEAD")), templates.Quote(v.GitPath(l.Path)))
}

// standsIn reports whether anything stands at a path on disk.
func standsIn(v *vault.Vault) func(vault.Path) bool {
	return func(p vault.Path) bool {
		_, err := os.Lstat(filepath.Join(v.Root(), filepath.FromSlash(string(p))))
		return err == nil
	}
}
