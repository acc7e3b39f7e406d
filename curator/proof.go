package curator

import (
	"bytes"
	"context"
	"slices"

	"stet/markdown"
	"stet/vault"
)

// proven says of each commit of a chain, oldest first and with its changes, which newer one of the chain has to be
// taken back by "git revert" before it, and all behind that one: "" where it can be reverted on its own. Each revert
// is tried in memory, on the files as the chain leaves them and, where that fails, as they were one commit earlier, and
// so on.
func proven(ctx context.Context, v *vault.Vault, commits []vault.Commit) ([]vault.Revision, error) {
	h := v.Whole().History()
	past, out := h.Ancestry(), make([]vault.Revision, len(commits))
	touched := map[vault.Path]int{} // by path the newest commit that changed it
	for i, c := range commits {
		for _, ch := range c.Changes {
			touched[ch.Path], touched[ch.From] = i, i
		}
	}
	delete(touched, "")
	for i, c := range commits {
		for on := len(commits) - 1; on > i; on-- {
			if on < len(commits)-1 || slices.ContainsFunc(c.Changes, func(ch vault.Change) bool {
				return touched[ch.Path] > i || touched[ch.From] > i
			}) {
				at, err := h.View(ctx, string(commits[on].Rev))
				if err != nil {
					return nil, err
				}
				alone, err := reverts(past, at, c)
				if err != nil {
					return nil, err
				}
				if !alone {
					out[i] = commits[on].Rev
					continue
				}
			}
			break
		}
	}
	return out, nil
}

// reverts reports whether git takes a commit back on a tree without a conflict.
func reverts(past *vault.Ancestry, at *vault.Snapshot, c vault.Commit) (bool, error) {
	for _, ch := range c.Changes {
		now, hash, err := at.Read(ch.Path)
		if err != nil {
			return false, err
		}
		if ch.From != "" {
			if _, taken, err := at.Read(ch.From); err != nil || taken != "" {
				return false, err
			}
		}
		if hash == ch.New {
			continue
		}
		if hash == "" || ch.New == "" || ch.Old == "" {
			return false, nil
		}
		was, err := past.Read(ch.Old)
		if err != nil {
			return false, err
		}
		base, err := past.Read(ch.New)
		if err != nil || clash(base, now, was) {
			return false, err
		}
	}
	return true, nil
}

// clash reports whether two texts made of one changed the same lines of it, or lines side by side.
func clash(base, a, b []byte) bool {
	for _, x := range markdown.Changed(base, a) {
		for _, y := range markdown.Changed(base, b) {
			if x[0] <= y[1] && y[0] <= x[1] {
				return !bytes.Equal(a, b)
			}
		}
	}
	return false
}
