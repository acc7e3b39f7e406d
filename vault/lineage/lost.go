package lineage

import (
	"context"
	"iter"

	"stet/vault"
)

// A Lost is a Markdown file that history has and the disk has not. Rev is the commit that deleted it, "" of one that HEAD
// still has; At is one that has it.
type Lost struct {
	Path    vault.Path
	Rev, At vault.Revision
}

// mostDeleting bounds the commits in which deletions are looked for.
const mostDeleting = 500

// LostFiles are the files that were deleted, those that HEAD still has first, then the newest; not what was moved,
// forgotten or purged. Cost: the trees of HEAD and of the newest five hundred commits, and exists for what they name.
func LostFiles(ctx context.Context, v *vault.Vault, exists func(vault.Path) bool) iter.Seq2[Lost, error] {
	return func(yield func(Lost, error) bool) {
		told := map[vault.Path]bool{}
		tell := func(l Lost, err error) bool {
			if err == nil && (told[l.Path] || !l.Path.IsMarkdown() || vault.ClassOf(l.Path) == vault.ClassConfig ||
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
					!tell(Lost{ch.Path, c.Rev, c.Parents[0]}, nil) {
					return
				}
			}
		}
	}
}
