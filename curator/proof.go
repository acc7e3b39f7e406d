package curator

import (
	"context"
	"slices"

	"stet/vault"
)

// proven says of each commit of a chain, oldest first, which newer one of the chain has to be taken back by
// "git revert" before it: "" where it reverts alone, for every file that it touched is as it left it.
func proven(ctx context.Context, v *vault.Vault, commits []vault.Commit) ([]vault.Revision, error) {
	out := make([]vault.Revision, len(commits))
	newest := map[vault.Path]vault.Revision{} // the last commit of the chain that touched a path
	for i, c := range slices.Backward(commits) {
		full, err := v.History().CommitAt(ctx, string(c.Rev))
		if err != nil {
			return nil, err
		}
		for _, ch := range full.Changes {
			for _, p := range []vault.Path{ch.Path, ch.From} {
				if newest[p] != "" && p != "" && newest[p] != c.Rev {
					out[i] = newest[p]
				} else {
					newest[p] = c.Rev
				}
			}
		}
	}
	return out, nil
}
