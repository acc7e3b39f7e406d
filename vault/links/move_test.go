package links_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/vault"
	"stet/vault/links"
	"stet/vault/vaulttest"
)

func move(t testing.TB, v *vault.Vault, r links.Request, from ...string) (*links.Result, error) {
	t.Helper()
	for _, ref := range from {
		m, err := v.Resolve(context.Background(), ref)
		if err != nil {
			t.Fatal(err)
		}
		r.From = append(r.From, m)
	}
	return links.Move(context.Background(), v, r, vault.Write{})
}

const gate = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\n[near](near.md) [[near]] ![p](../../notes/p.png) [out](../../../x.go) [later](later.md)\n\n    [near](near.md)\n"

func TestMoveRewritesLinksInOneCommit(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"memories/infra/gate.md", gate, "memories/infra/near.md", "[g](gate.md) and [[gate]] and `[[gate]]` [g][r]\n\n```\n[g](gate.md)\n```\n\n[r]: gate.md#code 'T'\n",
		"MEMORY.md", "- [fact] see [[memories/infra/gate|the gate]]\n", "notes/n.md", "[g](../memories/infra/gate.md) [[gate]]\r\n", "notes/p.png", "x",
		"skills/a/b/SKILL.md", "![[infra/gate#Code]]", "sessions/2026/s.md", "[g](/memories/infra/gate.md)\n", "archive/memories/z.md", "[[infra/gate]]\n",
	)
	v := f.Open()
	head, _ := v.Head()
	res, err := move(t, v, links.Request{To: "memories/doors"}, "gate")
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Commits) != 1 || res.Commits[0].Op != vault.OpMove || res.Commits[0].Parents[0] != head {
		t.Fatalf("commits %+v", res.Commits)
	}
	trailers := res.Commits[0].Trailers
	if got := trailers.Get("Stet-Moved"); got != `"memories/infra/gate.md" "memories/doors/gate.md"` {
		t.Errorf("Stet-Moved %s", got)
	}
	if got := trailers.Get("Stet-Memory"); got != "01jd7q8r5t9v3x6y2z4a7c0e1f" {
		t.Errorf("Stet-Memory %s", got)
	}
	for p, want := range map[string]string{
		"memories/doors/gate.md": "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\n[near](../infra/near.md) [[near]] ![p](../../notes/p.png) [out](../../../x.go) [later](../infra/later.md)\n\n    [near](near.md)\n",
		"memories/infra/near.md": "[g](../doors/gate.md) and [[gate]] and `[[gate]]` [g][r]\n\n```\n[g](gate.md)\n```\n\n[r]: ../doors/gate.md#code 'T'\n",
		"MEMORY.md":              "- [fact] see [[memories/doors/gate|the gate]]\n",
		"notes/n.md":             "[g](../memories/infra/gate.md) [[gate]]\r\n",
		"skills/a/b/SKILL.md":    "![[memories/doors/gate#Code]]",
		"sessions/2026/s.md":     "[g](/memories/infra/gate.md)\n",
		"archive/memories/z.md":  "[[infra/gate]]\n",
	} {
		if got := f.Read(p); got != want {
			t.Errorf("%s:\n%q, want\n%q", p, got, want)
		}
	}
	if n := len(res.Rewritten); n != 6 {
		t.Errorf("%d links rewritten: %+v", n, res.Rewritten)
	}
	if len(res.Listed) != 2 || res.Listed[0].Path != "notes/n.md" || res.Listed[0].New != "../memories/doors/gate.md" || res.Listed[1].Path != "sessions/2026/s.md" {
		t.Errorf("listed %+v", res.Listed)
	}
}

func TestMoveRewritesNotesWhenAsked(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/gate.md", "x\n", "n.md", "[g](memories/gate.md)\n")
	if _, err := move(t, f.Open(), links.Request{To: "memories/new name.md", File: true, RewriteNotes: true}, "gate"); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("n.md"); got != "[g](memories/new%20name.md)\n" {
		t.Errorf("%q", got)
	}
}

// A name that is taken gets the end of the id; links by name follow it.
func TestMoveToATakenName(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a/gate.md", gate, "memories/b/Gate.md", "other\n", "archive/memories/c/gate.md", "old\n", "memories/l.md", "[[a/gate]] [[b/gate]] [[gate]]\n")
	v := f.Open()
	if _, err := move(t, v, links.Request{To: "memories/b"}, "memories/a/gate.md"); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/l.md"); got != "[[memories/b/gate-0e1f]] [[b/gate]] [[gate-0e1f]]\n" {
		t.Errorf("%q", got)
	}
	if _, err := move(t, v, links.Request{To: "memories/c"}, "memories/b/Gate.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "memories/c/Gate.md")); err == nil {
		t.Error("the name is taken in the archive")
	}
	for _, to := range []vault.Path{"memories/l.md", "memories/L.md"} {
		_, err := move(t, v, links.Request{To: to, File: true}, "gate-0e1f")
		if !errors.Is(err, vault.ErrConflict) {
			t.Errorf("move to %s: %v", to, err)
		}
	}
}

func TestMoveAScope(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"memories/infra/a.md", "[[b]] [b](db/b.md) [all](./) [up](../top.md)\n", "memories/infra/db/b.md", "[a](../a.md)\n", "memories/infra/db/p.png", "png",
		"memories/infrastructure/x.md", "not below it\n", "memories/top.md", "[[infra/a]] [f](infra/) ![p](infra/db/p.png)\n",
	)
	v := f.Open()
	before := tree(t, f.Dir)
	res, err := move(t, v, links.Request{Scope: "/Infra", To: "memories/ops/base"})
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{
		"memories/ops/base/a.md":       "[[b]] [b](db/b.md) [all](./) [up](../../top.md)\n",
		"memories/ops/base/db/b.md":    "[a](../a.md)\n",
		"memories/ops/base/db/p.png":   "png",
		"memories/infrastructure/x.md": "not below it\n",
		"memories/top.md":              "[[memories/ops/base/a]] [f](ops/base/) ![p](ops/base/db/p.png)\n",
	} {
		if got := f.Read(p); got != want {
			t.Errorf("%s:\n%q, want\n%q", p, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "memories/infra")); err == nil {
		t.Error("the old folder is still there")
	}
	if len(res.Moves) != 3 || len(res.Memories) != 2 {
		t.Errorf("moves %v, memories %d", res.Moves, len(res.Memories))
	}
	if _, err := v.History().Undo(context.Background(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	vaulttest.SameImage(t, before, tree(t, f.Dir))
}

// tree is the working tree without git's folder and stet's tombstones.
func tree(t testing.TB, dir string) map[string]string {
	return vaulttest.Image(t, dir, ".git", ".stet")
}

// A name that a wiki link cannot hold is said so; all else is rewritten.
func TestMoveToANameThatLinksCannotHold(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/gate.md", "x\n", "memories/l.md", "[[gate]] [[gate#h|s]] [g](gate.md) ![[gate]]\n", "memories/many.md", strings.Repeat("[[", 1<<16)+"\n")
	res, err := move(t, f.Open(), links.Request{To: "memories/we[ird] #1 (ü).md", File: true}, "memories/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/l.md"); got != "[[gate]] [[gate#h|s]] [g](we%5Bird%5D%20%231%20%28ü%29.md) ![[gate]]\n" {
		t.Errorf("%q", got)
	}
	if len(res.Rewritten) != 1 || len(res.Listed) != 3 || res.Listed[0].New != "" || res.Listed[0].Why == "" {
		t.Errorf("rewritten %+v, listed %+v", res.Rewritten, res.Listed)
	}
}

// Text and scope change in one commit, and the links follow.
func TestUpdateToAnotherScope(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/infra/gate.md", gate, "memories/l.md", "[g](infra/gate.md)\n", "n.md", "x\n")
	v := f.Open()
	scope, text := "/House Doors", "Ring twice.\n"
	res, err := links.Update(context.Background(), v, "gate", vault.Patch{Scope: &scope, Append: &text}, false, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/l.md"); got != "[g](house-doors/gate.md)\n" || len(res.Commits) != 1 || res.Commits[0].Op != vault.OpUpdate {
		t.Errorf("%q, commits %+v", got, res.Commits)
	}
	if got := f.Read("memories/house-doors/gate.md"); !strings.Contains(got, "Ring twice.") || !strings.Contains(got, "[near](../infra/near.md)") {
		t.Errorf("%q", got)
	}
	if ids := res.Commits[0].Trailers.All("Stet-Memory"); len(ids) != 1 {
		t.Errorf("Stet-Memory %q", ids)
	}
	if len(res.Memories) != 1 || res.Memories[0].Path != "memories/house-doors/gate.md" {
		t.Errorf("memories %+v", res.Memories)
	}
	res, err = links.Update(context.Background(), v, "gate", vault.Patch{Scope: &scope}, false, vault.Write{})
	if err != nil || !res.Unchanged || len(res.Memories) != 1 {
		t.Errorf("to where it is: %v, %+v", err, res)
	}
	if _, err := links.Update(context.Background(), v, "n.md", vault.Patch{Scope: &scope}, false, vault.Write{}); !errors.Is(err, vault.ErrRefused) {
		t.Errorf("a note: %v", err)
	}
}

func TestMoveIsRefused(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a/x.md", "x\n", "memories/y.md", "y\n", "MEMORY.md", "- x\n", "skills/s/SKILL.md", "x\n", "archive/memories/o.md", "o\n")
	v := f.Open()
	for _, c := range []struct {
		r    links.Request
		from string
		want error
	}{
		{links.Request{To: "archive/memories"}, "x", vault.ErrRefused},
		{links.Request{To: ".stet"}, "x", vault.ErrRefused},
		{links.Request{To: "memories/a"}, "MEMORY.md", vault.ErrRefused},
		{links.Request{To: "memories/a"}, "skills/s/SKILL.md", vault.ErrRefused},
		{links.Request{To: "memories/a"}, "o", vault.ErrRefused},
		{links.Request{To: "memories/y.md/z.md", File: true}, "x", vault.ErrConflict},
		{links.Request{Scope: "/a", To: "memories/y.md"}, "", vault.ErrConflict},
		{links.Request{Scope: "/a", To: "memories/a/b"}, "", vault.ErrInvalid},
		{links.Request{Scope: "/a", To: "memories/a"}, "", vault.ErrInvalid},
		{links.Request{Scope: "/", To: "memories/b"}, "", vault.ErrInvalid},
		{links.Request{Scope: "/none", To: "memories/b"}, "", vault.ErrNotFound},
	} {
		var from []string
		if c.from != "" {
			from = []string{c.from}
		}
		if _, err := move(t, v, c.r, from...); !errors.Is(err, c.want) {
			t.Errorf("%+v %s: %v, want %v", c.r, c.from, err, c.want)
		}
	}
	if res, err := move(t, v, links.Request{To: "memories/a"}, "x"); err != nil || !res.Unchanged {
		t.Errorf("to where it is: %v, %+v", err, res)
	}
}

// After any move every link that led somewhere leads to the same file; undoing
// it brings back every byte.
func TestLinksLeadWhereTheyLedAfterAnyMove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "v")
		f := drawVault(rt, t, dir)
		v, err := vault.Open(context.Background(), dir, f.Options())
		if err != nil {
			rt.Fatal(err)
		}
		defer v.Close()
		before := load(t, v)
		image := tree(t, dir)
		r := links.Request{RewriteNotes: true}
		r.To = vault.Path(rapid.SampledFrom([]string{"memories", "memories/a", "memories/b/c", "notes", "memories/new"}).Draw(rt, "to"))
		if rapid.Bool().Draw(rt, "scope") {
			r.Scope = rapid.SampledFrom([]string{"/a", "/b", "/b/c"}).Draw(rt, "scope name")
		} else {
			files, err := v.Files(context.Background(), vault.WalkOptions{Under: "memories"})
			if err != nil || len(files) == 0 {
				rt.Skip("no memories")
			}
			p := rapid.SampledFrom(files).Draw(rt, "file").Path
			data, _, _ := v.ReadFile(p)
			r.From = []vault.Memory{vault.ReadMemory(p, data)}
			if rapid.Bool().Draw(rt, "rename") {
				r.To, r.File = r.To+vault.Path("/"+rapid.SampledFrom([]string{"x.md", "new.md", "two words.md"}).Draw(rt, "name")), true
			}
		}
		res, err := links.Move(context.Background(), v, r, vault.Write{})
		if errors.Is(err, vault.ErrInvalid) || errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrConflict) {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		compare(rt, before, load(t, v), res)
		if res.Unchanged {
			return
		}
		if _, err := v.History().Undo(context.Background(), 1, vault.Write{}); err != nil {
			rt.Fatal(err)
		}
		for p, want := range image {
			if got := tree(t, dir)[p]; got != want {
				rt.Fatalf("undone, %s is %s, was %s", p, got, want)
			}
		}
	})
}

func drawVault(rt *rapid.T, t *testing.T, dir string) *vaulttest.Fixture {
	name := rapid.SampledFrom([]string{"x", "y", "Z", "two words", "é"})
	folder := rapid.SampledFrom([]string{"memories", "memories/a", "memories/b", "memories/b/c", "notes", "archive/memories/a"})
	link := rapid.Custom(func(rt *rapid.T) string {
		n, d := name.Draw(rt, "n"), folder.Draw(rt, "d")
		escaped := strings.ReplaceAll(n, " ", "%20")
		switch rapid.IntRange(0, 8).Draw(rt, "form") {
		case 0:
			return "[[" + n + "]]"
		case 1:
			return "[[" + strings.TrimPrefix(d, "memories/") + "/" + n + "|shown]]"
		case 2:
			return "[[title of " + n + "]]"
		case 3:
			return "[x](" + escaped + ".md)"
		case 4:
			return "[x](../" + escaped + ".md#h)"
		case 5:
			return "[x](/" + d + "/" + escaped + ".md)"
		case 6:
			return "[x](<../a/" + n + ">)"
		case 7:
			return "![[./" + n + "]]"
		}
		return "`[[" + n + "]]` and [x](https://e.org/" + escaped + ".md)"
	})
	f := vaulttest.At(t, dir)
	f.LeaveDirty()
	for i := range rapid.IntRange(1, 8).Draw(rt, "files") {
		n := name.Draw(rt, "name")
		text := strings.Join(rapid.SliceOfN(link, 0, 5).Draw(rt, "links"), "\n")
		f.Write(folder.Draw(rt, "folder")+"/"+n+".md", fmt.Sprintf("---\ntitle: title of %s\nid: 01jd7q8r5t9v3x6y2z4a7c0e%02d\n---\n%s", n, i, text))
	}
	if _, err := vault.Init(context.Background(), dir, vault.InitOptions{}, f.Options()); err != nil {
		rt.Fatal(err)
	}
	return f
}

func compare(rt *rapid.T, before, after *links.Graph, res *links.Result) {
	to := map[vault.Path]vault.Path{}
	for _, m := range res.Moves {
		to[m[0]] = m[1]
	}
	moved := func(p vault.Path) vault.Path {
		if q, ok := to[p]; ok {
			return q
		}
		return p
	}
	now := map[string]links.Edge{}
	for _, list := range [][]links.Edge{after.All()} {
		n := map[vault.Path]int{}
		for _, e := range list {
			now[fmt.Sprintf("%s %d", e.From, n[e.From])] = e
			n[e.From]++
		}
	}
	n := map[vault.Path]int{}
	for _, e := range before.All() {
		at := moved(e.From)
		is, ok := now[fmt.Sprintf("%s %d", at, n[e.From])]
		n[e.From]++
		if !ok {
			rt.Fatalf("link %q of %s is gone", e.Link.Target, e.From)
		}
		if led := e.Target.State == links.Live || e.Target.State == links.Archived; led && is.Target.Path != moved(e.Target.Path) {
			rt.Fatalf("%q of %s led to %s; now %q of %s leads to %s, not to %s\nmoves %v", e.Link.Target, e.From, e.Target.Path, is.Link.Target, at, is.Target.Path, moved(e.Target.Path), res.Moves)
		}
	}
}

// Two names may mean one file.
func TestMoveTakesAFileOnce(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/gate.md", gate)
	v := f.Open()
	res, err := move(t, v, links.Request{To: "memories/doors"}, "gate", "memories/gate.md")
	if err != nil || len(res.Moves) != 1 || len(res.Memories) != 1 || res.Moves[0][1] != "memories/doors/gate.md" || !strings.HasSuffix(res.Commits[0].Subject, " to /doors") || strings.Contains(res.Commits[0].Subject, "2 files") {
		t.Errorf("%+v %v", res, err)
	}
	_, err = move(t, v, links.Request{To: "memories/x.md", File: true}, "gate", "memories/doors/gate.md")
	if err != nil {
		t.Errorf("one file by two names to a path: %v", err)
	}
}

func TestUpdateRefusesAnImportanceOutOfRange(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/gate.md", gate)
	v := f.Open()
	for _, scope := range []*string{nil, new("/doors")} {
		_, err := links.Update(t.Context(), v, "gate", vault.Patch{Importance: new(7.0), Scope: scope}, false, vault.Write{})
		if !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("%v", err)
		}
	}
}

// What Obsidian resolves is the file's name: a link by it follows the file where the title or an alias still
// is the old name, with heading, block, embed and shown text; one by an alias stays.
func TestMoveRewritesLinksByNameWhereTheTitleIsTheOldName(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"Plan B.md", "---\naliases: [pb, Plan B]\n---\n# Plan B\n\n![[./pic.png]]\n", "pic.png", "x",
		"n.md", "[[Plan B]] [[plan b#Steps|the steps]] ![[Plan B#^abc]] [p](Plan%20B.md#Steps) [[pb]] `[[Plan B]]`\r\n"+
			"[[Plan B.md]] ![[pic.png]]\r\n")
	r := links.Request{To: "notes/Plan C.md", File: true, RewriteNotes: true}
	res, err := move(t, f.Open(), r, "Plan B.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "[[Plan C]] [[Plan C#Steps|the steps]] ![[Plan C#^abc]] [p](notes/Plan%20C.md#Steps) [[pb]] `[[Plan B]]`\r\n" +
		"[[Plan C.md]] ![[pic.png]]\r\n"
	if got := f.Read("n.md"); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	want = "---\naliases: [pb, Plan B]\n---\n# Plan B\n\n![[../pic.png]]\n"
	if got := f.Read("notes/Plan C.md"); got != want {
		t.Errorf("%q, want\n%q", got, want)
	}
	if len(res.Rewritten) != 6 || len(res.Listed) != 0 {
		t.Errorf("rewritten %+v, listed %+v", res.Rewritten, res.Listed)
	}
}
