package curator

import (
	"slices"
	"strings"
	"testing"

	"stet/agent"
	"stet/vault"
	"stet/vault/vaulttest"
)

// What a report says of each revert is what git does: one that is said to revert alone does, one that has to wait
// fails now, and works behind the one that is named.
func TestProvenIsWhatGitDoes(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	d := newDesk(t)
	lines := strings.Split("abcdefghijklmnopqrst\n", "")
	text := func() string { return strings.Join(lines, "\n") + "\n" }
	d.write("skills/u/SKILL.md", skillText("u", "")+text())
	d.write("skills/a/SKILL.md", skillText("a", "")+"Of a, which is long enough to be told from others.\n")
	d.write("skills/b/SKILL.md", skillText("b", "")+"Of b.\n")
	d.commit("base")
	var chain []vault.Commit
	step := func(name string, do func()) {
		do()
		d.write("skills/u/SKILL.md", skillText("u", "")+text())
		d.commit(name)
		d.open(func(a *agent.App) error {
			c, err := mustPermit(t, a).History().CommitAt(t.Context(), "HEAD")
			chain = append(chain, c)
			return err
		})
	}
	step("the top", func() { lines[2] = "of a" })
	step("an archive", func() { d.git("mv", "skills/a", "archive-a") })
	step("the end", func() { lines[17] = "of b" })
	step("the end again", func() { lines[18] = "of c" })
	step("a new one", func() { d.write("skills/n/SKILL.md", skillText("n", "")) })
	step("the new one's text", func() { d.write("skills/n/SKILL.md", skillText("n", "")+"More.\n") })
	var got []vault.Revision
	d.open(func(a *agent.App) (err error) {
		got, err = proven(t.Context(), mustPermit(t, a), chain)
		return err
	})
	want := []vault.Revision{"", "", chain[3].Rev, "", chain[5].Rev, ""}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	tip := d.git("rev-parse", "HEAD")
	for i, c := range chain {
		d.git("reset", "-q", "--hard", tip)
		out, err := vaulttest.Git(d.dir, "revert", "--no-edit", string(c.Rev))
		if (err == nil) != (got[i] == "") {
			t.Errorf("%s: said to revert after %q, and git says %v %s", c.Subject, got[i], err, out)
		}
		if err == nil {
			continue
		}
		d.git("revert", "--abort")
		for on := len(chain) - 1; chain[on].Rev != got[i]; on-- {
			d.git("revert", "--no-edit", string(chain[on].Rev))
		}
		d.git("revert", "--no-edit", string(got[i]))
		d.git("revert", "--no-edit", string(c.Rev))
	}
	d.git("reset", "-q", "--hard", tip)
}
