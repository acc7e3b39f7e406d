package vault_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// A list that its limit cuts is the beginning of the whole one, and reads no file far behind it.
func TestAShortListIsTheBeginningOfTheWhole(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	for i := range 300 {
		f.Write(fmt.Sprintf("memories/m%03d.md", i), fmt.Sprintf("---\nkind: k%d\n---\nNumber %d.\n", i%3, i))
	}
	v := f.Open()
	list := func(filter vault.Filter) (out []vault.Path, skipped int) {
		filter.Skipped = func(vault.Path, error) { skipped++ }
		found, err := v.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			out = append(out, m.Path)
		}
		return out, skipped
	}
	for _, filter := range []vault.Filter{
		{}, {Reverse: true}, {Kind: "k1"}, {Kind: "none"}, {Sort: "created"}, {Sort: "updated", Reverse: true},
	} {
		whole, _ := list(filter)
		for _, filter.Limit = range []int{1, 20, 99, 100, 101, 299, 300, 301} {
			if got, _ := list(filter); !reflect.DeepEqual(got, whole[:min(filter.Limit, len(whole))]) {
				t.Errorf("%+v: %d listed, first %v", filter, len(got), got[:min(1, len(got))])
			}
		}
	}
	large := filepath.Join(f.Dir, "memories", "z.md")
	f.Write("memories/z.md", "")
	if err := os.Truncate(large, vault.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	if _, skipped := list(vault.Filter{}); skipped != 1 {
		t.Errorf("the whole list skipped %d", skipped)
	}
	if _, skipped := list(vault.Filter{Limit: 20}); skipped != 0 {
		t.Error("a list of 20 read the last of 301 files")
	}
	if err := os.Remove(large); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A look that failed is none: who asked it anyway would find nothing where there may be much.
func TestALookThatFailedIsNone(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t, "memories/a.md", "One.\n").Open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l, err := v.Look(ctx); err == nil || l != nil {
		t.Errorf("%v, %v", l, err)
	}
}
