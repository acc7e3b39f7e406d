package links_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/links"
	"stet/vault/vaulttest"
)

func load(t *testing.T, v *vault.Vault) *links.Graph {
	t.Helper()
	g, err := links.Load(context.Background(), v)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestWhereALinkLeads(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"memories/infra/db.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\naliases: [the base]\n---\n# Our Database\n",
		"memories/infra/near.md", "x\n",
		"memories/other/db.md", "x\n",
		"memories/other/Straße.md", "x\n",
		"notes/deep/down/page one.md", "x\n",
		"page.v2.md", "x\n",
		"notes/pic.png", "x",
		"archive/memories/old.md", "x\n",
		"archive/memories/infra/near.md", "x\n",
	)
	for _, c := range []struct{ from, link, want string }{
		{"memories/infra/a.md", "[[near]]", "live memories/infra/near.md"},
		{"memories/infra/a.md", "[[db]]", "live memories/infra/db.md"},
		{"memories/other/a.md", "[[DB|shown]]", "live memories/other/db.md"},
		{"notes/a.md", "[[db#Heading]]", "live memories/infra/db.md"},
		{"notes/a.md", "[[other/db]]", "live memories/other/db.md"},
		{"notes/a.md", "[[memories/other/db.md]]", "live memories/other/db.md"},
		{"notes/a.md", "[[/memories/other/db]]", "live memories/other/db.md"},
		{"notes/a.md", "[[ther/db]]", "dead "},
		{"notes/a.md", "[[the base]]", "live memories/infra/db.md"},
		{"notes/a.md", "[[our database]]", "live memories/infra/db.md"},
		{"notes/a.md", "[[01jd7q8r5t9v3x6y2z4a7c0e1f]]", "live memories/infra/db.md"},
		{"notes/a.md", "[[strasse]]", "live memories/other/Straße.md"},
		{"notes/a.md", "[[page one]]", "live notes/deep/down/page one.md"},
		{"notes/a.md", "[[page.v2]]", "live page.v2.md"},
		{"notes/a.md", "[[./deep/down/page one]]", "live notes/deep/down/page one.md"},
		{"notes/a.md", "[[../page.v2]]", "live page.v2.md"},
		{"notes/a.md", "[[old]]", "archived archive/memories/old.md"},
		{"notes/a.md", "[[nowhere]]", "dead "},
		{"notes/a.md", "![[pic.png]]", "attachment notes/pic.png"},
		{"notes/a.md", "![[./pic.png]]", "attachment notes/pic.png"},
		{"memories/a.md", "[[notes/pic.png]]", "attachment notes/pic.png"},
		{"memories/a.md", "[[other/pic.png]]", "dead "},
		{"memories/a.md", "![[./pic.png]]", "dead "},
		{"notes/a.md", "![[nopic.png]]", "dead "},
		{"notes/a.md", "[[#Here]]", "self notes/a.md"},
		{"memories/infra/a.md", "[x](near.md)", "live memories/infra/near.md"},
		{"memories/infra/a.md", "[x](../other/db.md#h)", "live memories/other/db.md"},
		{"memories/infra/a.md", "[x](/page.v2.md)", "live page.v2.md"},
		{"memories/infra/a.md", "[x](../old.md)", "archived archive/memories/old.md"},
		{"memories/infra/a.md", "[x](../../notes/deep/down/page%20one.md)", "live notes/deep/down/page one.md"},
		{"memories/infra/a.md", "![x](../../notes/pic.png)", "attachment notes/pic.png"},
		{"memories/infra/a.md", "[x](../../notes/deep/down/)", "live notes/deep/down"},
		{"memories/infra/a.md", "[x](../../notes/pic.png/more)", "dead notes/pic.png/more"},
		{"memories/infra/a.md", "[x](../../no/such/folder)", "dead no/such/folder"},
		{"memories/infra/a.md", "[x](../other/)", "live memories/other"},
		{"memories/infra/a.md", "[x](../../../src/main.go)", "outside ../src/main.go"},
		{"memories/infra/a.md", "[x](none.md)", "dead memories/infra/none.md"},
		{"memories/infra/a.md", "[x]: ../other/db", "live memories/other/db.md"},
	} {
		f.Write(c.from, c.link+"\n\n```\n[[nowhere]] [x](no.md)\n```\n")
		edges := load(t, f.Open()).Of(vault.Path(c.from))
		if len(edges) != 1 {
			t.Errorf("%s in %s: %d links", c.link, c.from, len(edges))
			continue
		}
		if got := fmt.Sprintf("%s %s", edges[0].Target.State, edges[0].Target.Path); got != c.want {
			t.Errorf("%s in %s leads to %q, want %q", c.link, c.from, got, c.want)
		}
		f.Write(c.from, "x\n")
	}
	f.LeaveDirty()
}

func TestBackDeadAndOrphans(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"MEMORY.md", "- see [[a]] and [[gone]]\n",
		"memories/a.md", "itself: [[a]], and [b](b.md)\n",
		"memories/b.md", "x\n", "memories/c.md", "[[a]]\n", "note.md", "[x](nothing.md)\n",
		"archive/memories/d.md", "[[c]] [[nothing at all]]\n", "skills/x/y/SKILL.md", "x\n",
	)
	g := load(t, f.Open())
	var back []string
	for _, e := range g.Back("memories/a.md") {
		back = append(back, string(e.From))
	}
	if want := []string{"MEMORY.md", "memories/c.md"}; !slices.Equal(back, want) {
		t.Errorf("back links %q, want %q", back, want)
	}
	var dead []string
	for _, e := range g.Dead() {
		dead = append(dead, fmt.Sprintf("%s:%d %s", e.From, e.Link.Line, e.Link.Target))
	}
	if want := []string{"MEMORY.md:1 gone", "note.md:1 nothing.md"}; !slices.Equal(dead, want) {
		t.Errorf("dead links %q, want %q", dead, want)
	}
	if want := []vault.Path{"memories/c.md", "note.md"}; !slices.Equal(g.Orphans(), want) {
		t.Errorf("orphans %q, want %q", g.Orphans(), want)
	}
	if n := len(g.All()); n != 6 {
		t.Errorf("%d links in all: %s", n, strings.Join(dead, " "))
	}
}
