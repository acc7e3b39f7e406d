package vault_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// journalLine is a journal with a right checksum, whatever it says.
func journalLine(head bool, ref, base, next string) []byte {
	text := fmt.Sprintf("%d\n%t\n%s\n%s\n%s", 1, head, ref, base, next)
	line, err := json.Marshal(map[string]any{"v": 1, "head": head, "ref": ref, "base": base, "next": next,
		"crc32c": crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))})
	must(err)
	return append(line, '\n')
}

// FuzzJournal puts any bytes, and any journal with a right checksum, in the
// place of the journal: it is ignored or completed, and no byte of HEAD, of the
// git index or of a file changes.
func FuzzJournal(f *testing.F) {
	base := f.TempDir()
	dir := filepath.Join(base, "vault")
	fix := &crashFixture{repo: dir, dir: dir}
	must(os.MkdirAll(dir, 0o755))
	if _, err := vault.Init(ctxb(), dir, vault.InitOptions{}, crashOptions(nil)); err != nil {
		f.Fatal(err)
	}
	fix.write("memories/infra/gate.md", gateText)
	fix.write("memories/other.md", "other\n")
	fix.commit()
	var revs []string
	fix.do(func(v *vault.Vault) error {
		for c, err := range v.History().Log(ctxb(), vault.LogOptions{}) {
			must(err)
			revs = append(revs, string(c.Rev))
		}
		return nil
	})
	tip, first := revs[0], revs[len(revs)-1]
	want := snapshot(f, dir)
	journals, err := filepath.Glob(filepath.Join(dir, ".git/stet/*/journal"))
	if err != nil || len(journals) != 1 {
		f.Fatalf("journals %v, %v", journals, err)
	}
	f.Add([]byte(nil), "", "", "")
	f.Add([]byte("{"), "refs/heads/main", first, tip)
	f.Add(journalLine(false, "refs/heads/main", first, tip)[:40], "HEAD", first, tip)
	f.Add([]byte("\x00\x00\x00"), "refs/heads/../../x", first, tip)
	f.Add([]byte("null"), "refs/heads/main", tip, tip)
	f.Add([]byte("[]\n"), "refs/heads/main", tip, first)
	f.Add([]byte("{}"), "refs/heads/main", "", tip)
	f.Add([]byte(`{"v":1}`), "refs/heads/gone", strings.Repeat("a", 40), tip)
	f.Add([]byte(`{"v":2}`), "refs/heads/main", first, strings.Repeat("b", 40))
	f.Add([]byte(strings.Repeat("x", 9000)), "refs/heads/main", strings.Repeat("c", 40), tip)
	f.Add([]byte("x"), "/etc/passwd", "no id", "nor this")
	var one sync.Mutex // the vault is shared: nothing may change it
	f.Fuzz(func(t *testing.T, raw []byte, ref, base, next string) {
		one.Lock()
		defer one.Unlock()
		for _, line := range [][]byte{raw, journalLine(ref == "HEAD", ref, base, next)} {
			must(os.WriteFile(journals[0], line, 0o644))
			v, err := vault.Open(ctxb(), dir, crashOptions(nil))
			if err != nil {
				t.Fatalf("open with journal %q: %v", line, err)
			}
			must(v.Close())
			if now := snapshot(t, dir); !maps.Equal(now, want) {
				t.Fatalf("journal %q changed the vault:%s", line, differences(want, now))
			}
			if info, err := os.Stat(journals[0]); err != nil || info.Size() > 0 {
				t.Fatalf("journal %q is still there: %v", line, err)
			}
		}
	})
}

// TestJournalOfAPublishedCommitIsCompleted takes files and
// git index back to the base of a commit, as a power cut may leave them.
func TestJournalOfAPublishedCommitIsCompleted(t *testing.T) {
	t.Parallel()
	op := crashOps()[1]
	p := prepareOp(t, op)
	repo := p.copyTo(t, filepath.Join(crashDir(t), "repo"))
	old := map[string][]byte{}
	for _, name := range []string{".git/index", "memories/infra/gate.md"} {
		data, err := os.ReadFile(filepath.Join(repo, name))
		must(err)
		old[name] = data
	}
	(&crashFixture{repo: repo, dir: repo}).do(op.run)
	var revs []string
	(&crashFixture{repo: repo, dir: repo}).do(func(v *vault.Vault) error {
		for c, err := range v.History().Log(ctxb(), vault.LogOptions{}) {
			must(err)
			revs = append(revs, string(c.Rev))
		}
		return nil
	})
	for name, data := range old {
		must(os.WriteFile(filepath.Join(repo, name), data, 0o644))
	}
	journals, err := filepath.Glob(filepath.Join(repo, ".git/stet/*/journal"))
	must(err)
	must(os.WriteFile(journals[0], journalLine(false, "refs/heads/main", revs[1], revs[0]), 0o644))
	if state := p.judge(t, "journal of a published commit", repo, true); state != "new" {
		t.Errorf("state %s", state)
	}
	vaulttest.Check(t, repo)
}
