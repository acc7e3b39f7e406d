package lineage_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// versions lists a file's history as "status path subject", newest first.
func versions(t testing.TB, v *vault.Vault, p vault.Path) (lines, revs []string) {
	t.Helper()
	for version, err := range v.History().Versions(t.Context(), "", p) {
		if err != nil {
			t.Fatal(err)
		}
		from := ""
		if version.From != "" {
			from = string(version.From) + " -> "
		}
		lines = append(lines, fmt.Sprintf("%s %s%s: %s", version.Status, from, version.Path, version.Commit.Subject))
		revs = append(revs, string(version.Commit.Rev))
	}
	return lines, revs
}

func remember(t testing.TB, v *vault.Vault, title, text string) vault.Memory {
	t.Helper()
	res, err := v.Remember(t.Context(), []vault.Note{{Title: title, Text: text}}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Memories[0]
}

func update(t testing.TB, v *vault.Vault, ref string, p vault.Patch) {
	t.Helper()
	if _, err := v.UpdateMemory(t.Context(), ref, p, vault.Write{}); err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](x T) *T { return &x }

// Everything stet itself does to a file, needing no git.
func TestHistoryGoesThroughScopeArchiveUndoAndRevert(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	update(t, v, m.ID, vault.Patch{Append: ptr("Ring twice.")})
	remember(t, v, "Other", "not about it")
	update(t, v, m.ID, vault.Patch{Scope: ptr("/infra")})
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD~2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	got, _ := versions(t, v, "archive/memories/infra/gate.md")
	want := []string{
		"renamed memories/infra/gate.md -> archive/memories/infra/gate.md: forget: Gate",
		"modified memories/infra/gate.md: revert: \"update: Gate\"",
		"renamed memories/gate.md -> memories/infra/gate.md: update: Gate",
		"modified memories/gate.md: update: Gate",
		"added memories/gate.md: remember: Gate",
	}
	if !slices.Equal(got, want) {
		t.Errorf("history:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// By hand with plain git: rename and edit in one commit, an edit on each of two
// branches, a merge, a deletion and its revert.
func TestHistoryAndBlameGoThroughRenameEditRevertAndMergeByHand(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	const front = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\n"
	body := func(first, last string) string {
		return front + first + "\ntwo\nthree\nfour\nfive\nsix\nseven\n" + last + "\n"
	}
	f := vaulttest.New(t, "memories/a.md", body("one", "eight"), "memories/b.md", "another\n")
	v := f.Open()
	day := 0
	git := func(args ...string) {
		day++
		at := fmt.Sprintf("2026-03-%02dT12:00:00Z", day)
		f.Git(append([]string{"-c", "core.hooksPath=/nonexistent"}, args...)...)
		if args[0] == "commit" || args[0] == "merge" || args[0] == "revert" {
			stamp(t, f.Dir, at)
		}
	}
	f.Git("mv", "memories/a.md", "memories/moved.md")
	f.Write("memories/moved.md", body("one edited", "eight"))
	git("commit", "-qam", "move and edit")
	f.Git("checkout", "-qb", "side")
	f.Write("memories/moved.md", body("one edited", "eight on the side"))
	git("commit", "-qam", "side")
	f.Git("checkout", "-q", "main")
	f.Write("memories/moved.md", body("one on main", "eight"))
	git("commit", "-qam", "main")
	f.Write("memories/b.md", "another, edited\n")
	git("commit", "-qam", "unrelated")
	git("merge", "-q", "--no-edit", "-m", "join", "side")
	f.Git("rm", "-q", "memories/moved.md")
	git("commit", "-qm", "delete")
	git("revert", "--no-edit", "HEAD")
	f.Write("memories/a.md", front[:8]+"01jd7q8r5t9v3x6y2z4a7c0e2g\n---\na new one in the old place\n")
	f.Git("add", "-A")
	git("commit", "-qm", "place taken")

	got, revs := versions(t, v, "memories/moved.md")
	want := []string{
		"added memories/moved.md: Revert \"delete\"",
		"deleted memories/moved.md: delete",
		"modified memories/moved.md: join",
		"modified memories/moved.md: main",
		"modified memories/moved.md: side",
		"renamed memories/a.md -> memories/moved.md: move and edit",
		"added memories/a.md: adopt: notes as they were before stet",
	}
	want[6] = got[len(got)-1] // the subject of init's commit is not the matter
	if !slices.Equal(got, want) || !strings.HasPrefix(got[6], "added memories/a.md") {
		t.Errorf("history:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	theirs := strings.Fields(f.Git("log", "--format=%H", "--follow", "--", "memories/moved.md"))
	for _, rev := range theirs {
		if !slices.Contains(revs, rev) {
			t.Errorf("git log --follow has %s, which history has not", rev)
		}
	}
	if taken, _ := versions(t, v, "memories/a.md"); len(taken) != 1 {
		t.Errorf("the new file in the old place has a history of its own, got %q", taken)
	}
	compareBlame(t, f, v, "memories/moved.md")
}

// stamp gives HEAD a committer time of its own: git's clock has whole seconds.
func stamp(t *testing.T, dir, at string) {
	t.Helper()
	cmd := exec.Command("git", "-C", dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "--amend", "--no-edit", "--allow-empty")
	cmd.Env = append(cmd.Environ(), "GIT_COMMITTER_DATE="+at, "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// compareBlame wants the commit of every line to be the one git blame names.
func compareBlame(t *testing.T, f *vaulttest.Fixture, v *vault.Vault, p vault.Path) {
	t.Helper()
	b, err := lineage.BlameFile(t.Context(), v, "", p)
	if err != nil {
		t.Fatal(err)
	}
	var theirs []string
	for line := range strings.Lines(f.Git("blame", "--line-porcelain", "--", string(p))) {
		if word := strings.Fields(line); len(word) >= 3 && len(word[0]) == 40 && line[0] != '\t' {
			theirs = append(theirs, word[0]+" "+word[1])
		}
	}
	if len(theirs) != len(b.Lines) {
		t.Fatalf("%s: %d lines, git has %d", p, len(b.Lines), len(theirs))
	}
	for i, l := range b.Lines {
		if got := fmt.Sprintf("%s %d", l.Rev, l.Was); got != theirs[i] {
			t.Errorf("%s:%d %q: blame says %s, git %s", p, l.Number, l.Text, got, theirs[i])
		}
		if b.Commits[l.Rev].Subject == "" {
			t.Errorf("%s:%d: the commit %s was not read", p, l.Number, l.Rev)
		}
	}
}

// Random histories with branches and merges, made through git fast-import: for a
// file that keeps its name, history is git log and blame is git blame.
func TestHistoryAndBlameAreGitsOnRandomMerges(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	runs := 12
	if testing.Short() {
		runs = 3
	}
	for seed := range runs {
		f := vaulttest.New(t)
		importRandom(t, f, rand.New(rand.NewPCG(uint64(seed), 7)))
		v := f.Open()
		for _, p := range []string{"memories/x.md", "notes/deep/y.md"} {
			_, got := versions(t, v, vault.Path(p))
			if want := strings.Fields(f.Git("log", "--format=%H", "--", p)); !slices.Equal(got, want) {
				t.Fatalf("seed %d: history of %s\n%q\ngit log\n%q", seed, p, got, want)
			}
			compareBlame(t, f, v, vault.Path(p))
		}
	}
}

// importRandom adds commits in which no two lines are alike, so that there is
// one right difference between any two versions.
func importRandom(t *testing.T, f *vaulttest.Fixture, r *rand.Rand) {
	var s strings.Builder
	base := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	type state struct{ x, y []string }
	at := map[int]state{}
	next := 0
	edit := func(lines []string) []string {
		out := slices.Clone(lines)
		for range 1 + r.IntN(3) {
			next++
			i := r.IntN(len(out) + 1)
			switch r.IntN(3) {
			case 0:
				out = slices.Insert(out, i, fmt.Sprintf("line %d\n", next))
			case 1:
				if i < len(out) {
					out[i] = fmt.Sprintf("line %d\n", next)
				}
			case 2:
				if i < len(out) && len(out) > 3 {
					out = slices.Delete(out, i, i+1)
				}
			}
		}
		return out
	}
	const commits = 60
	start := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Unix()
	for n := 1; n <= commits; n++ {
		parent, other := max(1, n-1-r.IntN(4)), 0
		if n == commits {
			parent = n - 1
		}
		now := at[parent]
		if n > 3 && r.IntN(4) == 0 || n == commits {
			other = max(1, n-2-r.IntN(5))
			now = at[[2]int{parent, other}[r.IntN(2)]]
		}
		if n == 1 || r.IntN(2) == 0 {
			now.x = edit(now.x)
		}
		if n == 1 || r.IntN(4) == 0 {
			now.y = edit(now.y)
		}
		at[n] = now
		fmt.Fprintf(&s, "commit refs/heads/main\nmark :%d\ncommitter Ada <ada@example.org> %d +0000\ndata 2\nx\n", n, start+int64(n))
		if n == 1 {
			fmt.Fprintf(&s, "from %s\n", base)
		} else {
			fmt.Fprintf(&s, "from :%d\n", parent)
		}
		if other != 0 && other != parent {
			fmt.Fprintf(&s, "merge :%d\n", other)
		}
		for p, lines := range map[string][]string{"memories/x.md": now.x, "notes/deep/y.md": now.y} {
			text := strings.Join(lines, "")
			fmt.Fprintf(&s, "M 100644 inline %s\ndata %d\n%s\n", p, len(text), text)
		}
	}
	cmd := exec.Command("git", "-C", f.Dir, "fast-import", "--quiet", "--force")
	cmd.Stdin = strings.NewReader(s.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.Git("reset", "-q", "--hard", "main")
}

func TestBlameTellsPersonAgentAndWhatIsNotCommitted(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	o := f.Options()
	o.Settings = []settings.Layer{settings.Layer{Source: settings.User}.With(settings.AgentsEdit, "all", "")}
	v := f.OpenWith(o)
	m := remember(t, v, "Gate", "The gate code is 4711.")
	_, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: ptr("Ring twice.")},
		vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Robo", Session: "01jd7q8r5t9v3x6y2z4a7c0e1f"}})
	if err != nil {
		t.Fatal(err)
	}
	update(t, v, m.ID, vault.Patch{Scope: ptr("/infra")})
	f.Write("memories/infra/gate.md", f.Read("memories/infra/gate.md")+"by hand\n")
	f.LeaveDirty()
	b, err := lineage.BlameFile(t.Context(), v, "", "memories/infra/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, l := range b.Lines {
		c := b.Commits[l.Rev]
		by[strings.TrimSpace(l.Text)] = c.Author + " " + c.Trailers.Get("Stet-Session")
	}
	for text, want := range map[string]string{
		"The gate code is 4711.": "Ada ", "Ring twice.": "Robo 01jd7q8r5t9v3x6y2z4a7c0e1f", "by hand": " ",
	} {
		if got, ok := by[text]; !ok || got != want {
			t.Errorf("%q is by %q (%v), want %q", text, got, ok, want)
		}
	}
	if _, err := lineage.BlameFile(t.Context(), v, "", "memories/none.md"); err == nil {
		t.Error("blame of a file that never was: no error")
	}
}
