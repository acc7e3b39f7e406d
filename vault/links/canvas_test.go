package links_test

import (
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/links"
	"stet/vault/vaulttest"
)

// Bytes as Obsidian, and others, write them: a tab for each level, one line a node, escapes that nobody needs.
const board = "{\n\t\"nodes\":[\n" +
	"\t\t{\"id\":\"a\",\"type\":\"file\",\"file\":\"notes\\/Old \\u00e9\\ud83c\\udf31.md\"," +
	"\"subpath\":\"#Steps\",\"x\":-1.50e2,\"width\":400},\n" +
	"\t\t{\"text\":\"\\u003cb\\u003e [[Old \\u00e9\\ud83c\\udf31#H|\\ud83c\\udf31]] " +
	"\\\"q\\\"\\n`[[Old é🌱]]` [m](<notes/Old é🌱.md>)\\ttab \\/\", \"type\":\"text\",\"id\":\"b\"},\n" +
	"\t\t{\"id\":\"c\",\"type\":\"link\",\"file\":\"notes/Old é🌱.md\",\"text\":\"[[Old é🌱]]\"},\n" +
	"\t\t{\"id\":\"d\",\"type\":\"group\",\"label\":\"[[Old é🌱]]\"} ],\n" +
	"\t\"edges\":[{\"id\":\"e\",\"label\":\"[[Old é🌱]]\"}], \"text\":\"[[Old é🌱]]\"\n}"

func TestMoveFollowsCanvases(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "notes/Old é🌱.md", "# x\n", "boards/b.canvas", board, "broken.canvas", board[:200],
		"empty.canvas", "", "other.canvas", "[]",
		"memories/m.canvas", `{"nodes":[{"type":"file","file":"notes/Old é🌱.md"}]}`)
	v := f.Open()
	to := links.Request{To: `new/N "1".md`, File: true}
	res, err := move(t, v, to, "notes/Old é🌱.md")
	if err != nil {
		t.Fatal(err)
	}
	if l := res.Listed; len(l) != 3 || l[0].Why != links.NoteOfYours || l[0].Line != 3 || l[2].Line != 4 ||
		l[0].Old != "notes/Old é🌱.md" || l[0].New != string(to.To) || f.Read("boards/b.canvas") != board {
		t.Errorf("listed %+v", res.Listed)
	}
	if got := f.Read("memories/m.canvas"); got != `{"nodes":[{"type":"file","file":"new/N \"1\".md"}]}` {
		t.Errorf("a canvas among memories: %s", got)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	to.RewriteNotes = true
	if _, err = move(t, v, to, "notes/Old é🌱.md"); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(board, `notes\/Old \u00e9\ud83c\udf31.md`, `new/N \"1\".md`, 1)
	want = strings.Replace(want, `Old \u00e9\ud83c\udf31#H`, `N \"1\"#H`, 1)
	want = strings.Replace(want, `<notes/Old é🌱.md>`, `<../new/N %221%22.md>`, 1)
	if got := f.Read("boards/b.canvas"); got != want || f.Read("broken.canvas") != board[:200] {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	_, err = v.History().Undo(t.Context(), 1, vault.Write{})
	if err != nil || f.Read("boards/b.canvas") != board {
		t.Errorf("undo: %v, %s", err, f.Read("boards/b.canvas"))
	}
}
