package curator

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"stet/vault/vaulttest"
)

// The report of two hundred actions says first what was done and how all of it is taken back, has a line for each, and
// folds the differences; its commands give back what was there.
func TestALongReport(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	made := "metadata:\n  stet-created-by: agent\n"
	for i := range 120 {
		name := fmt.Sprintf("chore-%03d", i)
		d.write("skills/home/"+name+"/SKILL.md", skillText(name, made)+fmt.Sprintf("Do chore %d.\n", i))
	}
	d.write("skills/a|b/bars/SKILL.md", skillText("bars", made))
	d.commit(byAgent)
	for i := range 30 {
		d.write(fmt.Sprintf("memories/code-%02d.md", i),
			fmt.Sprintf("---\nexpires: 2026-05-31\n---\nThe code of door %d | 1 is `%d`.\n", i, 4700+i))
	}
	d.commit("codes by hand")
	d.days(60)
	for i := range 50 {
		name := fmt.Sprintf("task-%02d", i)
		d.write("skills/work/"+name+"/SKILL.md", skillText(name, made)+fmt.Sprintf("Do task %d.\n", i))
	}
	d.commit(byAgent)
	d.days(40)
	before := d.tree()
	r := d.run()
	data, err := r.Markdown()
	if err != nil {
		t.Fatal(err)
	}
	if to := os.Getenv("STET_REPORT"); to != "" { // to be read by a person
		if err := os.WriteFile(to, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	page := string(data)
	first, _, _ := strings.Cut(page, "\n## ")
	for _, says := range []string{"archived", "50 stale", "Nothing was deleted", "stet revert --run " + r.Run} {
		if !strings.Contains(first, says) {
			t.Errorf("the first lines do not say %q:\n%s", says, first)
		}
	}
	done := len(r.Transitions) + len(r.Memories.Archived)
	rows := len(regexp.MustCompile("(?m)^\\|.*\\| `[0-9a-f]{10}` \\|$").FindAllString(page, -1))
	if done < 200 || rows != done {
		t.Errorf("%d rows of %d actions", rows, done)
	}
	open, end := strings.Count(page, "<details>"), strings.Count(page, "\n</details>\n")
	if open != len(r.Commits) || end != open {
		t.Errorf("%d commits, %d folded, %d ended", len(r.Commits), open, end)
	}
	commands := regexp.MustCompile("(?m)^git revert .*$").FindAllString(page, -1)
	if len(commands) != 1 {
		t.Fatalf("%q", commands)
	}
	d.git(strings.Fields(commands[0])[1:]...)
	if d.tree() != before {
		t.Error("taken back, the tree is another one")
	}
}
