package session

import (
	"context"
	"math"

	"stet/vault"
)

// AsSealed is the transcript that sealing an open session now would leave, with
// secrets taken out and every turn in it, and where it would stand; nil bytes when
// all its turns are sealed. It writes nothing. A transcript that a person called
// otherwise than by its id is not looked for: the turns stand alone then.
// candidates are files of which one may be its transcript.
func AsSealed(ctx context.Context, v *vault.Vault, open *Open, candidates []vault.Path) (vault.Path, []byte, error) {
	open.forget(settled(v, open))
	t := open.Facts
	if len(t.Messages) == 0 {
		return "", nil, nil
	}
	if err := open.below(ctx, v, candidates); err != nil {
		return "", nil, err
	}
	open.redact(v)
	t.Parent = parentOf(ctx, v, t.Agent, t.Parent, candidates)
	s := &sealer{v: v}
	at, err := s.standing(ctx, open, named(candidates, t.ID), true)
	if err != nil {
		return "", nil, err
	}
	if at != nil {
		if open.uncover(at.data); len(t.Messages) == 0 {
			return "", nil, nil
		}
	} else {
		at = &target{path: nameNew(t, candidates), id: t.ID, git: true}
	}
	data, _, err := assemble(t, at, math.MaxInt)
	return at.path, data, err
}
