package ingest_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

// Whatever a text is made of, saving it again makes no commit.
func TestSavingTheSameAgainIsNoCommit(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	x, err := index.Open(v, index.Options{Now: time.Now, Language: "english"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	once := func(r *rapid.T, text, scope, actor string) *ingest.Result {
		res, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: text, Scope: scope}}, vault.Write{Writer: vault.Writer{Actor: actor}})
		if err != nil {
			r.Fatalf("%q: %v", text, err)
		}
		return res
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(
			rapid.SampledFrom([]string{"!!!", "🙂", "Is it?", "-", "# Title\n\n- one\n- two", "¿Por qué?", "我们使用 PostgreSQL。", "```\ncode\n```", "ไม่มี", "a\tb", "---\nid: x\n---\nz"}),
			rapid.StringN(1, 40, 160),
		).Draw(r, "text")
		scope := rapid.SampledFrom([]string{"", "/", "/a", "/projects/x"}).Draw(r, "scope")
		actor := rapid.SampledFrom([]string{"", "agent"}).Draw(r, "actor")
		if strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
			return
		}
		first := once(r, text, scope, actor)
		if _, err := x.Touch(t.Context(), []vault.Path{first.Memories[0].Path}); err != nil {
			r.Fatal(err)
		}
		if again := once(r, text, scope, actor); !again.Unchanged || len(again.Commits) > 0 {
			r.Fatalf("%q is stored twice: %v", text, again.Memories)
		}
	})
}

// A letter that the rules fold otherwise than the index does hides no memory behind others that
// share a word with it.
func TestALetterThatFoldsInTwoWaysIsFoundAgain(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "Room 4 is 㒭.\n", "memories/b.md", "The city is Bern.\n")
	v := f.Open()
	x, err := index.Open(v, index.Options{Now: time.Now, Language: "english"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	for _, text := range []string{"Aᾎ\u0087¼'#㒭ೊ`", "ᾳᾳᾳ 4", "4 ŉnnn"} {
		var last *ingest.Result
		for range 2 {
			if last, err = ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: text}}, vault.Write{}); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if _, err := x.Touch(t.Context(), []vault.Path{last.Memories[0].Path}); err != nil {
				t.Fatal(err)
			}
		}
		if !last.Unchanged {
			t.Errorf("%q is stored twice: %v", text, last.Memories)
		}
	}
}
