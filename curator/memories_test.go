package curator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/agent"
	"stet/vault"
	"stet/vault/vaulttest"
)

func noted(text string) string { return "---\nkind: fact\n---\n" + text + "\n" }

// ended is what a run did to memories, as "path into".
func ended(r *Report) string {
	var out []string
	for _, e := range r.Memories.Archived {
		out = append(out, string(e.Path))
	}
	return strings.Join(out, ", ")
}

const agents = "remember: many\n\nStet-Op: remember\nStet-Actor: agent\n"

func TestEnds(t *testing.T) {
	t.Parallel()
	const by = "Ann <ann@example.org>"
	for name, c := range map[string]struct {
		notes []Note
		want  string // places, and of duplicates the one that stays
	}{
		"expired":              {[]Note{{Expired: true, By: by, Person: true}}, "0"},
		"no person's date":     {[]Note{{Expired: true}}, ""},
		"not yet":              {[]Note{{By: by}}, ""},
		"taken back":           {[]Note{{Expired: true, By: by, Kept: true}}, ""},
		"the older stays":      {[]Note{{Text: "a", Since: now()}, {Text: "a", Since: now().Add(-1)}}, "0>1"},
		"the person's stays":   {[]Note{{Text: "a"}, {Text: "a", Since: now(), Person: true}}, "0>1"},
		"two of a person":      {[]Note{{Text: "a", Person: true}, {Text: "a", Person: true}}, ""},
		"what is linked stays": {[]Note{{Text: "a"}, {Text: "a", Since: now(), Linked: true}}, "0>1"},
		"both are linked":      {[]Note{{Text: "a", Linked: true}, {Text: "a", Linked: true}}, ""},
		"kept":                 {[]Note{{Text: "a"}, {Text: "a", Kept: true, Since: now()}}, ""},
		"another text":         {[]Note{{Text: "a"}, {Text: "b"}, {}, {}}, ""},
		"of one that expired":  {[]Note{{Text: "a", Expired: true, By: by}, {Text: "a", Since: now()}}, "0"},
		"three":                {[]Note{{Text: "a"}, {Text: "a", Since: now()}, {Text: "a", Since: now()}}, "1>0 2>0"},
	} {
		var got []string
		for _, e := range Ends(c.notes) {
			if got = append(got, fmt.Sprint(e.Row)); e.Kept >= 0 {
				got[len(got)-1] += fmt.Sprint(">", e.Kept)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What a person let expire ends, and of what agents said twice one stays; nothing else ends a memory.
func TestMemoriesEnd(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	for p, text := range map[string]string{
		"guest":     noted("The guest code is 77."),
		"older":     noted("Tea is in the blue tin."),
		"other":     noted("Tea is in the red tin."),
		"robots":    "---\nkind: fact\nexpires: 2020-01-01\n---\nAn agent's date.\n",
		"private":   "---\nprivate: true\nexpires: 2020-01-01\n---\nHidden.\n",
		"until":     "---\nvalid_until: 2020-01-01\n---\nWas so.\n",
		"mine-too":  noted("The cellar is damp."),
		"house/tea": noted("Tea is in the blue tin."),
	} {
		d.write("memories/"+p+".md", text)
	}
	d.commit(agents)
	d.days(1)
	d.write("memories/newer.md", noted("Tea is in the blue tin."))
	d.write("memories/linked.md", noted("The mill has three wheels."))
	d.write("memories/wheels.md", noted("The mill has three wheels."))
	d.commit(agents)
	date := d.at.AddDate(0, 0, 2).Format("2006-01-02")
	d.write("memories/guest.md", "---\nkind: fact\nexpires: "+date+"\n---\nThe guest code is 77.\n")
	d.write("memories/mine.md", noted("The cellar is damp."))
	d.write("memories/mill.md", "See [[linked]] and [[wheels]].\n")
	d.commit("by hand")
	d.write("memories/other.md", "---\nkind: fact\nexpires: 2020-01-01\n---\nTea is in the red tin.\n")
	d.git("commit", "-qam", "somebody else's date, in a commit that was pulled", "--author", "Eve <eve@example.org>")
	before := d.tree()
	r := d.run()
	if ended(r) != "memories/mine-too.md, memories/newer.md" ||
		r.Memories.Archived[1].Why != "says the same as memories/older.md" {
		t.Errorf("%s, left %+v; %+v", ended(r), r.Left, r.Memories.Archived)
	}
	d.days(2)
	if r := d.runWith(Options{Write: agent.Write{DryRun: true}}); ended(r) != "" {
		t.Errorf("the last day is not over: %s", ended(r))
	}
	d.days(1)
	if r := d.runWith(Options{Write: agent.Write{DryRun: true}}); ended(r) != "memories/guest.md" ||
		!strings.Contains(r.Diff, "rename to archive/memories/guest.md") {
		t.Errorf("dry: %s\n%s", ended(r), r.Diff)
	}
	last := d.run()
	if ended(last) != "memories/guest.md" || len(last.Commits) != 1 ||
		last.Memories.Archived[0].Into != "archive/memories/guest.md" {
		t.Errorf("%s, left %+v", ended(last), last.Left)
	}
	got := d.git("show", "-s", "--format=%B", string(last.Commits[0].Rev))
	if !strings.Contains(got, "Stet-Approved-By: ") || !strings.Contains(got, "Stet-Reason: expired on ") {
		t.Errorf("%s", got)
	}
	for _, r := range []*Report{last, r} {
		d.open(func(a *agent.App) error {
			_, err := a.History().Revert(d.Context(), agent.RevertOptions{OfRun: r.Run})
			return err
		})
	}
	if d.tree() != before {
		t.Error("taken back, the vault is another one")
	}
	for _, wait := range []int{0, 100} {
		d.days(wait)
		if r := d.run(); ended(r) != "" {
			t.Errorf("after %d days again: %s", wait, ended(r))
		}
	}
	d.write("memories/guest.md", "---\nkind: fact\nexpires: 2026-01-02\n---\nThe guest code is 78.\n")
	d.commit("by hand")
	if r := d.run(); ended(r) != "memories/guest.md" {
		t.Errorf("changed: %q, left %+v", ended(r), r.Left)
	}
}

// What was taken back sticks for memories as it does for skills.
func TestATakenBackMemoryStays(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	back := map[string]func(*desk, *Report) error{
		"git revert": func(d *desk, r *Report) error {
			d.git("revert", "--no-edit", string(r.Commits[0].Rev))
			return nil
		},
		"undo": func(d *desk, _ *Report) (err error) {
			d.open(func(a *agent.App) error {
				_, err = a.History().Undo(d.Context(), 1, false, agent.Write{})
				return err
			})
			return err
		},
		"restore": func(d *desk, r *Report) (err error) {
			d.open(func(a *agent.App) error {
				_, err = a.History().Restore(d.Context(), agent.RestoreOptions{
					Ref: string(r.Memories.Archived[0].Into)})
				return err
			})
			return err
		},
	}
	for how, takeBack := range back {
		for _, what := range []string{"expired", "twice"} {
			t.Run(how+" "+what, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.write("memories/b.md", noted("Said once."))
				d.commit(agents)
				d.days(1)
				if what == "twice" {
					d.write("memories/c.md", noted("Said once."))
					d.commit(agents)
				} else {
					d.write("memories/b.md", "---\nexpires: 2025-12-31\n---\nSaid once.\n")
					d.commit("by hand")
				}
				before := d.tree()
				r := d.run()
				if len(r.Memories.Archived) != 1 {
					t.Fatalf("%+v, left %+v", r.Memories, r.Left)
				}
				if err := takeBack(d, r); err != nil {
					t.Fatal(err)
				}
				if how != "restore" && d.tree() != before {
					t.Error("the vault is another one")
				}
				clone := filepath.Join(t.TempDir(), "clone")
				if out, err := vaulttest.Git(".", "clone", "-q", d.dir, clone); err != nil {
					t.Fatal(out)
				}
				for _, d := range []*desk{d, deskAt(t, clone)} {
					if again := d.run(); ended(again) != "" {
						t.Errorf("again: %s", ended(again))
					}
				}
			})
		}
	}
}

// A notebook that holds more than its limit gives up what agents wrote, and keeps what the person wrote and pinned.
func TestAFullNotebook(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	for i := range 6 {
		d.open(func(a *agent.App) error {
			_, err := a.Notebook(vault.ClassCore).Add(d.Context(), agent.EntryOptions{Write: agent.Write{Agent: "robo"},
				Text: fmt.Sprintf("Fact %d of the mill, %s.", i, strings.Repeat("which turns ", 20))})
			return err
		})
	}
	core := filepath.Join(d.dir, "MEMORY.md")
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	long := "- " + strings.Repeat("A long one of mine. ", 60) + "\n"
	d.write("MEMORY.md", string(data)+"- Mine, and it stays.\n"+long)
	d.commit("by hand")
	before := d.tree()
	r := d.run()
	if len(r.Memories.Moved) == 0 || len(r.Memories.Moved) > 5 {
		t.Fatalf("%+v, left %+v", r.Memories, r.Left)
	}
	now, err := os.ReadFile(core)
	if text := string(now); err != nil || !strings.Contains(text, "Mine, and it") || !strings.Contains(text, long) {
		t.Errorf("%s", now)
	}
	if again := d.run(); len(again.Memories.Moved) != 0 {
		t.Errorf("again: %+v", again.Memories.Moved)
	}
	d.open(func(a *agent.App) error {
		_, err := a.History().Undo(d.Context(), 1, false, agent.Write{})
		return err
	})
	if d.tree() != before {
		t.Error("undone, the vault is another one")
	}
	if again := d.run(); len(again.Memories.Moved) != 0 {
		t.Errorf("taken back: %+v", again.Memories.Moved)
	}
}
