package past_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"stet/index"
	"stet/index/past"
	"stet/vault"
	"stet/vault/vaulttest"
)

func TestSearchOfThePast(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	v := vaulttest.New(t).Open()
	w := vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}}
	first, err := v.Remember(ctx, []vault.Note{{Text: "The gate code is 4711.", Title: "Gate"}}, w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(ctx, []string{"memories/gate.md"}, w); err != nil {
		t.Fatal(err)
	}
	rev := first.Commits[len(first.Commits)-1]
	snap, err := v.History().View(ctx, string(rev.Rev))
	if err != nil {
		t.Fatal(err)
	}
	src := past.New(snap, rev.When)
	x, err := index.Open(src, index.Options{Now: time.Now, ReadOnly: true, AsOf: rev.When})
	if err != nil {
		t.Fatal(err)
	}
	res, err := x.Search(ctx, index.Query{Text: "gate code"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].Path != "memories/gate.md" {
		t.Errorf("the past says %+v, %v", res, err)
	}
	if _, _, err := src.ReadFile("memories/other.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that the commit does not have: %v", err)
	}
	if files, err := src.Files(ctx, vault.WalkOptions{Reports: true}); err != nil || len(files) > 0 {
		t.Errorf("reports: %v, %v", files, err)
	}
}
