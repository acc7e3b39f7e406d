package curator

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/agent"
	"stet/vault/vaulttest"
)

var _ = flag.Bool("update", false, "write docs/example.md anew")

// docs/example.md is what a run really does to a small vault, its report and its undoing.
func TestExample(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	d.open(func(a *agent.App) error { // else it would be at random
		return mustPermit(t, a).State().SetSeen(t.Context(), "clone", func([]byte) ([]byte, error) {
			return []byte("aaaaaaaaaaaaaaaaaaaaaaaaaa\n"), nil
		})
	})
	made := "metadata:\n  stet-created-by: agent\n"
	d.at = time.Date(2026, 2, 20, 9, 0, 0, 0, time.UTC)
	d.write("skills/deploy/SKILL.md", skillText("deploy", made))
	d.write("skills/ops/move-to-v8/SKILL.md", skillText("move-to-v8", made))
	d.write("skills/ops/move-to-v8/scripts/dump.sh", "pg_dump --format=custom app > app.dump\n")
	d.write("skills/ops/vacuum/SKILL.md", skillText("vacuum", made+"  stet-pinned: \"true\"\n"))
	d.write("memories/tea.md", noted("Tea is in the blue tin."))
	d.commit(byAgent)
	d.write("skills/letters/SKILL.md", skillText("letters", ""))
	d.commit("Letters")
	d.at = time.Date(2026, 4, 22, 9, 0, 0, 0, time.UTC)
	d.write("skills/ops/logs/SKILL.md", skillText("logs", made))
	d.write("memories/kitchen.md", noted("Tea is in the blue tin."))
	d.commit(byAgent)
	d.write("memories/guest-code.md", "---\nexpires: 2026-05-31\n---\nThe guest code is 4711.\n")
	d.commit("The code for May")
	d.at = time.Date(2026, 5, 20, 18, 30, 0, 0, time.UTC)
	d.open(func(a *agent.App) error {
		_, err := a.Skills().Use(t.Context(), "deploy", agent.Write{})
		return err
	})
	d.at = now()
	page := &strings.Builder{}
	fence := func(kind, text string) { fmt.Fprintf(page, "\n~~~~%s\n%s\n~~~~\n", kind, strings.TrimSpace(text)) }
	files := func() string { return d.git("ls-tree", "-r", "--name-only", "HEAD") }
	page.WriteString(`# A small vault and one run of the curator

An agent made four of these five skills on 20 February and 22 April 2026; the user wrote "letters", and pinned
"vacuum". "deploy" was last followed on 20 May. The user let the guest code expire at the end of May. It is 1 June.
(Made by "go test ./curator -run TestExample -update".)
`)
	fence("", files())
	page.WriteString("\n`stet curate` does what is due, and reports it. These are its commits, newest first:\n")
	before := d.tree()
	r := d.run()
	fence("", d.git("log", "--format=%h  %an  %s", fmt.Sprintf("-%d", len(r.Commits)+1)))
	page.WriteString("\nThis is one of them whole:\n")
	fence("", d.git("show", "-s", "--format=%B", string(r.Commits[1].Rev)))
	page.WriteString("\nAnd this is what stands there now:\n")
	fence("", files())
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(d.dir, Folder, r.Run, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	fmt.Fprintf(page, "\n## `%s`\n", r.Path())
	fence("markdown", read("REPORT.md"))
	fmt.Fprintf(page, "\n## `%s/%s/run.json`\n", Folder, r.Run)
	fence("json", read("run.json"))
	page.WriteString("\n## Taken back\n\n`stet undo` takes the run back as one operation, and the report stays. " +
		"The next run leaves alone\nwhat was brought back:\n")
	d.open(func(a *agent.App) error {
		_, err := a.History().Undo(t.Context(), 1, false, agent.Write{})
		return err
	})
	if d.tree() != before {
		t.Error("undone, the vault is another one")
	}
	again := d.run()
	fence("", d.git("log", "--format=%h  %an  %s", "-2"))
	if did(again) != "" || ended(again) != "" {
		t.Errorf("again: %s, %s", did(again), ended(again))
	}
	golden := filepath.Join("..", "docs", "example.md")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(golden, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != page.String() {
		t.Errorf("docs/example.md is not what a run does (%v); go test ./curator -run TestExample -update", err)
	}
}
