package session

import (
	"context"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// Titled finds the conversation, open or sealed, whose title is a text, else the one that has it in its title. It fails
// with [ErrUnknownSession] or a [vault.AmbiguousError]. Path is "" of one that is open alone. Cost: as [All].
func Titled(ctx context.Context, v *vault.Vault, text string) (Known, error) {
	all, err := All(ctx, v)
	if err != nil {
		return Known{}, err
	}
	open, _ := AllOpen(v) // of one that cannot be read nothing is known
	all = GoOn(all, open)
	part := markdown.Fold(strings.TrimSpace(text))
	var found []Known
	for _, whole := range []bool{true, false} {
		for _, k := range all {
			title := markdown.Fold(k.Title)
			if title == part || !whole && part != "" && strings.Contains(title, part) {
				found = append(found, k)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		return Known{}, unknown(text)
	case 1:
		return found[0], nil
	}
	many := &vault.AmbiguousError{Ref: text}
	for _, k := range found {
		many.Candidates = append(many.Candidates, k.memory())
	}
	return Known{}, many
}
