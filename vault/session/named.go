package session

import (
	"context"
	"slices"
	"strings"

	"stet/vault"
)

// Ending finds the conversation, open or sealed, whose id ends as ref does, or begins so in six characters and more;
// "" is none. It fails with a [vault.AmbiguousError] where ref is a part of several, or also what another one is called
// by its agent. Cost: the beginning of every transcript is read where ref may be a part of an id.
func Ending(ctx context.Context, v *vault.Vault, ref string) (string, error) {
	ref = strings.ToLower(ref)
	if n := len(ref); n < 4 || n >= 26 || !own(strings.Repeat("0", 26-n)+ref) {
		return "", nil
	}
	all, err := All(ctx, v)
	if err != nil {
		return "", err
	}
	open, _ := AllOpen(v) // of one that cannot be read nothing is known
	all = GoOn(all, open)
	ends := func(k Known) bool {
		return strings.HasSuffix(k.ID, ref) || len(ref) >= 6 && strings.HasPrefix(k.ID, ref)
	}
	if !slices.ContainsFunc(all, ends) {
		return "", nil
	}
	meant := func(k Known) bool { return ends(k) || strings.EqualFold(k.Origin, ref) }
	k, err := vault.Pick(ref, all, Known.memory, meant)
	return k.ID, err
}

// GoOn adds open conversations in which something was said to what is known of sealed ones. One that goes on after it
// was sealed is one conversation: the sealed one, open again.
func GoOn(all []Known, open []*Open) []Known {
	for _, o := range open {
		k := o.Known()
		i := slices.IndexFunc(all, func(sealed Known) bool { return same(sealed.ID, o.Key) })
		switch {
		case k.Messages == 0: // it was given a snapshot, and nothing was said
		case i < 0:
			all = append(all, k)
		default:
			all[i].Open, all[i].Ended, all[i].Messages = true, k.Ended, all[i].Messages+k.Messages
		}
	}
	return all
}
