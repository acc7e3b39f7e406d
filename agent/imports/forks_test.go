package imports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"stet/vault"
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

// A fork repeats nothing of what it left, whatever is said there: long output, which stands in files of its own, a
// secret, more than one transcript holds. Where that was forgotten it is whole.
func TestForksOfLongConversations(t *testing.T) {
	t.Parallel()
	secret := "ghp" + "_" + "0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQkPlOmN"
	item := func(text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-04-01T09:00:01Z","type":"response_item","payload":{"type":"message",`+
			`"role":"user","content":[{"type":"input_text","text":%q}]}}`, text) + "\n"
	}
	meta := func(id, from string) string {
		return fmt.Sprintf(`{"timestamp":"2026-04-01T09:00:00Z","type":"session_meta","payload":{"id":%q,`+
			`"forked_from_id":%q}}`, id, from) + "\n"
	}
	for name, said := range map[string]string{
		"attached": item("Begin.") + item(strings.Repeat("output ", 12000)) + item("And on."),
		"secret":   item("Begin.") + item("The token is "+secret+", so.") + item("And on."),
		"parts":    strings.Repeat(item(strings.Repeat("words ", 10000)), 72) + item("And on."),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := place(t, "rollout-1-p.jsonl", meta("p", "")+said)
			fork := place(t, "rollout-2-f.jsonl", meta("f", "p")+meta("p", "")+said+item("Another way."))
			f := vaulttest.New(t)
			v := f.Open()
			left := run(t, v, "codex", parent)
			if r := run(t, v, "codex", fork); r.Added != 1 || r.Messages != 1 {
				t.Errorf("behind what it left: %d new of %d messages", r.Added, r.Messages)
			}
			again := run(t, v, "codex", fork)
			if again.Added+again.Grown+again.Changed > 0 {
				t.Errorf("again: %+v", again)
			}
			both := filepath.Dir(parent)
			if data, err := os.ReadFile(fork); err != nil || os.WriteFile(filepath.Join(both, "rollout-2-f.jsonl"), data, 0o666) != nil {
				t.Fatal(err)
			}
			if r := run(t, vaulttest.New(t).Open(), "codex", both); r.Messages != left.Messages+1 {
				t.Errorf("together: %d messages, %d of what it left", r.Messages, left.Messages)
			}
			other := vaulttest.New(t).Open()
			for _, w := range run(t, other, "codex", parent).Written {
				if _, err := other.Forget(t.Context(), []string{string(w.Path)}, vault.Write{}); err != nil {
					t.Fatal(err)
				}
			}
			if r := run(t, other, "codex", both); r.Messages != left.Messages+1 || r.Rejected == 0 {
				t.Errorf("without what it left: %d messages, %d forgotten", r.Messages, r.Rejected)
			}
		})
	}
}
