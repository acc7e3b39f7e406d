package imports_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stet/vault/vaulttest"
)

// A fork that comes in later than what it left begins behind the copy all the same, grows there, and stays as it is
// when what it left is gone.
func TestForksAreStoredOnce(t *testing.T) {
	t.Parallel()
	more := map[string]string{
		"claude-code": `{"type":"user","uuid":"f2","parentUuid":"f1","timestamp":"2026-03-02T11:00:00Z",` +
			`"sessionId":"a-fork","message":{"role":"user","content":"More."}}`,
		"codex": `{"timestamp":"2026-03-03T11:00:00Z","type":"response_item",` +
			`"payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"More."}]}}`,
	}
	for source, line := range more {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile("testdata/formats/" + source + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			files := map[bool]string{} // by whether it is the fork
			for _, f := range a.Files[:2] {
				fork := strings.Contains(string(f.Data), "fork")
				files[fork] = place(t, filepath.Base(f.Name), string(f.Data))
			}
			f := vaulttest.New(t)
			v := f.Open()
			parent := run(t, v, source, files[false]).Written[0].Path
			first := run(t, v, source, files[true])
			if first.Added != 1 || first.Messages != 1 {
				t.Fatalf("the fork: %+v", first)
			}
			f.Git("rm", "-q", string(parent))
			f.Git("commit", "-q", "-m", "gone")
			old, err := os.ReadFile(files[true])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[true], append(old, line+"\n"...), 0o666); err != nil {
				t.Fatal(err)
			}
			if r := run(t, v, source, files[true]); r.Grown != 1 || r.Messages != 1 || r.Changed+r.Added > 0 {
				t.Errorf("grown without what it left: %+v", r)
			}
			if r := run(t, vaulttest.New(t).Open(), source, files[true]); r.Added != 1 || r.Messages < 4 {
				t.Errorf("alone it is stored whole: %+v", r)
			}
		})
	}
}
