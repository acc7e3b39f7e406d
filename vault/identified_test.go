package vault_test

import (
	"context"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// TestAnIndexFindsIDs resolves an id by what an index says, without a walk over the files (a context that is over ends
// one), and by the files where the index is behind them.
func TestAnIndexFindsIDs(t *testing.T) {
	t.Parallel()
	const id, other = "01m839dkn9gypfcd9phvd8vj3e", "01m839dkn9gypfcd9phvd8vj3f"
	f := vaulttest.New(t, "memories/gate.md", "---\nid: "+id+"\n---\nThe gate.\n",
		"memories/door.md", "---\nid: "+other+"\n---\nThe door.\n")
	o := f.Options()
	o.Identified = func(context.Context, string) ([]vault.Path, error) { return []vault.Path{"memories/gate.md"}, nil }
	v := f.OpenWith(o)
	over, end := context.WithCancel(t.Context())
	end()
	if m, err := v.Resolve(over, id); err != nil || m.Path != "memories/gate.md" {
		t.Errorf("by the index: %v, %v", m.Path, err)
	}
	if m, err := v.Resolve(t.Context(), other); err != nil || m.Path != "memories/door.md" {
		t.Errorf("beside an old index: %v, %v", m.Path, err)
	}
}
