package vault_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

// TestAFileThatIsBeingWrittenIsNotAdoptedEmpty: many programs empty a file first.
func TestAFileThatIsBeingWrittenIsNotAdoptedEmpty(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/gate.md", gateText)
	o := f.Options()
	o.Now, o.SecondLook = time.Now, time.Second
	v := f.OpenWith(o)
	name := filepath.Join(f.Dir, "memories/gate.md")
	must(os.WriteFile(name, nil, 0o644))
	written := make(chan error)
	go func() {
		time.Sleep(20 * time.Millisecond)
		written <- os.WriteFile(name, []byte(gateHand), 0o644)
	}()
	add := "Ring twice."
	res, err := v.UpdateMemory(ctxb(), "memories/gate.md", vault.Patch{Append: &add}, vault.Write{})
	must(<-written)
	if err != nil || len(res.Commits) != 2 {
		t.Fatalf("%v, %v: want the person's edit and the update", res, err)
	}
	s, err := v.History().View(ctxb(), string(res.Commits[0].Rev))
	must(err)
	if data, _, err := s.Read("memories/gate.md"); err != nil || string(data) != gateHand {
		t.Errorf("adopted %q, %v", data, err)
	}
}
